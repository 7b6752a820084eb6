"""A permanent-magnet DC motor and its gear, seen from the joint.

With the joint at velocity qd the rotor turns at gear qd. The armature obeys V = Ra i + L di/dt + Ke gear qd, and the joint
feels gear Kp i. Rotor inertia and viscous friction come through the gear squared.

A command asks for a current. The amplifier lowers it to its limits of current, torque and speed, by the voltage that it puts on
the terminals; and it has no other voltages than the supply gives. docs/motors.md says what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log as number_log

from armsim.expr import absolute, both, clip, either, exp, fma, maximum, minimum, where
from armsim.model import BrushDrop, Motor
from armsim.spatial import Scalar

LN_2 = number_log(2.0)


def supplied(motor: Motor, voltage: Scalar) -> Scalar:
    """What of a commanded voltage the supply gives [V]."""
    limit = motor.limits.voltage
    return voltage if limit is None else clip(voltage, -limit, limit)


def behind_brushes(motor: Motor, voltage: Scalar) -> Scalar:
    """What of the terminal voltage the brushes leave for the armature [V]."""
    if motor.brush_drop is None:
        return voltage
    drop = _drop(motor.brush_drop, voltage)
    return where(voltage < 0.0, voltage + drop, voltage - drop)


def _drop(brushes: BrushDrop, voltage: Scalar) -> Scalar:
    size = absolute(voltage)
    return minimum(size, brushes.max * (1.0 - exp(-LN_2 * size / brushes.half)))


def steady_current(motor: Motor, voltage: Scalar, qd: Scalar) -> Scalar:
    """Armature current [A] that a terminal voltage [V] settles to at a joint velocity [rad/s]."""
    return fma(-(motor.Ke * motor.gear), qd, behind_brushes(motor, voltage)) / motor.Ra


def current_after(motor: Motor, i: Scalar, voltage: Scalar, qd: Scalar, h: Scalar) -> Scalar:
    """Armature current [A] after h seconds at constant voltage and velocity: the exact exponential of L di/dt = ... - Ra i.

    The amplifier keeps it within its limits as far as its supply can bring it there in that time.
    """
    decay = exp(-(motor.Ra * h / motor.inductance))

    def under(volts: Scalar) -> Scalar:
        return relaxed(i, steady_current(motor, volts, qd), decay)

    return _within_supply(motor, let_through(motor, under(voltage), qd), under) if lowers(motor) else under(voltage)


def relaxed(i: Scalar, settled: Scalar, decay: Scalar) -> Scalar:
    """A quantity that settles exponentially, when its distance from where it settles has decayed to a share `decay`."""
    return settled + (i - settled) * decay


def current_rate(motor: Motor, i: Scalar, voltage: Scalar, qd: Scalar) -> Scalar:
    """Rate of the armature current [A/s] under a command at a joint velocity; at a limit the amplifier keeps it there."""
    return (steady_current(motor, at_terminals(motor, voltage, i, qd), qd) - i) * motor.Ra / motor.inductance


def lowers(motor: Motor) -> bool:
    """Whether the amplifier lowers what the command asks for: it has a limit of current, torque or speed."""
    limits = motor.limits
    return any(limit is not None for limit in (limits.current, limits.torque, limits.speed))


def let_through(motor: Motor, i: Scalar, qd: Scalar) -> Scalar:
    """What of a current [A] the amplifier lets through at a joint velocity [rad/s]: current, torque and speed are limited."""
    torque = motor.limits.torque
    return _lowered(motor, i, (motor.limits.current, None if torque is None else torque / motor.Kp), qd)


def _lowered(motor: Motor, x: Scalar, bounds: Sequence[Scalar | None], qd: Scalar) -> Scalar:
    """A current or a torque at the shaft, within bounds; at its greatest speed a motor is not driven further."""
    for bound in bounds:
        if bound is not None:
            x = clip(x, -bound, bound)
    if motor.limits.speed is not None:
        speed = motor.gear * qd
        x = where(speed >= motor.limits.speed, minimum(x, 0.0), x)
        x = where(speed <= -motor.limits.speed, maximum(x, 0.0), x)
    return x


def _within_supply(motor: Motor, i: Scalar, under: Callable[[Scalar], Scalar]) -> Scalar:
    """A current [A] within what the supply's voltage can make of it, `under` telling what a voltage does.

    Where the back-EMF is greater than the supply, current flows back whether the amplifier likes it or not.
    """
    limit = motor.limits.voltage
    return i if limit is None else clip(i, under(-limit), under(limit))


def flowing(motor: Motor, i: Scalar, qd: Scalar) -> Scalar:
    """The current [A] that flows at a joint velocity [rad/s] when a command asks for i, within all limits."""
    return _within_supply(motor, let_through(motor, i, qd), lambda volts: steady_current(motor, volts, qd))


def current_under(motor: Motor, voltage: Scalar, qd: Scalar) -> Scalar:
    """The current [A] that flows at a joint velocity [rad/s] under a voltage that the supply has, within all limits."""
    i = steady_current(motor, voltage, qd)
    return flowing(motor, i, qd) if lowers(motor) else i


def at_terminals(motor: Motor, voltage: Scalar, i: Scalar, qd: Scalar) -> Scalar:
    """The voltage [V] that the amplifier puts on the terminals at a current i [A] and a joint velocity [rad/s].

    It is that of the command, unless that would drive the current beyond a limit that the current has reached; then it is
    what keeps the current there.
    """
    if not lowers(motor):
        return voltage
    wanted = steady_current(motor, voltage, qd)
    most = let_through(motor, wanted, qd)
    reached = either(both(most < wanted, i >= most), both(most > wanted, i <= most))
    return where(reached, supplied(motor, voltage_for(motor, most, qd)), voltage)


def torque(motor: Motor, i: Scalar) -> Scalar:
    """Torque on the joint [N·m] of an armature current [A]."""
    return motor.gear * (motor.Kp * i)


def attainable(motor: Motor, tau: Scalar, qd: Scalar) -> Scalar:
    """What of a torque on the joint [N·m] a drive without a known torque constant gives at a velocity [rad/s]."""
    return motor.gear * _lowered(motor, tau / motor.gear, (motor.limits.torque,), qd)


def is_limited(motor: Motor) -> bool:
    """Whether anything bounds what the motor can give."""
    limits = motor.limits
    return any(x is not None for x in (limits.voltage, limits.current, limits.torque, limits.speed))


def current_for(motor: Motor, tau: Scalar) -> Scalar:
    """Armature current [A] that gives a torque on the joint [N·m]."""
    return tau / (motor.Kp * motor.gear)


def voltage_for(motor: Motor, i: Scalar, qd: Scalar) -> Scalar:
    """Terminal voltage [V] that drives a current [A] at a joint velocity [rad/s], brushes included."""
    inner = motor.Ra * i + motor.Ke * motor.gear * qd
    if motor.brush_drop is None:
        return inner
    brushes, wanted = motor.brush_drop, absolute(inner)
    outer = wanted + brushes.max
    for _ in range(BRUSH_ROUNDS):
        rest = exp(-LN_2 * outer / brushes.half)
        left, slope = outer - brushes.max * (1.0 - rest), 1.0 - LN_2 * brushes.max / brushes.half * rest
        outer = outer - (left - wanted) / slope
    return where(inner < 0.0, -outer, where(inner > 0.0, outer, 0.0))


BRUSH_ROUNDS = 8  # of Newton's method for V - drop(V) = inner, a convex function: from above it converges steadily


def demand(motor: Motor, tau: Scalar, qd: Scalar) -> tuple[Scalar, Scalar]:
    """Voltage [V] and current [A] that a motor takes to give a torque at a joint velocity."""
    i = current_for(motor, tau)
    return voltage_for(motor, i, qd), i


def viscous(motor: Motor) -> Scalar:
    """Viscous friction of the rotor felt at the joint [N·m·s/rad]."""
    return motor.gear * motor.gear * motor.viscous


def voltage_gain(motor: Motor) -> Scalar:
    """Torque at the joint at rest per volt [N·m/V]: what turns a gain in V/rad into one in N·m/rad."""
    return motor.Kp * motor.gear / motor.Ra


def back_emf_damping(motor: Motor) -> Scalar:
    """Damping at the joint by back-EMF alone, the terminals held at a voltage [N·m·s/rad]: gear² Kp Ke / Ra."""
    return voltage_gain(motor) * motor.Ke * motor.gear


def is_linear(motor: Motor) -> bool:
    """Whether its torque is linear in voltage and speed, within what the supply gives."""
    return motor.brush_drop is None and not lowers(motor)
