"""Limits of the motors, and nominal currents of their windings, that a motion exceeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from armsim.model import Arm, Joint
from armsim.records import record

if TYPE_CHECKING:
    from armsim.arrays import Array


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


@record
class Overload:
    """A limit of a motor that a motion exceeds, on the motor's side; see `Need`.

    Attributes:
        joint: The motor's.
        quantity: "voltage", "current", "torque" or "speed".
        needed: Its magnitude, along a motion the greatest.
        limit: The motor's limit of it.
        unit: V, A, N·m or rad/s.
    """

    joint: str
    quantity: str
    needed: float
    limit: float
    unit: str


@record
class LastingOverload(Overload):
    """One along a motion.

    Attributes:
        t_s: When the need is greatest [s].
        line: Of the file, where that is: its first row stands in line 2.
        from_s: The first time that exceeds the limit [s].
        rows: How many do.
    """

    t_s: float
    line: int
    from_s: float
    rows: int


@record
class AboveNominal:
    """A motor of which more than its nominal current is asked: both [A]."""

    joint: str
    current: float
    nominal: float


def overloads(
    arm: Arm,
    qd: Sequence[float],
    tau: Sequence[float],
    voltage: Sequence[float | None],
    current: Sequence[float | None],
) -> list[Overload]:
    """The limits that a motion exceeds at one instant.

    Args:
        arm: The arm, n joints.
        qd: Joint velocities [rad/s or m/s], n of them.
        tau: Torques of the drives [N·m or N].
        voltage: Of the motors [V]; None where no voltage drives the motor.
        current: Through them [A]; likewise.
    """
    states = zip(arm.joints, qd, tau, voltage, current, strict=True)
    found = [(joint.name, need) for joint, *state in states for need in needs(joint, *state)]
    return [Overload(name, *need) for name, need in found if need.beyond]


def overloads_along(arm: Arm, t: Array, qd: Array, tau: Array, voltage: Array, current: Array) -> list[LastingOverload]:
    """The limits that a motion exceeds: as `overloads`, with the instant of the greatest need and the number of rows.

    Args:
        arm: The arm, n joints.
        t: Times [s], shape (m,).
        qd: Joint velocities [rad/s or m/s], shape (m, n).
        tau: Torques of the drives [N·m or N], shape (m, n).
        voltage: Of the motors [V], likewise; not read where no voltage drives the motor.
        current: Through them [A], likewise.

    Returns:
        One for every limit that is exceeded.
    """
    found = []
    for i, joint in enumerate(arm.joints):
        for need in needs(joint, qd[:, i], tau[:, i], voltage[:, i], current[:, i]):
            beyond = need.beyond
            if beyond.any():
                k = int(need.needed.argmax())
                most = need._replace(needed=float(need.needed[k]))
                since = float(t[beyond.argmax()])
                found.append(LastingOverload(joint.name, *most, float(t[k]), k + 2, since, int(beyond.sum())))
    return found


def above_nominal(arm: Arm, currents: Sequence[float | None]) -> list[AboveNominal]:
    """The motors of which more than their nominal current is asked.

    Args:
        arm: The arm, n joints.
        currents: Through the motors, steady or root mean square [A]; None or NaN where no voltage drives the motor.
    """
    found = []
    for joint, current in zip(arm.joints, currents, strict=True):
        motor = joint.electric_motor
        nominal = None if motor is None else motor.nominal_current
        if nominal is not None and current is not None and abs(current) > nominal:
            found.append(AboveNominal(joint.name, abs(current), nominal))
    return found


def above_nominal_along(arm: Arm, t: Array, current: Array) -> list[AboveNominal]:
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
