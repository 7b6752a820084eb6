"""The comparison of any two runs, recordings or CSV files, column by column."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from armsim.errors import UsageError, spelled
from armsim.files.document import Place, clipped
from armsim.files.faults import refuse
from armsim.files.recovery import TABLES
from armsim.files.table_reader import read_table
from armsim.notebook import counted
from armsim.plant.columns import in_degrees
from armsim.recording.comparison import Comparison, Tolerance, column_of, compared

Array = NDArray[np.float64]
TIME = ("t_s", "t")
DEGREES = re.compile(r"_deg(_s2?)?$")  # at the end of a heading
CONVERTED = 8 * np.finfo(float).eps  # relative rounding of an angle converted to degrees and back


@dataclass(frozen=True)
class TimeSeries:
    """Time series by heading.

    Attributes:
        name: Path of the file or folder, as given.
        t: Times [s], shape (m,).
        columns: Values by heading, each of shape (m,).
    """

    name: str
    t: Array
    columns: dict[str, Array]

    def __repr__(self) -> str:
        return f"TimeSeries({self.name}: {counted(len(self.columns), 'column')} at {counted(len(self.t), 'time')})"


@dataclass(frozen=True)
class ComparedSeries:
    """The comparison of two files or folders.

    Attributes:
        comparison: B minus A, for every column that both have.
        only_a: Headings that B does not have.
        only_b: Headings that A does not have.
        interpolated: Whether B was interpolated at the times of A.
        converted: Headings in B of the columns whose angles were converted to the unit of A's. Values that then differ by
            the rounding of the conversion alone count as equal.
    """

    comparison: Comparison
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    interpolated: bool
    converted: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"ComparedSeries({self.comparison.brief})"


def compare(
    a: str | PathLike[str],
    b: str | PathLike[str],
    tolerance: Tolerance = None,
    interpolate: bool = False,
    degrees: bool = False,
) -> ComparedSeries:
    """Compare two runs, recordings, or CSV or Parquet files, column by column where headings agree up to rad or deg.

    Args:
        a: A folder that `armsim simulate` or `armsim record` has written, or a CSV or Parquet file with a column t_s.
        b: Likewise.
        tolerance: Largest difference, by quantity or heading (others are not judged), or one for all; None to require equal
            bits.
        interpolate: Where the times differ, interpolate B linearly at those times of A that both cover.
        degrees: Convert angles, their differences and tolerances to degrees.

    Raises:
        FileFaults: A file is damaged, or is no table of numbers over time; says where and why.
        UsageError: There is nothing to compare, or the times differ.
    """
    first, given = read_series(a), read_series(b)
    second, converted = in_units_of(first, given)
    shared = [name for name in first.columns if name in second.columns]
    if not shared:
        found = f"{clipped(', '.join(first.columns))}; {clipped(', '.join(second.columns))}"
        raise UsageError.of(
            f"{first.name}, {second.name}",
            "columns that both have",
            found,
            "compare runs of the same arm, written in the same unit",
        )
    columns = [column_of(name) for name in shared]
    values_a = np.column_stack([first.columns[name] for name in shared])
    values_b = np.column_stack([second.columns[name] for name in shared])
    t = first.t
    interpolated = not np.array_equal(first.t, second.t)
    if interpolated:
        if not interpolate:
            raise _times_differ(first, second)
        common = (t >= second.t[0]) & (t <= second.t[-1])
        if not common.any():
            raise UsageError.of(
                f"{first.name}, {second.name}",
                "times that both cover",
                f"{_span(first.t)}; {_span(second.t)}",
                "compare runs of the same time",
            )
        t, values_a = t[common], values_a[common]
        values_b = np.column_stack([np.interp(t, second.t, values_b[:, i]) for i in range(len(shared))])
    for i, name in enumerate(shared):
        if name in converted:
            rounding = CONVERTED * np.abs(values_a[:, i])
            near = np.abs(values_b[:, i] - values_a[:, i]) <= rounding
            values_b[near, i] = values_a[near, i]
    return ComparedSeries(
        comparison=compared(t, columns, values_a, values_b, tolerance, degrees),
        only_a=tuple(name for name in first.columns if name not in second.columns),
        only_b=tuple(name for name in second.columns if name not in first.columns),
        interpolated=interpolated,
        converted=tuple(converted.values()),
    )


def in_units_of(first: TimeSeries, second: TimeSeries) -> tuple[TimeSeries, dict[str, str]]:
    """The second time series with its angles in the unit of the first's.

    Returns:
        The series, and the original heading of every converted column, by its new one.
    """
    columns, converted = {}, {}
    for name, values in second.columns.items():
        other = _other_unit(name)
        if other is None or name in first.columns or other not in first.columns or other in second.columns:
            columns[name] = values
            continue
        columns[other] = np.degrees(values) if DEGREES.search(other) else np.radians(values)
        converted[other] = name
    return TimeSeries(second.name, second.t, columns), converted


def _other_unit(name: str) -> str | None:
    """The heading of an angle in the other unit, rad or deg; None for other columns."""
    if DEGREES.search(name):
        return DEGREES.sub(r"_rad\1", name)
    return in_degrees(name)


def _times_differ(first: TimeSeries, second: TimeSeries) -> UsageError:
    if len(first.t) != len(second.t):
        found = f"{len(first.t)} rows, {_span(first.t)}; {len(second.t)} rows, {_span(second.t)}"
    else:
        k = int(np.argmax(first.t != second.t))
        found = f"{first.t[k]:.12g} s and {second.t[k]:.12g} s in line {k + 2}"
    add = spelled("--interpolate", "interpolate=True")
    mend = f"add {add} to take the second at the times of the first"
    return UsageError.of(f"{first.name}, {second.name}", "rows at the same times", found, mend)


def _span(t: Array) -> str:
    return f"{t[0]:.6g} to {t[-1]:.6g} s"


def read_series(path: str | PathLike[str]) -> TimeSeries:
    """The time series of a run folder, or of a CSV or Parquet file.

    Raises:
        FileFaults: A file is damaged, or is no table of numbers over time; says where and why.
        UsageError: The folder holds no run.
    """
    name = os.fspath(path)
    if not os.path.isdir(name):
        return _table(name, name)
    tables = [file for file in TABLES if os.path.isfile(os.path.join(name, file))]
    if not tables:
        known = " or ".join(file for file in TABLES if file.endswith(".csv"))
        raise UsageError.of(
            name,
            "a run or a recording",
            f"a folder without {known}",
            "name a folder that `armsim simulate` or `armsim record` has written, or a CSV file",
        )
    series, *others = [_table(os.path.join(name, file), name) for file in tables]
    columns = dict(series.columns)
    for other in others:  # of one run, row for row
        if np.array_equal(other.t, series.t):
            columns = {**other.columns, **columns}
    return TimeSeries(name, series.t, {**series.columns, **columns})


def _table(file: str, name: str) -> TimeSeries:
    csv = read_table(file)
    columns = {heading: np.array(values) for heading, values in csv.columns.items()}
    time = next((heading for heading in TIME if heading in columns), None)
    if time is None:
        found, mend = clipped(", ".join(columns)), "name the column of times `t_s`"
        raise refuse(Place(file, 1, 1), "", "a column `t_s`, the time in s", found, mend)
    t = columns.pop(time)
    steps = np.diff(t) > 0
    if not steps.all():
        k = int(np.argmax(~steps))
        found = f"{t[k + 1]:.12g} after {t[k]:.12g}"
        raise refuse(Place(file, k + 3, 1), time, "times that increase from row to row", found, "sort the rows")
    return TimeSeries(name, t, columns)
