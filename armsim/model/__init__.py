"""The arm as it stands: frozen data, apart from its state, its numbers checked before it is built."""

from armsim.model.arm import Arm
from armsim.model.joint import Joint, Limit
from armsim.model.motor import BrushDrop, Coulomb, Motor, MotorLimits

__all__ = ["Arm", "BrushDrop", "Coulomb", "Joint", "Limit", "Motor", "MotorLimits"]
