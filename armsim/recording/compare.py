"""Any two runs, or CSV files with the same columns, held against each other."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from armsim.errors import UsageError
from armsim.files.csv_reader import read_csv
from armsim.files.document import Place, clipped
from armsim.files.faults import refuse
from armsim.files.run_folder import RUN_FILES
from armsim.plant.columns import in_degrees
from armsim.recording.comparison import Comparison, Tolerance, column_of, compared

Array = NDArray[np.float64]
TIME = ("t_s", "t")
DEGREES = re.compile(r"_deg(_s2?)?$")  # at the end of a heading
CONVERTED = 8 * np.finfo(float).eps  # relative: an angle written in degrees, and taken back to radians


@dataclass(frozen=True)
class Course:
    """Columns over time.

    Attributes:
        name: What the user called it.
        t: Times [s], shape (m,).
        columns: Values by heading, each of shape (m,).
    """

    name: str
    t: Array
    columns: dict[str, Array]


@dataclass(frozen=True)
class ComparedCourses:
    """Two courses held against each other.

    Attributes:
        comparison: B minus A, of every column that both have.
        only_a: Columns that B does not have.
        only_b: Columns that A does not have.
        interpolated: Whether B was interpolated at the times of A.
        converted: Columns of B whose angles were taken to the unit of A's, by their headings in B. Where the numbers then
            differ by no more than the rounding of that, they count as equal.
    """

    comparison: Comparison
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    interpolated: bool
    converted: tuple[str, ...] = ()


def compare(
    a: str | PathLike[str],
    b: str | PathLike[str],
    tolerance: Tolerance = None,
    interpolate: bool = False,
    degrees: bool = False,
) -> ComparedCourses:
    """Compare two runs, recordings or CSV files, column by column where their headings are the same but for rad and deg.

    Args:
        a: A folder that `armsim simulate` or `armsim record` has written, or a CSV file with a column t_s.
        b: Likewise.
        tolerance: Magnitudes that differences may have, by quantity or heading, the others are not judged; one for all;
            or None, where every bit counts.
        interpolate: Where the times differ: interpolate B linearly at those times of A that both cover.
        degrees: Take angles to degrees, differences and tolerances with them.

    Raises:
        FileFaults: A file is damaged, or is no table of numbers over time; says where and why.
        UsageError: There is nothing to compare, or the times differ.
    """
    first, given = read_course(a), read_course(b)
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
    return ComparedCourses(
        comparison=compared(t, columns, values_a, values_b, tolerance, degrees),
        only_a=tuple(name for name in first.columns if name not in second.columns),
        only_b=tuple(name for name in second.columns if name not in first.columns),
        interpolated=interpolated,
        converted=tuple(converted.values()),
    )


def in_units_of(first: Course, second: Course) -> tuple[Course, dict[str, str]]:
    """The second course with its angles in the unit in which the first has them.

    Returns:
        The course, and of every column converted its heading before, by its heading now.
    """
    columns, converted = {}, {}
    for name, values in second.columns.items():
        other = _other_unit(name)
        if other is None or name in first.columns or other not in first.columns or other in second.columns:
            columns[name] = values
            continue
        columns[other] = np.degrees(values) if DEGREES.search(other) else np.radians(values)
        converted[other] = name
    return Course(second.name, second.t, columns), converted


def _other_unit(name: str) -> str | None:
    """The heading of the same angle in the other unit; None for what is none."""
    if DEGREES.search(name):
        return DEGREES.sub(r"_rad\1", name)
    return in_degrees(name)


def _times_differ(first: Course, second: Course) -> UsageError:
    if len(first.t) != len(second.t):
        found = f"{len(first.t)} rows, {_span(first.t)}; {len(second.t)} rows, {_span(second.t)}"
    else:
        k = int(np.argmax(first.t != second.t))
        found = f"{first.t[k]:.12g} s and {second.t[k]:.12g} s in line {k + 2}"
    mend = "add --interpolate to take the second at the times of the first"
    return UsageError.of(f"{first.name}, {second.name}", "rows at the same times", found, mend)


def _span(t: Array) -> str:
    return f"{t[0]:.6g} to {t[-1]:.6g} s"


def read_course(path: str | PathLike[str]) -> Course:
    """The columns of a run folder or a CSV file, with their times.

    Raises:
        FileFaults: A file is damaged, or is no table of numbers over time; says where and why.
        UsageError: The folder holds no run.
    """
    name = os.fspath(path)
    if not os.path.isdir(name):
        return _table(name, name)
    tables = [file for file in RUN_FILES if file.endswith(".csv") and os.path.isfile(os.path.join(name, file))]
    if not tables:
        known = " or ".join(file for file in RUN_FILES if file.endswith(".csv"))
        raise UsageError.of(
            name,
            "a run or a recording",
            f"a folder without {known}",
            "name a folder that `armsim simulate` or `armsim record` has written, or a CSV file",
        )
    course, *others = [_table(os.path.join(name, file), name) for file in tables]
    columns = dict(course.columns)
    for other in others:  # of one run, row for row
        if np.array_equal(other.t, course.t):
            columns = {**other.columns, **columns}
    return Course(name, course.t, {**course.columns, **columns})


def _table(file: str, name: str) -> Course:
    csv = read_csv(file)
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
    return Course(name, t, columns)
