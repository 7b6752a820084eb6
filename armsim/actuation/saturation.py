"""Which limits of a drive act."""

from __future__ import annotations

from armsim.actuation.joint_torque import JointTorque, Output, motor_limited
from armsim.expr import Expr, absolute, both
from armsim.model import Joint
from armsim.spatial import Scalar

LIMITS = (
    "command",
    "voltage",
    "current",
    "torque",
    "speed",
)  # of a controller's command, and of a motor or its amplifier
ROUNDING = 1e-9  # relative: a voltage that is worked out from a current at its limit


def limit_kinds(joint: Joint) -> dict[str, Scalar]:
    """The limits of a joint's motor and amplifier by kind, on the motor's side of the gear [V, A, N·m, rad/s]."""
    motor = joint.motor
    if motor is None:
        return {}
    kinds = LIMITS[1:] if joint.electric_motor is not None else ("torque", "speed")
    return {kind: limit for kind in kinds if (limit := getattr(motor.limits, kind)) is not None}


def limited_quantities(joint: Joint, torque: JointTorque, qd: Scalar) -> dict[str, Scalar | None]:
    """What the limits of a joint's motor and amplifier are about, by kind [V, A, N·m, rad/s]; nothing without a motor.

    Args:
        joint: The joint.
        torque: The torques on it.
        qd: Joint velocity [rad/s or m/s].
    """
    motor = joint.motor
    if motor is None:
        return {}
    return {
        "voltage": torque.voltage,
        "current": torque.current,
        "torque": torque.motor / motor.gear,
        "speed": motor.gear * qd,
    }


def acting_limits(joint: Joint, output: Output, u: Scalar, torque: JointTorque, qd: Scalar) -> dict[str, bool | Expr]:
    """Whether each limit of a joint's motor and amplifier acts, by kind: conditions.

    A limit acts where what flows differs from what the command asks for, and the limited quantity is at its limit; that of the
    voltage under a voltage command where it is above.

    Args:
        joint: The joint.
        output: What u is; see `driven`.
        u: The command.
        torque: The torques on the joint under that command.
        qd: Joint velocity [rad/s or m/s].
    """
    kinds = limit_kinds(joint)
    if not kinds:
        return {}
    limited, reached = motor_limited(joint, output, u, torque), limited_quantities(joint, torque, qd)
    acts = {kind: both(limited, absolute(reached[kind]) >= limit * (1.0 - ROUNDING)) for kind, limit in kinds.items()}
    if output == "voltage" and "voltage" in kinds:
        acts["voltage"] = absolute(u) > kinds["voltage"]
    return acts
