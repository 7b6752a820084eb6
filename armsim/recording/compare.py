"""The comparison of any two runs, recordings or CSV files, column by column."""

from __future__ import annotations

import os
import re
from collections import ChainMap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from armsim.arrays import Array, Mask
from armsim.display import Shown
from armsim.errors import UsageError, spelled
from armsim.files.faults import refuse
from armsim.files.nodes import clipped
from armsim.files.run_record import recorded
from armsim.files.table import TIME, DataTable
from armsim.files.table_reader import read_table
from armsim.notebook import counted
from armsim.plant.columns import in_degrees, read_heading
from armsim.recording.column_hint import guess_time, hint
from armsim.recording.column_map import Columns, renamed
from armsim.recording.comparison import Comparison, Tolerance, column_of, compared
from armsim.recording.time_units import scaling, unit_by_spans
from armsim.records import attributes, record

DEGREES = re.compile(r"_deg(_s2?)?$")  # at the end of a heading
CONVERTED = 8 * np.finfo(float).eps  # relative rounding of an angle converted to degrees and back


@record
class TimeSeries:
    """Time series by heading.

    Attributes:
        name: Path of the file or folder, as given.
        t: Times [s], shape (m,); NaN where one is missing.
        columns: Values by heading, m of each, NaN where one is missing; read from the table, which may refuse a column of text.
        table: The table, or the first of a folder.
        time: Heading of the times.
    """

    name: str
    t: Array
    columns: Mapping[str, Sequence[float]]
    table: DataTable
    time: str

    @property
    def headings(self) -> list[str]:
        """Those of all columns but the time's."""
        return [heading for heading in self.columns if heading != self.time]

    def __repr__(self) -> str:
        return f"TimeSeries({self.name}: {counted(len(self.columns), 'column')} at {counted(len(self.t), 'time')})"


@record
class ComparedSeries(Shown):
    """The comparison of two files or folders.

    Attributes:
        a: Name of the first.
        b: Name of the second.
        comparison: B minus A, for every column that both have.
        only_a: Headings that B does not have.
        only_b: Headings that A does not have.
        interpolated: Whether B was interpolated at the times of A.
        converted: Headings in B of the columns whose angles were converted to the unit of A's. Values that then differ by
            the rounding of the conversion alone count as equal.
        notes: What was left out, in words.
    """

    a: str
    b: str
    comparison: Comparison
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    interpolated: bool
    converted: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"ComparedSeries({self.comparison.verdict()})"

    def data(self) -> dict[str, Any]:
        """As plain data."""
        about = attributes(self, "a", "b", "interpolated", "only_a", "only_b", "converted", "notes")
        return {**about, **self.comparison.data()}


def compare(
    a: str | PathLike[str],
    b: str | PathLike[str],
    tolerance: Tolerance = None,
    interpolate: bool = False,
    degrees: bool = False,
    columns: Columns | None = None,
) -> ComparedSeries:
    """Compare two runs, recordings, or CSV or Parquet files, column by column where headings agree up to rad or deg.

    Args:
        a: A folder that `armsim simulate` or `armsim record` has written, or a CSV or Parquet file with a column t_s.
        b: Likewise.
        tolerance: Largest difference, by quantity or heading (others are not judged), or one for all; None to require equal
            bits.
        interpolate: Where the times differ, interpolate B linearly at those times of A that both cover.
        degrees: Convert angles, their differences and tolerances to degrees.
        columns: From A's headings to columns of B, or to formulas of them: a YAML file, its text in braces, or a mapping.

    Columns that only one has may hold anything. Rows in which a cell is missing are left out, of both where their times agree.

    Raises:
        FileFaults: A file is damaged, or is no table of numbers over time; says where and why.
        UsageError: There is nothing to compare, or the times differ.
    """
    first = read_series(a)
    second = read_series(b, columns, first.headings)
    converted = conversions(first, second)
    pairs = [(name, name if name in second.columns else converted.get(name)) for name in first.headings]
    series_a, series_b, unread = _values(first, second, [(name, other) for name, other in pairs if other is not None])
    shared = [*series_a]
    if not shared:
        found = f"{clipped(', '.join(first.headings))}; {clipped(', '.join(second.headings))}"
        raise UsageError.of(
            f"{first.name}, {second.name}",
            "columns that both have",
            found,
            "compare runs of the same arm, written in the same unit",
        )
    named = [column_of(name) for name in shared]
    t, values_a = first.t, np.column_stack([*series_a.values()])
    other_t, values_b = second.t, np.column_stack([*series_b.values()])
    whole_a, whole_b = _whole(t, values_a), _whole(other_t, values_b)
    notes = (
        [f"{name} is not compared, it holds no numbers" for name in unread]
        + _skipped(first, whole_a)
        + _skipped(second, whole_b)
    )
    interpolated = not np.array_equal(t, other_t, equal_nan=True)
    if not interpolated:
        whole_a = whole_b = whole_a & whole_b
    t, values_a, other_t, values_b = t[whole_a], values_a[whole_a], other_t[whole_b], values_b[whole_b]
    if interpolated:
        if not interpolate:
            raise _times_differ(first, second)
        unit = unit_by_spans(first.t, second.t)
        notes += [] if unit is None else [_scale(second, unit)]
        common = (t >= other_t[0]) & (t <= other_t[-1])
        if not common.any():
            raise UsageError.of(
                f"{first.name}, {second.name}",
                "times that both cover",
                f"{_span(t)}; {_span(other_t)}",
                "compare runs of the same time",
            )
        t, values_a = t[common], values_a[common]
        values_b = np.column_stack([np.interp(t, other_t, values_b[:, i]) for i in range(len(shared))])
    for i, name in enumerate(shared):
        if name in converted:
            rounding = CONVERTED * np.abs(values_a[:, i])
            near = np.abs(values_b[:, i] - values_a[:, i]) <= rounding
            values_b[near, i] = values_a[near, i]
    return ComparedSeries(
        a=first.name,
        b=second.name,
        comparison=compared(t, named, values_a, values_b, tolerance, degrees),
        only_a=tuple(name for name, other in pairs if other is None),
        only_b=tuple(x for x in second.headings if x not in first.columns and x not in converted.values()),
        interpolated=interpolated,
        converted=tuple(converted.values()),
        notes=tuple(notes),
    )


def conversions(first: TimeSeries, second: TimeSeries) -> dict[str, str]:
    """Columns of the second time series whose angles are converted to the unit of the first's, by heading of the first."""
    found = {}
    for name in second.headings:
        other = _other_unit(name)
        if other in first.columns and name not in first.columns and other not in second.columns:
            found[str(other)] = name
    return found


def _values(
    first: TimeSeries, second: TimeSeries, pairs: Sequence[tuple[str, str]]
) -> tuple[dict[str, Array], dict[str, Array], list[str]]:
    """Both values of columns that both have, in the unit of the first, by its heading; and which hold no numbers.

    Raises:
        FileFaults: A column of numbers has a cell that is none, or too many that are missing.
    """
    a, b, unread = {}, {}, []
    for name, other in pairs:
        if read_heading(name) is None and (first.table.is_text(name) or second.table.is_text(other)):
            unread.append(name)
            continue
        values, others = np.array(first.columns[name]), np.array(second.columns[other])
        if other != name:
            others = np.degrees(others) if DEGREES.search(name) else np.radians(others)
        a[name], b[name] = values, others
    return a, b, unread


def _whole(t: Array, values: Array) -> Mask:
    """Rows without a missing cell."""
    return np.isfinite(t) & np.isfinite(values).all(axis=1)


def _skipped(series: TimeSeries, whole: Mask) -> list[str]:
    rows = np.flatnonzero(~whole).tolist()
    return [f"{series.name}: {series.table.skipped(rows)}"] if rows else []


def _other_unit(name: str) -> str | None:
    """The heading of an angle in the other unit, rad or deg; None for other columns."""
    if DEGREES.search(name):
        return DEGREES.sub(r"_rad\1", name)
    return in_degrees(name)


def _scale(second: TimeSeries, unit: str) -> str:
    """How to scale times that seem to be in another unit than the second."""
    how = scaling(second.time if second.time in second.table else None, unit)
    return f"the times of {second.name} seem to be {unit}; scale them, with {how}"


def _times_differ(first: TimeSeries, second: TimeSeries) -> UsageError:
    if len(first.t) != len(second.t):
        found = f"{len(first.t)} rows, {_span(first.t)}; {len(second.t)} rows, {_span(second.t)}"
    else:
        k = int(np.argmax(~np.isclose(first.t, second.t, rtol=0.0, atol=0.0, equal_nan=True)))
        found = f"{first.t[k]:.12g} s and {second.t[k]:.12g} s in line {k + 2}"
    unit = unit_by_spans(first.t, second.t)
    if unit is not None:
        return UsageError.of(f"{first.name}, {second.name}", "rows at the same times", found, _scale(second, unit))
    add = spelled("--interpolate", "interpolate=True")
    mend = f"add {add} to take the second at the times of the first"
    return UsageError.of(f"{first.name}, {second.name}", "rows at the same times", found, mend)


def _span(t: Array) -> str:
    return f"{np.nanmin(t):.6g} to {np.nanmax(t):.6g} s"


def read_series(path: str | PathLike[str], columns: Columns | None = None, asked: Collection[str] = ()) -> TimeSeries:
    """The time series of a run folder, or of a CSV or Parquet file.

    Args:
        path: The folder or file.
        columns: From `asked`, in rad or deg, to columns of the file or to formulas of them; see `renamed`.
        asked: Headings.

    Raises:
        FileFaults: A file is damaged, or is no table over time; says where and why.
        UsageError: The folder holds no run, or is to be renamed.
    """
    name = os.fspath(path)
    if not os.path.isdir(name):
        return _table(name, name, columns, asked)
    if columns is not None:
        raise UsageError.of("columns", "a file B, whose columns they explain", f"the folder {name}", "leave it out")
    series, *others = [_table(file, name) for file in recorded(name).tables]
    of_one_run = [other.columns for other in others if np.array_equal(other.t, series.t)]  # row for row
    return replace(series, columns=ChainMap(series.columns, *of_one_run))  # type: ignore[arg-type]  # only read


def _table(file: str, name: str, columns: Columns | None = None, asked: Collection[str] = ()) -> TimeSeries:
    table = read_table(file)
    units = [other for heading in asked if (other := _other_unit(heading)) is not None]
    named = renamed(table, columns, [*TIME, *asked, *units], "what it is compared with")
    time = next((heading for heading in TIME if heading in named), None)
    if time is None:
        mend = hint({"t_s": guess_time(table)}) if asked else "name the column of times `t_s`"
        raise refuse(table.top, "", "a column `t_s`, the time in s", clipped(", ".join(table)), mend)
    t = np.array(named[time])
    rows = np.flatnonzero(np.isfinite(t))
    steps = np.diff(t[rows]) > 0
    if not steps.all():
        k = int(np.argmax(~steps))
        found = f"{t[rows[k + 1]]:.12g} after {t[rows[k]]:.12g}"
        place = table.place(int(rows[k + 1]))
        raise refuse(place, time, "times that increase from row to row", found, "sort the rows")
    return TimeSeries(name, t, named, table, time)
