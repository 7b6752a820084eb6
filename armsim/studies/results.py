"""The results of a study: its table, read when it is asked for."""

from __future__ import annotations

import heapq
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armsim.errors import UsageError, spelled
from armsim.files.faults import suggestion
from armsim.files.study_folder import PART, RECORD, rows_of
from armsim.files.study_record import study_results
from armsim.notebook import counted, pandas
from armsim.studies.rows import INDEX, REASON, STATUS

if TYPE_CHECKING:
    from pandas import DataFrame

COMPLETE = "complete"


@dataclass(frozen=True)
class Sweep(Mapping[str, NDArray[Any]]):
    """A study that has been carried out. As a mapping it has an array with an entry for each run that is done, by column.

    Attributes:
        folder: Where it is.
        status: "complete", or "interrupted".
        done: Runs that are done.
        count: Runs in all.
        paths: What is varied.
        measures: Names of the measures.
        table: Format of the results.
        notes: What was grouped, in words.
    """

    folder: str
    status: str
    done: int
    count: int
    paths: tuple[str, ...]
    measures: tuple[str, ...]
    table: str = "csv"
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        return f"Sweep({self.folder}: {self.status}, {self.done} of {counted(self.count, 'run')})"

    @property
    def file(self) -> str:
        """The path of the table."""
        return f"{self.folder}/{PART if self.status != COMPLETE else f'results.{self.table}'}"

    def rows(self) -> Iterator[list[Any]]:
        """The rows one by one: index, values, measures, status and reason; text as in results.csv, or as Parquet has them."""
        if self.file.endswith(".parquet"):
            from armsim.studies.parquet import parquet_rows

            yield from parquet_rows(self.file)
            return
        yield from _limited(rows_of(self.file), self.done)

    @cached_property
    def _columns(self) -> dict[str, NDArray[Any]]:
        names = (INDEX, *self.paths, *self.measures, STATUS, REASON)
        columns = list(zip(*self.rows(), strict=True)) or [()] * len(names)
        return {name: _array(name, column) for name, column in zip(names, columns, strict=True)}

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The values of a path, a measure, "index", "status" or "reason", shape (done,)."""
        if name not in self._columns:
            raise KeyError(f"no column {name!r} (list(sweep) names them)")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter((INDEX, *self.paths, *self.measures, STATUS, REASON))

    def __len__(self) -> int:
        return 3 + len(self.paths) + len(self.measures)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def to_pandas(self) -> DataFrame:
        """The table as a data frame, one row a run.

        Raises:
            UsageError: pandas is not installed.
        """
        frame: DataFrame = pandas().DataFrame(self._columns)
        return frame

    @cached_property
    def tally(self) -> dict[str, int]:
        """How many runs there are of each status, the most frequent first."""
        if self.status == COMPLETE:  # study.yaml says it: the table need not be read
            return _by_number(study_results(os.path.join(self.folder, RECORD)).ended)
        return _by_number(Counter(row[-2] for row in self.rows()))

    def top(self, count: int, by: str | None = None, largest: bool = False) -> list[dict[str, Any]]:
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
        name = check_measure(by, self.measures)
        place, sign = 1 + len(self.paths) + self.measures.index(name), -1.0 if largest else 1.0
        names = list(self)
        complete = (row for row in self.rows() if row[-2] == COMPLETE and math.isfinite(_number(row[place])))
        best = heapq.nsmallest(count, complete, key=lambda row: (sign * _number(row[place]), int(row[0])))
        return [{name: _value(name, cell) for name, cell in zip(names, row, strict=True)} for row in best]


def check_measure(by: str | None, measures: Sequence[str]) -> str:
    """A measure of a study; the first one for None.

    Raises:
        UsageError: It has no such measure.
    """
    if by is None:
        return measures[0]
    if by not in measures:
        where = spelled(f"--by {by}", "by")
        raise UsageError.of(where, "a measure of the study", by, suggestion(by, measures, "there are"))
    return by


def _by_number(tally: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(tally.items(), key=lambda pair: (-pair[1], pair[0])))


def _limited(rows: Iterator[list[str]], count: int) -> Iterator[list[str]]:
    for _, row in zip(range(count), rows, strict=False):
        yield row


def _number(cell: Any) -> float:
    """A cell of a measure; NaN for none."""
    return math.nan if cell is None or cell == "" else float(cell)


def _value(name: str, cell: Any) -> Any:
    if name in (STATUS, REASON) or not isinstance(cell, str):
        return cell if cell is not None else math.nan
    if name == INDEX:
        return int(cell)
    try:
        return _number(cell)
    except ValueError:  # a word
        return cell


def _array(name: str, column: Sequence[Any]) -> NDArray[Any]:
    if name in (STATUS, REASON):
        return np.array(column, dtype=object)
    if name == INDEX:
        return np.array(column, dtype=np.int64)
    values = [_value(name, cell) for cell in column]
    return np.array(values, dtype=object if any(isinstance(x, str) for x in values) else float)
