"""The model of an arm: frozen data, apart from its state, its numbers checked before it is built."""

from armsim.model.arm import Arm
from armsim.model.frame import TOOL, ContactPoint, LinkFrame, Payload, share_of_interval
from armsim.model.joint import BASE, Joint, Limit, Mimic, Spring
from armsim.model.joint_type import JOINT_TYPES, JointType
from armsim.model.motor import BrushDrop, Coulomb, Coupling, Motor, MotorLimits, Stribeck, Thermal

__all__ = [
    "JOINT_TYPES",
    "TOOL",
    "Arm",
    "BrushDrop",
    "ContactPoint",
    "Coulomb",
    "Coupling",
    "LinkFrame",
    "BASE",
    "Joint",
    "JointType",
    "Limit",
    "Motor",
    "Mimic",
    "MotorLimits",
    "Payload",
    "Spring",
    "Stribeck",
    "Thermal",
    "share_of_interval",
]
