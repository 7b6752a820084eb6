"""What acts on a joint besides the arm itself: motors, friction, stops."""

from armsim.actuation.drive import accelerations, drive_torques
from armsim.actuation.joint_torque import JointTorque, armature, driven, unpowered
from armsim.actuation.limit import limit_torque

__all__ = [
    "JointTorque",
    "accelerations",
    "armature",
    "drive_torques",
    "driven",
    "limit_torque",
    "unpowered",
]
