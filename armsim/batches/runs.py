"""A table of runs: what was varied, what each run came to, an entry a run in every column."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armsim.arrays import Array, Indices, Mask
from armsim.batches.table_text import INDEX, REASON, STATUS, TextTable, lines
from armsim.display import Shown
from armsim.errors import UsageError, spelled
from armsim.files.faults import no_column, suggestion
from armsim.notebook import counted, pandas
from armsim.records import Json

if TYPE_CHECKING:
    from pandas import DataFrame

COMPLETE, DIVERGED, REFUSED, INTERRUPTED = "complete", "diverged", "refused", "interrupted"
STEPS, ROWS = "steps", "rows"


@dataclass(frozen=True, eq=False, repr=False)
class Runs(Shown, Mapping[str, NDArray[Any]]):
    """A table of runs of one scenario, in memory, or in the folder of a study, which is read when it is asked for.

    As a mapping it has an array with an entry for each run: the values of each path, final positions and velocities where they
    are kept, measures, "status" and "reason"; of a study also "index". `to_pandas` makes a data frame of it.

    Attributes:
        name: Of the scenario; of a study its folder.
        paths: What is varied.
        measures: Names of the measures; NaN of runs that are not complete.
        table: The columns by name, some of them of several numbers a run.
        first: Index of the first run.
        whole: Whether all runs were made; False after Ctrl-C.
        count: Runs in all; `done` unless given.
        final: Names of the final positions, then of the velocities.
        results: The names of each measure's results, by the name it was asked for by; only in studies.
        joints: Names of the joints.
        t: Times of the rows [s], shape (rows,).
        columns: Names of the columns of a row, as in trajectory.csv and torque.csv.
        warnings: Of the advice on the step, by run.
        families: The groups that one kernel each has served: the numbers that were written in, and how many runs there are.
        seconds: Wall time by part [s].
        folder: Of the study; empty for runs in memory.
        file: The study's table.
        notes: What was grouped, in words.
        ended: How many runs there are of each status, where that is known without the table.
    """

    name: str
    paths: tuple[str, ...]
    measures: tuple[str, ...]
    table: Mapping[str, NDArray[Any]]
    first: int = 0
    whole: bool = True
    count: int = 0
    final: tuple[str, ...] = ()
    results: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    joints: tuple[str, ...] = ()
    t: Array = field(default_factory=lambda: np.empty(0))
    columns: tuple[str, ...] = ()
    warnings: Mapping[int, list[str]] = field(default_factory=dict)
    families: tuple[tuple[Mapping[str, float], int], ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    folder: str = ""
    file: str = ""
    notes: tuple[str, ...] = ()
    ended: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", self.count or self.done)

    @classmethod
    def blank(
        cls, name: str, count: int, values: Mapping[str, NDArray[Any]], measures: Sequence[str], **about: Any
    ) -> Runs:
        """A table of runs that are still to be made.

        Args:
            name: Of the scenario.
            count: How many.
            values: Of each path, shape (runs,) or (runs, numbers).
            measures: Names of the measures.
            about: Further attributes.
        """
        lists = {path: of.T for path, of in values.items() if of.ndim > 1}
        table = {**values, **{f"{path}[{i}]": column for path, of in lists.items() for i, column in enumerate(of)}}
        table |= {result: np.full(count, np.nan) for result in (*about.get("final", ()), *measures)}
        table[STATUS], table[REASON] = np.full(count, INTERRUPTED, dtype="<U11"), np.full(count, "", dtype=object)
        return cls(name, tuple(values), tuple(measures), table, **about)

    def __repr__(self) -> str:
        count = counted(self.count, "run") if self.whole else f"{self.done} of {counted(self.count, 'run')}"
        ended = "".join(f", {number} {status}" for status, number in self.tally.items())
        measures = f"; {', '.join(self.measures)}" if self.measures else ""
        return f"Runs({self.name}: {count}{ended}{measures})"

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The values of a path, a final position or velocity by its heading, a measure, "status" or "reason", shape (m,)."""
        if name not in self.table:
            raise no_column(name, self, "runs")
        return self.table[name]

    def __iter__(self) -> Iterator[str]:
        if isinstance(self.table, TextTable):
            yield from self.table
            return
        for path in self.paths:
            values = self.table[path]
            yield from [path] if values.ndim == 1 else [f"{path}[{i}]" for i in range(values.shape[1])]
        yield from (*self.final, *self.measures, STATUS, REASON)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def done(self) -> int:
        """How many runs the table has."""
        return self.table.count if isinstance(self.table, TextTable) else len(self.table[STATUS])

    @property
    def status(self) -> NDArray[Any]:
        """How each run ended, shape (m,).

        "complete"; "diverged", and q and qd are the last within bounds; "refused", as the numbers or the step cannot be run; or
        "interrupted".
        """
        return self.table[STATUS]

    @property
    def reason(self) -> NDArray[np.object_]:
        """Why a run was refused or where it diverged; empty for others, shape (m,)."""
        return self.table[REASON]

    @property
    def complete(self) -> Mask:
        """Which runs are complete, shape (m,)."""
        found: Mask = self.status == COMPLETE
        return found

    @property
    def steps(self) -> Indices:
        """Steps carried out, shape (m,); of an adaptive method, multiples of dt."""
        return self.table[STEPS]

    @property
    def rows(self) -> Array:
        """The rows, in the order of `columns`, shape (m, rows, columns); NaN where a run has none."""
        return self.table[ROWS]

    @cached_property
    def q(self) -> Array:
        """Joint positions reached [rad or m], shape (m, n); NaN of a refused run."""
        return np.column_stack([self.table[name] for name in self.final[: len(self.joints)]])

    @cached_property
    def qd(self) -> Array:
        """Joint velocities reached [rad/s or m/s], shape (m, n); NaN of a refused run."""
        return np.column_stack([self.table[name] for name in self.final[len(self.joints) :]])

    @cached_property
    def tally(self) -> dict[str, int]:
        """How many runs there are of each status, the most frequent first."""
        ended = self.ended
        if ended is None:
            ended = sum((Counter(part.status.tolist()) for part in self.parts()), Counter[str]())
        return dict(sorted(ended.items(), key=lambda pair: (-pair[1], pair[0])))

    @cached_property
    def text(self) -> bytes:
        """Lines of a study's table, a line a run: index, values, measures, status, reason."""
        columns = [self.table[name] for name in (*self.paths, *self.measures)]
        return lines(self.first, columns, self.status, self.reason)

    def parts(self) -> Iterator[Runs]:
        """The table in parts that fit into memory, in order."""
        if not isinstance(self.table, TextTable):
            yield self
            return
        for part in self.table.parts():
            yield replace(self, table=part)

    def taken(self, which: slice | Indices) -> Runs:
        """Some of the runs that are here as a table of their own; a slice shares the arrays, and knows the index of its first."""
        first = self.first + (which.start or 0 if isinstance(which, slice) else 0)
        if isinstance(self.table, TextTable):
            table: Mapping[str, NDArray[Any]] = self.table.taken(which)
        else:
            table = {name: column[which] for name, column in self.table.items()}
        return replace(self, table=table, first=first, count=0)

    def top(self, count: int, by: str | None = None, largest: bool = False) -> list[Json]:
        """The complete runs with the least values of a measure, the least first; equal ones by index.

        Args:
            count: How many.
            by: The measure; the first one unless given.
            largest: Whether the largest values are wanted.

        Raises:
            UsageError: There is no such measure, or the count is negative.
        """
        if count < 0:
            where = spelled(f"--top {count}", "count")
            raise UsageError.of(where, "how many runs, 0 or more", str(count), "take another number")
        name, sign = check_measure(by, self.measures), -1.0 if largest else 1.0
        best: list[tuple[float, Json]] = []
        for part in self.parts():
            values = sign * part[name]
            worst = best[-1][0] if len(best) == count > 0 else math.inf
            good = np.flatnonzero(part.complete & np.isfinite(values) & (values < worst))
            places = good[np.argsort(values[good], kind="stable")[:count]]
            chosen = part.taken(places)
            best += [(values[i], {INDEX: part.first + i, **chosen.run(k)}) for k, i in enumerate(places.tolist())]
            best = sorted(best, key=lambda one: one[0])[:count]
        return [run for _, run in best]

    def run(self, i: int) -> Json:
        """The i-th run that is here, as plain data."""
        return {name: self[name][i : i + 1].tolist()[0] for name in self}

    def to_pandas(self) -> DataFrame:
        """The table as a data frame, one row a run.

        Raises:
            UsageError: pandas is not installed.
        """
        frame: DataFrame = pandas().DataFrame(dict(self))
        return frame

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


def check_measure(by: str | None, measures: Sequence[str]) -> str:
    """One of some measures; the first one for None.

    Raises:
        UsageError: It is none of them.
    """
    if by is None:
        return measures[0]
    if by not in measures:
        where = spelled(f"--by {by}", "by")
        raise UsageError.of(where, "a measure of the study", by, suggestion(by, measures, "there are"))
    return by
