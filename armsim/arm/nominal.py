"""Currents above the nominal current of motors, which their windings do not stand for long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from armsim.model import Arm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


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


def above_nominal_along(arm: Arm, t: Array, current: Array) -> list[dict[str, Any]]:
    """The motors whose root mean square current along a motion is above their nominal one; none of a single instant.

    Args:
        arm: The arm, n joints.
        t: Times [s], shape (m,).
        current: Through the motors [A], shape (m, n).
    """
    import numpy as np

    if len(t) < 2:
        return []
    h, square = np.diff(t)[:, None], np.square(current)
    rms = np.sqrt((h * (square[1:] + square[:-1]) / 2).sum(axis=0) / h.sum())  # trapezoid rule
    return above_nominal(arm, rms.tolist())
