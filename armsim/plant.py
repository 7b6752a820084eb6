"""The plant: an arm with its drives, its command and its integrator, as pure functions of time and state.

State is a flat list of scalars with named slots: joint positions, joint velocities, controller integrals, where the command is
sampled the commands held since the last sample, armature currents of motors with an inductance, what an adaptive integrator
remembers, and on request the work done so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from armsim.acting import Acting, Parts, split
from armsim.actuation import (
    JointTorque,
    any_sticks,
    kinetic_energy,
    mass_matrix,
)
from armsim.actuation import motor as dc
from armsim.control import Feedback, OpenLoop
from armsim.dynamics import (
    ExternalWrench,
    Law,
    own_poses,
    potential_energy,
)
from armsim.dynamics.forward import Algorithm
from armsim.expr import Scalar, shared, with_jacobian
from armsim.integrate import METHODS, Linear, Method, Motion, Tolerance, dot
from armsim.mechanics import WORKS, Damped, Forces, Mechanics, row_times
from armsim.midstep import Canonical
from armsim.model import Arm, Motor
from armsim.spatial import quaternion
from armsim.sticking import Sticking

Quantity = Literal[
    "q", "qd", "qdd", "pose", "tau", "motor", "friction", "limit", "voltage", "current", "power", "energy"
]

NOTHING = 2.0**-270  # rad, m and per s; cubes of what it leaves are ordinary numbers still


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

    @cached_property
    def acting(self) -> Acting:
        """What acts on the arm."""
        adaptive = (
            self.integrator.adaptive is not None
        )  # an error estimate sees to currents, and notices a jump by itself
        return Acting(self.arm, self.command, self.external, self.algorithm, adaptive, not adaptive, self.audit)

    @property
    def sampled(self) -> bool:
        """Whether the command is held between samples."""
        return self.acting.sampled

    @property
    def inductive(self) -> dict[int, Motor]:
        """The motors whose current is a state of its own, by joint."""
        return self.acting.inductive

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
        integrals, currents = split(after.z, self.acting.further)
        if self.sampled:
            integrals = parts.integrals
        if not self.acting.integrated:
            currents = self._currents_after(t, parts, dt)
        return Parts(calmed(after.q), calmed(after.v), integrals, parts.held, currents, memory, after.w).flat()

    def _currents_after(self, t: Scalar, parts: Parts, dt: Scalar) -> list[Scalar]:
        """The armature currents a step later, by their exact exponential at constant voltage and speed."""
        if not self.inductive:
            return []
        torques = self.acting.drives(t, parts)
        pairs = zip(self.inductive.items(), parts.currents, strict=True)
        return [dc.current_after(motor, x, torques[i].supply, parts.qd[i], dt) for (i, motor), x in pairs]

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
            self._kinetic_energy(q, qd),
            potential_energy(self.arm, q),
        ]

    def _kinetic_energy(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar:
        """By the mass matrix, where a step has it anyway."""
        if self.algorithm != "crba":
            return kinetic_energy(self.arm, q, qd)
        M = mass_matrix(self.arm, q)
        return dot([row_times(M, i, qd) for i in range(self.arm.n)], qd) / 2

    def motion(self, t: Scalar, state: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar], list[JointTorque]]:
        """Velocities, accelerations and torques that act from time t [s] on, n each."""
        parts = self._parts(state)
        torques = self.acting.drives(t, parts)
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
        return self.acting.imbalance(parts, self.acting.drives(t, parts), self.acting.outside(t, parts.q), qdd, sliding)

    def current_rates(self, t: Scalar, state: Sequence[Scalar]) -> list[Scalar]:
        """Rates of the armature currents that are states [A/s], in the order of `inductive`."""
        parts = self._parts(state)
        return self.acting.current_rates(parts, self.acting.drives(t, parts))

    def peaks(self, t: Scalar, state: Sequence[Scalar]) -> list[Scalar]:
        """What a run keeps the largest magnitude of: the motor torque of every joint."""
        return [torque.motor for torque in self.acting.drives(t, self._parts(state))]

    def _parts(self, state: Sequence[Scalar]) -> Parts:
        n = self.arm.n
        integrals = self.command.integrals if self.command is not None else 0
        held, memory = n if self.sampled else 0, len(self.integrator.memory)
        sizes = (n, n, integrals, held, len(self.inductive), memory, len(self.works))
        return Parts(*split(state, sizes))

    def _motion(self, parts: Parts) -> Motion:
        """What the integrator advances: controller integrals only under continuous control."""
        integrals, currents = self.acting.further
        return Motion(parts.q, parts.qd, [*parts.integrals[:integrals], *parts.currents[:currents]], parts.works)

    def _system(self, since: Scalar, parts: Parts) -> Mechanics:
        """The arm as the integrator sees it during the step from `since` on: what is held or jumps stays as it was then."""
        n, works = self.arm.n, len(parts.works)
        motion = self._motion(parts)
        sizes = [n, n, len(motion.z)]
        sticking = any_sticks(self.arm)

        def evaluation(name: str, evaluate, make=shared):
            """`evaluate`, traced once: a function of time and motion."""

            def body(since, t, *x):
                q, qd, z = split(x, sizes)
                held, currents = split(x[sum(sizes) :], [len(parts.held), len(parts.currents)])
                integrals, integrated = split(z, self.acting.further)
                inner = Parts(q, qd, integrals, held, integrated if self.acting.integrated else currents, [], [])
                return evaluate(t, inner, since)

            call = self._evaluations.setdefault((name, *sizes), make(body, name))
            return lambda t, y: call(since, t, *y.q, *y.v, *y.z, *parts.held, *parts.currents)

        rates = evaluation("rates", self.acting.rates)
        forces = evaluation("forces", self.acting.forces)

        def all_rates(t: Scalar, y: Motion) -> Motion:
            return Motion(y.v, *split(rates(t, y), [n, len(y.z), works]))

        def all_forces(t: Scalar, y: Motion) -> Forces:
            *rows, f, lower, upper, z, w = split(forces(t, y), [*range(1, n + 1), n, n, n, len(y.z), works])
            return Forces(rows, f, lower, upper, z, w)

        damped = evaluation("damped", self.acting.damped)
        powers = evaluation("powers", self.acting.powers_at)

        def all_damped(t: Scalar, y: Motion) -> Damped:
            found = split(damped(t, y), [*range(1, n + 1), n, n, *[4] * len(self.acting.laws), len(y.z)])
            rows, (f, d), z = found[:n], found[n : n + 2], found[-1]
            made = []
            for (i, kind), (b, slope, lower, upper) in zip(self.acting.laws, found[n + 2 : -1], strict=True):
                made.append(Law(i, lower, upper, b, None if kind == "dry" else slope))
            return Damped(rows, f, d, made, z)

        fixed = [*parts.held, *([] if self.acting.integrated else parts.currents)]

        def linear(t: Scalar, y: Motion, qdd: Sequence[Scalar], sliding: Sequence[Scalar]) -> Linear:
            call = self._derivatives(sizes, len(parts.held))
            _, rows = call(t, *y.q, *y.v, *y.z, since, *qdd, *sliding, *fixed)
            return Linear.of(mass_matrix(self.arm, y.q), rows, n)

        canonical = self._canonical(evaluation, 2 * n + len(motion.z))
        if sticking:
            return Sticking(self.arm.joints, all_forces, all_damped, powers, linear, canonical)
        return Mechanics(self.arm.joints, all_forces, all_damped, powers, linear, canonical, all_rates)

    def _canonical(self, evaluation: Callable[..., Any], size: int) -> Canonical:
        """The arm in positions and momenta; its joints' torques have slopes by the `size` numbers of a motion."""
        n, acting = self.arm.n, self.acting

        def slopes_by(first: int, last: int):
            return lambda body, name: with_jacobian(body, range(2 + first, 2 + last), name)

        def at(q: Sequence[Scalar], v: Sequence[Scalar] | None = None) -> tuple[Scalar, Motion]:
            return 0.0, Motion(list(q), list(v or [0.0] * n), [0.0] * (size - 2 * n), [])

        mass = evaluation("mass", lambda t, parts, since: [x for row in mass_matrix(self.arm, parts.q) for x in row])
        momenta = evaluation("momenta", lambda *given: acting.mechanics(*given)[:n])
        mechanics = evaluation("mechanics", acting.mechanics)
        tangent = evaluation("tangent", acting.mechanics, slopes_by(n, 2 * n))
        power = evaluation("power", acting.power_from_outside)

        return Canonical(
            mass=lambda q: split(mass(*at(q)), range(1, n + 1)),
            momenta=lambda q, v: momenta(*at(q, v)),
            mechanics=lambda q, v: split(mechanics(*at(q, v)), [n, n]),
            tangent=lambda q, v: tangent(*at(q, v)),
            joints=evaluation("joints", acting.joints, slopes_by(0, size)),
            power=lambda q, v: power(*at(q, v))[0],
        )

    def _derivatives(self, sizes: Sequence[int], held: int):
        """The imbalance and the rates of the further states, with derivatives by time, q, qd and further states."""
        n = self.arm.n

        def body(t, *x):
            q, qd, z, (since,), qdd, sliding, holding, currents = split(x, [*sizes, 1, n, n, held, len(x)])
            integrals, integrated = split(z, self.acting.further)
            inner = Parts(q, qd, integrals, holding, integrated if self.acting.integrated else currents, [], [])
            drives = self.acting.drives(t, inner, since)
            left = self.acting.imbalance(inner, drives, self.acting.outside(since, q), qdd, sliding)
            return [*left, *self.acting.further_rates(inner, drives)]

        call = with_jacobian(body, range(1 + sum(sizes)), "linear")
        return self._evaluations.setdefault(("linear", *sizes), call)


def calmed(x: Sequence[Scalar]) -> list[Scalar]:
    """Positions or velocities, exactly zero where they have died away: below 1e-97; above 1e-65 none changes by a bit.

    A motion that decays for ever would end among numbers so small that processors take a hundred times as long for each.
    """
    return [(x_i + NOTHING) - NOTHING for x_i in x]
