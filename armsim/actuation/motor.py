"""A permanent-magnet DC motor and its gear, seen from the joint.

With the joint at velocity qd the rotor turns at gear qd. The armature obeys V = Ra i + L di/dt + Ke gear qd, and the torque at
the joint is gear Kp i. Rotor inertia and viscous friction are reflected through the gear squared.

A command demands a current. The amplifier lowers it to its limits of current, torque and speed, by the terminal voltage, which
is itself limited to the supply's. See docs/motors.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log as number_log
from typing import Any

from armsim.expr import absolute, both, clip, either, exp, fma, maximum, minimum, where
from armsim.model import BrushDrop, Motor
from armsim.spatial import Scalar

LN_2 = number_log(2.0)

Beyond = tuple[Any, Any]  # conditions: the shaft counts as beyond its limit of speed, forwards and backwards


def supplied(motor: Motor, voltage: Scalar) -> Scalar:
    """A commanded voltage within the supply's [V]."""
    limit = motor.limits.voltage
    return voltage if limit is None else clip(voltage, -limit, limit)


def behind_brushes(motor: Motor, voltage: Scalar) -> Scalar:
    """The armature's voltage: that of the terminals less the brush drop [V]."""
    if motor.brush_drop is None:
        return voltage
    backwards = voltage < 0.0
    size = where(backwards, -voltage, voltage)  # its slope at 0 V is that of either side, which |V| has not
    left = size - _drop(motor.brush_drop, size)
    return where(backwards, -left, left)


def _drop(brushes: BrushDrop, size: Scalar) -> Scalar:
    """What brushes take of a voltage's magnitude: all of a small one, where the curve begins steeper than that."""
    curve = brushes.max * (1.0 - exp(-LN_2 * size / brushes.half))
    return where(LN_2 * brushes.max > brushes.half, where(curve < size, curve, size), curve)


def brush_share(motor: Motor, voltage: Scalar) -> Scalar:
    """The armature's voltage over that of the terminals, by their slope there: 1 at most, as the drop rises ever less.

    A voltage that swings between V and -V acts on average like one without brushes, but for this share of its slope at V.
    """
    if motor.brush_drop is None:
        return 1.0
    brushes, backwards = motor.brush_drop, voltage < 0.0
    size = where(backwards, -voltage, voltage)
    left = size - _drop(brushes, size)
    slope = 1.0 - LN_2 * brushes.max / brushes.half * exp(-LN_2 * size / brushes.half)
    acts = left > 0.0
    return where(acts, left / where(acts, size * slope, 1.0), 1.0)


def steady_current(motor: Motor, voltage: Scalar, qd: Scalar) -> Scalar:
    """Steady-state armature current [A] at a terminal voltage [V] and a joint velocity [rad/s]."""
    return fma(-(motor.Ke * motor.gear), qd, behind_brushes(motor, voltage)) / motor.Ra


def current_after(motor: Motor, i: Scalar, voltage: Scalar, qd: Scalar, h: Scalar) -> Scalar:
    """Armature current [A] after h seconds at constant voltage and velocity: the exact solution of L di/dt = ... - Ra i.

    The amplifier keeps it within its limits as far as the supply's voltage can in that time.
    """
    return _relax_within_limits(motor, i, voltage, qd, exp(-(motor.Ra * h / motor.inductance)))


def mean_current(motor: Motor, i: Scalar, voltage: Scalar, qd: Scalar, h: Scalar) -> Scalar:
    """The mean of the armature current [A] over these h seconds; see `current_after`."""
    x = motor.Ra * h / motor.inductance
    return _relax_within_limits(motor, i, voltage, qd, (1.0 - exp(-x)) / x)


def _relax_within_limits(motor: Motor, i: Scalar, voltage: Scalar, qd: Scalar, left: Scalar) -> Scalar:
    """A current [A] of whose distance from the steady one a share is left, within the amplifier's limits."""

    def under(volts: Scalar) -> Scalar:
        return relaxed(i, steady_current(motor, volts, qd), left)

    return _within_supply(motor, let_through(motor, under(voltage), qd), under) if lowers(motor) else under(voltage)


def relaxed(i: Scalar, settled: Scalar, decay: Scalar) -> Scalar:
    """Exponential relaxation of i to `settled`, by the factor `decay`."""
    return settled + (i - settled) * decay


def current_rate(motor: Motor, i: Scalar, voltage: Scalar, qd: Scalar) -> Scalar:
    """Rate of the armature current [A/s] under a commanded voltage [V] at a joint velocity [rad/s]; at a limit it saturates."""
    return (steady_current(motor, at_terminals(motor, voltage, i, qd), qd) - i) * motor.Ra / motor.inductance


def lowers(motor: Motor) -> bool:
    """Whether the amplifier has a limit of current, torque or speed, to which it lowers what a command demands."""
    limits = motor.limits
    return any(limit is not None for limit in (limits.current, limits.torque, limits.speed))


def let_through(motor: Motor, i: Scalar, qd: Scalar, beyond: Beyond | None = None) -> Scalar:
    """A current [A] within the amplifier's limits of current, torque and speed, at a joint velocity [rad/s]."""
    torque = motor.limits.torque
    return _lowered(motor, i, (motor.limits.current, None if torque is None else torque / motor.Kp), qd, beyond)


def _lowered(motor: Motor, x: Scalar, bounds: Sequence[Scalar | None], qd: Scalar, beyond: Beyond | None) -> Scalar:
    """A current or a torque at the shaft, clamped to bounds; at the speed limit the motor is not driven further."""
    for bound in bounds:
        if bound is not None:
            x = clip(x, -bound, bound)
    if motor.limits.speed is not None:
        forwards, backwards = beyond or beyond_speed(motor, qd)
        x = where(forwards, minimum(x, 0.0), x)
        x = where(backwards, maximum(x, 0.0), x)
    return x


def beyond_speed(motor: Motor, qd: Scalar) -> Beyond:
    """Whether the shaft is at or beyond its limit of speed, at a joint velocity [rad/s]: forwards, and backwards."""
    speed, limit = motor.gear * qd, motor.limits.speed
    assert limit is not None
    return speed >= limit, speed <= -limit


def _within_supply(motor: Motor, i: Scalar, under: Callable[[Scalar], Scalar]) -> Scalar:
    """A current [A] clamped to those that the supply's voltage can drive, `under` giving the current at a voltage.

    Where the back-EMF exceeds the supply's voltage, current flows back whatever the amplifier does.
    """
    limit = motor.limits.voltage
    return i if limit is None else clip(i, under(-limit), under(limit))


def flowing(motor: Motor, i: Scalar, qd: Scalar, beyond: Beyond | None = None) -> Scalar:
    """The current [A] at a joint velocity [rad/s] when a command demands i, within all limits."""
    return _within_supply(motor, let_through(motor, i, qd, beyond), lambda volts: steady_current(motor, volts, qd))


def current_under(motor: Motor, voltage: Scalar, qd: Scalar, beyond: Beyond | None = None) -> Scalar:
    """The steady-state current [A] at a joint velocity [rad/s] and a voltage within the supply's, within all limits."""
    i = steady_current(motor, voltage, qd)
    return flowing(motor, i, qd, beyond) if lowers(motor) else i


def at_terminals(motor: Motor, voltage: Scalar, i: Scalar, qd: Scalar) -> Scalar:
    """The terminal voltage [V] at a current i [A] and a joint velocity [rad/s].

    It is that of the command, unless that would drive the current beyond a limit that the current has reached; then it is the
    one that keeps the current there.
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


def attainable(motor: Motor, tau: Scalar, qd: Scalar, beyond: Beyond | None = None) -> Scalar:
    """A torque on the joint [N·m] within the limits of a drive without a torque constant, at a joint velocity [rad/s]."""
    return motor.gear * _lowered(motor, tau / motor.gear, (motor.limits.torque,), qd, beyond)


def is_limited(motor: Motor) -> bool:
    """Whether the motor or its amplifier has any limit."""
    limits = motor.limits
    return any(x is not None for x in (limits.voltage, limits.current, limits.torque, limits.speed))


def current_for(motor: Motor, tau: Scalar) -> Scalar:
    """Armature current [A] that gives a torque on the joint [N·m]."""
    return tau / (motor.Kp * motor.gear)


def voltage_for(motor: Motor, i: Scalar, qd: Scalar) -> Scalar:
    """Terminal voltage [V] that drives a current [A] at a joint velocity [rad/s], brush drop included."""
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


BRUSH_ROUNDS = 8  # Newton iterations for V - drop(V) = inner: convex, so they converge monotonically from above


def demand(motor: Motor, tau: Scalar, qd: Scalar) -> tuple[Scalar, Scalar]:
    """Voltage [V] and current [A] by which a motor gives a torque on the joint [N·m] at a joint velocity [rad/s]."""
    i = current_for(motor, tau)
    return voltage_for(motor, i, qd), i


def viscous(motor: Motor) -> Scalar:
    """Viscous friction of the rotor, reflected to the joint [N·m·s/rad]."""
    return motor.gear * motor.gear * motor.viscous


def voltage_gain(motor: Motor) -> Scalar:
    """Stall torque at the joint per volt [N·m/V]: the factor from a gain in V/rad to one in N·m/rad."""
    return motor.Kp * motor.gear / motor.Ra


def back_emf_damping(motor: Motor) -> Scalar:
    """Back-EMF damping at the joint at constant terminal voltage [N·m·s/rad]: gear² Kp Ke / Ra."""
    return voltage_gain(motor) * motor.Ke * motor.gear


def is_linear(motor: Motor) -> bool:
    """Whether the torque is linear in voltage and speed, within the supply's voltage."""
    return motor.brush_drop is None and not lowers(motor)
