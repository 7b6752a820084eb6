"""Dry friction: its bounds at a joint.

Coulomb friction resists motion with a torque that depends on its direction alone, and holds a joint at rest against any
torque up to that. Friction on either side of the gear, and in the gear, whose losses grow with the motor's torque, adds up to
one bound for each direction. The torque within the bounds follows from the motion of the whole arm:
`armsim.dynamics.clipped_solve`.
"""

from __future__ import annotations

from armsim.expr import absolute
from armsim.model import Arm, Joint
from armsim.spatial import Scalar


def sticks(joint: Joint) -> bool:
    """Whether a joint has dry friction of any kind."""
    motor = joint.motor
    return joint.coulomb is not None or (
        motor is not None and (motor.coulomb is not None or motor.efficiency is not None)
    )


def any_sticks(arm: Arm) -> bool:
    """Whether any joint of an arm has dry friction."""
    return any(sticks(joint) for joint in arm.joints)


def dry_bounds(joint: Joint, motor_torque: Scalar) -> tuple[Scalar, Scalar]:
    """Lower and upper bound of a joint's dry friction [N·m or N]: not positive, not negative.

    Args:
        joint: The joint.
        motor_torque: The motor's torque at the joint [N·m or N]; the gear's losses grow with it.
    """
    against_positive: Scalar = 0.0
    against_negative: Scalar = 0.0
    if joint.coulomb is not None:
        against_positive, against_negative = joint.coulomb.positive, joint.coulomb.negative
    motor = joint.motor
    if motor is not None and motor.coulomb is not None:
        turns = absolute(motor.gear)
        against_positive = against_positive + turns * motor.coulomb.positive
        against_negative = against_negative + turns * motor.coulomb.negative
    if motor is not None and motor.efficiency is not None:
        loss = (1.0 - motor.efficiency) * absolute(motor_torque)
        against_positive, against_negative = against_positive + loss, against_negative + loss
    return -against_positive, against_negative
