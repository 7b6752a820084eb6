"""Robots written out in full: defaults filled in, formulas evaluated; they read back to the same bits."""

from __future__ import annotations

from armsim import document


def resolved_robot(robot: document.Robot) -> document.Robot:
    """A robot in full, in the unit of its file."""
    joints = [joint if joint.motor is None else joint.replaced(motor=_motor(joint.motor)) for joint in robot.joints]
    return robot.replaced(
        joints=tuple(joints),
        parameters=robot.parameters or None,
        world=robot.world or None,
        contacts=robot.contacts or None,
    )


def _motor(motor: document.Motor) -> document.Motor:
    """A motor with its back-EMF constant, and without limits where there are none."""
    unlimited = all(limit is None for limit in motor.limits.values())
    return motor.replaced(Ke=motor.Kp if motor.Ke is None else motor.Ke, limits=None if unlimited else motor.limits)
