"""An arm's equations of motion, in the forms that integrators need.

Pure functions of time t [s], motion y and what is constant during the step. Each is traced once, and called wherever it is
needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial

from armsim.actuation import JointTorque, Works, powers
from armsim.dynamics import (
    Algorithm,
    Law,
    Wrench,
    aba,
    bias,
    clipped_solve,
    crba,
    external_power,
    forward_dynamics,
    momenta_and_forces,
    rnea,
)
from armsim.expr import Scalar, Scalars, dot, fma, leaves, maximum, minus, plus, shared, where, with_jacobian
from armsim.integrate import Motion
from armsim.integrate.rate_jacobian import Matrix, Slopes
from armsim.model import Arm
from armsim.plant.loads import Loads
from armsim.plant.state import Acting, Further, Held
from armsim.plant.velocity_laws import VelocityLaws
from armsim.records import mutable_record
from armsim.spatial import ZERO

FASTER = 3.0


@mutable_record
class Rates:
    """The rates of an arm without dry friction.

    Attributes:
        qdd: Joint accelerations [rad/s² or m/s²].
        z: Rates of the further states.
        w: Powers [W]; None where they are not wanted.
    """

    qdd: Scalars
    z: Further
    w: Works | None


@mutable_record
class Forces:
    """The equation of motion M qdd = f + dry friction at one instant.

    Attributes:
        M: Lower triangle of the mass matrix, rotors included.
        f: All joint forces but dry friction, less the bias [N·m or N].
        lower: Lower bounds of dry friction [N·m or N].
        upper: Upper bounds of dry friction [N·m or N].
        slower: See `Acting.slower`.
        motors: Torques of the `Loads.governed` motors without their limit of speed [N·m or N].
        z: Rates of the further states.
        w: Powers, that of dry friction left out [W]; None where they are not wanted.
    """

    M: Matrix
    f: Scalars
    lower: Scalars
    upper: Scalars
    slower: list[tuple[Scalar, Scalar]]
    motors: Scalars
    z: Further
    w: Works | None


@mutable_record
class Damped:
    """The equation of motion at one instant, split for implicit damping.

    Attributes:
        M: Lower triangle of the mass matrix, rotors included.
        f: All joint forces but those of `laws`, less the bias [N·m or N].
        d: Linear damping that is part of f: back-EMF, viscous friction, derivative gains [N·m·s/rad or N·s/m].
        laws: Dry friction, stops, and commands that saturate.
        z: Rates of the further states.
    """

    M: Matrix
    f: Scalars
    d: Scalars
    laws: list[Law]
    z: Further

    def velocities_after(self, v: Scalars, h: Scalar) -> tuple[Scalars, list[Law], Scalars]:
        """Velocities v' after h seconds, damping and laws implicit; and the laws with their impulses.

        (M + h D) (v' - v) = h f, with stops, limited commands and dry friction as functions of v'. Dry friction holds a joint
        at v' = 0, so with it the equation is solved for v'; without it for v' - v, which avoids cancellation.
        """
        M = [[*row[:i], fma(h, d, row[i])] for i, (row, d) in enumerate(zip(self.M, self.d, strict=True))]
        laws = [law.times(h) for law in self.laws]
        if any(law.d is None for law in laws):
            forced = [fma(d, x, f) for f, d, x in zip(self.f, self.d, v, strict=True)]
            moved = [fma(h, f, row_times(self.M, i, v)) for i, f in enumerate(forced)]
            after, impulses = clipped_solve(M, moved, laws, v)
            return after, laws, impulses
        laws = [law.seen_from(v[law.joint]) for law in laws]
        change, impulses = clipped_solve(M, [h * f for f in self.f], laws, [0.0] * len(v))
        return plus(v, change), laws, impulses


@mutable_record
class JointLoads:
    """The loads on the joints at one instant.

    Attributes:
        torques: Without dry friction [N·m or N].
        lower: Lower bounds of dry friction [N·m or N].
        upper: Upper bounds of dry friction [N·m or N].
        z: Rates of the further states.
    """

    torques: list[JointTorque]
    lower: Scalars
    upper: Scalars
    z: Further


class Equations:
    """An arm's equations of motion. An evaluation is one call in a graph; each equation is traced once.

    Args:
        loads: The loads on the arm.
        algorithm: Of `armsim.dynamics.forward_dynamics`.
    """

    def __init__(self, loads: Loads, algorithm: Algorithm) -> None:
        self.loads = loads
        self.arm = loads.arm
        self.algorithm = algorithm

    def laden(self, held: Held) -> Arm:
        """The arm with what it carries during the step."""
        return self.arm.at(held.since)

    def rates(self, t: Scalar, y: Motion, held: Held) -> Rates:
        """The rates without dry friction; powers only where works are among the quadratures."""
        return self._rates[y.w is not None](t, y.states, held)

    @cached_property
    def _rates(self) -> list[Callable[[Scalar, Motion, Held], Rates]]:
        """Without powers, and with them."""

        def rates(t: Scalar, y: Motion, held: Held, powered: bool) -> Rates:
            acting, wrenches = self.loads.acting(t, y, held), self.loads.wrenches(y.q, held)
            torques = acting.torques
            qdd = forward_dynamics(self.laden(held), y.q, y.v, [x.total for x in torques], wrenches, self.algorithm)
            return Rates(qdd, acting.further, self._powers(y.q, y.v, torques, held) if powered else None)

        return [shared(partial(rates, powered=powered), "rates") for powered in (False, True)]

    def forces(self, t: Scalar, y: Motion, held: Held) -> Forces:
        """The equation of motion; powers likewise."""
        return self._forces[y.w is not None](t, y.states, held)

    @cached_property
    def _forces(self) -> list[Callable[[Scalar, Motion, Held], Forces]]:
        """Without powers, and with them."""

        def forces(t: Scalar, y: Motion, held: Held, powered: bool) -> Forces:
            acting, wrenches = self.loads.acting(t, y, held), self.loads.wrenches(y.q, held)
            torques = acting.torques
            arm = self.laden(held)
            f = less_bias(arm, y, [x.total for x in torques], wrenches)
            w = self._powers(y.q, y.v, torques, held) if powered else None
            M, motors = crba(arm, y.q), [torques[i].motor for i in self.loads.governed]
            return Forces(M, f, acting.lower, acting.upper, acting.slower, motors, acting.further, w)

        return [shared(partial(forces, powered=powered), "forces") for powered in (False, True)]

    @cached_property
    def damped(self) -> Callable[[Scalar, Motion, Held], Damped]:
        """The equation of motion, split for implicit damping."""
        loads, laws = self.loads, VelocityLaws(self.loads)

        def own(v: Scalars, t: Scalar, y: Motion, held: Held) -> Scalars:
            """The torques that depend on a joint's own velocity, without those of laws."""
            y = y._replace(v=v)
            commands = [0.0 if laws.saturates(i) else u for i, u in enumerate(loads.commands(t, y, held))]
            return [replace(torque, limit=0.0).total for torque in loads.torques_under(commands, t, y, held)]

        along = with_jacobian(own, (0,), "own")

        def damped(t: Scalar, y: Motion, held: Held) -> Damped:
            tau, slopes = along(y.v, t, y._replace(v=[]), held)
            torques, arm = loads.torques(t, y, held), self.laden(held)
            return Damped(
                M=crba(arm, y.q),
                f=less_bias(arm, y, tau, loads.wrenches(y.q, held)),
                d=[maximum(-by_v[i], 0.0) for i, (by_v,) in enumerate(slopes)],
                laws=laws.at(t, y, held, torques),
                z=loads.further_rates(t, y, held, torques),
            )

        return shared(damped, "damped")

    @cached_property
    def powers(self) -> Callable[[Scalar, Motion, Scalars, Held], Works]:
        """The powers [W] of the loads at (t, y) on velocities v, without dry friction."""

        def of_loads(t: Scalar, y: Motion, v: Scalars, held: Held) -> Works:
            # the forces of stops and contacts jump where these are met: at a step's end they are those of its branch
            return self._powers(y.q, v, self.loads.acting(t, y, held).torques, held)

        return shared(of_loads, "powers")

    @cached_property
    def working(self) -> Callable[[Scalar, Motion, Held], Forces]:
        """As `forces`, of what does work alone: powers and bounds of dry friction, without M and f."""

        def working(t: Scalar, y: Motion, held: Held) -> Forces:
            acting, motors = self.loads.acting(t, y, held), self.loads.governed
            w = self._powers(y.q, y.v, acting.torques, held)
            drives = [acting.torques[i].motor for i in motors]
            return Forces([], [], acting.lower, acting.upper, acting.slower, drives, Further([], []), w)

        return shared(working, "working")

    def _powers(self, q: Scalars, v: Scalars, torques: Sequence[JointTorque], held: Held) -> Works:
        outside = external_power(self.arm, q, v, self.loads.wrenches(q, held))
        return powers(torques, v, outside, self.loads.others)

    @cached_property
    def slopes(self) -> Callable[..., tuple[list[Slopes], list[Slopes]]]:
        """The Jacobian of `imbalance` and of the rates of the further states, by time and motion."""

        def left(t: Scalar, y: Motion, held: Held, qdd: Scalars, sliding: Scalars) -> tuple[Scalars, Scalars]:
            acting = self.loads.acting(t, y, held)
            further = acting.further
            return self.imbalance(y, held, acting, qdd, sliding), leaves(further)

        both = with_jacobian(left, (0, 1), "slopes")
        return lambda *given: both(*given)[1]

    def imbalance(
        self,
        y: Motion,
        held: Held,
        acting: Acting,
        qdd: Scalars,
        sliding: Scalars,
    ) -> Scalars:
        """The residual of the equation of motion at accelerations qdd [N·m or N], n scalars: joint forces less inverse dynamics.

        By its derivatives at the true qdd, where it is zero, M dqdd = d(imbalance), with M = -d(imbalance)/dqdd.

        Args:
            y: The motion.
            held: What is constant during the step.
            acting: The loads on the joints, dry friction left open.
            qdd: Joint accelerations [rad/s² or m/s²], n scalars.
            sliding: How each joint slips, n scalars: 1 forwards, -1 backwards, 0 for no dry friction; `FASTER` times that beyond
                its motor's limit of speed.
        """
        needed = rnea(self.laden(held), y.q, y.v, qdd, self.loads.wrenches(y.q, held))
        left = []
        for side, lo, hi, slower, torque, tau in zip(
            sliding, acting.lower, acting.upper, acting.slower, acting.torques, needed, strict=True
        ):
            dry = where(side > 0.0, lo, where(side < 0.0, hi, 0.0))
            forwards, backwards = slower
            dry = dry + where(side > 1.0, forwards, where(side < -1.0, backwards, 0.0))
            left.append(torque.total + dry - tau)
        return left

    # for steps in positions and momenta; the external wrenches here do not follow the motion

    @cached_property
    def mass(self) -> Callable[[Scalars, Held], Matrix]:
        """The lower triangle of the mass matrix at joint positions q."""
        return shared(lambda q, held: crba(self.laden(held), q), "mass")

    @cached_property
    def impelled(self) -> Callable[[Scalars, Scalars, Held], Scalars]:
        """Velocities of momenta p at q, of many joints: the accelerations at rest, without gravity, under forces p."""

        def impelled(q: Scalars, p: Scalars, held: Held) -> Scalars:
            return aba(replace(self.laden(held), gravity=ZERO), q, [0.0] * len(p), p)

        return shared(impelled, "impelled")

    @cached_property
    def momenta(self) -> Callable[[Scalars, Scalars, Held], Scalars]:
        """Generalised momenta M v at q."""
        return shared(lambda *given: self._momentum(*given)[0], "momenta")

    @cached_property
    def mechanics(self) -> Callable[[Scalars, Scalars, Held], tuple[Scalars, Scalars]]:
        """Momenta, and the generalised forces besides joint loads; see `armsim.dynamics.momenta_and_forces`."""
        return shared(self._momentum, "mechanics")

    @cached_property
    def tangent(self) -> Callable[..., tuple[tuple[Scalars, Scalars], tuple[Matrix, Matrix]]]:
        """`mechanics` and its Jacobian by velocities: the mass matrix, and the forces' derivatives."""
        both = with_jacobian(self._momentum, (1,), "tangent")

        def tangent(*given):
            values, (masses, forces) = both(*given)
            return values, ([by_v for (by_v,) in masses], [by_v for (by_v,) in forces])

        return tangent

    def _momentum(self, q: Scalars, v: Scalars, held: Held) -> tuple[Scalars, Scalars]:
        return momenta_and_forces(self.laden(held), q, v, self.loads.wrenches(q, held))

    @cached_property
    def joints(self) -> Callable[[Scalar, Motion, Held], tuple[JointLoads, JointLoads]]:
        """The loads on the joints, and their Jacobian by motion."""

        def joints(y: Motion, t: Scalar, held: Held) -> JointLoads:
            torques = self.loads.torques(t, y, held)
            lower, upper = self.loads.dry_bounds(torques, y.v)
            further = self.loads.further_rates(t, y, held, torques)
            return JointLoads([torque.mechanical for torque in torques], lower, upper, further)

        both = with_jacobian(joints, (0,), "joints")
        return lambda t, y, held: both(y, t, held)

    @cached_property
    def outside_power(self) -> Callable[[Scalars, Scalars, Held], Scalar]:
        """The power of external wrenches [W]."""

        def power(q: Scalars, v: Scalars, held: Held) -> Scalar:
            return external_power(self.arm, q, v, self.loads.wrenches(q, held))

        return shared(power, "power")


def less_bias(arm: Arm, y: Motion, tau: Scalars, wrenches: Sequence[Wrench] | None) -> Scalars:
    """The right-hand side of M qdd = tau - bias [N·m or N], n scalars."""
    return minus(tau, bias(arm, y.q, y.v, wrenches))


def row_times(M: Matrix, i: int, x: Scalars) -> Scalar:
    """Row i of M x, M given by its lower triangle."""
    return dot([M[i][j] if j <= i else M[j][i] for j in range(len(x))], x)
