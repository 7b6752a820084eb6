"""Statics: the commands that hold an arm at rest, and controller gains as stiffness and damping at the joints."""

from __future__ import annotations

from dataclasses import replace

from armsim.actuation import motor as dc
from armsim.actuation import unpowered
from armsim.control import Controller, Now
from armsim.dynamics import gravity_torque, link_wrenches, rnea
from armsim.expr import Scalar, Scalars, minus
from armsim.plant.plant import Plant


def drive_forces(plant: Plant, t: Scalar, q: Scalars, qd: Scalars, qdd: Scalars) -> Scalars:
    """What drives exert on an arm in motion with accelerations qdd at time t [s], but for dry friction [N·m or N]."""
    applied = *plant.loads.external, *plant.loads.contacts.acting
    forces = rnea(plant.arm.at(t), q, qd, qdd, link_wrenches(plant.arm, t, q, applied, t, qd))
    states = zip(plant.arm.joints, q, qd, forces, strict=True)
    return [unpowered(joint, q_i, qd_i).drive_for(needed) for joint, q_i, qd_i, needed in states]


def commands_for(plant: Plant, forces: Scalars, qd: Scalars) -> Scalars:
    """The commands by which drives exert forces at joint velocities qd [V, A, N·m or N]."""
    commands: list[Scalar] = []
    for joint, qd_i, tau in zip(plant.arm.joints, qd, forces, strict=True):
        motor, output = joint.electric_motor, "torque" if plant.command is None else plant.command.output
        if motor is not None and output != "torque":
            voltage, current = dc.demand(motor, tau, qd_i)
            tau = voltage if output == "voltage" else current
        commands.append(tau)
    return commands


def steady_state(plant: Plant, t: Scalar, q: Scalars, qd: Scalars) -> Scalars:
    """The state at time t [s] at joint positions q and velocities qd, as if the command had long been the one it is there.

    Filters and currents have settled, encoders have read such a motion, without counts or noise; the commands on their way, and
    the integrals of joints without an error, are those of the present. Of a sampled command it is the state after a sample.
    """
    x, command = plant.parts(plant.initial_state(q, qd)), plant.command
    if isinstance(command, Controller):
        seen = plant.loads.measured(x.q, x.qd, x.currents)
        if command.feedforward is not None:
            _, expected = command.feedforward.commands(Now(t, seen, command.reference.at(t)))
            seen = replace(seen, currents={i: expected.get(i, 0.0) for i in seen.currents})
        command = command.ideal
        x.control = command.steady(
            t, seen, lambda desired: commands_for(plant, drive_forces(plant, t, q, qd, desired.qdd), qd)
        )
        if command.period is None:
            u = command.command(t, seen, x.control)
        else:
            u, x.control = command.sample(t, seen, x.control)
            x.held = u
        for k, (i, motor) in enumerate(plant.inductive.items()):
            x.currents[k] = dc.current_under(motor, dc.supplied(motor, u[i]), qd[i])
    elif command is not None and command.period is not None:
        x.held = command.at(t)
    return x.flat()


def per_command(plant: Plant, i: int) -> Scalar | None:
    """Stall torque of joint i per unit of its command [N·m/V, N·m/A, or 1]; None where its motor takes no voltage."""
    motor = plant.arm.joints[i].electric_motor
    if plant.command is None or plant.command.output == "torque":
        return 1.0
    if motor is None:
        return None
    return dc.voltage_gain(motor) if plant.command.output == "voltage" else dc.torque(motor, 1.0)


def joint_stiffness(plant: Plant, i: int) -> float | None:
    """The proportional gain of joint i as a stiffness [N·m/rad or N/m]: Kp gear kp / Ra for a voltage; None without one."""
    gain, command = per_command(plant, i), plant.command
    kp = command.law.stiffness(i) if isinstance(command, Controller) else None
    return None if gain is None or kp is None else float(gain * kp)


def joint_damping(plant: Plant, i: int) -> tuple[float, float]:
    """The derivative gain of joint i and its motor's back-EMF as damping [N·m·s/rad or N·s/m]: the two together, and the latter.

    A current that is a state is taken to follow its voltage at once.
    """
    gain, motor = per_command(plant, i), plant.arm.joints[i].electric_motor
    driven = plant.command is not None and plant.command.output == "voltage"
    back_emf = dc.back_emf_damping(motor) if motor is not None and driven else 0.0
    command = plant.command
    kd = command.law.damping(i) if isinstance(command, Controller) else None
    return float((1.0 if gain is None else gain) * (kd or 0.0) + back_emf), float(back_emf)


def steady_droop(plant: Plant, t: float = 0.0) -> list[float | None] | None:
    """Steady-state error of each joint under gravity and its spring by pd control: their torque / stiffness [rad or m].

    Positive where the joint stays below its target. To first order: both are evaluated at the target, where the reference is
    at time t [s]. None under any other command, and where the reference moves; None for a joint whose stiffness is not positive.
    """
    command = plant.command
    if not isinstance(command, Controller) or command.law.name != "pd" or command.feedforward is not None:
        return None
    desired = command.reference.at(t)
    if any(desired.qd):
        return None
    springs = (0.0 if joint.spring is None else joint.spring.force(q) for joint, q in zip(plant.arm.joints, desired.q))
    loads = minus(gravity_torque(plant.arm.at(t), desired.q), springs)
    gains = [joint_stiffness(plant, i) for i in range(plant.arm.n)]
    return [float(x) / k if k is not None and k > 0.0 else None for x, k in zip(loads, gains, strict=True)]
