"""The JavaScript that a page computes with: printed from the graphs that are compiled elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from armsim.actuation import drive_torques
from armsim.actuation import motor as dc
from armsim.dynamics import contacts_of, distances, frame_position, own_poses
from armsim.exporting.interface import Argument, Entry, Model, Named
from armsim.exporting.javascript import JavaScript
from armsim.exporting.language import Style
from armsim.expr import Scalar, Scalars, trace
from armsim.model import Arm
from armsim.records import Json
from armsim.spatial import ZERO

NAME = "program"


def printed(model: Model) -> str:
    """A model as an ES module; a fused multiply-add is a product and a sum, so that it agrees with machine code to rounding."""
    language = JavaScript(Style("none"))
    return language.files(model)[f"{model.name}.mjs"]


def holding_program(arm: Arm) -> str:
    """A module with `hold`: from joint positions to torques, and voltages and currents of electric motors, that hold them."""
    still = [0.0] * arm.n

    def hold(*q: Scalar) -> Scalars:
        tau = drive_torques(arm, list(q), still, still)
        motors = [(joint.electric_motor, x) for joint, x in zip(arm.joints, tau, strict=True)]
        asked = [dc.demand(motor, x, 0.0) for motor, x in motors if motor is not None]
        return [*tau, *(u for u, _ in asked), *(i for _, i in asked)]

    return _of_positions("hold", "What holds the arm at rest.", arm, hold)


def frames_program(arm: Arm) -> str:
    """A module with `frames`: from joint positions to the links' own frames and the tool's in the world, 3 by 4 and row by row,
    and of links and payload the first moment of mass [kg m] and the mass [kg]."""

    def frames(*q: Scalar) -> Scalars:
        own = own_poses(arm, list(q))
        poses = [*own, own[arm.link_of(arm.tool)] @ arm.placement(arm.tool)]
        moments = [T.rotation @ of.h + T.position * of.mass for T, of in zip(own, arm.inertias, strict=True)]
        entries = [x for T in poses for row, p in zip(T.rotation, T.position, strict=True) for x in (*row, p)]
        return [*entries, *sum(moments, ZERO), arm.mass]

    return _of_positions("frames", "Where links and tool are, and the mass.", arm, frames)


def contacts_program(arm: Arm) -> str:
    """A module with `contacts`: from joint positions to each contact's point [m], normal, and gap [m]."""

    def contacts(*q: Scalar) -> Scalars:
        found: list[Scalar] = []
        for contact in contacts_of(arm):
            center = frame_position(arm, list(q), contact.at)
            gap, normal = contact.gap(center)
            found += [*(center - normal * contact.radius), *normal, gap]
        return found

    return _of_positions("contacts", "Points, normals and gaps of contacts.", arm, contacts)


def distances_program(arm: Arm, pairs: Sequence[str]) -> str:
    """A module with `distances`: from joint positions to the least distance of each of some pairs [m]."""
    return _of_positions("distances", "Least distances of pairs.", arm, lambda *q: distances(arm, list(q), pairs))


def _of_positions(name: str, what: str, arm: Arm, body: Callable[..., Scalars]) -> str:
    """A module with a function of joint positions, whose result is an array."""
    q = [f"q{i}" for i in range(arm.n)]
    function = trace(body, q, name)
    arguments = Argument("q", "joint positions", tuple(map(Named, q)))
    found = Argument("found", what, tuple(Named(f"x{i}") for i in range(len(function.outputs))))
    return printed(Model(NAME, [what], [Entry(name, what, function, (arguments,), found)]))


def motor_limits(arm: Arm) -> list[Json]:
    """Of each joint: electric, whether a voltage drives it; limits of torque (at the joint), voltage, current, None without."""
    found = []
    for joint in arm.joints:
        motor = joint.motor
        limits = None if motor is None else motor.limits
        torque = None if motor is None or limits is None or limits.torque is None else limits.torque * abs(motor.gear)
        found.append(
            {
                "electric": joint.electric_motor is not None,
                "torque": None if torque is None else float(torque),
                **{key: _known(getattr(limits, key, None)) for key in ("voltage", "current")},
            }
        )
    return found


def _known(value: Scalar | None) -> float | None:
    return None if value is None else float(value)


def fields(names: Sequence[str]) -> list[str]:
    """What open numbers are called in the program, by their paths."""
    from armsim.exporting.names import identifiers

    return identifiers(list(names), JavaScript.reserved)
