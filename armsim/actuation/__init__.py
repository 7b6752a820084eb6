"""What acts on a joint besides the arm itself: motors, friction, stops."""

from armsim.actuation.drive import drive_torques
from armsim.actuation.friction import any_sticks, dry_bounds, sticks
from armsim.actuation.joint_torque import JointTorque, armature, driven, unpowered
from armsim.actuation.limit import limit_torque, stop_law
from armsim.actuation.rotors import kinetic_energy, mass_matrix

__all__ = [
    "JointTorque",
    "any_sticks",
    "armature",
    "drive_torques",
    "driven",
    "dry_bounds",
    "kinetic_energy",
    "limit_torque",
    "mass_matrix",
    "sticks",
    "stop_law",
    "unpowered",
]
