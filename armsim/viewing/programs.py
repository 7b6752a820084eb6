"""The JavaScript that a page computes with: printed from the graphs that are compiled elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armsim.actuation import drive_torques
from armsim.actuation import motor as dc
from armsim.exporting.interface import Argument, Entry, Model, Named
from armsim.exporting.javascript import JavaScript
from armsim.exporting.language import Style
from armsim.expr import Scalar, trace
from armsim.model import Arm

NAME = "program"


def printed(model: Model) -> str:
    """A model as an ES module; a fused multiply-add is a product and a sum, so that it agrees with machine code to rounding."""
    language = JavaScript(Style("none"))
    return language.files(model)[f"{model.name}.mjs"]


def holding_program(arm: Arm) -> str:
    """A module with `hold`: from joint positions to torques, and voltages and currents of electric motors, that hold them."""
    powered = [i for i, joint in enumerate(arm.joints) if joint.electric_motor is not None]
    still = [0.0] * arm.n

    def hold(*q: Scalar) -> list[Scalar]:
        tau = drive_torques(arm, list(q), still, still)
        motors = [(arm.joints[i].electric_motor, tau[i]) for i in powered]
        asked = [dc.demand(motor, x, 0.0) for motor, x in motors if motor is not None]
        return [*tau, *(u for u, _ in asked), *(i for _, i in asked)]

    q = Argument("q", "joint positions", tuple(Named(f"q{i}") for i in range(arm.n)))
    kinds = [("tau", range(arm.n)), ("voltage", powered), ("current", powered)]
    found = Argument("held", "what holds them", tuple(Named(f"{kind}{i}") for kind, joints in kinds for i in joints))
    function = trace(hold, [item.name for item in q.items], "hold")
    about = ["what holds the arm at rest"]
    return printed(Model(NAME, about, [Entry("hold", "What holds the arm at rest.", function, (q,), found)]))


def motor_limits(arm: Arm) -> list[dict[str, Any]]:
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
