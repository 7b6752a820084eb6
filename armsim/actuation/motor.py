"""A permanent-magnet DC motor and its gear, seen from the joint.

With the joint at velocity qd the rotor turns at gear qd. The armature obeys V = Ra i + L di/dt + Ke gear qd, and the joint
feels gear Kp i. Rotor inertia and viscous friction come through the gear squared.
"""

from __future__ import annotations

from math import log as number_log

from armsim.expr import absolute, clip, exp, fma, maximum, minimum, where
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

    The amplifier keeps it within its limit, so that it falls at once when the voltage does.
    """
    settled = steady_current(motor, voltage, qd)
    return limited_current(motor, settled + (i - settled) * exp(-(motor.Ra * h / motor.inductance)))


def current_rate(motor: Motor, i: Scalar, voltage: Scalar, qd: Scalar) -> Scalar:
    """Rate of the armature current [A/s] at a terminal voltage and a joint velocity; the amplifier's limit is not passed."""
    rate = (steady_current(motor, voltage, qd) - i) * motor.Ra / motor.inductance
    limit = motor.limits.current
    if limit is None:
        return rate
    return where(i >= limit, minimum(rate, 0.0), where(i <= -limit, maximum(rate, 0.0), rate))


def limited_current(motor: Motor, i: Scalar) -> Scalar:
    """What of a current the amplifier lets through [A]."""
    limit = motor.limits.current
    return i if limit is None else clip(i, -limit, limit)


def torque(motor: Motor, i: Scalar, qd: Scalar) -> Scalar:
    """Torque on the joint [N·m] for an armature current [A], within the motor's limits of torque and speed."""
    return motor.gear * _within_limits(motor, motor.Kp * i, qd)


def _within_limits(motor: Motor, shaft: Scalar, qd: Scalar) -> Scalar:
    """A torque at the shaft [N·m] within the motor's limits; at its greatest speed it is not driven further."""
    if motor.limits.torque is not None:
        shaft = clip(shaft, -motor.limits.torque, motor.limits.torque)
    if motor.limits.speed is not None:
        speed = motor.gear * qd
        shaft = where(speed >= motor.limits.speed, minimum(shaft, 0.0), shaft)
        shaft = where(speed <= -motor.limits.speed, maximum(shaft, 0.0), shaft)
    return shaft


def attainable(motor: Motor, tau: Scalar, qd: Scalar) -> Scalar:
    """What of a torque on the joint [N·m] the motor can give at a velocity [rad/s], within all its limits."""
    if motor.Kp is None:
        return motor.gear * _within_limits(motor, tau / motor.gear, qd)
    i = limited_current(motor, current_for(motor, tau))
    if motor.limits.voltage is not None:
        back = motor.Ke * motor.gear * qd
        full = behind_brushes(motor, motor.limits.voltage)
        i = clip(i, (-full - back) / motor.Ra, (full - back) / motor.Ra)
    return torque(motor, i, qd)


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


def armature(motor: Motor) -> Scalar:
    """Inertia of the rotor felt at the joint [kg m²]; it is added to the diagonal of the mass matrix."""
    return motor.gear * motor.gear * motor.rotor_inertia


def voltage_gain(motor: Motor) -> Scalar:
    """Torque at the joint at rest per volt [N·m/V]: what turns a gain in V/rad into one in N·m/rad."""
    return motor.Kp * motor.gear / motor.Ra


def is_linear(motor: Motor) -> bool:
    """Whether its torque is linear in voltage and speed, within what the supply gives."""
    limits = motor.limits
    return motor.brush_drop is None and limits.current is None and limits.torque is None and limits.speed is None
