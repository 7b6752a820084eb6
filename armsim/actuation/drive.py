"""What drives give in a motion: torques by inverse dynamics with armature, friction and stops; voltages and currents."""

from __future__ import annotations

from armsim.actuation import motor as dc
from armsim.actuation.friction import dry_bounds
from armsim.actuation.joint_torque import unpowered
from armsim.dynamics import contact_wrenches, rnea
from armsim.expr import where
from armsim.model import Arm, Joint
from armsim.spatial import Scalar


def drive_torques(arm: Arm, q, qd, qdd) -> list[Scalar]:
    """Drive torques that produce a motion [N·m or N], n scalars.

    Armature, friction, stops and contacts belong to the arm. Dry friction is included for joints that move; at rest it is
    undetermined within its bounds, and left out; so is that of contacts.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        qdd: Joint accelerations [rad/s² or m/s²], n scalars.
    """
    drives, forces = [], rnea(arm, q, qd, qdd, contact_wrenches(arm, q, qd))
    for joint, tau, q_i, qd_i in zip(arm.joints, forces, q, qd, strict=True):
        needed = unpowered(joint, q_i, qd_i).drive_for(tau)
        drives.append(against_dry_friction(joint, needed, qd_i))
    return drives


def motor_demands(arm: Arm, qd, tau) -> tuple[list[Scalar | None], list[Scalar | None]]:
    """Voltages [V] and currents [A] by which motors give drive torques; None for a joint without an electric motor.

    Args:
        arm: The arm, n joints.
        qd: Joint velocities [rad/s or m/s], n scalars.
        tau: Drive torques [N·m or N], n scalars.
    """
    states = [(joint.electric_motor, *state) for joint, *state in zip(arm.joints, tau, qd, strict=True)]
    demands = [(None, None) if motor is None else dc.demand(motor, *state) for motor, *state in states]
    return [voltage for voltage, _ in demands], [current for _, current in demands]


def against_dry_friction(joint: Joint, needed: Scalar, qd: Scalar) -> Scalar:
    """The drive torque T of a moving joint with T + friction(T) = needed.

    The gear's losses are proportional to |T|; T has the sign that it has without them.
    """
    lower, upper = dry_bounds(joint, 0.0, qd)
    without_losses = needed - where(qd > 0.0, lower, where(qd < 0.0, upper, 0.0))
    motor = joint.motor
    if motor is None or motor.efficiency is None:
        return without_losses
    loss = 1.0 - motor.efficiency
    driving = without_losses * qd  # positive where the drive pushes in the direction of motion
    return without_losses / where(driving > 0.0, 1.0 - loss, where(driving < 0.0, 1.0 + loss, 1.0))
