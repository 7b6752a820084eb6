"""What to say of columns that a log lacks: which of its own may be meant, as a line to paste."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from armsim.errors import FileFaults, spelled
from armsim.files.faults import refuse
from armsim.files.nodes import clipped
from armsim.files.table import DataTable
from armsim.model import Arm
from armsim.plant.columns import spellings

# words that logs have for a quantity
WORDS = {
    "t": ("t", "time", "timestamp", "stamp", "clock", "seconds", "sec"),
    "q": ("q", "theta", "th", "phi", "pos", "position", "angle", "enc", "encoder", "joint"),
    "qd": ("qd", "dq", "omega", "vel", "velocity", "speed"),
    "voltage": ("u", "v", "volt", "volts", "voltage"),
    "motor": ("tau", "torque", "force"),
    "current": ("i", "cur", "curr", "current", "amps"),
}
FACTORS = {
    "t": {"ms": "1e-3", "msec": "1e-3", "millis": "1e-3", "us": "1e-6", "ns": "1e-9"},
    "q": {"deg": "pi/180", "mm": "1e-3"},
    "qd": {"deg": "pi/180", "rpm": "2*pi/60", "mm": "1e-3"},
    "voltage": {"mv": "1e-3"},
    "motor": {"mnm": "1e-3"},
    "current": {"ma": "1e-3"},
}
TOKEN = re.compile(r"[^\W\d_]+|\d+")
PLAIN = re.compile(r"[\w .*/+()-]+")  # text of a column that neither YAML nor a shell takes for anything else
SHELL = re.compile(r'[`$"\\!%]')
MOST = 600  # characters of a hint


class Wanted(NamedTuple):
    """A column that is wanted.

    Attributes:
        kind: Of `armsim.plant.column_kinds.KINDS`, or "t".
        joint: Its index.
    """

    kind: str
    joint: int = 0

    def name(self, arm: Arm) -> str:
        """Its heading in SI units."""
        return "t_s" if self.kind == "t" else spellings(self.kind, arm.joints[self.joint])[0][0]


def missing_columns(table: DataTable, arm: Arm, lacking: Sequence[Wanted], any_input: bool = False) -> FileFaults:
    """The refusal of a log that lacks columns, with a guess which of its own they are.

    Args:
        table: The log.
        arm: The arm that was logged.
        lacking: The columns.
        any_input: Whether voltages, torques and currents would do alike.
    """
    names = [wanted.name(arm) for wanted in lacking]
    if any_input:
        first = next(k for k, wanted in enumerate(lacking) if wanted.kind == "voltage")
        names[first] += "".join(f" or {Wanted(kind).name(arm)}" for kind in ("motor", "current"))
        lacking = _likeliest_input(table, arm, lacking)
    expected = f"a column {names[0]}" if len(names) == 1 else f"columns {clipped(', '.join(names), 200)}"
    mend = hint({wanted.name(arm): guess(wanted, arm, table) for wanted in lacking})
    return refuse(table.top, "", expected, clipped(", ".join(table)), mend)


def _likeliest_input(table: DataTable, arm: Arm, lacking: Sequence[Wanted]) -> list[Wanted]:
    """The columns with those voltages replaced by the kind of input that the log seems to have."""
    kinds = ("voltage", "motor", "current")
    best = max(kinds, key=lambda kind: sum(guess(Wanted(kind, i), arm, table) is not None for i in range(arm.n)))
    return [Wanted(best, w.joint) if w.kind == "voltage" else w for w in lacking]


def guess(wanted: Wanted, arm: Arm, table: DataTable) -> str | None:
    """The column that is likely meant, or a formula of it by the unit that it names; None if none is."""
    if wanted.kind == "t":
        return guess_time(table)
    candidates = _candidates(wanted.kind, table)
    own = _tokens(arm.joints[wanted.joint].name)
    number = str(wanted.joint + (0 if any("0" in tokens for _, tokens in candidates) else 1))
    named = [c for c in candidates if all(token in c[1] for token in own)]
    return _in_si(wanted.kind, named or [c for c in candidates if number in c[1] or arm.n == 1])


def guess_time(table: DataTable) -> str | None:
    """The column that is likely the time, or a formula of it; None if none is."""
    return _in_si("t", _candidates("t", table))


def _tokens(heading: str) -> list[str]:
    """Words and numbers of a heading, in lower case."""
    return [token.lower() for token in TOKEN.findall(heading)]


def _candidates(kind: str, table: DataTable) -> list[tuple[str, list[str]]]:
    """Headings of numbers with a word for a quantity, and their tokens."""
    split = [(heading, _tokens(heading)) for heading in table if not table.is_text(heading)]
    return [(heading, tokens) for heading, tokens in split if any(token in WORDS[kind] for token in tokens)]


def _in_si(kind: str, candidates: Sequence[tuple[str, list[str]]]) -> str | None:
    """The first candidate, converted from the unit that it names."""
    if not candidates:
        return None
    heading, tokens = candidates[0]
    factor = next((factor for unit, factor in FACTORS[kind].items() if unit in tokens), None)
    if factor is None:
        return heading
    return f"{heading if heading.isidentifier() else f'`{heading}`'}*{factor}"


def hint(guesses: dict[str, str | None]) -> str:
    """How to say which column is which: an argument or an option to paste, or the lines of a file where a shell would not."""
    lines = {name: "..." if text is None else text for name, text in guesses.items()}
    written = {
        name: text if PLAIN.fullmatch(text) else "'" + text.replace("'", "''") + "'" for name, text in lines.items()
    }
    rename = "rename columns, or add"
    more = "; in place of ... write columns or formulas" if "..." in lines.values() else ""
    if in_python := spelled("", f"{rename} columns={lines}{more}"):
        return in_python
    if any(SHELL.search(text) for text in written.values()):
        entries = "\n".join(f"{name}: {text}" for name, text in written.items())
        return f"{rename} --columns columns.yaml, a file with lines such as\n{clipped_lines(entries)}"
    entries = ", ".join(f"{name}: {text}" for name, text in written.items())
    return f'{rename} --columns "{{{clipped(entries, MOST)}}}"{more}'


def clipped_lines(text: str) -> str:
    """The first lines of a text, `MOST` characters of them."""
    return text if len(text) <= MOST else text[:MOST].rpartition("\n")[0]
