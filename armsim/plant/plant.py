"""The plant: an arm with its drives, its command and its integrator, as pure functions of time and state.

State is a flat list of scalars with named slots: joint positions, joint velocities, what the controller remembers, where the
command is sampled the commands held since the last sample, armature currents of motors with an inductance, what steps
remember, on request the work done so far, how far an adaptive method has run ahead, the states of contacts with
friction, temperatures of windings that act on their resistance, and how far contacts were apart. Inside it is a
`armsim.plant.state.State`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cached_property, partial
from typing import Any, ClassVar

from armsim.actuation import COUNTED, JointTorque, Works, drive_torques, motor_limited, slowed_to
from armsim.actuation import motor as dc
from armsim.control import Command, Constant, Controller, Memory
from armsim.dynamics import Algorithm, ExternalWrench, InternalWrenches
from armsim.errors import Refusal
from armsim.expr import (
    Scalar,
    Scalars,
    Structure,
    absolute,
    chosen,
    either,
    flatten,
    leaves,
    unflatten,
    when,
    where,
)
from armsim.integrate import METHODS, Ahead, Method, Motion, Tolerance, calmed
from armsim.model import BASE, Arm, Motor
from armsim.plant.columns import Layout, RowExtras
from armsim.plant.equations import Equations
from armsim.plant.instant import Instant
from armsim.plant.loads import Loads
from armsim.plant.pickup import exchanged
from armsim.plant.state import Clearance, Further, Held, State
from armsim.plant.stiction import StickSlip
from armsim.plant.system import ArmSystem
from armsim.plant.world_contacts import WorldContacts
from armsim.records import record


@record
class StepRule:
    """A step that defines a plant (a difference equation), where other plants have equations of motion that a step solves.

    No other method and no shorter step is closer to the truth, and it has no derivatives.

    Attributes:
        method: The integrator in it.
        algorithm: The forward dynamics in it.
        why: Why its method is picked, in words that follow "picked because".
        no_dt: Refusal of a scenario that gives no step.
        no_derivatives: Refusal of linearisation.
    """

    method: str
    algorithm: Algorithm
    why: str
    no_dt: Refusal
    no_derivatives: Refusal


@record
class Plant:
    """An arm with its drives, command, external wrenches and integrator.

    Attributes:
        arm: The arm, n joints; what moves is its `mechanism`, which has rotors behind elastic couplings besides.
        command: What drives it: a controller, signals of time, or None for motors with open terminals.
        external: External wrenches.
        method: Name of the integrator, of `armsim.integrate.METHODS`.
        algorithm: Of `armsim.dynamics.forward_dynamics`; an arm with dry friction needs its mass matrix, hence "crba".
        tolerance: Of an adaptive integrator's local error.
        audit: Whether work is counted, by source.
        ahead: Whether an adaptive integrator runs ahead of the steps and interpolates; else it lands on every step.
        skips: Whether it remembers how far contacts were, so that steps of a fixed length in which none can touch are made
            without them: for runs, in which nothing else moves the world between steps.
        times: Whether the time for which contacts are closed is a state.
        creep: Velocity well below which dry friction counts as viscous [rad/s or m/s]; None where joints stick.
        far: Whether it is for steps in which no contact can touch: their states and forces are left out, their work is 0.
        logged: What rows have besides what they always have.
        step_rule: What its step is part of; None of equations of motion, whose method and step are free.
        energy_note: Why its energy balance has a residual that is not the integrator's error; None where it has none.
    """

    step_rule: ClassVar[StepRule | None] = None
    energy_note: ClassVar[str | None] = None

    arm: Arm
    command: Command | None
    external: Sequence[ExternalWrench] = ()
    method: str = "semi_implicit_euler"
    algorithm: Algorithm = "crba"
    tolerance: Tolerance = Tolerance()
    audit: bool = False
    ahead: bool = False
    skips: bool = False
    times: bool = False
    far: bool = False
    creep: float | None = None
    logged: RowExtras = RowExtras()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.arm.name} by {self.method})"

    def __getstate__(self) -> object:
        """The attributes alone: loads and equations are traced again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def integrator(self) -> Method:
        """The integration method."""
        return METHODS[self.method]

    @cached_property
    def loads(self) -> Loads:
        """The loads on the arm. Error control lets an adaptive integrator advance currents and resolve jumps itself."""
        adaptive = self.integrator.adaptive is not None
        return Loads(
            self.arm.mechanism,
            self.command,
            self.external,
            adaptive,
            self.integrator.locates,
            WorldContacts(self.arm.mechanism, self.times, self.far),
            self.creep,
        )

    @cached_property
    def equations(self) -> Equations:
        """The arm's equations of motion."""
        return Equations(self.loads, self.algorithm)

    @property
    def sampled(self) -> bool:
        """Whether the command is held between samples."""
        return self.loads.sampled

    @property
    def inductive(self) -> dict[int, Motor]:
        """The motors whose current is a state of its own, by joint."""
        return self.loads.inductive

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Names of the state's entries, in order."""
        names, moving = self.arm.joint_names, self.arm.mechanism.joint_names
        control = [] if self.command is None else self.command.slots(names)
        held = names if self.sampled else []
        memory = tuple(self.remembered([0.0] * self.arm.n))
        parts = (control, held, [names[i] for i in self.inductive], memory, self.works)
        clearance = (
            ("clearance", *(f"clearance_{name}" for name in moving), "clearance_since") if self.remembers else ()
        )
        contacts = self.loads.contacts.begin([0.0] * len(moving))
        windings = [f"winding_{names[i]}" for i in self.loads.windings.motors]
        return State.slots(moving, *parts) + self.run_ahead + (*contacts, *windings, *clearance)

    @property
    def works(self) -> tuple[str, ...]:
        """Names of the state's works and of their estimated error, if they are counted."""
        return tuple(f"work_{of}" for of in (*COUNTED, *self.loads.others)) if self.audit else ()

    @property
    def run_ahead(self) -> tuple[str, ...]:
        """Names of the state's entries before those of contacts: how far an integrator has run ahead, if it does."""
        nothing = [0.0] * self.arm.n
        return tuple(f"ahead{i}" for i in range(len(leaves(self._begin(nothing, nothing, 0.0).ahead))))

    def initial_state(self, q: Scalars, qd: Scalars, landing: Scalar = 0.0) -> list[Scalar]:
        """The state at joint positions q and velocities qd, all else zero; the first sample is still to be taken.

        Windings are as warm as the ambient.
        Rotors behind elastic couplings turn with their joints, so far ahead that they would hold them at rest.

        Args:
            q: Joint positions [rad or m].
            qd: Joint velocities [rad/s or m/s].
            landing: Time between landings of an integrator that runs ahead [s], a multiple of the step.
        """
        return self._begin(q, qd, landing).flat()

    def _begin(self, q: Scalars, qd: Scalars, landing: Scalar) -> State:
        q, qd = [*q], [*qd]
        if self.loads.elastic:
            still = [0.0] * len(q)
            q += self.wound(q, drive_torques(self.arm.at(0.0), q, still, still))
            qd += [qd[j] for j, _, _ in self.loads.elastic]
        x = State(
            q=q,
            qd=qd,
            control=Memory() if self.command is None else self.command.begin(),
            held=[0.0] * (self.arm.n if self.sampled else 0),
            currents=[0.0] * len(self.inductive),
            memory=[*self.remembered(qd).values()],
            works=Works(0.0, 0.0, 0.0, 0.0, others=dict.fromkeys(self.loads.others, 0.0)) if self.audit else None,
            contacts=self.loads.contacts.begin(q),
            windings=self.loads.windings.begin,
            clearance=Clearance(0.0, list(q), 0.0) if self.remembers else None,
        )
        if self.ahead:
            x.ahead = Ahead.landed(landing, self.motion_of(x), self.integrator.coefficients, len(self.loads.latched))
        return x

    def remembered(self, qd: Scalars) -> dict[str, Scalar]:
        """What steps remember at the start, at joint velocities qd [rad/s or m/s], by the names of its slots."""
        return dict.fromkeys(self.integrator.memory, 0.0)

    def wound(self, q: Scalars, tau: Scalars) -> Scalars:
        """The positions of the rotors whose couplings exert torques tau on joints at rest at q [rad or m]."""
        return [q[j] + coupling.twist(tau[j]) for j, _, coupling in self.loads.elastic]

    def parts(self, state: Scalars) -> State:
        """A state by its parts."""
        made: State = unflatten(self._structure, state)
        return made

    @cached_property
    def _structure(self) -> Structure | None:
        """Of a state."""
        nothing = [0.0] * self.arm.n
        return flatten(self._begin(nothing, nothing, 0.0))[1]

    def sample(self, t: Scalar, state: Scalars) -> list[Scalar]:
        """The state after sampling the command at time t [s], where it is sampled; the joints have not moved."""
        x, command = self.parts(state), self.command
        if command is not None and command.period is not None:
            x.held, x.control = command.sample(t, self.loads.measured(x.q, x.qd, x.currents), x.control)
        return x.flat()

    @cached_property
    def apart(self) -> Plant | None:
        """The plant without contacts, for steps in which none of them can touch; None without such steps."""
        skips = self.arm.contacts and not self.far and (self.skips or self.integrator.adaptive is not None)
        return replace(self, far=True) if skips else None

    @property
    def remembers(self) -> bool:
        """Whether it remembers from step to step how far contacts were; an adaptive method looks at the start of each."""
        return self.apart is not None and self.integrator.adaptive is None

    def step(self, t: Scalar, state: Scalars, dt: Scalar) -> list[Scalar]:
        """The state one step later: command, torque, accelerate, integrate.

        A step in which no contact can touch is made without them, by how far joints have moved since the least gap was seen.

        Args:
            t: Time [s].
            state: See `slots`.
            dt: Length of the step [s].
        """
        apart, x = self.apart, self.parts(state)
        seen, bare = x.clearance, replace(x, contacts={}, clearance=None)
        if apart is None or seen is None:
            return self._stepped(t, x, dt).flat()

        def without(_: Scalar, y: State) -> list[Any]:
            end = apart._stepped(t, y, dt)
            trips = [absolute(c - b) + absolute(c - a) for a, b, c in zip(seen.q, y.q, end.q, strict=True)]
            far = self.loads.contacts.clear(seen, trips)
            return [where(far, 1.0, 0.0), chosen(far, end, y)]

        def touching(y: State) -> list[Any]:
            end = self._stepped(t, replace(y, contacts=self.relaxed(y), clearance=None), dt)
            return [replace(end, clearance=self.loads.contacts.seen(end.q))]

        clear, end = when(seen.gap > 0.0, without, 0.0, bare)
        end = replace(end, contacts=x.contacts, clearance=replace(seen, since=seen.since + dt * clear))
        return leaves(when(clear < 0.5, touching, end))

    def relaxed(self, x: State) -> dict[str, Scalar]:
        """The further states of contacts by now: steps without contacts leave them as they were."""
        seen = x.clearance
        if seen is None:
            return x.contacts
        now = self.loads.contacts.relaxed(x.contacts, seen.q, x.q, seen.since)
        return chosen(seen.gap > 0.0, now, x.contacts)

    def _stepped(self, t: Scalar, x: State, dt: Scalar) -> State:
        """The step with contacts."""
        y, held, ahead = self.motion_of(x), self.held(t, x), None
        system = self.system(held)
        if x.ahead is None:
            after, memory = self.integrator.advance(system, t, y, dt, x.memory, self.tolerance)
        else:
            assert self.integrator.adaptive is not None
            ahead = x.ahead.of_instant(t, y)
            after, memory, ahead = self.integrator.adaptive.follow(system, t, dt, x.memory, self.tolerance, ahead)
        control = x.control if self.sampled else self._clamped(after.z.control)
        currents = after.z.currents if self.loads.integrated else self._currents_after(t, y, held, dt)
        parts = (calmed(after.q), calmed(after.v), control, x.held, currents, memory, after.w, ahead)
        end = State(*parts, after.z.contacts, after.z.windings)
        return exchanged(self.arm.mechanism, t, dt, end)

    def _clamped(self, control: Memory) -> Memory:
        """What a continuous controller remembers after a step, within its bounds."""
        return control if self.command is None else self.command.clamped(control)

    def _currents_after(self, t: Scalar, y: Motion, held: Held, dt: Scalar) -> list[Scalar]:
        """The armature currents a step later, exact for constant voltage and speed."""
        if not self.inductive:
            return []
        torques = self.loads.torques(t, y, held)
        pairs = zip(self.loads.armatures(y), held.currents, strict=True)
        return [dc.current_after(motor, x, torques[at].supply, y.v[at], dt) for (at, motor), x in pairs]

    def motion_of(self, x: State) -> Motion:
        """The motion that the integrator advances: what a controller remembers only if it is continuous."""
        control = Memory() if self.sampled else x.control
        further = Further(control, x.currents if self.loads.integrated else [], x.contacts, x.windings)
        return Motion(x.q, x.qd, further, x.works)

    def held(self, t: Scalar, x: State) -> Held:
        """What is constant during a step that begins at time t [s], and from the last landing on if the integrator is ahead."""
        since = t if x.ahead is None else x.ahead.since_landing(t)
        return Held(since, x.held, [] if self.loads.integrated else x.currents)

    def system(self, held: Held) -> ArmSystem:
        """The arm as the integrator sees it during a step."""
        light = None if self.apart is None else self.apart.system(held)
        return (StickSlip if self.loads.latched else ArmSystem)(self.equations, held, light)

    @cached_property
    def layout(self) -> Layout:
        """What the numbers of a row are."""
        return Layout(self.arm, self.follows, self.logged)

    @cached_property
    def nameable(self) -> Layout:
        """What formulas may name: rows in which all is logged that can be."""
        frames = [frame.name for frame in self.arm.frames]
        names = dict.fromkeys((BASE, *self.arm.link_names, *frames))
        pairs = tuple(self.arm.pairs)
        return replace(self.layout, logged=RowExtras(tuple(frames), tuple(names), self.logged.contacts, pairs))

    @property
    def follows(self) -> bool:
        """Whether it follows a reference that moves."""
        return isinstance(self.command, Controller) and not isinstance(self.command.reference, Constant)

    def observe(self, t: Scalar, state: Scalars) -> Scalars:
        """The row of `layout` at time t [s]."""
        return self.layout.row(self.instant(t, state))

    def instant(self, t: Scalar, state: Scalars) -> Instant:
        """The state at time t [s], and the accelerations and torques that act from then on."""
        qd, qdd, torques = self.motion(t, state)
        x = self.parts(state)
        held = self.held(t, x)
        arm = self.arm.mechanism.at(held.since)
        internal = InternalWrenches(
            arm, x.q, qd, qdd, partial(self.loads.all_wrenches, t, x.q, qd, held, states=x.contacts)
        )
        desired = self.command.reference.at(t) if self.follows and isinstance(self.command, Controller) else None
        touches = dict(
            zip([x.name for x in self.arm.contacts], self.loads.contacts.touches(t, self.motion_of(x)), strict=True)
        )
        return Instant(arm, x.q, qd, qdd, torques, self.algorithm, internal, desired, touches, x.windings)

    def motion(self, t: Scalar, state: Scalars) -> tuple[Scalars, Scalars, list[JointTorque]]:
        """Velocities, accelerations and torques that act from time t [s] on, of the joints of the mechanism."""
        x = self.parts(state)
        y, held = self.motion_of(x), self.held(t, x)
        torques, system = self.loads.torques(t, y, held), self.system(held)
        if not isinstance(system, StickSlip):
            return x.qd, system.rates(t, y).v, torques
        mode = [] if x.ahead is None else x.ahead.extension.mode
        qdd, friction, slowed = system.at_instant(t, y, mode)
        if slowed:
            torques = self.loads.ungoverned(t, y, held)
        for i, (slow, motor) in slowed.items():
            torques[i] = slowed_to(self.loads.warmed(y)[i], torques[i], x.qd[i], motor, slow)
        for torque, dry in zip(torques, friction, strict=True):
            torque.dry = dry
        return x.qd, qdd, torques

    def torques(self, t: Scalar, state: Scalars) -> list[JointTorque]:
        """The torques that act from time t [s] on, likewise, without dry friction: it takes the accelerations to know it."""
        x = self.parts(state)
        return self.loads.torques(t, self.motion_of(x), self.held(t, x))

    def saturated(self, t: Scalar, state: Scalars) -> list[Any]:
        """Whether a limit of the command, the motor or its amplifier acts from time t [s] on, one condition per joint."""
        x, loads, command = self.parts(state), self.loads, self.command
        if command is None:
            return [False] * self.arm.n
        torques = self.arm.mechanism.of_drivers(self.torques(t, state))
        commands = loads.commands(t, self.motion_of(x), self.held(t, x))
        bounds = command.limit if isinstance(command, Controller) else (None,) * self.arm.n
        return [
            either(False if bound is None else absolute(u) >= bound, motor_limited(joint, command.output, u, torque))
            for joint, u, bound, torque in zip(loads.drives, commands, bounds, torques, strict=True)
        ]
