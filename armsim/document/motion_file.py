"""Motions that are rows of CSV files."""

from __future__ import annotations

import math
from array import array
from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

from armsim.document.recorded import LARGEST_TIME, TIME, in_order, read_table
from armsim.errors import FileFaults
from armsim.expr import Table
from armsim.files.faults import suggestion
from armsim.files.nodes import Place
from armsim.files.table import DataTable
from armsim.formulas.bounds import BOUNDS
from armsim.formulas.quantity import Context
from armsim.model import JOINT_TYPES
from armsim.plant.column_kinds import KINDS
from armsim.plant.columns import heading_of

QUANTITIES = {"q": "rad or m", "qd": "rad/s or m/s", "qdd": "rad/s² or m/s²"}
LEAST_ROWS = {"linear": 2, "cubic": 4, "quintic": 6}  # that a spline needs


class MotionTables(NamedTuple):
    """The rows of a file, as tables of every joint over time [rad or m, s]; None where the file has no such columns.

    Attributes:
        interpolation: Between positions.
        q: Positions.
        qd: Velocities.
        qdd: Accelerations.
    """

    interpolation: str
    q: Sequence[Table]
    qd: Sequence[Table] | None
    qdd: Sequence[Table] | None


def read_motion(reference: Any, context: Context) -> tuple[DataTable, MotionTables] | None:
    """The file of a reference with its rows; None, with faults in the report, if it cannot be read or used.

    Args:
        reference: A document with the keys csv, sha256 and interpolation.
        context: Knows the joints; its folder is what paths are relative to.
    """
    csv = read_table(reference, context, lambda headings: _chosen(headings, context))
    if csv is None or context.joints is None:
        return None
    place = reference.value_node("csv").place
    if TIME not in csv:
        expected, mend = f"a CSV file with a column `{TIME}`, the time", f"name its time column `{TIME}`"
        context.below("csv").add(place, expected, f"{csv.path} without it", mend)
        return None
    chosen = {quantity: _headings(quantity, csv, place, context) for quantity in QUANTITIES}
    if chosen["q"] is None or any(found == {} for found in chosen.values()):
        return None
    if chosen["qd"] is None and chosen["qdd"] is not None:
        mend = "add the velocities, or take the accelerations out"
        context.below("csv").add(place, "velocities where there are accelerations", "qdd without qd", mend)
        return None
    try:
        times = csv.complete(TIME)
        columns = {
            quantity: None if found is None else [_scaled(csv.complete(heading), f) for heading, f in found.items()]
            for quantity, found in chosen.items()
        }
    except FileFaults as error:
        context.report.faults.extend(fault for fault in error.faults if fault not in context.report.faults)
        return None
    if not in_order(times, csv, reference, context):
        return None
    interpolation = reference.interpolation or "cubic"
    least = LEAST_ROWS[interpolation] if columns["qd"] is None else 2
    if len(times) < least:
        expected = f"at least {least} rows" + ("" if columns["qd"] else f" for a {interpolation} spline")
        context.below("csv").add(place, expected, f"{len(times)} in {csv.path}", "give more rows")
        return None
    if not _within_bounds(times, columns, csv, place, context):
        return None
    q, qd, qdd = (None if of is None else [Table(times, column, "zero") for column in of] for of in columns.values())
    assert q is not None  # or it has been refused
    return csv, MotionTables(interpolation, q, qd, qdd)


def _chosen(headings: Sequence[str], context: Context) -> set[str]:
    """The columns of a file that are read."""
    found = (_heading(quantity, *joint, headings) for quantity in QUANTITIES for joint in context.joints or ())
    return {TIME, *(heading[0] for heading in found if heading is not None)}


def _heading(quantity: str, name: str, type: str, headings: Container[str]) -> tuple[str, float] | None:
    """The heading of a joint's quantity, with its factor to SI units; None if there is none."""
    unit = KINDS[quantity].unit(JOINT_TYPES[type])
    spelled = [heading_of(quantity, name, unit, degrees) for degrees in (False, True)]
    return next(((heading, 1.0 / factor) for heading, factor in spelled if heading in headings), None)


def _headings(quantity: str, csv: DataTable, place: Place, context: Context) -> dict[str, float] | None:
    """The headings of a quantity, with their factors to SI units; None where there are none, {} with a fault where some lack."""
    found: dict[str, float] = {}
    lacking = []
    for name, type in context.joints or ():
        here = _heading(quantity, name, type, csv)
        if here is None:
            lacking.append(heading_of(quantity, name, KINDS[quantity].unit(JOINT_TYPES[type]))[0])
        else:
            found[here[0]] = here[1]
    if not lacking:
        return found
    if not found and quantity != "q":
        return None
    headings = [heading for heading in csv if heading != TIME]
    expected = f"a column `{lacking[0]}` in {csv.path}"
    mend = suggestion(lacking[0], headings, "columns are") if headings else "add it"
    context.below("csv").add(place, expected, f"{len(lacking)} of them missing"
                       if len(lacking) > 1 else "none", mend)  # fmt: skip
    return {}


def _scaled(values: Sequence[float], factor: float) -> Sequence[float]:
    return values if factor == 1.0 else array("d", map(factor.__mul__, values))


def _within_bounds(
    times: Sequence[float],
    columns: Mapping[str, Sequence[Sequence[float]] | None],
    csv: DataTable,
    place: Place,
    context: Context,
) -> bool:
    """Whether times and values are within their bounds; reports one that is not."""
    asked = [("times", times, LARGEST_TIME)]
    for quantity, unit in QUANTITIES.items():
        asked += [(f"{quantity} in SI units", column, BOUNDS[unit].largest) for column in columns[quantity] or ()]
    for what, values, largest in asked:
        line = next((k for k, x in enumerate(values, start=2) if not math.fabs(x) <= largest), None)
        if line is not None:
            expected, found = f"{what} of a magnitude of {largest:g} at most", f"{values[line - 2]:g} in line {line}"
            context.below("csv").add(place, expected, f"{csv.path}: {found}", "correct the column")
            return False
    return True
