"""Dry friction: an arm whose joints stick and slip, as a system that integrators advance.

Joint velocities after a step satisfy M v' = M v + h (f + λ), where λ is dry friction: within its bounds a joint sticks at
exactly zero velocity, at a bound it slips. All joints are solved for together, as a box-constrained complementarity problem
(`armsim.dynamics.clipped_solve`). docs/friction.md derives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any

from armsim.actuation import Works, any_sticks, dry_bounds, sticks, unpowered
from armsim.dynamics import Algorithm, Law, clipped_solve, crba, forward_dynamics, leeway, solve_held
from armsim.expr import Scalar, absolute, both, either, fma, mapped, minimum, negated, where
from armsim.integrate import MomentumEquation, Motion, RateJacobian, advanced
from armsim.model import Arm
from armsim.plant.equations import Equations, Forces, less_bias, row_times
from armsim.plant.midpoint import ArmMomentum
from armsim.plant.state import Further, Held
from armsim.plant.system import ArmSystem, by_joint, mean, worked


class StickSlip(ArmSystem):
    """A driven arm with dry friction, during one step.

    Args:
        equations: The arm's.
        held: What is constant during the step.
    """

    def __init__(self, equations: Equations, held: Held) -> None:
        super().__init__(equations, held)
        self.dry = equations.loads.dry

    def _rates_of(self, t: Scalar, y: Motion) -> Motion:
        return self.within(t, y).rates(t, y)

    def forces(self, t: Scalar, y: Motion) -> Forces:
        """The equation of motion at (t, y)."""
        return self.equations.forces(t, y._replace(w=None), self.held)

    def kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """Velocities after h seconds: exactly zero where a joint sticks."""
        now = self.forces(t, y)
        n = len(y.v)
        r = [fma(h, now.f[i], row_times(now.M, i, y.v)) for i in range(n)]
        laws = dry_laws(self.dry, [h * x for x in now.lower], [h * x for x in now.upper])
        v, impulses = clipped_solve(now.M, r, laws, y.v)
        between = mean(y.v, v)
        w = worked(advanced(y.w, h, self.powers_at(t, y, between)), by_joint(laws, impulses, n), between)
        return Motion(y.q, v, advanced(y.z, h, now.z), w)

    def within(self, t: Scalar, y: Motion) -> StickSlipMode:
        """The system in its mode at (t, y): every joint sticks, or slips in one direction."""
        return StickSlipMode(self, t, y)

    def at_instant(self, t: Scalar, y: Motion, mode: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """Joint accelerations and dry friction at (t, y); see `at_instant`."""
        return at_instant(self.dry, self.forces(t, y), y.v, mode)


class StickSlipMode(StickSlip):
    """An arm in one mode, some joints sticking and the others slipping in known directions: smooth for one step.

    Args:
        arm: The arm.
        t: The instant whose mode it is [s].
        y: The motion then.

    Attributes:
        stuck: For each joint, whether it sticks.
        up: For each joint that slips, whether in the positive direction.
        accelerations: At the instant of the mode.
        friction: Dry friction then [N·m or N].
    """

    def __init__(self, arm: StickSlip, t: Scalar, y: Motion) -> None:
        super().__init__(arm.equations, arm.held)
        now = self.forces(t, y)
        moving = _moving(self.dry, y.v)
        a, friction = at_instant(self.dry, now, y.v)
        self.start = now
        self.stuck: list[Any] = [
            both(negated(m), both(x <= 0.0, x >= 0.0)) if dry else False
            for m, x, dry in zip(moving, a, self.dry, strict=True)
        ]
        self.up = [either(v > 0.0, both(v >= 0.0, x > 0.0)) for v, x in zip(y.v, a, strict=True)]
        self.accelerations = a
        self.friction = friction

    def _rates_of(self, t: Scalar, y: Motion) -> Motion:
        """The rates with sticking joints locked and the others slipping on."""
        now = self.forces(t, y)
        friction = self._sliding_friction(now)
        a = solve_held(now.M, [f + dry for f, dry in zip(now.f, friction, strict=True)], self.stuck)
        return Motion(y.v, a, now.z, worked(now.w, friction, y.v))

    def within(self, t: Scalar, y: Motion) -> StickSlipMode:
        """Itself: the mode stays."""
        return self

    def powers(self, t: Scalar, y: Motion) -> Works | None:
        """The powers [W]; None where they are not wanted."""
        now = self.forces(t, y)
        return worked(now.w, self._sliding_friction(now), y.v)

    def jacobian(self, t: Scalar, y: Motion, k: Motion) -> RateJacobian:
        """The exact Jacobian at (t, y), where the rates are k, with sticking joints locked."""
        sides = [where(up, 1.0, -1.0) if dry else 0.0 for up, dry in zip(self.up, self.dry, strict=True)]
        found = self.slopes_at(t, y, k, sides)
        found.held = self.stuck
        return found

    def momentum_equation(self, t: Scalar, y: Motion, h: Scalar) -> MomentumEquation:
        """The momentum equation of a step from (t, y), with sticking joints locked and the others slipping on."""
        up = [way if dry else None for way, dry in zip(self.up, self.dry, strict=True)]
        return ArmMomentum(self.equations, self.held, t, y, h, self.stuck, up)

    def guards(self, t: Scalar, start: Motion, end: Motion) -> list[Scalar]:
        """Guards of the stops; the slip velocity of every slipping joint; the friction margin of every sticking one."""
        now = self.forces(t, end)
        total = [f + dry for f, dry in zip(now.f, self._sliding_friction(now), strict=True)]
        a = solve_held(now.M, total, self.stuck)
        guards = self.crossings(start, end)
        for i, dry in enumerate(self.dry):
            if dry:
                needed = row_times(now.M, i, a) - now.f[i]
                terms = absolute(now.f[i]) + absolute(needed + now.f[i])
                spare = minimum(needed - now.lower[i], now.upper[i] - needed)
                # what the solver's tolerance lets stick at the step's start must not count as an event at its end
                spare = spare + leeway(now.lower[i], now.upper[i], terms)
                guards.append(where(self.stuck[i], where(spare <= inf, spare, -1.0), 1.0))  # NaN is an event, too
        return guards

    def crossings(self, start: Motion, at: Motion) -> list[Scalar]:
        """Those of the stops, and the slip velocity of every slipping joint."""
        sides = zip(self.dry, self.stuck, self.up, at.v, strict=True)
        slips = [where(stuck, 1.0, where(up, v, -v)) for dry, stuck, up, v in sides if dry]
        return [*super().crossings(start, at), *slips]

    @property
    def mode(self) -> list[Scalar]:  # type: ignore[override]  # computed when it is asked for
        """Of every joint with dry friction: 0 where it sticks, else the side to which it slips."""
        sides = zip(self.dry, self.stuck, self.up, strict=True)
        return [where(stuck, 0.0, where(up, 1.0, -1.0)) for dry, stuck, up in sides if dry]

    def arrest(self, before: Motion, after: Motion, h: Scalar) -> Motion:
        """Velocities at the step's end: a joint whose velocity has reversed within the step is stopped there if friction can.

        The impulse of dry friction over the step is taken back and solved for anew, now with sticking allowed.
        """
        M = self.equations.mass(after.q)
        used = self._sliding_friction(self.start)
        turned: Any = False
        lower, upper, r = [], [], []
        for i, (v, dry) in enumerate(zip(after.v, self.dry, strict=True)):
            if dry:
                back = either(both(self.up[i], v < 0.0), both(negated(self.up[i]), v > 0.0))
                turned = either(turned, both(negated(self.stuck[i]), back))
            spent = where(self.stuck[i], self.friction[i], used[i])
            lower.append(h * (self.start.lower[i] - spent))
            upper.append(h * (self.start.upper[i] - spent))
            r.append(row_times(M, i, after.v))
        guess = [where(stuck, 0.0, v) for stuck, v in zip(self.stuck, after.v, strict=True)]
        laws = dry_laws(self.dry, lower, upper)
        v, impulses = clipped_solve(M, r, laws, guess)
        w = worked(after.w, by_joint(laws, impulses, len(v)), mean(v, after.v))
        return after._replace(
            v=[where(turned, x, old) for x, old in zip(v, after.v, strict=True)],
            w=mapped(lambda x, old: where(turned, x, old), w, after.w),
        )

    def _sliding_friction(self, now: Forces) -> list[Scalar]:
        pairs = zip(self.up, now.lower, now.upper, strict=True)
        return [where(up, lo, hi) if dry else 0.0 for (up, lo, hi), dry in zip(pairs, self.dry, strict=True)]


def at_instant(
    dry: Sequence[bool], now: Forces, v: Sequence[Scalar], mode: Sequence[Scalar] = ()
) -> tuple[list[Scalar], list[Scalar]]:
    """Joint accelerations and dry friction at velocities v: moving joints slip on, those at rest stick or begin to slip.

    Args:
        dry: Which joints have dry friction.
        now: The equation of motion.
        v: Joint velocities [rad/s or m/s].
        mode: Of every joint with dry friction, 0 where it sticks whatever that takes, 1 or -1 where it slips to that side,
            `OPEN` where its velocity decides; none if all are open.
    """
    moving, ways = _moving(dry, v), [x > 0.0 for x in v]
    locked: list[Any] = [False] * len(v)
    for i, side in zip([i for i, sticky in enumerate(dry) if sticky], mode, strict=bool(mode)):
        known = absolute(side) < 1.5
        slips = absolute(side) > 0.5
        moving[i] = either(both(known, slips), both(negated(known), moving[i]))
        ways[i] = either(both(known, side > 0.0), both(negated(known), ways[i]))
        locked[i] = both(known, negated(slips))
    sliding = [where(way, lo, hi) for way, lo, hi in zip(ways, now.lower, now.upper, strict=True)]
    lower = [where(m, s, where(k, -inf, x)) for m, s, k, x in zip(moving, sliding, locked, now.lower, strict=True)]
    upper = [where(m, s, where(k, inf, x)) for m, s, k, x in zip(moving, sliding, locked, now.upper, strict=True)]
    laws = dry_laws(dry, lower, upper, moving)
    a, friction = clipped_solve(now.M, now.f, laws, [0.0] * len(v))
    return a, by_joint(laws, friction, len(v))


def dry_laws(
    dry: Sequence[bool], lower: Sequence[Scalar], upper: Sequence[Scalar], free: Sequence[Any] | None = None
) -> list[Law]:
    """The laws of dry friction, for the joints that have any."""
    free = free or [False] * len(dry)
    return [Law(i, lower[i], upper[i], free=free[i]) for i, sticky in enumerate(dry) if sticky]


def _moving(dry: Sequence[bool], v: Sequence[Scalar]) -> list[Any]:
    """Which joints move; those without dry friction always count as moving."""
    return [either(x > 0.0, x < 0.0) if sticky else True for x, sticky in zip(v, dry, strict=True)]


def accelerations(arm: Arm, q, qd, drives, algorithm: Algorithm = "crba") -> list[Scalar]:
    """Joint accelerations under drive torques [rad/s² or m/s²], n scalars; the inverse of `drive_torques`.

    Armature, friction and stops belong to the arm; dry friction holds a joint at rest as long as it can.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        drives: Drive torques [N·m or N], n scalars.
        algorithm: Of `armsim.dynamics.forward_dynamics`, for an arm without dry friction.
    """
    joints = list(zip(arm.joints, drives, q, qd, strict=True))
    total = [replace(unpowered(joint, q_i, qd_i), motor=drive).total for joint, drive, q_i, qd_i in joints]
    if not any_sticks(arm):
        return forward_dynamics(arm, q, qd, total, algorithm=algorithm)
    bounds = [dry_bounds(joint, drive) for joint, drive, *_ in joints]
    lower, upper = ([bound[side] for bound in bounds] for side in (0, 1))
    f = less_bias(arm, Motion(q, qd, None, None), total, None)
    now = Forces(crba(arm, q), f, lower, upper, Further([], []), None)
    return at_instant([sticks(joint) for joint in arm.joints], now, qd)[0]
