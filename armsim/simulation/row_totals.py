"""What the summary of a run takes from its rows, gathered block by block, so that no row need be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from itertools import count
from typing import Any

from armsim.model import Arm
from armsim.plant import Column
from armsim.records import mutable_record

MOST = 1000  # points of a path


@mutable_record
class Extremes:
    """Extremes of a column.

    Attributes:
        column: Its place in a row.
        least: Least number.
        most: Largest number.
    """

    column: int
    least: float = float("inf")
    most: float = -float("inf")

    def add(self, seen: list[float]) -> None:
        """Take numbers into account."""
        self.least, self.most = min(self.least, min(seen)), max(self.most, max(seen))


@mutable_record
class Range(Extremes):
    """Extremes of a joint position that has limits.

    Attributes:
        lower: Its range [rad or m].
        upper: Likewise.
        outside: Index of the first row outside it; None if there is none.
    """

    lower: float = -float("inf")
    upper: float = float("inf")
    outside: int | None = None

    @property
    def beyond(self) -> float:
        """How far outside it was at most [rad or m]; not positive if it never was."""
        return max(self.lower - self.least, self.most - self.upper)


@mutable_record
class Voltage(Extremes):
    """Extremes of a motor's voltage that its supply limits.

    Attributes:
        limit: Of the supply [V].
    """

    limit: float = float("inf")

    @property
    def reached(self) -> bool:
        """Whether it was at its limit."""
        return max(-self.least, self.most) >= self.limit


@mutable_record
class NormalForce(Extremes):
    """Extremes of the normal force of a contact.

    Attributes:
        touched: Index of the first row with a force; None if there is none.
        strongest: Index of the row with the largest.
    """

    touched: int | None = None
    strongest: int = 0

    def locate(self, rows: int, seen: list[float]) -> None:
        """Take numbers into account that follow so many rows; to be called before `add`."""
        most = max(seen)
        if most > max(self.most, 0.0):
            self.strongest = rows + seen.index(most)
            if self.touched is None:
                self.touched = next(k for k, force in zip(count(rows), seen) if force > 0)


@mutable_record
class Path:
    """Some columns of some rows, evenly spaced and at most `MOST` of them, however many rows there are.

    Attributes:
        columns: Their places in a row.
        stride: Rows from one to the next.
        points: The numbers of every such row.
    """

    columns: list[int]
    stride: int = 1
    points: list[list[float]] = field(default_factory=list)

    def add(self, first: int, rows: Any, width: int) -> None:
        """Take rows into account, the first of them of that index."""
        k = -first % self.stride
        while k < len(rows) // width:
            self.points.append([rows[k * width + column] for column in self.columns])
            if len(self.points) > MOST:
                self.points, self.stride = self.points[::2], 2 * self.stride
            k = (len(self.points) * self.stride) - first


@mutable_record
class RowTotals:
    """Totals of rows.

    Attributes:
        width: Numbers in a row.
        first: The first row.
        ranges: Of the joint positions that have limits, by joint.
        ways: Of all joint positions.
        path: Joint positions.
        voltages: Of the motors whose voltage is limited, by joint.
        kinetic: Of kinetic energy [J].
        potential: Of potential energy [J].
        forces: Normal forces, by contact [N].
    """

    width: int
    ranges: dict[str, Range]
    ways: list[Extremes]
    path: Path
    voltages: dict[str, Voltage]
    kinetic: Extremes
    potential: Extremes
    forces: dict[str, NormalForce] = field(default_factory=dict)
    first: list[float] = field(default_factory=list)
    _rows: int = 0

    @classmethod
    def of(cls, arm: Arm, columns: Sequence[Column]) -> RowTotals:
        """Of no rows yet."""
        place = {(column.quantity, column.of): i for i, column in enumerate(columns)}
        limited = [(joint.name, joint.limit) for joint in arm.joints if joint.limit is not None]
        ranges = {name: Range(place["q", name], lower=limit.lower, upper=limit.upper) for name, limit in limited}
        kinetic, potential = (Extremes(place["energy", kind]) for kind in ("kinetic", "potential"))
        motors = [(joint.name, joint.electric_motor) for joint in arm.joints if ("voltage", joint.name) in place]
        supplies = [(name, motor.limits.voltage) for name, motor in motors if motor is not None]
        voltages = {name: Voltage(place["voltage", name], limit=limit) for name, limit in supplies if limit is not None}
        ways = [Extremes(place["q", joint.name]) for joint in arm.joints]
        path = Path([way.column for way in ways])
        normal = ("contact", "normal_force")
        forces = {of.at: NormalForce(i) for i, of in enumerate(columns) if (of.quantity, of.of) == normal}
        return cls(len(columns), ranges, ways, path, voltages, kinetic, potential, forces)

    def add(self, rows: Any) -> None:
        """Take rows into account: a flat sequence of doubles, row by row, whose slices are lists or memoryviews."""
        if not len(rows):
            return
        self.first = self.first or list(rows[: self.width])
        named = (*self.ranges.values(), *self.voltages.values(), *self.forces.values())
        for part in (*named, *self.ways, self.kinetic, self.potential):
            seen: Any = rows[part.column :: self.width]
            seen = seen.tolist() if isinstance(seen, memoryview) else seen
            if isinstance(part, NormalForce):
                part.locate(self._rows, seen)
            part.add(seen)
            if isinstance(part, Range) and part.outside is None and part.beyond > 0:
                outside = (k for k, q in zip(count(self._rows), seen) if q < part.lower or q > part.upper)
                part.outside = next(outside)
        self.path.add(self._rows, rows, self.width)
        self._rows += len(rows) // self.width
