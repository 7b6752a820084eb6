"""A permanent-magnet DC motor and its gear, seen from the joint.

With the joint at velocity qd the rotor turns at gear qd. The armature obeys V = Ra i + Ke gear qd, and the joint feels
gear Kp i. Rotor inertia and viscous friction come through the gear squared.
"""

from __future__ import annotations

from armsim.model import Motor
from armsim.spatial import Scalar


def current(motor: Motor, voltage: Scalar, qd: Scalar) -> Scalar:
    """Armature current [A] at a voltage [V] and a joint velocity [rad/s]."""
    return (voltage - motor.Ke * motor.gear * qd) / motor.Ra


def torque(motor: Motor, i: Scalar) -> Scalar:
    """Torque on the joint [N·m] for an armature current [A]."""
    return motor.Kp * motor.gear * i


def current_for(motor: Motor, tau: Scalar) -> Scalar:
    """Armature current [A] that gives a torque on the joint [N·m]."""
    return tau / (motor.Kp * motor.gear)


def voltage_for(motor: Motor, i: Scalar, qd: Scalar) -> Scalar:
    """Voltage [V] that drives a current [A] at a joint velocity [rad/s]."""
    return motor.Ra * i + motor.Ke * motor.gear * qd


def viscous(motor: Motor) -> Scalar:
    """Viscous friction of the rotor felt at the joint [N·m·s/rad]."""
    return motor.gear * motor.gear * motor.viscous


def armature(motor: Motor) -> Scalar:
    """Inertia of the rotor felt at the joint [kg m²]; it is added to the diagonal of the mass matrix."""
    return motor.gear * motor.gear * motor.rotor_inertia


def voltage_gain(motor: Motor) -> Scalar:
    """Torque at the joint at rest per volt [N·m/V]: what turns a gain in V/rad into one in N·m/rad."""
    return motor.Kp * motor.gear / motor.Ra
