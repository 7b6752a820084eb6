"""Forward dynamics of one state, for drives that are given torques or voltages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from armsim.actuation import driven, motor_demands
from armsim.dynamics import crba
from armsim.errors import UsageError
from armsim.expr import Scalars
from armsim.loading.voltage import check_motors
from armsim.model import Arm
from armsim.plant import accelerations


class Accelerated(NamedTuple):
    """What the drives give the joints, and the accelerations under it.

    Attributes:
        torque: Of the drives [N·m or N].
        voltage: Of the motors [V]; None without an electric one.
        current: Through them [A]; likewise.
        qdd: Joint accelerations [rad/s² or m/s²].
    """

    torque: list[float]
    voltage: list[float | None]
    current: list[float | None]
    qdd: Scalars


def forward(
    arm: Arm,
    q: Sequence[float],
    qd: Sequence[float],
    torque: Sequence[float] | None = None,
    voltage: Sequence[float] | None = None,
) -> Accelerated:
    """Joint accelerations under torques of the drives, or under voltages of the motors.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n of them.
        qd: Joint velocities [rad/s or m/s].
        torque: Of the drives [N·m or N]; zero if neither is given.
        voltage: Of the motors [V].

    Raises:
        UsageError: Both are given, a joint has no motor for its voltage, or the mass matrix is singular.
    """
    if voltage is None:
        tau: list[float] = [0.0] * arm.n if torque is None else list(torque)
        volts, amperes = motor_demands(arm, qd, tau)
    elif torque is not None:
        raise UsageError.of("torque or voltage", "one of them", "both", "leave one out")
    else:
        check_motors(arm, "voltage", "voltage", ", or give torques instead")
        states = zip(arm.joints, voltage, q, qd, strict=True)
        drives = [driven(joint, "voltage", u, q_i, qd_i) for joint, u, q_i, qd_i in states]
        tau, volts, amperes = ([getattr(drive, key) for drive in drives] for key in ("motor", "voltage", "current"))
    try:
        qdd = accelerations(arm, q, qd, tau)
    except ZeroDivisionError:
        qdd = [math.nan]
    if not all(map(math.isfinite, qdd)):
        free = [joint.name for joint, row in zip(arm.joints, crba(arm, q), strict=True) if not row[-1] > 0.0]
        raise UsageError.of(
            arm.name,
            "inertia that resists every joint's acceleration",
            f"none on {', '.join(free) or 'some motion of the joints'}",
            "give the links bodies with mass, or the motors a `rotor_inertia`",
        )
    return Accelerated(tau, volts, amperes, qdd)
