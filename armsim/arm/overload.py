"""Limits of the motors, and nominal currents of their windings, that a motion exceeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from armsim.model import Arm, Joint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ROUNDING = 1e-9  # relative: a motion that keeps a motor at its limit does not exceed it


class Need(NamedTuple):
    """What a motion needs of a motor in a quantity that is limited; on the motor's side of the gear.

    Attributes:
        quantity: "voltage", "current", "torque" or "speed".
        needed: Its magnitude: a number, or an array of them.
        limit: The motor's limit of it.
        unit: V, A, N·m or rad/s.
    """

    quantity: str
    needed: Any
    limit: float
    unit: str

    @property
    def beyond(self) -> Any:
        """Whether the need exceeds the limit."""
        return self.needed > self.limit * (1.0 + ROUNDING)


def needs(joint: Joint, qd: Any, tau: Any, voltage: Any, current: Any) -> list[Need]:
    """What a motion needs of a joint's motor, for every quantity that is limited.

    Args:
        joint: The joint.
        qd: Joint velocity [rad/s or m/s]; like all others a number, or an array of them.
        tau: Torque of the drive at the joint [N·m or N].
        voltage: At the motor's terminals [V]; not read where no voltage drives the motor.
        current: Through it [A]; likewise.
    """
    motor = joint.motor
    if motor is None:
        return []
    limits = motor.limits
    asked = (
        ("voltage", "V", voltage, limits.voltage),
        ("current", "A", current, limits.current),
        ("torque", "N·m", tau / motor.gear, limits.torque),
        ("speed", "rad/s", motor.gear * qd, limits.speed),
    )
    return [Need(quantity, abs(x), limit, unit) for quantity, unit, x, limit in asked if limit is not None]


def overloads(
    arm: Arm,
    qd: Sequence[float],
    tau: Sequence[float],
    voltage: Sequence[float | None],
    current: Sequence[float | None],
) -> list[dict[str, Any]]:
    """The limits that a motion exceeds at one instant: joint, quantity, needed, limit and unit, on the motor's side.

    Args:
        arm: The arm, n joints.
        qd: Joint velocities [rad/s or m/s], n of them.
        tau: Torques of the drives [N·m or N].
        voltage: Of the motors [V]; None where no voltage drives the motor.
        current: Through them [A]; likewise.
    """
    states = zip(arm.joints, qd, tau, voltage, current, strict=True)
    found = [(joint.name, need) for joint, *state in states for need in needs(joint, *state)]
    return [{"joint": name, **need._asdict()} for name, need in found if need.beyond]


def overloads_along(arm: Arm, t: Array, qd: Array, tau: Array, voltage: Array, current: Array) -> list[dict[str, Any]]:
    """The limits that a motion exceeds: as `overloads`, with the instant of the greatest need and the number of rows.

    Args:
        arm: The arm, n joints.
        t: Times [s], shape (m,).
        qd: Joint velocities [rad/s or m/s], shape (m, n).
        tau: Torques of the drives [N·m or N], shape (m, n).
        voltage: Of the motors [V], likewise; not read where no voltage drives the motor.
        current: Through them [A], likewise.

    Returns:
        For every limit that is exceeded joint, quantity, needed (the greatest), limit, unit, t_s and line (where that is; a
        file's first row stands in line 2), from_s (the first time that exceeds it) and rows (how many do).
    """
    found = []
    for i, joint in enumerate(arm.joints):
        for need in needs(joint, qd[:, i], tau[:, i], voltage[:, i], current[:, i]):
            beyond = need.beyond
            if beyond.any():
                k = int(need.needed.argmax())
                where = {"t_s": float(t[k]), "line": k + 2, "from_s": float(t[beyond.argmax()])}
                data = need._replace(needed=float(need.needed[k]))._asdict()
                found.append({"joint": joint.name, **data, **where, "rows": int(beyond.sum())})
    return found


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
