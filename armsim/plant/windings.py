"""Windings whose temperature acts on their resistance: it is a further state that the integrator advances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from armsim.actuation import JointTorque, warm, warming_rate
from armsim.expr import Scalars
from armsim.model import Arm, Joint, Motor
from armsim.records import record


@record
class Windings:
    """Those of an arm's motors.

    Attributes:
        arm: The arm, its rotors behind elastic couplings as joints (`Arm.mechanism`).
    """

    arm: Arm

    @cached_property
    def motors(self) -> dict[int, Motor]:
        """The motors that have such a winding, by the drive's index."""
        motors = [joint.electric_motor for joint in self.arm.of_drivers(self.arm.joints)]
        return {i: motor for i, motor in enumerate(motors) if motor is not None and motor.drifts}

    @property
    def begin(self) -> Scalars:
        """Temperatures at the start, those of the ambients [°C]."""
        return [motor.thermal.ambient for motor in self.motors.values() if motor.thermal is not None]

    def joints(self, temperatures: Scalars) -> Sequence[Joint]:
        """The joints of the arm, the resistance of each motor as its winding has it at these temperatures [°C]."""
        joints = [*self.arm.joints]
        for (i, motor), temperature in zip(self.motors.items(), temperatures, strict=True):
            at = self.arm.drivers[i]
            joints[at] = replace(joints[at], motor=warm(motor, temperature))
        return joints

    def rates(self, temperatures: Scalars, torques: Sequence[JointTorque]) -> Scalars:
        """Rates of the temperatures [K/s], by the torques on the joints."""
        pairs = zip(self.motors.items(), temperatures, strict=True)
        return [warming_rate(motor, x, torques[self.arm.drivers[i]].current) for (i, motor), x in pairs]
