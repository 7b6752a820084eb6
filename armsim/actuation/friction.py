"""Dry friction: its bounds at a joint.

Coulomb friction resists motion with a torque that depends on its direction alone, and holds a joint at rest against any
torque up to that. What static friction is more than that falls with the speed of sliding (Stribeck). Friction on either side
of the gear, and in the gear, whose losses grow with the motor's torque, adds up to one bound for each direction. The torque
within the bounds follows from the motion of the whole arm: `armsim.dynamics.clipped_solve`.
"""

from __future__ import annotations

from armsim.expr import absolute, exp, fma, log, sqrt, where
from armsim.model import Arm, Coulomb, Joint, Stribeck
from armsim.spatial import Scalar

TINY = 1e-300  # rad/s or m/s: added to a speed, of which there is a logarithm
NONE = Coulomb(0.0, 0.0)


def sticks(joint: Joint) -> bool:
    """Whether a joint has dry friction of any kind."""
    return joint.dry is not None or (joint.motor is not None and joint.motor.efficiency is not None)


def any_sticks(arm: Arm) -> bool:
    """Whether any joint of an arm has dry friction."""
    return any(sticks(joint) for joint in arm.joints)


def dry_bounds(joint: Joint, motor_torque: Scalar, qd: Scalar | None = None) -> tuple[Scalar, Scalar]:
    """Lower and upper bound of a joint's dry friction [N·m or N]: not positive, not negative.

    Args:
        joint: The joint.
        motor_torque: The motor's torque at the joint [N·m or N]; the gear's losses grow with it.
        qd: Joint velocity [rad/s or m/s]; None for a joint at rest.
    """
    dry = joint.dry or NONE
    positive, negative = dry.positive, dry.negative
    for peak in dry.peaks or ():
        positive, negative = positive + peak.positive, negative + peak.negative
    motor = joint.motor
    if motor is not None and motor.efficiency is not None:
        loss = (1.0 - motor.efficiency) * absolute(motor_torque)
        positive, negative = positive + loss, negative + loss
    return (-positive, negative) if qd is None else weakened(joint, -positive, negative, qd)


def creeping(joint: Joint, motor_torque: Scalar, qd: Scalar, creep: Scalar) -> Scalar:
    """The damping that a joint's dry friction is where it is smoothed [N·m·s/rad or N·s/m].

    It is c / s, with the speed s = sqrt(qd² + creep²) and the friction c at that speed.

    Args:
        joint: The joint.
        motor_torque: See `dry_bounds`.
        qd: Joint velocity [rad/s or m/s].
        creep: A velocity well below which the friction counts as viscous, likewise.
    """
    speed = sqrt(fma(qd, qd, creep * creep))
    (lower, _), (_, upper) = (dry_bounds(joint, motor_torque, v) for v in (speed, -speed))
    return where(qd < 0.0, upper, -lower) / speed


def weakened(joint: Joint, lower: Scalar, upper: Scalar, qd: Scalar) -> tuple[Scalar, Scalar]:
    """The bounds of a joint's dry friction at a joint velocity, by those at rest; each falls with the speed in its direction.

    A joint that turns round within a step passes through rest, so against the other direction it has static friction.
    """
    for peak in (joint.dry or NONE).peaks or ():
        lower = lower + peak.positive * _fallen(peak, where(qd >= 0.0, qd, 0.0))
        upper = upper - peak.negative * _fallen(peak, where(qd <= 0.0, -qd, 0.0))
    return lower, upper


def _fallen(peak: Stribeck, speed: Scalar) -> Scalar:
    """The share of a peak that is gone at a speed [rad/s or m/s]: 1 - exp(-(speed / velocity)^exponent)."""
    return 1.0 - exp(-exp(peak.exponent * log((speed + TINY) / peak.velocity)))
