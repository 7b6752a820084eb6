"""The columns of a row, of the kinds of `armsim.plant.column_kinds`.

A heading is prefix, joint or frame, and unit; a unit that begins with "rad" can be degrees. `Layout` says which columns a row
has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cached_property

from armsim.expr import Scalar, Scalars
from armsim.model import JOINT_TYPES, Arm, Joint
from armsim.plant.column_kinds import FILES, KINDS, ColumnKind
from armsim.plant.instant import Instant
from armsim.records import record


@record
class RowExtras:
    """What rows have besides what they always have.

    Attributes:
        frames: Names of frames, whose poses and velocities; not that of the tool.
        wrenches: Names of joints and frames, and "base", whose wrenches.
        contacts: Names of contacts: all that there are.
        distances: Names of pairs, of `Arm.pairs`.
    """

    frames: tuple[str, ...] = ()
    wrenches: tuple[str, ...] = ()
    contacts: tuple[str, ...] = ()
    distances: tuple[str, ...] = ()


@record
class Column:
    """One number of a row.

    Attributes:
        quantity: What it is, of `KINDS`.
        of: The joint's name, or which part.
        joint: The joint's index among those that have the quantity, None for a quantity of no joint.
        at: Name in `RowExtras`; empty of what rows always have.
    """

    quantity: str
    of: str
    joint: int | None = None
    at: str = ""


@record
class Heading:
    """A column of a file.

    Attributes:
        text: Prefix, joint and unit.
        index: Its place in a row.
        factor: From the row's SI unit to the file's; 1 but for degrees.
    """

    text: str
    index: int
    factor: float = 1.0

    @property
    def column(self) -> tuple[str, int, float]:
        """Its attributes."""
        return self.text, self.index, self.factor

    @property
    def unit(self) -> str:
        """Its unit as people write it; "1" for a pure number."""
        return (read_heading(self.text) or ("", "", ""))[2] or "1"


@record
class Layout:
    """What the numbers of a row are.

    Attributes:
        arm: The arm.
        follows: Whether it follows a reference that moves.
        logged: What else rows have.
    """

    arm: Arm
    follows: bool = False
    logged: RowExtras = RowExtras()

    @property
    def _parts(self) -> Iterator[tuple[str, ColumnKind, tuple[str, ...]]]:
        """The kinds of columns in order; one with names in `logged` once for each of them, with the name."""
        for quantity, kind in KINDS.items():
            if not kind.only or (self.follows if kind.only == "follows" else self.arm.sprung):
                names = [(name,) for name in getattr(self.logged, kind.logged)] if kind.logged else [()]
                yield from ((quantity, kind, name) for name in names)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        made: list[Column] = []
        for quantity, kind, name in self._parts:
            if kind.parts is not None:
                made += [Column(quantity, part, None, *name) for part in kind.parts]
                continue
            joints = self.arm.followers if kind.of == "followers" else self.arm.joints
            made += [Column(quantity, joint.name, i) for i, joint in enumerate(joints) if _has(joint, kind.of)]
        return tuple(made)

    def row(self, now: Instant) -> Scalars:
        """The numbers of a row."""
        return [value for _, kind, name in self._parts for value in kind.values(now, *name)]

    def value(self, now: Instant, index: int) -> Scalar:
        """One number of a row, by its place."""
        column = self.columns[index]
        alike = [(one.quantity, one.at) == (column.quantity, column.at) for one in self.columns]
        name = (column.at,) if column.at else ()
        return KINDS[column.quantity].values(now, *name)[index - alike.index(True)]

    def heading(self, column: Column, degrees: bool = False) -> tuple[str, float]:
        """The heading of a column, and the factor from SI units to its unit."""
        kind = KINDS[column.quantity]
        if kind.parts is not None:
            text = kind.parts[column.of]
            unit = (PART_UNIT.search(text) or ("", ""))[1]
            return heading_of(text.removesuffix(f"_{unit}"), column.at, unit, degrees)
        (link,) = (link for link in self.arm.links if link.name == column.of)
        return heading_of(kind.prefix, column.of, kind.unit(link.kind), degrees)

    def headings(self, degrees: bool = False) -> list[Heading]:
        """All columns, in order, without the time."""
        pairs = [self.heading(column, degrees) for column in self.columns]
        return [Heading(text, index, factor) for index, (text, factor) in enumerate(pairs)]

    def files(self, degrees: bool = False) -> dict[str, list[Heading]]:
        """The columns of every file of a run, in order, without the time."""
        every = self.headings(degrees)
        return {
            file: [heading for heading in every if KINDS[self.columns[heading.index].quantity].file == file]
            for file in FILES
        }

    @cached_property
    def named(self) -> dict[str, Heading]:
        """The columns by every name that formulas may call them: `q_R1`, `q_R1_deg`, `q_R1_rad`; of equal ones the last holds."""
        every = self.headings()
        short = {_without_unit(column): heading for column, heading in zip(self.columns, every, strict=True)}
        return {**short, **{heading.text: heading for heading in [*self.headings(degrees=True), *every]}}


def _has(joint: Joint, of: str) -> bool:
    """Whether a joint has a kind of column; see `ColumnKind.of`."""
    motor = joint.electric_motor
    return {
        "motors": motor is not None,
        "drifting": motor is not None and motor.drifts,
        "elastic": joint.coupling is not None,
    }.get(of, True)


def heading_of(prefix: str, of: str, unit: str, degrees: bool = False) -> tuple[str, float]:
    """The heading of a prefix, joint or part, and SI unit; and the factor from SI units to its unit."""
    factor = 1.0
    if degrees and unit.startswith("rad"):
        unit, factor = f"deg{unit[3:]}", math.degrees(1.0)
    return "_".join(part for part in (prefix, of, unit) if part), factor


def _without_unit(column: Column) -> str:
    kind = KINDS[column.quantity]
    if kind.parts is None:
        return f"{kind.prefix}_{column.of}"
    return heading_of(PART_UNIT.sub("", kind.parts[column.of]), column.at, "")[0]


def spellings(quantity: str, joint: Joint) -> list[tuple[str, float]]:
    """The headings that a joint's quantity may have in a file, each with the factor from SI units to it: radians first."""
    found = [
        heading_of(KINDS[quantity].prefix, joint.name, KINDS[quantity].unit(joint.kind), degrees)
        for degrees in (False, True)
    ]
    return list(dict.fromkeys(found))


PART_UNIT = re.compile(r"_(m|(?:m|rad|deg)_s|J|Nm?)$")  # at the end of the heading of a part
RADIANS = re.compile(r"_rad(_s2?)?$")  # at the end of a heading
JOINT_UNITS = sorted({kind.unit(joint) for kind in KINDS.values() if not kind.parts for joint in JOINT_TYPES.values()})
JOINT_HEADING = re.compile(
    rf"({'|'.join(sorted((kind.prefix for kind in KINDS.values() if kind.prefix), key=len, reverse=True))}|prev_qd)_(.+)"
    rf"_({'|'.join(sorted([*JOINT_UNITS, *(unit.replace('rad', 'deg') for unit in JOINT_UNITS)], key=len, reverse=True))})"
)
PART_HEADINGS = [  # beginning and end of each part's heading; between them the name of what is logged
    (text.removesuffix(end) + "_" * bool(kind.logged), end, part, kind)
    for kind in KINDS.values()
    for part, heading in (kind.parts or {}).items()
    for text in {heading, RADIANS.sub(r"_deg\1", heading)}
    for end in [(PART_UNIT.search(text) or [""])[0]]
]


def in_degrees(text: str) -> str | None:
    """A heading of radians as one of degrees; None for any other."""
    return RADIANS.sub(r"_deg\1", text) if RADIANS.search(text) else None


def read_heading(text: str) -> tuple[str, str, str] | None:
    """A heading parsed: its name in tolerances, the joint or the part, and its unit as people write it; None if unknown."""
    for start, end, part, kind in PART_HEADINGS:
        name = text.removeprefix(start).removesuffix(end)
        if text == start + name + end and bool(name) == bool(kind.logged):
            return kind.called, part + f"_{name}" * bool(name), spoken(end[1:])
    match = JOINT_HEADING.fullmatch(text)
    return None if match is None else (match[1], match[2], spoken(match[3]))


def spoken(unit: str) -> str:
    """A unit of a heading as people write it: rad/s² for rad_s2, N·m for Nm."""
    return unit.replace("_s2", "/s²").replace("_s", "/s").replace("Nm", "N·m").replace("degC", "°C")
