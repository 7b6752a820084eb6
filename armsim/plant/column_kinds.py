"""The kinds of columns of a row: what they are, in which unit and file, and how they follow from a state.

A column is an entry of `KINDS`, and nowhere else; docs/columns.md is written from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from armsim.actuation import JointTorque
from armsim.expr import Scalars
from armsim.model import JointType
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
        of: Which joints have it: those with a coordinate of their own, of these those with electric "motors", with a winding
            whose resistance is "drifting", or with an "elastic" coupling, or "followers".
        only: What rows need to have it: "follows" a reference, a "sprung" joint; empty where all have it.
        parts: Of a quantity of no joint: the heading of each part, without the name in `logged`.
        logged: The part of `RowExtras` whose names it has columns for; empty where rows always have it.
        called: What tolerances call it; its prefix unless given.
    """

    doc: str
    file: File
    values: Callable[..., Scalars]
    prefix: str = ""
    unit: Callable[[JointType], str] = lambda kind: ""
    of: Literal["joints", "motors", "drifting", "elastic", "followers"] = "joints"
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


def _wanted(part: str) -> Callable[[Instant], Scalars]:
    return lambda now: getattr(now.desired, part)


def _torques(part: str, of: Callable[..., Sequence[JointTorque]] = Instant.of_joints) -> Callable[..., Scalars]:
    return lambda now: [getattr(torque, part) for torque in of(now, now.torques)]


def _motion(
    name: str, docs: Sequence[str], of_part: Callable[..., Scalars], ending: str = "", **more: Any
) -> dict[str, ColumnKind]:
    """Positions, velocities and accelerations, from an instant and "q", "qd" or "qdd"."""
    kinds = zip(("q", "qd", "qdd"), docs, ("", "_s", "_s2"), strict=True)
    return {
        part + name: ColumnKind(
            doc, "trajectory", lambda now, part=part: of_part(now, part), part + ending, position(rate), **more
        )
        for part, doc, rate in kinds
    }


POSE = {"x": "x_m", "y": "y_m", "z": "z_m", "qw": "qw", "qx": "qx", "qy": "qy", "qz": "qz"}
VELOCITY = {**{f"v{axis}": f"v{axis}_m_s" for axis in "xyz"}, **{f"w{axis}": f"w{axis}_rad_s" for axis in "xyz"}}
CONTACT = {"gap": "gap_m", "normal_force": "normal_force_N", "friction": "friction_N", "slip": "slip_m_s"}
CONTACT |= {f"friction{axis}": f"friction{axis}_N" for axis in "xyz"}
WRENCH = {"fx": "fx_N", "fy": "fy_N", "fz": "fz_N", "mx": "mx_Nm", "my": "my_Nm", "mz": "mz_Nm"}

KINDS: dict[str, ColumnKind] = {
    **_motion(
        "",
        ["joint position", "joint velocity", "joint acceleration, from this instant on"],
        lambda now, part: now.of_joints(getattr(now, part)),
    ),
    **_motion(
        "_mimic",
        ["its position", "its velocity", "its acceleration"],
        lambda now, part: now.of_followers((now.arm.positions if part == "q" else now.arm.rates)(getattr(now, part))),
        of="followers",
    ),
    **_motion(
        "_motor",
        ["position of the rotor before its elastic coupling, divided by the gear", "its velocity", "its acceleration"],
        lambda now, part: now.of_rotors(getattr(now, part)),
        "_motor",
        of="elastic",
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
    "winding": ColumnKind(
        "temperature of the motor's winding, where it acts on its resistance (`thermal: {drift: true}`)",
        "torque",
        lambda now: now.windings,
        "winding",
        lambda kind: "degC",
        of="drifting",
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
