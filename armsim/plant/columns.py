"""The columns of a row: what they are, in which unit and file, and how they follow from a state.

A column is an entry of `KINDS`, and nowhere else; docs/columns.md is written from it. A heading is prefix, joint or frame, and
unit; a unit that begins with "rad" can be degrees. `Layout` says which columns a row has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal

from armsim.actuation import JointTorque
from armsim.expr import Scalar
from armsim.model import JOINT_TYPES, Arm, Joint, JointType
from armsim.plant.instant import Instant
from armsim.records import record

File = Literal["trajectory", "torque"]
FILES: tuple[File, ...] = ("trajectory", "torque")


@record
class ColumnKind:
    """A kind of column.

    Attributes:
        doc: What it is, for docs/columns.md.
        file: That it is written to.
        values: One number for each joint, for each electric motor, or for each part; of an instant, and of a name in `logged`.
        prefix: What its headings begin with.
        unit: In a heading, for a type of joint; see `position` and `force`.
        of: Which joints have it: those with a coordinate of their own, of these those with electric "motors" or an
            "elastic" coupling, or "followers".
        only: What rows need to have it: "follows" a reference, a "sprung" joint; empty where all have it.
        parts: Of a quantity of no joint: the heading of each part, without the name in `logged`.
        logged: The part of `RowExtras` whose names it has columns for; empty where rows always have it.
        called: What tolerances call it; its prefix unless given.
    """

    doc: str
    file: File
    values: Callable[..., Sequence[Scalar]]
    prefix: str = ""
    unit: Callable[[JointType], str] = lambda kind: ""
    of: Literal["joints", "motors", "elastic", "followers"] = "joints"
    only: str = ""
    parts: Mapping[str, str] | None = None
    logged: str = ""
    called: str = ""


def position(rate: str) -> Callable[[JointType], str]:
    """The unit of joint positions, or of their rates: "" for positions, "_s" for velocities, "_s2" for accelerations."""
    return lambda kind: kind.length + rate


def force(kind: JointType) -> str:
    """The unit of joint forces in a heading."""
    return "Nm" if kind.turns else "N"


def _wanted(part: str) -> Callable[[Instant], Sequence[Scalar]]:
    return lambda now: getattr(now.desired, part)


def _torques(
    part: str, of: Callable[..., Sequence[JointTorque]] = Instant.of_joints
) -> Callable[..., Sequence[Scalar]]:
    return lambda now: [getattr(torque, part) for torque in of(now, now.torques)]


POSE = {"x": "x_m", "y": "y_m", "z": "z_m", "qw": "qw", "qx": "qx", "qy": "qy", "qz": "qz"}
VELOCITY = {**{f"v{axis}": f"v{axis}_m_s" for axis in "xyz"}, **{f"w{axis}": f"w{axis}_rad_s" for axis in "xyz"}}
CONTACT = {"gap": "gap_m", "normal_force": "normal_force_N", "friction": "friction_N", "slip": "slip_m_s"}
CONTACT |= {f"friction{axis}": f"friction{axis}_N" for axis in "xyz"}
WRENCH = {"fx": "fx_N", "fy": "fy_N", "fz": "fz_N", "mx": "mx_Nm", "my": "my_Nm", "mz": "mz_Nm"}

KINDS: dict[str, ColumnKind] = {
    "q": ColumnKind("joint position", "trajectory", lambda now: now.of_joints(now.q), "q", position("")),
    "qd": ColumnKind("joint velocity", "trajectory", lambda now: now.of_joints(now.qd), "qd", position("_s")),
    "qdd": ColumnKind(
        "joint acceleration, from this instant on",
        "trajectory",
        lambda now: now.of_joints(now.qdd),
        "qdd",
        position("_s2"),
    ),
    "q_mimic": ColumnKind(
        "its position",
        "trajectory",
        lambda now: now.of_followers(now.arm.positions(now.q)),
        "q",
        position(""),
        of="followers",
    ),
    "qd_mimic": ColumnKind(
        "its velocity",
        "trajectory",
        lambda now: now.of_followers(now.arm.rates(now.qd)),
        "qd",
        position("_s"),
        of="followers",
    ),
    "qdd_mimic": ColumnKind(
        "its acceleration",
        "trajectory",
        lambda now: now.of_followers(now.arm.rates(now.qdd)),
        "qdd",
        position("_s2"),
        of="followers",
    ),
    "q_motor": ColumnKind(
        "position of the rotor before its elastic coupling, divided by the gear",
        "trajectory",
        lambda now: now.of_rotors(now.q),
        "q_motor",
        position(""),
        of="elastic",
    ),
    "qd_motor": ColumnKind(
        "its velocity", "trajectory", lambda now: now.of_rotors(now.qd), "qd_motor", position("_s"), of="elastic"
    ),
    "qdd_motor": ColumnKind(
        "its acceleration", "trajectory", lambda now: now.of_rotors(now.qdd), "qdd_motor", position("_s2"), of="elastic"
    ),
    "pose": ColumnKind(
        "the tool in the world: its position, and its orientation as a unit quaternion with qw ≥ 0",
        "trajectory",
        Instant.pose,
        parts=POSE,
        called="tool",
    ),
    "velocity": ColumnKind(
        "the tool in the world: velocity of its origin, and angular velocity, both along the world's axes",
        "trajectory",
        Instant.velocity,
        parts=VELOCITY,
        called="tool_velocity",
    ),
    "frame": ColumnKind(
        "the frame in the world, as the tool", "trajectory", Instant.pose, parts=POSE, logged="frames", called="frame"
    ),
    "frame_velocity": ColumnKind(
        "its velocities, likewise",
        "trajectory",
        Instant.velocity,
        parts=VELOCITY,
        logged="frames",
        called="frame_velocity",
    ),
    "distance": ColumnKind(
        "least distance of two links, or of a link and a thing of the world; 0 or less where they touch",
        "trajectory",
        Instant.distance,
        parts={"distance": "distance_m"},
        logged="distances",
        called="distance",
    ),
    "energy": ColumnKind(
        "kinetic energy of links, payload and rotors; potential energy in gravity, 0 where all mass lies at the world's origin",
        "trajectory",
        lambda now: now.energies,
        parts={"kinetic": "kinetic_energy_J", "potential": "potential_energy_J"},
        called="energy",
    ),
    "q_ref": ColumnKind(
        "joint position of the reference", "trajectory", _wanted("q"), "q_ref", position(""), only="follows"
    ),
    "qd_ref": ColumnKind(
        "joint velocity of the reference", "trajectory", _wanted("qd"), "qd_ref", position("_s"), only="follows"
    ),
    "tau": ColumnKind(
        "all that acts on the joint: `tau_motor` (behind an elastic coupling `torque_coupling`) + `tau_friction` + `tau_limit`, "
        "and `tau_spring` where there is one",
        "torque",
        _torques("own"),
        "tau",
        force,
    ),
    "motor": ColumnKind(
        "from the motor, felt at the joint; from an ideal drive where it has none",
        "torque",
        _torques("motor", Instant.of_drives),
        "tau_motor",
        force,
    ),
    "friction": ColumnKind(
        "viscous and dry friction of joint, rotor and gear; where a coupling is elastic of the joint alone",
        "torque",
        _torques("friction"),
        "tau_friction",
        force,
    ),
    "limit": ColumnKind("from the joint's stops; 0 within its range", "torque", _torques("limit"), "tau_limit", force),
    "rotor_friction": ColumnKind(
        "viscous and dry friction of motor and gear before its elastic coupling, seen at the joint",
        "torque",
        _torques("friction", Instant.of_rotors),
        "tau_friction_motor",
        force,
        of="elastic",
    ),
    "elastic": ColumnKind(
        "from the motor through the elastic coupling; 0 within the backlash",
        "torque",
        lambda now: [-torque.coupling for torque in now.of_rotors(now.torques)],
        "torque_coupling",
        force,
        of="elastic",
    ),
    "spring": ColumnKind("from the joint's spring", "torque", _torques("spring"), "tau_spring", force, only="sprung"),
    "coupling": ColumnKind(
        "what the coupling gives it, beside its own motor, friction, stops and spring",
        "torque",
        lambda now: now.couplings,
        "tau_coupling",
        force,
        of="followers",
    ),
    "voltage": ColumnKind(
        "at the motor's terminals",
        "torque",
        lambda now: now.powered("voltage"),
        "voltage",
        lambda kind: "V",
        of="motors",
    ),
    "current": ColumnKind(
        "through the motor's armature",
        "torque",
        lambda now: now.powered("current"),
        "current",
        lambda kind: "A",
        of="motors",
    ),
    "power": ColumnKind(
        "electrical power into the motor: voltage times current; negative where it brakes and feeds back",
        "torque",
        lambda now: now.powered("power"),
        "power",
        lambda kind: "W",
        of="motors",
    ),
    "wrench": ColumnKind(
        "what it carries: force and moment about the origin of its frame, along its axes",
        "torque",
        Instant.wrench,
        parts=WRENCH,
        logged="wrenches",
        called="wrench",
    ),
    "contact": ColumnKind(
        "the contact: distance from the solid, negative by the penetration; normal force; magnitudes of the friction force and "
        "of the velocity of slip, 0 while it sticks or is apart; the friction force on the arm along the world's axes",
        "torque",
        Instant.contact,
        parts=CONTACT,
        logged="contacts",
        called="contact",
    ),
}


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
            made += [
                Column(quantity, joint.name, i)
                for i, joint in enumerate(joints)
                if (joint.electric_motor is not None or kind.of != "motors")
                and (joint.coupling is not None or kind.of != "elastic")
            ]
        return tuple(made)

    def row(self, now: Instant) -> list[Scalar]:
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

    def headings(self, degrees: bool = False, file: File | None = None) -> list[Heading]:
        """The columns of a file, in order, without the time; all columns unless a file is named."""
        return [
            Heading(text, index, factor)
            for index, column in enumerate(self.columns)
            if file in (None, KINDS[column.quantity].file)
            for text, factor in [self.heading(column, degrees)]
        ]

    @cached_property
    def named(self) -> dict[str, Heading]:
        """The columns by every name that formulas may call them: `q_R1`, `q_R1_deg`, `q_R1_rad`; of equal ones the last holds."""
        every = self.headings()
        short = {_without_unit(column): heading for column, heading in zip(self.columns, every, strict=True)}
        return {**short, **{heading.text: heading for heading in [*self.headings(degrees=True), *every]}}


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
    return unit.replace("_s2", "/s²").replace("_s", "/s").replace("Nm", "N·m")
