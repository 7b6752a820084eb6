"""All that acts on an arm: what its drives are told, what they give, friction, stops, and what pushes from outside.

The plant's text between its state and its integrator: from the parts of a state to accelerations, to the equation of motion, and
to what implicit methods want to know of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from armsim.actuation import JointTorque, armature, driven, dry_bounds, sticks, stop_law, unpowered
from armsim.actuation import motor as dc
from armsim.control import Feedback, OpenLoop
from armsim.dynamics import (
    ExternalWrench,
    external_power,
    forward_dynamics,
    link_wrenches,
    momenta_and_forces,
    own_poses,
    rnea,
)
from armsim.dynamics.forward import Algorithm
from armsim.dynamics.rnea import Wrench
from armsim.expr import Scalar, absolute, fma, maximum, minimum, where, with_jacobian
from armsim.integrate import dot
from armsim.mechanics import equation
from armsim.model import Arm, Motor
from armsim.spatial import Pose


@dataclass(slots=True)
class Parts:
    """A state, taken apart.

    Attributes:
        q: Joint positions [rad or m].
        qd: Joint velocities [rad/s or m/s].
        integrals: Controller integrals [rad·s or m·s].
        held: Commands held since the last sample [V, N·m or N].
        currents: Armature currents of the motors that have an inductance [A].
        memory: What an adaptive integrator remembers.
        works: Work done on the arm since the start, by each of `WORKS` [J].
    """

    q: list[Scalar]
    qd: list[Scalar]
    integrals: list[Scalar]
    held: list[Scalar]
    currents: list[Scalar]
    memory: list[Scalar]
    works: list[Scalar]

    def flat(self) -> list[Scalar]:
        """The state again."""
        return [*self.q, *self.qd, *self.integrals, *self.held, *self.currents, *self.memory, *self.works]


@dataclass(frozen=True)
class Acting:
    """What acts on an arm.

    Attributes:
        arm: The arm, n joints.
        command: What drives it; see `armsim.plant.Plant`.
        external: Forces and moments from outside.
        algorithm: Of `armsim.dynamics.forward_dynamics`.
        integrated: Whether the integrator advances the armature currents, where they are states.
        stepped: Whether a command that jumps does so between steps only.
        audit: Whether powers are wanted.
    """

    arm: Arm
    command: Feedback | OpenLoop | None
    external: Sequence[ExternalWrench]
    algorithm: Algorithm
    integrated: bool
    stepped: bool
    audit: bool
    _slopes: dict[tuple[int, ...], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

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
    def further(self) -> tuple[int, int]:
        """How many further states the integrator advances: controller integrals under continuous control, armature currents."""
        integrals = 0 if self.command is None or self.sampled else self.command.integrals
        return integrals, len(self.inductive) if self.integrated else 0

    def drives(self, t: Scalar, parts: Parts, since: Scalar | None = None) -> list[JointTorque]:
        """What acts on every joint, dry friction still left out."""
        return self.drives_under(self._commands(t, parts, since), parts)

    def _commands(self, t: Scalar, parts: Parts, since: Scalar | None) -> list[Scalar | None]:
        """What every drive is told; None for open terminals."""
        if self.command is None:
            return [None] * self.arm.n
        if self.sampled:
            return [*parts.held]
        began = since if self.stepped else None
        return [*self.command.command(t, parts.q, parts.qd, parts.integrals, began)]

    def drives_under(self, u: Sequence[Scalar | None], parts: Parts) -> list[JointTorque]:
        """What acts on every joint under given commands."""
        currents = dict(zip(self.inductive, parts.currents, strict=True))
        drives = []
        for i, (joint, q, qd) in enumerate(zip(self.arm.joints, parts.q, parts.qd, strict=True)):
            if self.command is None:
                drives.append(unpowered(joint, q, qd))
            else:
                drives.append(driven(joint, self.command.output, u[i], q, qd, currents.get(i)))
        return drives

    def outside(self, t: Scalar, q: Sequence[Scalar]) -> list[Wrench] | None:
        poses: list[Pose] = own_poses(self.arm, q) if self.external else []
        return link_wrenches(self.arm, t, poses, self.external)

    def rates(self, t: Scalar, parts: Parts, since: Scalar) -> list[Scalar]:
        """Joint accelerations, rates of the further states, and powers."""
        drives = self.drives(t, parts, since)
        outside = self.outside(since, parts.q)
        tau = [drive.total for drive in drives]
        rotors = [armature(joint) for joint in self.arm.joints]
        qdd = forward_dynamics(self.arm, parts.q, parts.qd, tau, rotors, outside, self.algorithm)
        return [*qdd, *self.further_rates(parts, drives), *self.powers(parts, drives, outside)]

    def forces(self, t: Scalar, parts: Parts, since: Scalar) -> list[Scalar]:
        """The entries of `Forces`, one after the other."""
        drives = self.drives(t, parts, since)
        outside = self.outside(since, parts.q)
        M, f = equation(self.arm, parts.q, parts.qd, [drive.total for drive in drives], outside)
        bounds = [dry_bounds(joint, drive.motor) for joint, drive in zip(self.arm.joints, drives, strict=True)]
        lower, upper = ([bound[side] for bound in bounds] for side in (0, 1))
        further = [*self.further_rates(parts, drives), *self.powers(parts, drives, outside)]
        return [*(x for row in M for x in row), *f, *lower, *upper, *further]

    @cached_property
    def laws(self) -> list[tuple[int, Literal["dry", "stop", "command"]]]:
        """The laws that an implicit step solves for: which joint's, and what of it."""
        laws: list[tuple[int, Literal["dry", "stop", "command"]]] = []
        for i, joint in enumerate(self.arm.joints):
            if sticks(joint):
                laws.append((i, "dry"))
            if joint.limit is not None and joint.limit.stiffness is not None:
                laws.append((i, "stop"))
            if self._saturation(i) is not None:
                laws.append((i, "command"))
        return laws

    def _saturation(self, i: int) -> tuple[Scalar, Scalar] | None:
        """Of a joint whose torque is linear in a continuous command that is limited and damps: torque per command, and limit."""
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

    def _law(self, i: int, kind: str, parts: Parts, drive: JointTorque) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        """b, d, lower and upper of a law."""
        joint = self.arm.joints[i]
        if kind == "dry":
            return 0.0, 0.0, *dry_bounds(joint, drive.motor)
        if kind == "stop":
            assert joint.limit is not None
            return stop_law(joint.limit, parts.q[i])
        command, saturation = self.command, self._saturation(i)
        assert isinstance(command, Feedback)
        assert saturation is not None
        gain, limit = saturation
        d = maximum(gain * command.kd[i], 0.0)
        b = fma(d, parts.qd[i], gain * command.unlimited(parts.q, parts.qd, parts.integrals)[i])
        return b, d, -(absolute(gain) * limit), absolute(gain) * limit

    def damped(self, t: Scalar, parts: Parts, since: Scalar) -> list[Scalar]:
        """The entries of `Damped`, one after the other; of every law b, d, lower and upper."""
        n = self.arm.n
        sizes = [n, n, len(parts.integrals), len(parts.held), len(parts.currents)]

        def own(since, t, *x):
            """The torques that depend on a joint's own velocity, those of `laws` left out."""
            inner = Parts(*split(x, sizes), [], [])
            u = self._commands(t, inner, since)
            kept = [x if self._saturation(i) is None else 0.0 for i, x in enumerate(u)]
            return [drive.motor + drive.viscous for drive in self.drives_under(kept, inner)]

        along = self._slopes.setdefault(tuple(sizes), with_jacobian(own, range(2 + n, 2 + 2 * n), "own"))
        tau, slopes = along(since, t, *parts.q, *parts.qd, *parts.integrals, *parts.held, *parts.currents)
        outside = self.outside(since, parts.q)
        M, f = equation(self.arm, parts.q, parts.qd, tau, outside)
        d = [maximum(-slopes[i][i], 0.0) for i in range(n)]
        drives = self.drives(t, parts, since)
        laws = [self._law(i, kind, parts, drives[i]) for i, kind in self.laws]
        further = self.further_rates(parts, drives)
        return [*(x for row in M for x in row), *f, *d, *(x for law in laws for x in law), *further]

    def imbalance(
        self,
        parts: Parts,
        drives: Sequence[JointTorque],
        outside: Sequence[Wrench] | None,
        qdd: Sequence[Scalar],
        sliding: Sequence[Scalar],
    ) -> list[Scalar]:
        """Joint forces left over if the joints accelerated by qdd; see `armsim.plant.Plant.imbalance`."""
        needed = rnea(self.arm, parts.q, parts.qd, qdd, outside)
        left = []
        for joint, drive, tau, qdd_i, side in zip(self.arm.joints, drives, needed, qdd, sliding, strict=True):
            lower, upper = dry_bounds(joint, drive.motor)
            dry = where(side > 0.0, lower, where(side < 0.0, upper, 0.0))
            left.append(drive.total + dry - fma(armature(joint), qdd_i, tau))
        return left

    def joints(self, t: Scalar, parts: Parts, since: Scalar) -> list[Scalar]:
        """What acts on the joints and the rates of the further states; see `armsim.midstep.Canonical`."""
        drives = self.drives(t, parts, since)
        torques = [getattr(drive, kind) for kind in ("motor", "viscous", "limit") for drive in drives]
        bounds = [dry_bounds(joint, drive.motor) for joint, drive in zip(self.arm.joints, drives, strict=True)]
        return [*torques, *(bound[side] for side in (0, 1) for bound in bounds), *self.further_rates(parts, drives)]

    def mechanics(self, t: Scalar, parts: Parts, since: Scalar) -> list[Scalar]:
        """Generalised momenta, rotors included, and what changes them besides what acts on the joints, n of each."""
        p, f = momenta_and_forces(self.arm, parts.q, parts.qd, self.outside(since, parts.q))
        return [*(fma(armature(joint), v, x) for joint, v, x in zip(self.arm.joints, parts.qd, p, strict=True)), *f]

    def integral_rates(self, parts: Parts) -> list[Scalar]:
        """Of the integrals that the integrator advances; a sampled command advances them itself."""
        if self.command is None or self.sampled:
            return []
        return self.command.integral_rates(parts.q, parts.integrals)

    def current_rates(self, parts: Parts, drives: Sequence[JointTorque]) -> list[Scalar]:
        pairs = zip(self.inductive.items(), parts.currents, strict=True)
        return [dc.current_rate(motor, x, drives[i].supply, parts.qd[i]) for (i, motor), x in pairs]

    def further_rates(self, parts: Parts, drives: Sequence[JointTorque]) -> list[Scalar]:
        """Of the further states that the integrator advances."""
        return self.integral_rates(parts) + (self.current_rates(parts, drives) if self.integrated else [])

    def power_from_outside(self, t: Scalar, parts: Parts, since: Scalar) -> list[Scalar]:
        """The power of what acts from outside [W]."""
        return [external_power(self.arm, parts.q, parts.qd, self.outside(since, parts.q))]

    def powers_at(self, t: Scalar, parts: Parts, since: Scalar) -> list[Scalar]:
        """As `powers`, at an instant."""
        return self.powers(parts, self.drives(t, parts, since), self.outside(since, parts.q))

    def powers(self, parts: Parts, drives: Sequence[JointTorque], outside: Sequence[Wrench] | None) -> list[Scalar]:
        """The power of each of `WORKS` [W], that of dry friction left out."""
        if not self.audit:
            return []
        powers = [dot([getattr(drive, kind) for drive in drives], parts.qd) for kind in ("motor", "friction", "limit")]
        return [*powers, external_power(self.arm, parts.q, parts.qd, outside)]


def split(x: Sequence[Scalar], sizes: Sequence[int]) -> list[list[Scalar]]:
    """A sequence cut into lists of given sizes."""
    parts, start = [], 0
    for size in sizes:
        parts.append(list(x[start : start + size]))
        start += size
    return parts
