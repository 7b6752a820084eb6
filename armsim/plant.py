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
    sticks,
    unpowered,
)
from armsim.actuation import motor as dc
from armsim.control import Feedback, OpenLoop
from armsim.dynamics import (
    ExternalWrench,
    external_power,
    forward_dynamics,
    link_wrenches,
    own_poses,
    potential_energy,
)
from armsim.dynamics.forward import Algorithm
from armsim.dynamics.rnea import Wrench
from armsim.expr import Scalar, fma, shared
from armsim.integrate import METHODS, Method, Motion, Tolerance
from armsim.mechanics import WORKS, Forces, Mechanics, equation
from armsim.model import Arm
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
    def inductive(self) -> tuple[int, ...]:
        """The joints whose motor's current is a state of its own: it has an inductance and is driven by a voltage."""
        if self.command is None or self.command.output != "voltage":
            return ()
        motors = [joint.motor for joint in self.arm.joints]
        return tuple(i for i, motor in enumerate(motors) if motor is not None and motor.inductance is not None)

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
        return [
            dc.current_after(self.arm.joints[i].motor, current, torques[i].voltage, parts.qd[i], dt)
            for i, current in zip(self.inductive, parts.currents, strict=True)
        ]

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
        pairs = zip(self.arm.joints, parts.q, parts.qd, strict=True)
        if self.command is None:
            return [unpowered(joint, q, qd) for joint, q, qd in pairs]
        began = None if self.integrator.adaptive is not None else since  # an error estimate notices a jump by itself
        u = parts.held if self.sampled else self.command.command(t, parts.q, parts.qd, parts.integrals, began)
        currents = dict(zip(self.inductive, parts.currents, strict=True))
        output = self.command.output
        return [driven(joint, output, u[i], q, qd, currents.get(i)) for i, (joint, q, qd) in enumerate(pairs)]

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

        if sticking:
            return Sticking(self.arm.joints, all_forces)
        return Mechanics(self.arm.joints, all_forces, all_rates)

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
        rates = self._integral_rates(parts)
        if self._currents_in_motion:
            for i, current in zip(self.inductive, parts.currents, strict=True):
                rates.append(dc.current_rate(self.arm.joints[i].motor, current, drives[i].voltage, parts.qd[i]))
        return rates

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
