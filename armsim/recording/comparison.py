"""The differences of two time series of the same quantities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from armsim.arrays import Array
from armsim.errors import UsageError
from armsim.files.faults import nearest, suggestion
from armsim.notebook import counted
from armsim.plant.columns import in_degrees, read_heading
from armsim.records import Json, attributes, record

Tolerance = Mapping[str, float] | float | None


@record
class ComparedColumn:
    """A column that both time series have.

    Attributes:
        heading: As in the files, with its unit.
        quantity: Its name in tolerances: "q", "qd", "qdd", "tool", "tau", ...; the heading where it is not known.
        of: The joint, or the component of the tool's; empty where it is not known.
        unit: As printed.
    """

    heading: str
    quantity: str
    of: str
    unit: str


@record
class Difference:
    """The difference of a column, second minus first, in the unit of its heading.

    Attributes:
        column: The column.
        final: At the last instant.
        rms: Root mean square over all instants.
        largest: Largest magnitude.
        at: Time of the largest [s].
        began: Time at which it first exceeded the tolerance [s]; None if it never did.
        tolerance: Largest magnitude allowed; 0 where equal bits are required; None where it is not judged.
    """

    column: ComparedColumn
    final: float
    rms: float
    largest: float
    at: float
    began: float | None
    tolerance: float | None

    def __repr__(self) -> str:
        return f"Difference({self.column.heading}: {self.largest:.5g} at most, at t = {self.at:g} s)"


@record
class Comparison:
    """Two time series and their differences.

    Attributes:
        t: Times [s], shape (m,).
        first: Values, shape (m, number of columns).
        second: Likewise.
        differences: One per column.
        equal: Whether all numbers are equal to the bit (zeros of either sign are equal).
    """

    t: Array
    first: Array
    second: Array
    differences: tuple[Difference, ...]
    equal: bool

    def __repr__(self) -> str:
        return f"Comparison({self.verdict()})"

    def verdict(self, converted: bool = False) -> str:
        """Whether the two are equal, in a line; angles that were converted are not compared to the bit."""
        numbers = f"{counted(len(self.differences), 'number')} at {counted(len(self.t), 'instant')}"
        if self.equal:
            return f"equal{'' if converted else ' to the bit'}: {numbers}"
        judged = [d for d in self.differences if d.tolerance is not None]
        if self.began is not None:
            exact = all(d.tolerance == 0 for d in judged)
            return f"{'differs' if exact else 'differs by more than the tolerance'} from {self.began:.9g} s on"
        if judged:
            return f"within the tolerance: {len(judged)} of {numbers}"
        return "not judged: no tolerance was given"

    @property
    def differs(self) -> bool:
        """Whether any judged column exceeds its tolerance."""
        return any(difference.began is not None for difference in self.differences)

    @property
    def began(self) -> float | None:
        """Earliest time at which a column exceeded its tolerance [s]; None if none did."""
        return min((d.began for d in self.differences if d.began is not None), default=None)

    def data(self) -> Json:
        """As plain data: equal, differs, began, and the difference of every column by heading."""
        names = "final", "rms", "largest", "at", "began", "tolerance"
        columns = {difference.column.heading: attributes(difference, *names) for difference in self.differences}
        return {"samples": len(self.t), **attributes(self, "equal", "differs", "began"), "columns": columns}


def column_of(heading: str) -> ComparedColumn:
    """The column of a heading of trajectory.csv, torque.csv or record.csv."""
    quantity, of, unit = read_heading(heading) or (heading, "", "")
    return ComparedColumn(heading, quantity, of, unit)


def as_degrees(column: ComparedColumn) -> tuple[ComparedColumn, float]:
    """The column with its angle in degrees, and the factor of its values; unchanged if it is no angle."""
    heading = in_degrees(column.heading)
    if heading is None:
        return column, 1.0
    return replace(column, heading=heading, unit=column.unit.replace("rad", "deg")), math.degrees(1.0)


def compared(
    t: Array,
    columns: Sequence[ComparedColumn],
    first: Array,
    second: Array,
    tolerance: Tolerance,
    degrees: bool = False,
) -> Comparison:
    """The differences of two time series.

    Args:
        t: Times [s], shape (m,), m at least 1.
        columns: The columns.
        first: Values, shape (m, len(columns)).
        second: Likewise.
        tolerance: Largest difference, by quantity or heading (others are not judged), or one for all; None to require equal
            bits.
        degrees: Convert angles, their differences and tolerances to degrees.

    Raises:
        UsageError: A tolerance names no column or quantity, or is not a magnitude.
    """
    allowed = tolerances(columns, tolerance, degrees)
    equal = bool((first == second).all())
    difference = second - first  # before the factor, whose rounding could make unequal numbers equal
    if degrees:
        turned, factors = zip(*map(as_degrees, columns), strict=True)
        columns, first, second, difference = turned, first * factors, second * factors, difference * factors
    magnitude = np.abs(difference)
    differences = []
    for i, (column, most) in enumerate(zip(columns, allowed, strict=True)):
        beyond = ~(magnitude[:, i] <= (math.inf if most is None else most))
        k = int(np.argmax(magnitude[:, i]))
        scale = magnitude[k, i]
        rms = scale * math.sqrt(float(np.mean((difference[:, i] / scale) ** 2))) if 0 < scale < math.inf else scale
        differences.append(
            Difference(
                column,
                final=float(difference[-1, i]),
                rms=float(rms),
                largest=float(scale),
                at=float(t[k]),
                began=float(t[int(np.argmax(beyond))]) if beyond.any() else None,
                tolerance=most,
            )
        )
    return Comparison(t, first, second, tuple(differences), equal)


def tolerances(columns: Sequence[ComparedColumn], tolerance: Tolerance, degrees: bool = False) -> list[float | None]:
    """The tolerance of every column; None where it is not judged.

    Raises:
        UsageError: As `compared` does.
    """
    if tolerance is None:
        return [0.0] * len(columns)
    if degrees:
        columns = [as_degrees(column)[0] for column in columns]
    if not isinstance(tolerance, Mapping):
        tolerance = dict.fromkeys((column.quantity for column in columns), tolerance)
    known = list(dict.fromkeys([column.quantity for column in columns] + [column.heading for column in columns]))
    for name, most in tolerance.items():
        if name not in known:
            among = known if nearest(name, known) else dict.fromkeys(column.quantity for column in columns)
            mend = suggestion(name, among, "there are")
            raise UsageError.of(f"tolerance: {name}", "a quantity or column that is compared", repr(name), mend)
        if not 0 <= most < math.inf:
            raise UsageError.of(
                f"tolerance: {name}", "a magnitude, 0 or more", repr(most), f"write for example {name}=1e-6"
            )
    return [tolerance.get(column.heading, tolerance.get(column.quantity)) for column in columns]
