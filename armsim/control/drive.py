"""From the torques that a law wants to what its amplifiers take."""

from __future__ import annotations

from armsim.actuation import Output, viscous_friction
from armsim.actuation import motor as dc
from armsim.expr import Scalar, Scalars
from armsim.model import Arm


def commands_for(model: Arm, output: Output, tau: Scalars, qd: Scalars) -> Scalars:
    """The commands by which motors give torques [N·m or N] at joint velocities [rad/s or m/s]: back-EMF and drops compensated.

    Args:
        model: The arm as the controller knows it; its motors are electric unless the output is a torque.
        output: What is commanded.
        tau: Of the drives, on their joints.
        qd: Joint velocities.
    """
    if output == "torque":
        return [*tau]
    commands = []
    for joint, torque, speed in zip(model.joints, tau, qd, strict=True):
        assert joint.electric_motor is not None
        voltage, current = dc.demand(joint.electric_motor, torque, speed)
        commands.append(voltage if output == "voltage" else current)
    return commands


def currents_for(model: Arm, tau: Scalars) -> dict[int, Scalar]:
    """The armature currents [A] that give torques [N·m], by joint, of the joints that have an electric motor."""
    motors = ((i, joint.electric_motor) for i, joint in enumerate(model.joints))
    return {i: dc.current_for(motor, tau[i]) for i, motor in motors if motor is not None}


def against_viscous(model: Arm, tau: Scalars, qd: Scalars) -> list[Scalar]:
    """The torques of drives [N·m or N] that leave these for the joints at velocities qd: viscous friction added."""
    joints = zip(model.joints, tau, qd, strict=True)
    return [torque - viscous_friction(joint, speed) for joint, torque, speed in joints]
