"""Joint loads: motors, friction, stops."""

from armsim.actuation.drive import drive_torques
from armsim.actuation.friction import any_sticks, dry_bounds, sticks
from armsim.actuation.joint_torque import (
    WORKS,
    JointTorque,
    Works,
    driven,
    largest_force,
    motor_limited,
    powers,
    unpowered,
)
from armsim.actuation.limit import limit_torque, stop_law

__all__ = [
    "WORKS",
    "JointTorque",
    "Works",
    "any_sticks",
    "drive_torques",
    "driven",
    "dry_bounds",
    "largest_force",
    "limit_torque",
    "motor_limited",
    "powers",
    "sticks",
    "stop_law",
    "unpowered",
]
