"""The result of many runs, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armsim.notebook import counted, pandas

if TYPE_CHECKING:
    from pandas import DataFrame

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Many(Mapping[str, NDArray[Any]]):
    """Runs of a scenario that differ in numbers; run i has the i-th value of each.

    As a mapping it has an array of m entries for each path, final position and velocity, and measure, besides "status" and
    "reason"; `to_pandas` makes a data frame of it.

    Attributes:
        scenario: Its name.
        joints: Names of the joints.
        given: The values of each path, shape (m,) or (m, k).
        q: Joint positions reached [rad or m], shape (m, n); NaN of a refused run.
        qd: Joint velocities reached [rad/s or m/s], likewise.
        steps: Steps carried out, shape (m,); of an adaptive method, multiples of dt.
        status: "complete"; "diverged", and q and qd are the last within bounds; "refused", as the numbers or the step cannot
            be run; or "interrupted", shape (m,).
        reason: Why a run was refused or where it diverged; empty for others, shape (m,).
        warnings: Of the advice on the step, by run.
        measures: Results of the measures by name, shape (m,); NaN of runs that are not complete.
        t: Times of the rows [s], shape (rows,).
        rows: The rows, in the order of `columns`, shape (m, rows, columns); NaN where a run has none.
        columns: Names of the columns of a row, as in trajectory.csv and torque.csv.
        headings: Names of the final positions, and of the velocities.
        families: The groups that one kernel each has served: the numbers that were written in, and how many runs there are.
        seconds: Wall time by part [s].
    """

    scenario: str
    joints: tuple[str, ...]
    given: Mapping[str, Array]
    q: Array
    qd: Array
    steps: NDArray[np.int64]
    status: NDArray[np.str_]
    reason: NDArray[np.object_]
    warnings: Mapping[int, list[str]]
    measures: Mapping[str, Array]
    t: Array
    rows: Array = field(repr=False)
    columns: tuple[str, ...] = field(repr=False)
    headings: tuple[tuple[str, ...], tuple[str, ...]] = field(repr=False)
    families: tuple[tuple[Mapping[str, float], int], ...]
    seconds: Mapping[str, float]

    def __repr__(self) -> str:
        kinds, counts = np.unique(self.status, return_counts=True)
        found = ", ".join(f"{count} {kind}" for kind, count in zip(kinds, counts, strict=True))
        measures = f"; {', '.join(self.measures)}" if self.measures else ""
        return f"Many({self.scenario}: {counted(len(self.status), 'run')}, {found}{measures})"

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Which runs are complete, shape (m,)."""
        found: NDArray[np.bool_] = self.status == "complete"
        return found

    @property
    def table(self) -> dict[str, NDArray[Any]]:
        """One array of m entries for each name."""
        found: dict[str, NDArray[Any]] = {}
        for path, values in self.given.items():
            if values.ndim == 1:
                found[path] = values
            else:
                found |= {f"{path}[{i}]": column for i, column in enumerate(values.T)}
        for names, columns in zip(self.headings, (self.q, self.qd), strict=True):
            found |= dict(zip(names, columns.T, strict=True))
        return {**found, **self.measures, "status": self.status, "reason": self.reason}

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The values of a path, a final position or velocity by its heading, a measure, "status" or "reason", shape (m,)."""
        if name in self.given:
            return self.given[name]
        table = self.table
        if name not in table:
            from armsim.files.faults import nearest

            near = nearest(name, list(table))
            hint = f"; did you mean {near!r}?" if near else ""
            raise KeyError(f"no result {name!r}{hint} (list(many) names them)")
        return table[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def to_pandas(self) -> DataFrame:
        """The table of the runs as a data frame, one row a run.

        Raises:
            UsageError: pandas is not installed.
        """
        frame: DataFrame = pandas().DataFrame(self.table)
        return frame

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)
