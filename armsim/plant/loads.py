"""The loads on an arm: commands, drive torques, friction, stops, and external wrenches.

A load on a single joint is a part of `armsim.actuation.JointTorque`; here they are those of all joints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from armsim.actuation import (
    CONTACTS,
    COUPLINGS,
    SPRINGS,
    JointTorque,
    coupling_torque,
    creeping,
    driven,
    dry_bounds,
    sticks,
    unpowered,
    weakened,
)
from armsim.actuation import motor as dc
from armsim.control import Command, Controller, Memory, Seen
from armsim.dynamics import (
    ExternalWrench,
    Wrench,
    joint_forces,
    link_wrenches,
)
from armsim.expr import Scalar, Scalars, Switches, Table, absolute, negated
from armsim.integrate import Motion
from armsim.model import Arm, Coupling, Joint, Motor
from armsim.plant.pickup import works_of
from armsim.plant.state import Acting, Further, Held
from armsim.plant.windings import Windings
from armsim.plant.world_contacts import WorldContacts
from armsim.records import record


@record
class Loads:
    """The loads on an arm, at a time t [s], in a motion y, with `Held`, what is constant during the step.

    Attributes:
        arm: The arm, its rotors behind elastic couplings as joints (`Arm.mechanism`), n in all.
        command: What drives it: a controller, signals of time, or None for motors with open terminals.
        external: External wrenches.
        integrated: Whether the integrator advances the armature currents, where they are states.
        located: Whether the integrator locates events; else a command that jumps does so only between steps.
        contacts: The contacts with the world: external wrenches that follow the motion.
    """

    arm: Arm
    command: Command | None
    external: Sequence[ExternalWrench]
    integrated: bool
    located: bool
    contacts: WorldContacts
    creep: float | None = None

    @property
    def sampled(self) -> bool:
        """Whether the command is held between samples."""
        return self.command is not None and self.command.period is not None

    @property
    def timed(self) -> bool:
        """Whether a continuous command, or an external wrench, is a function of time that is not recorded."""
        command = self.command
        follows = any("t" in wrench.names for wrench in self.wrench_laws)
        return follows or (command is not None and command.period is None and command.timed)

    @cached_property
    def wrench_laws(self) -> tuple[ExternalWrench, ...]:
        """The external wrenches that follow the motion: they act on the joints, so that their comparisons are switches."""
        return tuple(wrench for wrench in self.external if wrench.follows)

    @cached_property
    def others(self) -> tuple[str, ...]:
        """Names of the works of what not every arm has."""
        springs = (SPRINGS,) if self.arm.sprung else ()
        contacts = (CONTACTS,) if self.arm.contacts else ()
        couplings = (COUPLINGS,) if self.elastic else ()
        return (*springs, *couplings, *contacts, *works_of(self.arm))

    @property
    def corner_tables(self) -> list[Table]:
        """Of a continuous command: the times of the next jump or corner of whatever comes from tables, after a time [s]."""
        command = self.command
        return [] if command is None or command.period is not None else command.corner_tables

    @cached_property
    def inductive(self) -> dict[int, Motor]:
        """The motors whose current is a state of its own, by joint: they have an inductance and are driven by a voltage."""
        if self.command is None or self.command.output != "voltage":
            return {}
        motors = [joint.motor for joint in self.drives]
        return {i: motor for i, motor in enumerate(motors) if motor is not None and motor.inductance is not None}

    @cached_property
    def windings(self) -> Windings:
        """The windings whose temperature acts on their resistance."""
        return Windings(self.arm)

    def warmed(self, y: Motion) -> Sequence[Joint]:
        """The joints, the resistance of each motor as its winding has it."""
        return self.windings.joints(y.z.windings)

    @cached_property
    def drives(self) -> list[Joint]:
        """The joints on which the drives act, in the order of their commands: rotors in place of their joints."""
        return self.arm.of_drivers(self.arm.joints)

    @cached_property
    def elastic(self) -> list[tuple[int, int, Coupling]]:
        """Joint, rotor and coupling wherever there is one."""
        pairs = ((j, i, self.arm.joints[i].coupling) for j, i in enumerate(self.arm.drivers) if i != j)
        return [(j, i, coupling) for j, i, coupling in pairs if coupling is not None]

    @cached_property
    def dry(self) -> tuple[bool, ...]:
        """Which joints have dry friction that holds them at rest."""
        return tuple(self.creep is None and sticks(joint) for joint in self.arm.joints)

    def commands(self, t: Scalar, y: Motion, held: Held) -> list[Scalar | None]:
        """The command of every drive; None for open terminals."""
        if self.command is None:
            return [None] * len(self.drives)
        if self.sampled:
            return [*held.commands]
        return [*self.command.command(t, self.seen(y, held), y.z.control, *self.piece(held))]

    def piece(self, held: Held) -> tuple[Scalar | None, Scalar | None]:
        """`since` and `middle` of `armsim.control.Reference.at`."""
        return None if self.located else held.since, None if held.branch is None else held.branch.middle

    def seen(self, y: Motion, held: Held) -> Seen:
        """What a continuous controller knows of the arm."""
        return self.measured(y.q, y.v, self.currents(y, held))

    def measured(self, q: Scalars, v: Scalars, currents: Scalars) -> Seen:
        """What a controller knows of the arm: positions and velocities of joints, or where its encoders are there, of rotors."""
        known = dict(zip(self.inductive, currents, strict=True))
        if self.measures_rotors:
            return Seen(self.arm.of_drivers(q), self.arm.of_drivers(v), known)
        n = len(self.drives)
        return Seen(q[:n], v[:n], known)

    @property
    def measures_rotors(self) -> bool:
        """Whether the controller's encoders are on the motors."""
        command = self.command
        return isinstance(command, Controller) and command.encoder is not None and command.encoder.on_motor

    @cached_property
    def governed(self) -> dict[int, Scalar]:
        """The greatest velocity of each joint whose motor's limit of speed is a law on it [rad/s or m/s], by joint.

        Such a limit is a jump of the torque at a velocity: an integrator that locates events holds the joint there as dry
        friction holds one at rest. A current that is a state does not jump.
        """
        if not self.located or self.command is None:
            return {}
        inductive = [self.arm.drivers[i] for i in self.inductive]
        motors = {i: joint.motor for i, joint in enumerate(self.arm.joints) if i not in inductive}
        limits = {i: (motor, motor.limits.speed) for i, motor in motors.items() if motor is not None}
        return {i: limit / absolute(motor.gear) for i, (motor, limit) in limits.items() if limit is not None}

    @cached_property
    def latched(self) -> tuple[int, ...]:
        """The joints that may be held at a velocity, at rest by dry friction or at their motor's limit of speed."""
        return tuple(i for i in range(self.arm.n) if self.dry[i] or i in self.governed)

    @cached_property
    def switches(self) -> Switches:
        """The switches of `acting`, by time and motion."""
        return Switches(self._acting, (0, 1))

    def acting(self, t: Scalar, y: Motion, held: Held) -> Acting:
        """What acts, on the branch that is held if there is one."""
        if held.branch is None or held.branch.sides is None:
            acting = self._acting(t, y, held)
        else:
            acting = self.switches.within(held.branch.sides, t, y, self._free(held))
        # the direction of sliding is known of the mode, and no switch
        bounds = list(map(weakened, self.arm.joints, acting.lower, acting.upper, y.v))
        return replace(acting, lower=[lower for lower, _ in bounds], upper=[upper for _, upper in bounds])

    def sides(self, t: Scalar, y: Motion, held: Held) -> Scalars:
        """The sides of the switches."""
        return self.switches.sides(t, y, self._free(held))

    def margins(self, t: Scalar, y: Motion, held: Held, unsure: Scalar) -> Scalars:
        """The margins of the switches on the branch that is held; see `armsim.expr.Switches.margins`."""
        return self.switches.margins(self._sides(held), t, y, self._free(held), unsure=unsure)

    def spares(self, t: Scalar, y: Motion, held: Held) -> Scalars:
        """Lower bounds of the margins."""
        return self.switches.spares(self._sides(held), t, y, self._free(held))

    def _sides(self, held: Held) -> Scalars:
        assert held.branch is not None
        assert held.branch.sides is not None
        return held.branch.sides

    def _free(self, held: Held) -> Held:
        """The same with the sides left open."""
        return replace(held, branch=None if held.branch is None else replace(held.branch, sides=None))

    def _acting(self, t: Scalar, y: Motion, held: Held) -> Acting:
        torques = self.ungoverned(t, y, held)
        lower, upper = self.dry_bounds(torques)
        further = self.further_rates(t, y, held, torques)
        slower = self._slower(t, y, held, torques)
        return Acting([torque.mechanical for torque in torques], lower, upper, slower, further)

    def ungoverned(self, t: Scalar, y: Motion, held: Held) -> list[JointTorque]:
        """The loads on every joint, without dry friction and without the limits of speed that are laws."""
        beyond = [(False, False) if i in self.governed else None for i in range(self.arm.n)]
        return self.torques_under(self.commands(t, y, held), t, y, held, beyond)

    def _slower(self, t: Scalar, y: Motion, held: Held, torques: Sequence[JointTorque]) -> list[tuple[Scalar, Scalar]]:
        """See `Acting.slower`; `torques` are without those limits."""
        changes: list[tuple[Scalar, Scalar]] = [(0.0, 0.0)] * self.arm.n
        if not self.governed:
            return changes
        u = self.commands(t, y, held)
        reversed_ = [joint.motor is not None and joint.motor.gear < 0.0 for joint in self.arm.joints]
        forwards = self.torques_under(u, t, y, held, [(negated(x), x) for x in reversed_])
        backwards = self.torques_under(u, t, y, held, [(x, negated(x)) for x in reversed_])
        for i in self.governed:
            joint, full = self.arm.joints[i], torques[i].motor
            ways = enumerate((forwards[i].motor, backwards[i].motor))
            low, high = (slow + dry_bounds(joint, slow)[k] - (full + dry_bounds(joint, full)[k]) for k, slow in ways)
            changes[i] = low, high
        return changes

    def torques(self, t: Scalar, y: Motion, held: Held) -> list[JointTorque]:
        """The loads on every joint, without dry friction."""
        return self.torques_under(self.commands(t, y, held), t, y, held)

    def torques_under(
        self, u: Sequence[Scalar | None], t: Scalar, y: Motion, held: Held, beyond: Sequence[dc.Beyond | None] = ()
    ) -> list[JointTorque]:
        """The loads on every joint under given commands, without dry friction; `beyond` as of `driven`."""
        currents = dict(zip((self.arm.drivers[i] for i in self.inductive), self.currents(y, held), strict=True))
        commands = dict(zip(self.arm.drivers, u, strict=True))
        beyond = beyond or [None] * self.arm.n
        torques = []
        for i, (joint, q, qd) in enumerate(zip(self.warmed(y), y.q, y.v, strict=True)):
            if self.command is None or i not in commands:
                torques.append(unpowered(joint, q, qd))
            else:
                torques.append(driven(joint, self.command.output, commands[i], q, qd, currents.get(i), beyond[i]))
        for j, i, coupling in self.elastic:
            torques[j].coupling = coupling_torque(coupling, y.q[i] - y.q[j], y.v[i] - y.v[j])
            torques[i].coupling = -torques[j].coupling
        if self.creep is not None:
            for joint, torque, v in zip(self.arm.joints, torques, y.v, strict=True):
                if sticks(joint):
                    torque.dry = -creeping(joint, torque.motor, v, self.creep) * v
        for torque, force in zip(torques, self.law_forces(t, y, held, self.wrench_laws), strict=False):
            torque.external = force
        for torque, force in zip(torques, self.law_forces(t, y, held, self.contacts.acting), strict=False):
            torque.contact = force
        return torques

    def law_forces(self, t: Scalar, y: Motion, held: Held, of: Sequence[ExternalWrench]) -> Scalars:
        """The joint forces of external wrenches that follow the motion [N·m or N]; none if there are none."""
        wrenches = link_wrenches(self.arm, held.since, y.q, of, t, y.v, y.z.contacts)
        return [] if wrenches is None else joint_forces(self.arm, y.q, wrenches)

    def all_wrenches(
        self,
        t: Scalar,
        q: Scalars,
        v: Scalars,
        held: Held,
        at: str | None = None,
        states: Mapping[str, Scalar] | None = None,
    ) -> list[Wrench] | None:
        """All external wrenches on the links, or those that are applied at a frame, by its name; for `states` see `Contact`."""
        of = [wrench for wrench in (*self.external, *self.contacts.acting) if at in (None, wrench.at.name)]
        return link_wrenches(self.arm, held.since, q, of, t, v, states)

    def currents(self, y: Motion, held: Held) -> Scalars:
        """The armature currents that are states [A], in the order of `inductive`."""
        currents: Scalars = y.z.currents if self.integrated else held.currents
        return currents

    def wrenches(self, q: Scalars, held: Held) -> list[Wrench] | None:
        """The external wrenches on the links that do not follow the motion; they begin and end only between steps."""
        steady = [wrench for wrench in self.external if not wrench.follows]
        return link_wrenches(self.arm, held.since, q, steady)

    def dry_bounds(self, torques: Sequence[JointTorque], v: Scalars | None = None) -> tuple[Scalars, Scalars]:
        """Lower and upper bounds of every joint's dry friction [N·m or N], at joint velocities v, or at rest."""
        joints = zip(self.arm.joints, torques, v or [None] * self.arm.n, strict=True)
        bounds = [dry_bounds(joint, torque.motor, x) for joint, torque, x in joints]
        return [lower for lower, _ in bounds], [upper for _, upper in bounds]

    def further_rates(self, t: Scalar, y: Motion, held: Held, torques: Sequence[JointTorque]) -> Further:
        """Rates of the further states that the integrator advances; a sampled command advances its own itself."""
        control = Memory()
        if self.command is not None and not self.sampled:
            control = self.command.rates(t, self.seen(y, held), y.z.control, *self.piece(held))
        currents = self.current_rates(y, held, torques) if self.integrated else []
        return Further(control, currents, self.contacts.rates(t, y), self.windings.rates(y.z.windings, torques))

    def current_rates(self, y: Motion, held: Held, torques: Sequence[JointTorque]) -> Scalars:
        """Rates of the armature currents that are states [A/s], in the order of `inductive`."""
        pairs = zip(self.armatures(y), self.currents(y, held), strict=True)
        return [dc.current_rate(motor, x, torques[at].supply, y.v[at]) for (at, motor), x in pairs]

    def armatures(self, y: Motion) -> list[tuple[int, Motor]]:
        """The motors of `inductive` as their windings have them, each with the index of what it acts on."""
        found = ((at, self.warmed(y)[at].motor) for at in map(self.arm.drivers.__getitem__, self.inductive))
        return [(at, motor) for at, motor in found if motor is not None]
