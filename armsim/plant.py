"""The plant: an arm with its drives, its command and its integrator, as pure functions of time and state.

State is a flat list of scalars with named slots: joint positions, joint velocities, controller integrals, where the command is
sampled the commands held since the last sample, armature currents of motors with an inductance, what an adaptive integrator
remembers, and on request the work done so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from armsim.actuation import (
    JointTorque,
    any_sticks,
    armature,
    driven,
    dry_bounds,
    kinetic_energy,
    mass_matrix,
    sticks,
    stop_law,
    unpowered,
)
from armsim.actuation import motor as dc
from armsim.control import Feedback, OpenLoop
from armsim.dynamics import (
    ExternalWrench,
    Law,
    external_power,
    forward_dynamics,
    link_wrenches,
    own_poses,
    potential_energy,
)
from armsim.dynamics.forward import Algorithm
from armsim.dynamics.rnea import Wrench, rnea
from armsim.expr import Scalar, absolute, fma, maximum, minimum, shared, where, with_jacobian
from armsim.integrate import METHODS, Linear, Method, Motion, Tolerance
from armsim.mechanics import WORKS, Damped, Forces, Mechanics, equation
from armsim.model import Arm, Motor
from armsim.spatial import Pose, quaternion
from armsim.sticking import Sticking

Quantity = Literal[
    "q", "qd", "qdd", "pose", "tau", "motor", "friction", "limit", "voltage", "current", "power", "energy"
]


@dataclass(frozen=True)
class Column:
    """One number of a row that `Plant.observe` gives.

    Attributes:
        quantity: What it is.
        of: The joint's name; for a pose "x", "y", "z", "qw", "qx", "qy", "qz", for an energy "kinetic" or "potential".
        joint: The joint's index, None for pose and energies.
    """

    quantity: Quantity
    of: str
    joint: int | None = None


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
class Plant:
    """What is simulated.

    Attributes:
        arm: The arm, n joints.
        command: What drives it: a feedback law, signals of time, or None for motors with open terminals.
        external: Forces and moments from outside.
        method: Name of the integrator, of `armsim.integrate.METHODS`.
        algorithm: Of `armsim.dynamics.forward_dynamics`; an arm with dry friction needs its mass matrix, hence "crba".
        tolerance: The error that an adaptive integrator may make in a step.
        audit: Whether work is counted, by who does it.
    """

    arm: Arm
    command: Feedback | OpenLoop | None
    external: Sequence[ExternalWrench] = ()
    method: str = "semi_implicit_euler"
    algorithm: Algorithm = "crba"
    tolerance: Tolerance = Tolerance()
    audit: bool = False
    _evaluations: dict = field(default_factory=dict, init=False, repr=False, compare=False)

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

    @property
    def integrator(self) -> Method:
        """How time advances."""
        return METHODS[self.method]

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Names of the state's entries, in order."""
        names = [joint.name for joint in self.arm.joints]
        slots = [f"{kind}_{name}" for kind in ("q", "qd") for name in names]
        if self.command is not None:
            slots += [f"integral_{name}" for name in names[: self.command.integrals]]
        if self.sampled:
            slots += [f"held_{name}" for name in names]
        slots += [f"current_{names[i]}" for i in self.inductive]
        return (*slots, *self.integrator.memory, *self.works)

    @property
    def works(self) -> tuple[str, ...]:
        """Names of the state's last entries: the work of each of `WORKS`, if it is counted."""
        return tuple(f"work_{of}" for of in WORKS) if self.audit else ()

    def initial_state(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        """The state at joint positions q and velocities qd, all else zero; the first sample is still to be taken."""
        return [*q, *qd, *[0.0] * (len(self.slots) - 2 * self.arm.n)]

    def sample(self, t: Scalar, state: Sequence[Scalar]) -> list[Scalar]:
        """The state after a sampled command has been computed anew at time t [s]; the joints have not moved."""
        parts = self._parts(state)
        command = self.command
        if command is None or command.period is None:
            raise ValueError("nothing is sampled")
        rates = command.integral_rates(parts.q, parts.integrals)
        parts.held = command.command(t, parts.q, parts.qd, parts.integrals)
        parts.integrals = [x + command.period * rate for x, rate in zip(parts.integrals, rates, strict=True)]
        return parts.flat()

    def step(self, t: Scalar, state: Sequence[Scalar], dt: Scalar) -> list[Scalar]:
        """The state one step later: command, torque, accelerate, integrate.

        Args:
            t: Time [s].
            state: See `slots`.
            dt: Length of the step [s].
        """
        parts = self._parts(state)
        after, memory = self.integrator.advance(
            self._system(t, parts), t, self._motion(parts), dt, parts.memory, self.tolerance
        )
        integrals, currents = _split(after.z, self._further)
        if self.sampled:
            integrals = parts.integrals
        if not self._currents_in_motion:
            currents = self._currents_after(t, parts, dt)
        return Parts(after.q, after.v, integrals, parts.held, currents, memory, after.w).flat()

    def _currents_after(self, t: Scalar, parts: Parts, dt: Scalar) -> list[Scalar]:
        """The armature currents a step later, by their exact exponential at constant voltage and speed."""
        if not self.inductive:
            return []
        torques = self._drives(t, parts)
        pairs = zip(self.inductive.items(), parts.currents, strict=True)
        return [dc.current_after(motor, x, torques[i].voltage, parts.qd[i], dt) for (i, motor), x in pairs]

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What the numbers of a row are, in order."""
        joints = [(i, joint) for i, joint in enumerate(self.arm.joints)]
        powered = [(i, joint) for i, joint in joints if joint.electric_motor is not None]
        columns = [Column(kind, joint.name, i) for kind in ("q", "qd", "qdd") for i, joint in joints]
        columns += [Column("pose", part) for part in ("x", "y", "z", "qw", "qx", "qy", "qz")]
        columns += [
            Column(kind, joint.name, i) for kind in ("tau", "motor", "friction", "limit") for i, joint in joints
        ]
        columns += [Column(kind, joint.name, i) for kind in ("voltage", "current", "power") for i, joint in powered]
        return tuple(columns + [Column("energy", "kinetic"), Column("energy", "potential")])

    def observe(self, t: Scalar, state: Sequence[Scalar]) -> list[Scalar]:
        """The row of `columns` at time t [s]: the state, and the accelerations and torques that act from then on."""
        q = self._parts(state).q
        qd, qdd, torques = self.motion(t, state)
        poses = own_poses(self.arm, q)
        tool = poses[-1] @ self.arm.tool_in_link
        powered = [torque for torque in torques if torque.voltage is not None]
        return [
            *(*q, *qd, *qdd),
            *(*tool.position, *quaternion(tool.rotation)),
            *(getattr(torque, kind) for kind in ("total", "motor", "friction", "limit") for torque in torques),
            *(getattr(torque, kind) for kind in ("voltage", "current", "power") for torque in powered),
            kinetic_energy(self.arm, q, qd),
            potential_energy(self.arm, q),
        ]

    def motion(self, t: Scalar, state: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar], list[JointTorque]]:
        """Velocities, accelerations and torques that act from time t [s] on, n each."""
        parts = self._parts(state)
        torques = self._drives(t, parts)
        system = self._system(t, parts)
        if not isinstance(system, Sticking):
            return parts.qd, system.rates(t, self._motion(parts)).v, torques
        now = system.within(t, self._motion(parts))
        for torque, dry in zip(torques, now.friction, strict=True):
            torque.dry = dry
        return parts.qd, now.accelerations, torques

    def imbalance(
        self, t: Scalar, state: Sequence[Scalar], qdd: Sequence[Scalar], sliding: Sequence[Scalar]
    ) -> list[Scalar]:
        """Joint forces left over if the joints accelerated by qdd [N·m or N], n scalars: zero for the true accelerations.

        Its derivatives give those of the accelerations: M dqdd = d(imbalance) at the true qdd, with M = -d(imbalance)/dqdd.

        Args:
            t: Time [s].
            state: See `slots`.
            qdd: Joint accelerations [rad/s² or m/s²], n scalars.
            sliding: The direction in which each joint slides against dry friction, n scalars: 1, -1, or 0 for no friction.
        """
        parts = self._parts(state)
        return self._imbalance(parts, self._drives(t, parts), self._outside(t, parts.q), qdd, sliding)

    def current_rates(self, t: Scalar, state: Sequence[Scalar]) -> list[Scalar]:
        """Rates of the armature currents that are states [A/s], in the order of `inductive`."""
        parts = self._parts(state)
        return self._current_rates(parts, self._drives(t, parts))

    def peaks(self, t: Scalar, state: Sequence[Scalar]) -> list[Scalar]:
        """What a run keeps the largest magnitude of: the motor torque of every joint."""
        return [torque.motor for torque in self._drives(t, self._parts(state))]

    def _parts(self, state: Sequence[Scalar]) -> Parts:
        n = self.arm.n
        integrals = self.command.integrals if self.command is not None else 0
        held, memory = n if self.sampled else 0, len(self.integrator.memory)
        sizes = (n, n, integrals, held, len(self.inductive), memory, len(self.works))
        return Parts(*_split(state, sizes))

    @property
    def _currents_in_motion(self) -> bool:
        """Whether the integrator advances the armature currents: where it sees to their error, too."""
        return self.integrator.adaptive is not None

    @cached_property
    def _further(self) -> tuple[int, int]:
        """How many of the further states of `Motion` are controller integrals, and how many are armature currents."""
        integrals = 0 if self.command is None or self.sampled else self.command.integrals
        return integrals, len(self.inductive) if self._currents_in_motion else 0

    def _motion(self, parts: Parts) -> Motion:
        """What the integrator advances: controller integrals only under continuous control."""
        integrals, currents = self._further
        return Motion(parts.q, parts.qd, [*parts.integrals[:integrals], *parts.currents[:currents]], parts.works)

    def _drives(self, t: Scalar, parts: Parts, since: Scalar | None = None) -> list[JointTorque]:
        """What acts on every joint, dry friction still left out."""
        return self._drives_under(self._commands(t, parts, since), parts)

    def _commands(self, t: Scalar, parts: Parts, since: Scalar | None) -> list[Scalar | None]:
        """What every drive is told; None for open terminals."""
        if self.command is None:
            return [None] * self.arm.n
        if self.sampled:
            return [*parts.held]
        began = None if self.integrator.adaptive is not None else since  # an error estimate notices a jump by itself
        return [*self.command.command(t, parts.q, parts.qd, parts.integrals, began)]

    def _drives_under(self, u: Sequence[Scalar | None], parts: Parts) -> list[JointTorque]:
        """What acts on every joint under given commands."""
        currents = dict(zip(self.inductive, parts.currents, strict=True))
        drives = []
        for i, (joint, q, qd) in enumerate(zip(self.arm.joints, parts.q, parts.qd, strict=True)):
            if self.command is None:
                drives.append(unpowered(joint, q, qd))
            else:
                drives.append(driven(joint, self.command.output, u[i], q, qd, currents.get(i)))
        return drives

    def _system(self, since: Scalar, parts: Parts) -> Mechanics:
        """The arm as the integrator sees it during the step from `since` on: what is held or jumps stays as it was then."""
        n, works = self.arm.n, len(parts.works)
        motion = self._motion(parts)
        sizes = [n, n, len(motion.z)]
        sticking = any_sticks(self.arm)

        def evaluation(name: str, evaluate):
            """`evaluate`, traced once: a function of time and motion."""

            def body(since, t, *x):
                q, qd, z = _split(x, sizes)
                held, currents = _split(x[sum(sizes) :], [len(parts.held), len(parts.currents)])
                integrals, integrated = _split(z, self._further)
                inner = Parts(q, qd, integrals, held, integrated if self._currents_in_motion else currents, [], [])
                return evaluate(t, inner, since)

            call = self._evaluations.setdefault((name, *sizes), shared(body, name))
            return lambda t, y: call(since, t, *y.q, *y.v, *y.z, *parts.held, *parts.currents)

        rates = evaluation("rates", self._rates)
        forces = evaluation("forces", self._forces)

        def all_rates(t: Scalar, y: Motion) -> Motion:
            return Motion(y.v, *_split(rates(t, y), [n, len(y.z), works]))

        def all_forces(t: Scalar, y: Motion) -> Forces:
            *rows, f, lower, upper, z, w = _split(forces(t, y), [*range(1, n + 1), n, n, n, len(y.z), works])
            return Forces(rows, f, lower, upper, z, w)

        damped = evaluation("damped", self._damped)

        def all_damped(t: Scalar, y: Motion) -> Damped:
            found = _split(damped(t, y), [*range(1, n + 1), n, n, *[4] * len(self._laws), len(y.z), works])
            rows, (f, d), (z, w) = found[:n], found[n : n + 2], found[-2:]
            made = []
            for (i, kind), (b, slope, lower, upper) in zip(self._laws, found[n + 2 : -2], strict=True):
                made.append(Law(i, lower, upper, b, None if kind == "dry" else slope))
            return Damped(rows, f, d, made, z, w)

        fixed = [*parts.held, *([] if self._currents_in_motion else parts.currents)]

        def linear(t: Scalar, y: Motion, qdd: Sequence[Scalar], sliding: Sequence[Scalar]) -> Linear:
            call = self._derivatives(sizes, len(parts.held))
            _, rows = call(t, *y.q, *y.v, *y.z, since, *qdd, *sliding, *fixed)
            return Linear.of(mass_matrix(self.arm, y.q), rows, n)

        if sticking:
            return Sticking(self.arm.joints, all_forces, all_damped, linear)
        return Mechanics(self.arm.joints, all_forces, all_damped, linear, all_rates)

    def _derivatives(self, sizes: Sequence[int], held: int):
        """The imbalance and the rates of the further states, with derivatives by time, q, qd and further states."""
        n = self.arm.n

        def body(t, *x):
            q, qd, z, (since,), qdd, sliding, holding, currents = _split(x, [*sizes, 1, n, n, held, len(x)])
            integrals, integrated = _split(z, self._further)
            inner = Parts(q, qd, integrals, holding, integrated if self._currents_in_motion else currents, [], [])
            drives = self._drives(t, inner, since)
            left = self._imbalance(inner, drives, self._outside(since, q), qdd, sliding)
            return [*left, *self._further_rates(inner, drives)]

        call = with_jacobian(body, range(1 + sum(sizes)), "linear")
        return self._evaluations.setdefault(("linear", *sizes), call)

    def _rates(self, t: Scalar, parts: Parts, since: Scalar) -> list[Scalar]:
        """Joint accelerations, rates of the further states, and powers."""
        drives = self._drives(t, parts, since)
        outside = self._outside(since, parts.q)
        tau = [drive.total for drive in drives]
        qdd = forward_dynamics(self.arm, parts.q, parts.qd, tau, self._rotors, outside, self.algorithm)
        return [*qdd, *self._further_rates(parts, drives), *self._powers(parts, drives, outside)]

    def _forces(self, t: Scalar, parts: Parts, since: Scalar) -> list[Scalar]:
        """The entries of `Forces`, one after the other."""
        drives = self._drives(t, parts, since)
        outside = self._outside(since, parts.q)
        M, f = equation(self.arm, parts.q, parts.qd, [drive.total for drive in drives], outside)
        bounds = [dry_bounds(joint, drive.motor) for joint, drive in zip(self.arm.joints, drives, strict=True)]
        lower, upper = ([bound[side] for bound in bounds] for side in (0, 1))
        further = [*self._further_rates(parts, drives), *self._powers(parts, drives, outside)]
        return [*(x for row in M for x in row), *f, *lower, *upper, *further]

    @cached_property
    def _laws(self) -> list[tuple[int, Literal["dry", "stop", "command"]]]:
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

    def _damped(self, t: Scalar, parts: Parts, since: Scalar) -> list[Scalar]:
        """The entries of `Damped`, one after the other; of every law b, d, lower and upper."""
        n = self.arm.n
        sizes = [n, n, len(parts.integrals), len(parts.held), len(parts.currents)]

        def own(since, t, *x):
            """The torques that depend on a joint's own velocity, those of `laws` left out."""
            inner = Parts(*_split(x, sizes), [], [])
            u = self._commands(t, inner, since)
            kept = [x if self._saturation(i) is None else 0.0 for i, x in enumerate(u)]
            return [drive.motor + drive.viscous for drive in self._drives_under(kept, inner)]

        along = with_jacobian(own, range(2 + n, 2 + 2 * n), "own")
        tau, slopes = along(since, t, *parts.q, *parts.qd, *parts.integrals, *parts.held, *parts.currents)
        outside = self._outside(since, parts.q)
        M, f = equation(self.arm, parts.q, parts.qd, tau, outside)
        d = [maximum(-slopes[i][i], 0.0) for i in range(n)]
        drives = self._drives(t, parts, since)
        laws = [self._law(i, kind, parts, drives[i]) for i, kind in self._laws]
        further = [*self._further_rates(parts, drives), *self._powers(parts, drives, outside)]
        return [*(x for row in M for x in row), *f, *d, *(x for law in laws for x in law), *further]

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

    @property
    def _rotors(self) -> list[Scalar]:
        return [armature(joint) for joint in self.arm.joints]

    def _outside(self, t: Scalar, q: Sequence[Scalar]) -> list[Wrench] | None:
        poses: list[Pose] = own_poses(self.arm, q) if self.external else []
        return link_wrenches(self.arm, t, poses, self.external)

    def _integral_rates(self, parts: Parts) -> list[Scalar]:
        """Of the integrals that the integrator advances; a sampled command advances them itself."""
        if self.command is None or self.sampled:
            return []
        return self.command.integral_rates(parts.q, parts.integrals)

    def _further_rates(self, parts: Parts, drives: Sequence[JointTorque]) -> list[Scalar]:
        """Of the further states that the integrator advances."""
        return self._integral_rates(parts) + (self._current_rates(parts, drives) if self._currents_in_motion else [])

    def _current_rates(self, parts: Parts, drives: Sequence[JointTorque]) -> list[Scalar]:
        pairs = zip(self.inductive.items(), parts.currents, strict=True)
        return [dc.current_rate(motor, x, drives[i].voltage, parts.qd[i]) for (i, motor), x in pairs]

    def _imbalance(
        self,
        parts: Parts,
        drives: Sequence[JointTorque],
        outside: Sequence[Wrench] | None,
        qdd: Sequence[Scalar],
        sliding: Sequence[Scalar],
    ) -> list[Scalar]:
        """See `imbalance`."""
        needed = rnea(self.arm, parts.q, parts.qd, qdd, outside)
        left = []
        for joint, drive, tau, qdd_i, side in zip(self.arm.joints, drives, needed, qdd, sliding, strict=True):
            lower, upper = dry_bounds(joint, drive.motor)
            dry = where(side > 0.0, lower, where(side < 0.0, upper, 0.0))
            left.append(drive.total + dry - fma(armature(joint), qdd_i, tau))
        return left

    def _powers(self, parts: Parts, drives: Sequence[JointTorque], outside: Sequence[Wrench] | None) -> list[Scalar]:
        """The power of each of `WORKS` [W], that of dry friction left out."""
        if not self.audit:
            return []
        powers = [_dot([getattr(drive, kind) for drive in drives], parts.qd) for kind in ("motor", "friction", "limit")]
        return [*powers, external_power(self.arm, parts.q, parts.qd, outside)]


def _dot(x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for a, b in zip(x, y, strict=True):
        total = fma(a, b, total)
    return total


def _split(x: Sequence[Scalar], sizes: Sequence[int]) -> list[list[Scalar]]:
    """A sequence cut into lists of given sizes."""
    parts, start = [], 0
    for size in sizes:
        parts.append(list(x[start : start + size]))
        start += size
    return parts
