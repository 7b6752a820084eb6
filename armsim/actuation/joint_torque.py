"""All that acts on one joint besides the arm's own dynamics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from armsim.actuation import motor as dc
from armsim.actuation.limit import limit_torque
from armsim.model import Joint
from armsim.spatial import Scalar


@dataclass(slots=True)
class JointTorque:
    """The parts of a joint's torque, and what its motor takes for it.

    Attributes:
        motor: From the motor, or from an ideal drive where the joint has none [N·m or N].
        viscous: Viscous friction of joint and rotor [N·m or N].
        limit: From the stops [N·m or N].
        voltage: At the motor's terminals [V]; None without an electric motor.
        current: Through the motor [A]; None without an electric motor.
        supply: What there is of a commanded voltage [V], before the amplifier lowers it; None without such a command.
        dry: What dry friction holds the joint with [N·m or N]; it follows from the motion of the whole arm.
    """

    motor: Scalar
    viscous: Scalar
    limit: Scalar
    voltage: Scalar | None = None
    current: Scalar | None = None
    supply: Scalar | None = None
    dry: Scalar = 0.0

    @property
    def friction(self) -> Scalar:
        """Viscous and dry friction [N·m or N]."""
        return self.viscous + self.dry

    @property
    def total(self) -> Scalar:
        """All that acts on the joint [N·m or N]."""
        return self.motor + self.friction + self.limit

    @property
    def power(self) -> Scalar | None:
        """Electrical power into the motor [W]; None without an electric motor."""
        return None if self.voltage is None or self.current is None else self.voltage * self.current


def armature(joint: Joint) -> Scalar:
    """Inertia of the joint's rotor felt at the joint [kg m²]."""
    return 0.0 if joint.motor is None else dc.armature(joint.motor)


def driven(
    joint: Joint, output: Literal["voltage", "torque"], u: Scalar, q: Scalar, qd: Scalar, i: Scalar | None = None
) -> JointTorque:
    """The torques on a joint whose drive is told u.

    Args:
        joint: The joint; it has an electric motor if the output is a voltage.
        output: What u is: the motor's voltage [V], or the torque that its drive gives the joint [N·m or N].
        u: The command.
        q: Joint position [rad or m].
        qd: Joint velocity [rad/s or m/s].
        i: Armature current [A], where it is a state of its own; None where it follows the voltage at once.
    """
    passive = unpowered(joint, q, qd)
    motor = joint.motor
    if motor is None:
        return JointTorque(u, passive.viscous, passive.limit)
    if output == "voltage":
        supply = dc.supplied(motor, u)
        i = dc.current_under(motor, supply, qd) if i is None else i
        voltage = dc.at_terminals(motor, supply, i, qd)
        return JointTorque(dc.torque(motor, i), passive.viscous, passive.limit, voltage, i, supply)
    if joint.electric_motor is None:
        tau = dc.attainable(motor, u, qd) if dc.is_limited(motor) else u
        return JointTorque(tau, passive.viscous, passive.limit)
    if not dc.is_limited(motor):
        return JointTorque(u, passive.viscous, passive.limit, *dc.demand(motor, u, qd))
    i = dc.flowing(motor, dc.current_for(motor, u), qd)
    voltage = dc.supplied(motor, dc.voltage_for(motor, i, qd))
    return JointTorque(dc.torque(motor, i), passive.viscous, passive.limit, voltage, i)


def unpowered(joint: Joint, q: Scalar, qd: Scalar) -> JointTorque:
    """The torques on a joint that nothing drives: its motor's terminals are open, so no current flows."""
    rotor = 0.0 if joint.motor is None else dc.viscous(joint.motor)
    viscous = -(joint.viscous + rotor) * qd
    limit = limit_torque(joint.limit, q, qd)
    motor = joint.electric_motor
    if motor is None:
        return JointTorque(0.0, viscous, limit)
    return JointTorque(0.0, viscous, limit, dc.voltage_for(motor, 0.0, qd), 0.0)
