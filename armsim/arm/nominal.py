"""Currents above the nominal current of motors, which their windings do not stand for long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from armsim.model import Arm

if TYPE_CHECKING:
    from armsim.arm.robot import Array, Robot


def above_nominal(arm: Arm, currents: Sequence[float | None]) -> list[dict[str, Any]]:
    """The motors of which more than their nominal current is asked: joint, current and nominal [A].

    Args:
        arm: The arm, n joints.
        currents: Through the motors, steady or root mean square [A]; None or NaN where no voltage drives the motor.
    """
    found = []
    for joint, current in zip(arm.joints, currents, strict=True):
        motor = joint.electric_motor
        nominal = None if motor is None else motor.nominal_current
        if nominal is not None and current is not None and abs(current) > nominal:
            found.append({"joint": joint.name, "current": abs(float(current)), "nominal": float(nominal)})
    return found


def above_nominal_along(robot: Robot, t: Array, qd: Array, tau: Array) -> list[dict[str, Any]]:
    """The motors whose root mean square current along a motion is above their nominal one; none of a single instant.

    Args:
        robot: The arm, n joints.
        t: Times [s], shape (m,).
        qd: Joint velocities [rad/s or m/s], shape (m, n).
        tau: Torques of the drives [N·m or N], shape (m, n).
    """
    import numpy as np

    if len(t) < 2 or not any(motor.nominal_current for joint in robot.arm.joints if (motor := joint.electric_motor)):
        return []
    h, square = np.diff(t)[:, None], np.square(robot.motor_demand(qd, tau)[1])
    rms = np.sqrt((h * (square[1:] + square[:-1]) / 2).sum(axis=0) / h.sum())  # trapezoid rule
    return above_nominal(robot.arm, rms.tolist())
