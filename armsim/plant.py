"""The plant: an arm with its drives, its command and its integrator, as pure functions of time and state.

State is a flat list of scalars with named slots: joint positions, joint velocities, controller integrals, and, where the
command is sampled, the commands held since the last sample.
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
    forward_dynamics,
    link_wrenches,
    own_poses,
    potential_energy,
)
from armsim.dynamics.forward import Algorithm
from armsim.dynamics.rnea import Wrench
from armsim.expr import Scalar, shared
from armsim.integrate import METHODS, Motion, System
from armsim.model import Arm
from armsim.spatial import Pose, quaternion
from armsim.sticking import Forces, Sticking, equation

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
    """

    q: list[Scalar]
    qd: list[Scalar]
    integrals: list[Scalar]
    held: list[Scalar]
    currents: list[Scalar]

    def flat(self) -> list[Scalar]:
        """The state again."""
        return [*self.q, *self.qd, *self.integrals, *self.held, *self.currents]


@dataclass(frozen=True)
class Plant:
    """What is simulated.

    Attributes:
        arm: The arm, n joints.
        command: What drives it: a feedback law, signals of time, or None for motors with open terminals.
        external: Forces and moments from outside.
        method: Name of the integrator, of `armsim.integrate.METHODS`.
        algorithm: Of `armsim.dynamics.forward_dynamics`; an arm with dry friction needs its mass matrix, hence "crba".
    """

    arm: Arm
    command: Feedback | OpenLoop | None
    external: Sequence[ExternalWrench] = ()
    method: str = "semi_implicit_euler"
    algorithm: Algorithm = "crba"
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

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Names of the state's entries, in order."""
        names = [joint.name for joint in self.arm.joints]
        slots = [f"{kind}_{name}" for kind in ("q", "qd") for name in names]
        if self.command is not None:
            slots += [f"integral_{name}" for name in names[: self.command.integrals]]
        if self.sampled:
            slots += [f"held_{name}" for name in names]
        return tuple(slots + [f"current_{names[i]}" for i in self.inductive])

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
        after = METHODS[self.method](self._system(t, parts), t, self._motion(parts), dt)
        torques = self._drives(t, parts)
        currents = []
        for i, current in zip(self.inductive, parts.currents, strict=True):
            motor = self.arm.joints[i].motor
            if motor is not None:
                currents.append(dc.current_after(motor, current, torques[i].supply, parts.qd[i], dt))
        integrals = parts.integrals if self.sampled else after.z
        return Parts(after.q, after.v, integrals, parts.held, currents).flat()

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
        sizes = (n, n, integrals, n if self.sampled else 0, len(self.inductive))
        rest = list(state)
        taken = []
        for size in sizes:
            taken.append(rest[:size])
            rest = rest[size:]
        return Parts(*taken)

    def _motion(self, parts: Parts) -> Motion:
        """What the integrator advances: controller integrals only under continuous control."""
        return Motion(parts.q, parts.qd, [] if self.sampled else parts.integrals)

    def _drives(self, t: Scalar, parts: Parts, since: Scalar | None = None) -> list[JointTorque]:
        """What acts on every joint, dry friction still left out."""
        pairs = zip(self.arm.joints, parts.q, parts.qd, strict=True)
        if self.command is None:
            return [unpowered(joint, q, qd) for joint, q, qd in pairs]
        u = parts.held if self.sampled else self.command.command(t, parts.q, parts.qd, parts.integrals, since)
        currents = dict(zip(self.inductive, parts.currents, strict=True))
        output = self.command.output
        return [driven(joint, output, u[i], q, qd, currents.get(i)) for i, (joint, q, qd) in enumerate(pairs)]

    def _system(self, since: Scalar, parts: Parts) -> System:
        """The arm as the integrator sees it during the step from `since` on: what is held or jumps stays as it was then."""
        sticking = any_sticks(self.arm)
        evaluate = self._forces if sticking else self._rates
        sizes = [len(parts.q), len(parts.qd), 0 if self.sampled else len(parts.integrals)]
        n = self.arm.n

        def body(since, t, *x):
            q, qd, z = _split(x, sizes)
            held, currents = _split(x[sum(sizes) :], [len(parts.held), len(parts.currents)])
            return evaluate(t, Parts(q, qd, z, held, currents), since)

        call = self._evaluations.setdefault(tuple(sizes), shared(body, "forces" if sticking else "rates"))

        def at(t: Scalar, y: Motion) -> list[Scalar]:
            return call(since, t, *y.q, *y.v, *y.z, *parts.held, *parts.currents)

        if not sticking:
            return System(lambda t, y: Motion(y.v, *_split(at(t, y), [n, len(y.z)])))

        def forces(t: Scalar, y: Motion) -> Forces:
            *rows, f, lower, upper, z = _split(at(t, y), [*range(1, n + 1), n, n, n, len(y.z)])
            return Forces(rows, f, lower, upper, z)

        return Sticking(forces, [sticks(joint) for joint in self.arm.joints])

    def _rates(self, t: Scalar, parts: Parts, since: Scalar) -> list[Scalar]:
        """Joint accelerations and rates of the controller's integrals."""
        tau = [torque.total for torque in self._drives(t, parts, since)]
        outside = self._outside(since, parts.q)
        qdd = forward_dynamics(self.arm, parts.q, parts.qd, tau, self._rotors, outside, self.algorithm)
        return [*qdd, *self._integral_rates(parts)]

    def _forces(self, t: Scalar, parts: Parts, since: Scalar) -> list[Scalar]:
        """The mass matrix by rows, the joint forces less the bias, the bounds of dry friction, and the integrals' rates."""
        drives = self._drives(t, parts, since)
        tau = [drive.total for drive in drives]
        M, f = equation(self.arm, parts.q, parts.qd, tau, self._outside(since, parts.q))
        bounds = [dry_bounds(joint, drive.motor) for joint, drive in zip(self.arm.joints, drives, strict=True)]
        lower, upper = ([bound[side] for bound in bounds] for side in (0, 1))
        return [*(x for row in M for x in row), *f, *lower, *upper, *self._integral_rates(parts)]

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


def _split(x: Sequence[Scalar], sizes: Sequence[int]) -> list[list[Scalar]]:
    """A sequence cut into lists of given sizes."""
    parts, start = [], 0
    for size in sizes:
        parts.append(list(x[start : start + size]))
        start += size
    return parts
