"""Faults of users' files: where, what was expected, what was found, how to mend it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from armsim.errors import FileFaults, Refusal
from armsim.files.nodes import Place, clipped
from armsim.records import record

MOST = 50  # faults shown at once
MOST_KEPT = 4 * MOST  # beyond, faults are no longer noted
LISTED = 300  # characters of a list of names in a message


@record
class Doubt:
    """What is doubted of a value, and how to mend it; see `Fault`."""

    path: str
    expected: str
    found: str
    mend: str


def join(path: str, key: str) -> str:
    """The path of a key below a path."""
    return f"{path}.{key}" if path else key


@record
class Fault:
    """One fault, printed as four lines.

    Attributes:
        where: The place in the file, or the option, that holds the fault.
        path: The path of the value, for example `joints[1].bodies[0].cylinder.mass`, or several of one that is shared; empty for
            the file as a whole.
        expected: What would have been right.
        found: What stands there.
        mend: What the user can do.
    """

    where: Place
    path: str
    expected: str
    found: str
    mend: str

    def __str__(self) -> str:
        return str(Refusal(self.title, self.expected, self.found, self.mend))

    @property
    def title(self) -> str:
        """Where it is."""
        return f"{self.where}: {self.path}" if self.path else str(self.where)

    @property
    def doubt(self) -> Doubt:
        """Without its place."""
        return Doubt(self.path, self.expected, self.found, self.mend)


class Report:
    """The faults found so far."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def add(self, where: Place, path: str, expected: str, found: str, mend: str) -> None:
        """Note one more fault, unless there are too many."""
        if not self.full:
            self.faults.append(Fault(where, path, expected, found, mend))

    @property
    def full(self) -> bool:
        """Whether there are so many faults that more are not worth their time."""
        return len(self.faults) > MOST_KEPT

    def raise_if_any(self) -> None:
        """Raise all faults at once, file by file, each in the order of its lines.

        One of a value that joints share, by a YAML alias, is told once, with the paths of all of them.

        Raises:
            FileFaults: There is at least one.
        """
        if not self.faults:
            return
        paths: dict[Fault, list[str]] = defaultdict(list)
        for fault in self.faults:
            key = fault.path.rpartition(".")[2]
            paths[replace(fault, path=key) if fault.where.line else fault].append(fault.path)
        sources = list(dict.fromkeys(fault.where.source for fault in self.faults))
        ordered = sorted(
            (replace(fault, path=listed(of)) for fault, of in paths.items()),
            key=lambda fault: (sources.index(fault.where.source), fault.where.line, fault.where.column),
        )
        if len(ordered) > MOST:
            last = ordered[MOST - 1]
            more = Fault(
                Place(last.where.source),
                "",
                f"at most {MOST} faults to show at once",
                f"more than {MOST_KEPT} faults" if self.full else f"{len(ordered)} faults",
                "mend those above first, then run again",
            )
            ordered = [*ordered[:MOST], more]
        raise FileFaults(ordered)


def refuse(where: Place, path: str, expected: str, found: str, mend: str) -> FileFaults:
    """The error of a single fault, to be raised."""
    return FileFaults([Fault(where, path, expected, found, mend)])


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that looks most like `word`, if one does."""
    if len(word) > 60:
        return None
    from difflib import get_close_matches  # only needed once something is wrong

    known = list(known)
    lowered = {k.lower(): k for k in reversed(known)}
    if word.lower() in lowered:
        return lowered[word.lower()]
    close = get_close_matches(word, known, n=1, cutoff=0.5)
    return close[0] if close else None


def no_column(name: object, known: Iterable[str], of: str) -> KeyError:
    """The error of a column that a table, called `of`, has not."""
    near = nearest(str(name), known)
    hint = f"; did you mean {near!r}?" if near else ""
    return KeyError(f"no column {name!r}{hint} (list({of}) names them)")


def suggestion(word: str, known: Iterable[str], what: str = "known") -> str:
    """How to mend an unknown word: the nearest known one, or all of them."""
    known = list(known)
    close = nearest(word, known)
    if close is not None:
        return f"did you mean `{close}`?"
    return f"{what}: {listed(known)}" if known else "leave it out"


def listed(names: Iterable[str]) -> str:
    """Names separated by commas; not all of very many."""
    return clipped(", ".join(names), LISTED)
