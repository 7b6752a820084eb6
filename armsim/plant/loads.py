"""The loads on an arm: commands, drive torques, friction, stops, and external wrenches.

A load on a single joint is a part of `armsim.actuation.JointTorque`; here they are those of all joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from armsim.actuation import JointTorque, Works, driven, dry_bounds, motor_limited, powers, sticks, stop_law, unpowered
from armsim.actuation import motor as dc
from armsim.control import Feedback, OpenLoop
from armsim.dynamics import ExternalWrench, Law, Wrench, external_power, link_wrenches, own_poses
from armsim.expr import Scalar, absolute, either, fma, maximum, minimum
from armsim.integrate import Motion
from armsim.model import Arm, Motor
from armsim.plant.state import Further, Held


@dataclass(frozen=True)
class Loads:
    """The loads on an arm, at a time t [s], in a motion y, with `Held`, what is constant during the step.

    Attributes:
        arm: The arm, n joints.
        command: What drives it: a feedback law, signals of time, or None for motors with open terminals.
        external: External wrenches.
        integrated: Whether the integrator advances the armature currents, where they are states.
        stepped: Whether a command that jumps does so only between steps.
        audit: Whether powers are wanted.
    """

    arm: Arm
    command: Feedback | OpenLoop | None
    external: Sequence[ExternalWrench]
    integrated: bool
    stepped: bool
    audit: bool

    @property
    def sampled(self) -> bool:
        """Whether the command is held between samples."""
        return self.command is not None and self.command.period is not None

    @cached_property
    def inductive(self) -> dict[int, Motor]:
        """The motors whose current is a state of its own, by joint: they have an inductance and are driven by a voltage."""
        if self.command is None or self.command.output != "voltage":
            return {}
        motors = [joint.motor for joint in self.arm.joints]
        return {i: motor for i, motor in enumerate(motors) if motor is not None and motor.inductance is not None}

    @cached_property
    def dry(self) -> tuple[bool, ...]:
        """Which joints have dry friction."""
        return tuple(sticks(joint) for joint in self.arm.joints)

    def commands(self, t: Scalar, y: Motion, held: Held) -> list[Scalar | None]:
        """The command of every drive; None for open terminals."""
        if self.command is None:
            return [None] * self.arm.n
        if self.sampled:
            return [*held.commands]
        return [*self.command.command(t, y.q, y.v, y.z.integrals, held.since if self.stepped else None)]

    def torques(self, t: Scalar, y: Motion, held: Held) -> list[JointTorque]:
        """The loads on every joint, without dry friction."""
        return self.torques_under(self.commands(t, y, held), y, held)

    def torques_under(self, u: Sequence[Scalar | None], y: Motion, held: Held) -> list[JointTorque]:
        """The loads on every joint under given commands, without dry friction."""
        currents = dict(zip(self.inductive, self.currents(y, held), strict=True))
        torques = []
        for i, (joint, q, qd) in enumerate(zip(self.arm.joints, y.q, y.v, strict=True)):
            if self.command is None:
                torques.append(unpowered(joint, q, qd))
            else:
                torques.append(driven(joint, self.command.output, u[i], q, qd, currents.get(i)))
        return torques

    def saturated(self, t: Scalar, y: Motion, held: Held, torques: Sequence[JointTorque]) -> list[Any]:
        """Whether a limit of its command, motor or amplifier acts on every joint, under the torques of then."""
        command = self.command
        if command is None:
            return [False] * self.arm.n
        acts = []
        bounds = command.limit if isinstance(command, Feedback) else (None,) * self.arm.n
        for i, (u, bound) in enumerate(zip(self.commands(t, y, held), bounds, strict=True)):
            at_bound = False if bound is None else absolute(u) >= bound
            acts.append(either(at_bound, motor_limited(self.arm.joints[i], command.output, u, torques[i])))
        return acts

    def currents(self, y: Motion, held: Held) -> list[Scalar]:
        """The armature currents that are states [A], in the order of `inductive`."""
        currents: list[Scalar] = y.z.currents if self.integrated else held.currents
        return currents

    def wrenches(self, q: Sequence[Scalar], held: Held) -> list[Wrench] | None:
        """The external wrenches on the links; they begin and end only between steps."""
        return link_wrenches(self.arm, held.since, own_poses(self.arm, q) if self.external else [], self.external)

    def dry_bounds(self, torques: Sequence[JointTorque]) -> tuple[list[Scalar], list[Scalar]]:
        """Lower and upper bounds of every joint's dry friction [N·m or N]."""
        bounds = [dry_bounds(joint, torque.motor) for joint, torque in zip(self.arm.joints, torques, strict=True)]
        return [lower for lower, _ in bounds], [upper for _, upper in bounds]

    def further_rates(self, y: Motion, held: Held, torques: Sequence[JointTorque]) -> Further:
        """Rates of the further states that the integrator advances; a sampled command advances its integrals itself."""
        integrals: list[Scalar] = []
        if self.command is not None and not self.sampled:
            integrals = self.command.integral_rates(y.q, y.z.integrals)
        return Further(integrals, self.current_rates(y, held, torques) if self.integrated else [])

    def current_rates(self, y: Motion, held: Held, torques: Sequence[JointTorque]) -> list[Scalar]:
        """Rates of the armature currents that are states [A/s], in the order of `inductive`."""
        pairs = zip(self.inductive.items(), self.currents(y, held), strict=True)
        return [dc.current_rate(motor, x, torques[i].supply, y.v[i]) for (i, motor), x in pairs]

    def powers(
        self,
        q: Sequence[Scalar],
        v: Sequence[Scalar],
        torques: Sequence[JointTorque],
        wrenches: Sequence[Wrench] | None,
    ) -> Works | None:
        """The powers of the loads on velocities v [W], without dry friction; None where they are not wanted."""
        return powers(torques, v, external_power(self.arm, q, v, wrenches)) if self.audit else None

    @cached_property
    def clipped(self) -> list[tuple[int, Literal["dry", "stop", "command"]]]:
        """The loads that an implicit step takes as box-constrained laws of velocity: joint and kind of each."""
        clipped: list[tuple[int, Literal["dry", "stop", "command"]]] = []
        for i, joint in enumerate(self.arm.joints):
            if self.dry[i]:
                clipped.append((i, "dry"))
            if joint.limit is not None and joint.limit.stiffness is not None:
                clipped.append((i, "stop"))
            if self.saturation(i) is not None:
                clipped.append((i, "command"))
        return clipped

    def laws(self, y: Motion, torques: Sequence[JointTorque]) -> list[Law]:
        """The laws of `clipped`."""
        return [self._law(i, kind, y, torques[i]) for i, kind in self.clipped]

    def _law(self, i: int, kind: str, y: Motion, torque: JointTorque) -> Law:
        joint = self.arm.joints[i]
        if kind == "dry":
            return Law(i, *dry_bounds(joint, torque.motor))
        if kind == "stop":
            assert joint.limit is not None
            b, d, lower, upper = stop_law(joint.limit, y.q[i])
            return Law(i, lower, upper, b, d)
        command, saturation = self.command, self.saturation(i)
        assert isinstance(command, Feedback)
        assert saturation is not None
        gain, limit = saturation
        d = maximum(gain * command.kd[i], 0.0)
        b = fma(d, y.v[i], gain * command.unlimited(y.q, y.v, y.z.integrals)[i])
        return Law(i, -(absolute(gain) * limit), absolute(gain) * limit, b, d)

    def saturation(self, i: int) -> tuple[Scalar, Scalar] | None:
        """Torque per command, and the command's limit, where a damping continuous command saturates a linear drive; else None."""
        command, joint = self.command, self.arm.joints[i]
        if not isinstance(command, Feedback) or command.period is not None or command.law == "pi":
            return None
        limit, motor = command.limit[i], joint.motor
        if command.output == "torque":
            return None if limit is None or (motor is not None and dc.is_limited(motor)) else (1.0, limit)
        if motor is None or not dc.is_linear(motor) or i in self.inductive:
            return None
        supply = motor.limits.voltage
        bounds = [bound for bound in (limit, supply) if bound is not None]
        return (dc.voltage_gain(motor), minimum(bounds[0], bounds[-1])) if bounds else None
