"""The loads on one joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, fields, replace
from functools import reduce
from typing import Any, Literal

from armsim.actuation import motor as dc
from armsim.actuation.limit import limit_torque
from armsim.expr import Scalars, absolute, dot, either, minimum, where
from armsim.model import Joint
from armsim.records import mutable_record
from armsim.spatial import Scalar

Output = Literal["voltage", "current", "torque"]  # what a command of a drive is
OUTPUTS: tuple[Output, ...] = ("voltage", "current", "torque")


@mutable_record
class Works:
    """Work done on an arm [J], or power [W], by source.

    Attributes:
        motors: By motors and ideal drives.
        friction: By friction of all kinds; not positive.
        stops: By the joints' stops.
        external: By external wrenches.
        error: Estimated error of all of them; 0 of methods that do not estimate it.
        others: By what not every arm has, by name.
    """

    motors: Scalar
    friction: Scalar
    stops: Scalar
    external: Scalar
    error: Scalar = 0.0
    others: dict[str, Scalar] = field(default_factory=dict)


COUNTED = tuple(part.name for part in fields(Works))[:-1]
WORKS = COUNTED[:-1]
SPRINGS, CONTACTS, COUPLINGS = "springs", "contacts", "couplings"  # of `Works.others`


@mutable_record
class JointTorque:
    """The parts of a joint's torque, and its motor's voltage and current.

    A load that is added here, to `unpowered`, to `total` and `drive_for`, and to its source in `powers`, is taken up by every
    integrator, by the linear equations, and by inverse and forward dynamics.

    Attributes:
        motor: From the motor, or from an ideal drive where the joint has none [N·m or N].
        viscous: Viscous friction of joint and rotor [N·m or N].
        limit: From the stops [N·m or N].
        voltage: At the motor's terminals [V]; None without an electric motor.
        current: Through the motor [A]; None without an electric motor.
        supply: The commanded voltage within the supply's [V], before the amplifier lowers it; None without such a command.
        dry: Dry friction [N·m or N]; it follows from the motion of the whole arm.
        spring: From the joint's spring [N·m or N].
        external: From external wrenches that follow the motion, without contacts [N·m or N].
        contact: From contacts with the world [N·m or N].
        coupling: From an elastic coupling between rotor and joint [N·m or N].
    """

    motor: Scalar
    viscous: Scalar
    limit: Scalar
    voltage: Scalar | None = None
    current: Scalar | None = None
    supply: Scalar | None = None
    dry: Scalar = 0.0
    spring: Scalar = 0.0
    external: Scalar = 0.0
    contact: Scalar = 0.0
    coupling: Scalar = 0.0

    @property
    def friction(self) -> Scalar:
        """Viscous and dry friction [N·m or N]."""
        return self.viscous + self.dry

    @property
    def own(self) -> Scalar:
        """What drive or coupling, friction, stops and spring give the joint [N·m or N]."""
        return self.motor + self.friction + self.limit + self.spring + self.coupling

    @property
    def total(self) -> Scalar:
        """The sum of all loads on the joint [N·m or N]."""
        return self.own + self.external + self.contact

    @property
    def power(self) -> Scalar | None:
        """Electrical power into the motor [W]; None without an electric motor."""
        return None if self.voltage is None or self.current is None else self.voltage * self.current

    @property
    def mechanical(self) -> JointTorque:
        """The torques alone."""
        return replace(self, voltage=None, current=None, supply=None)

    def drive_for(self, tau: Scalar) -> Scalar:
        """The motor torque for a total of tau [N·m or N], all other loads as they are."""
        return tau - self.friction - self.limit - self.spring - self.external - self.contact - self.coupling


def powers(torques: Sequence[JointTorque], v: Scalars, external: Scalar, others: Sequence[str] = ()) -> Works:
    """The powers of joint torques.

    Args:
        torques: On the joints.
        v: Joint velocities [rad/s or m/s].
        external: Power of the external wrenches that do not follow the motion [W].
        others: Names of `Works.others`.
    """
    motor, friction, limit, spring, following, contact, coupling = (
        dot([getattr(torque, kind) for torque in torques], v)
        for kind in ("motor", "friction", "limit", "spring", "external", "contact", "coupling")
    )
    of = {SPRINGS: spring, CONTACTS: contact, COUPLINGS: coupling}
    more = {name: of.get(name, 0.0) for name in others}
    return Works(motor, friction, limit, external + following, others=more)


def driven(
    joint: Joint,
    output: Output,
    u: Scalar,
    q: Scalar,
    qd: Scalar,
    i: Scalar | None = None,
    beyond: dc.Beyond | None = None,
) -> JointTorque:
    """The torques on a joint under a command u.

    Args:
        joint: The joint; it has an electric motor unless the output is a torque.
        output: What u is: the motor's voltage [V], its current [A], or the torque that its drive gives the joint [N·m or N].
        u: The command.
        q: Joint position [rad or m].
        qd: Joint velocity [rad/s or m/s].
        i: Armature current [A], where it is a state of its own; None where it follows the voltage at once.
        beyond: Whether the motor counts as beyond its limit of speed, where the current follows at once; None to tell by qd.
    """
    passive = unpowered(joint, q, qd)
    motor = joint.motor
    if motor is None:
        return replace(passive, motor=u)
    if output == "voltage":
        supply = dc.supplied(motor, u)
        i = dc.current_under(motor, supply, qd, beyond) if i is None else i
        voltage = dc.at_terminals(motor, supply, i, qd)
        return replace(passive, motor=dc.torque(motor, i), voltage=voltage, current=i, supply=supply)
    if joint.electric_motor is None:
        tau = dc.attainable(motor, u, qd, beyond) if dc.is_limited(motor) else u
        return replace(passive, motor=tau)
    if not dc.is_limited(motor):
        if output == "current":
            return replace(passive, motor=dc.torque(motor, u), voltage=dc.voltage_for(motor, u, qd), current=u)
        voltage, current = dc.demand(motor, u, qd)
        return replace(passive, motor=u, voltage=voltage, current=current)
    i = dc.flowing(motor, u if output == "current" else dc.current_for(motor, u), qd, beyond)
    voltage = dc.supplied(motor, dc.voltage_for(motor, i, qd))
    return replace(passive, motor=dc.torque(motor, i), voltage=voltage, current=i)


def slowed_to(joint: Joint, torque: JointTorque, qd: Scalar, motor: Scalar, slowed: Any) -> JointTorque:
    """The torques on a joint, with those of a motor that its limit of speed slows in place of its own where it does.

    Args:
        joint: The joint; it has a motor.
        torque: The torques without that limit.
        qd: Joint velocity [rad/s or m/s].
        motor: The torque that the motor then gives the joint [N·m or N].
        slowed: Whether the limit slows it.
    """
    torque = replace(torque, motor=where(slowed, motor, torque.motor))
    if torque.current is None or joint.motor is None:
        return torque
    current = dc.current_for(joint.motor, motor)
    voltage = dc.supplied(joint.motor, dc.voltage_for(joint.motor, current, qd))
    return replace(
        torque, current=where(slowed, current, torque.current), voltage=where(slowed, voltage, torque.voltage)
    )


def motor_limited(joint: Joint, output: Output, u: Scalar, torque: JointTorque) -> Any:
    """Whether a limit of the motor or its amplifier acts, of voltage, current, torque or speed: a condition.

    Args:
        joint: The joint.
        output: What u is; see `driven`.
        u: The command.
        torque: The torques on the joint under that command.
    """
    motor = joint.motor
    if motor is None or not dc.is_limited(motor):
        return False
    if output == "voltage":
        return either(_differ(u, torque.supply), _differ(torque.supply, torque.voltage))
    if joint.electric_motor is None:
        return _differ(motor.gear * (u / motor.gear), torque.motor)  # rounded as by `dc.attainable`
    return _differ(u if output == "current" else dc.current_for(motor, u), torque.current)


def largest_force(joint: Joint, output: Output, bound: Scalar | None) -> Scalar | None:
    """The largest magnitude of a drive's force at standstill [N·m or N]; None without a bound.

    Args:
        joint: The joint.
        output: What the command is; see `driven`.
        bound: Of the command's magnitude [V, A, N·m or N]; None without one.
    """
    motor, electric = joint.motor, joint.electric_motor
    bounds = [bound] if output == "torque" else []
    if motor is not None and motor.limits.torque is not None:
        bounds.append(absolute(motor.gear) * motor.limits.torque)
    if electric is not None:
        amperes = [electric.limits.current, bound if output == "current" else None]
        bounds += [
            stall_force(joint, output, bound),
            *(None if x is None else absolute(dc.torque(electric, x)) for x in amperes),
        ]
    return _least(bounds)


def stall_force(joint: Joint, output: Output, bound: Scalar | None) -> Scalar | None:
    """The same by the limits of voltage alone [N·m or N]: the stall torque of an electric motor; see `largest_force`."""
    motor = joint.electric_motor
    if motor is None:
        return None
    volts = _least([motor.limits.voltage, bound if output == "voltage" else None])
    return None if volts is None else absolute(dc.voltage_gain(motor)) * volts


def _least(bounds: Sequence[Scalar | None]) -> Scalar | None:
    known = [x for x in bounds if x is not None]
    return reduce(minimum, known) if known else None


def _differ(a: Scalar, b: Scalar) -> Any:
    return False if a is b else either(a < b, a > b)


def viscous_friction(joint: Joint, qd: Scalar) -> Scalar:
    """Viscous friction of a joint and its rotor at joint velocity qd [N·m or N]."""
    rotor = 0.0 if joint.motor is None else dc.viscous(joint.motor)
    return -(joint.viscous + rotor) * qd


def unpowered(joint: Joint, q: Scalar, qd: Scalar) -> JointTorque:
    """The torques on a joint without a command: its motor's terminals are open, so no current flows."""
    viscous = viscous_friction(joint, qd)
    limit = limit_torque(joint.limit, q, qd)
    spring = 0.0 if joint.spring is None else joint.spring.force(q)
    motor = joint.electric_motor
    if motor is None:
        return JointTorque(0.0, viscous, limit, spring=spring)
    return JointTorque(0.0, viscous, limit, dc.voltage_for(motor, 0.0, qd), 0.0, spring=spring)
