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

from armsim.actuation import (
    Works,
    against_dry_friction,
    any_sticks,
    dry_bounds,
    sticks,
    unpowered,
    warming_rate,
)
from armsim.actuation.motor import current_for
from armsim.control import Memory
from armsim.dynamics import (
    clipped_solve,
    contact_wrenches,
    crba,
    fastest_algorithm,
    forward_dynamics,
    leeway,
    solve_held,
)
from armsim.expr import (
    Scalar,
    Scalars,
    absolute,
    both,
    chosen,
    dot,
    either,
    fma,
    minimum,
    minus,
    negated,
    plus,
    where,
    zero_where,
)
from armsim.integrate import MomentumEquation, Motion, RateJacobian, System, advanced
from armsim.model import Arm
from armsim.plant.equations import FASTER, Equations, Forces, less_bias, row_times
from armsim.plant.latches import Latches, one_of, slide
from armsim.plant.midpoint import ArmMomentum
from armsim.plant.state import Further, Held
from armsim.plant.system import ArmSystem, by_joint, mean, worked


class StickSlip(ArmSystem):
    """A driven arm whose joints may be held at a velocity, during one step: at rest by dry friction, at a motor's limit of speed.

    Args:
        equations: The arm's.
        held: What is constant during the step.
        light: See `System.light`: the arm without contacts.
    """

    def __init__(self, equations: Equations, held: Held, light: System | None = None) -> None:
        super().__init__(equations, held, light)
        self.latches = Latches(equations.loads.dry, equations.loads.governed)

    def _rates_of(self, t: Scalar, y: Motion) -> Motion:
        return self.within(t, y).rates(t, y)

    def forces(self, t: Scalar, y: Motion) -> Forces:
        """The equation of motion at (t, y)."""
        return self.equations.forces(t, y, self.held)

    def kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """Velocities after h seconds: exactly zero where a joint sticks."""
        now = self.forces(t, y)
        n = len(y.v)
        r = [fma(h, now.f[i], row_times(now.M, i, y.v)) for i in range(n)]
        laws = self.latches.laws([h * x for x in now.lower], [h * x for x in now.upper])
        v, impulses = clipped_solve(now.M, r, laws, y.v)
        between = mean(y.v, v)
        w = worked(advanced(y.w, h, self.powers_at(t, y, between)), by_joint(laws, impulses, n), between)
        return Motion(y.q, v, advanced(y.z, h, now.z), w)

    def within(self, t: Scalar, y: Motion) -> StickSlipMode:
        """The system in its mode at (t, y): every joint sticks, or slips in one direction."""
        return StickSlipMode(self, t, y)

    def branch(self, t: Scalar, y: Motion, h: Scalar) -> StickSlipMode:
        """The arm in its mode and on its branch at (t, y), for a step of length h [s]."""
        return StickSlip(self.equations, self.decided(t, y, h)).within(t, y)

    def at_instant(self, t: Scalar, y: Motion, mode: Scalars) -> tuple[Scalars, Scalars, dict[int, tuple[Any, Scalar]]]:
        """Joint accelerations and dry friction at (t, y); of governed motors whether they are slowed, and their torque then.

        Args:
            t: Time [s].
            y: The motion.
            mode: See `StickSlipMode.mode`; `OPEN` where the velocity decides, none if all are open.
        """
        now = self.forces(t, y)
        places = self.latches.places(y.v, mode)
        a, latched = self.latches.solved(now, places)
        dry, slowed = list(latched), {}
        for (i, drive), full in zip(self._drives(now, latched, y.v).items(), now.motors, strict=True):
            slowed[i] = places[i].slow, full + drive
            dry[i] = where(places[i].slow, latched[i] - drive, latched[i])
        return a, dry, slowed

    def _drives(self, now: Forces, latched: Scalars, v: Scalars) -> dict[int, Scalar]:
        """By how much the governed motors' torques differ from those without their limit of speed [N·m or N], by joint.

        Args:
            now: The equation of motion.
            latched: What holds or slows each joint, dry friction included [N·m or N].
            v: Joint velocities [rad/s or m/s].
        """
        joints = self.equations.arm.joints
        motors = zip(self.latches.limits, now.motors, strict=True)
        return {i: against_dry_friction(joints[i], full + latched[i], v[i]) - full for i, full in motors}

    def worked(self, now: Forces, latched: Scalars, v: Scalars) -> Works | None:
        """The powers of all that acts [W], what holds or slows the joints included; None where they are not wanted."""
        found = worked(now.w, latched, v)
        if found is None or not self.latches.limits:
            return found
        drives = self._drives(now, latched, v)
        power = dot(list(drives.values()), [v[i] for i in drives])
        return replace(found, motors=found.motors + power, friction=found.friction - power)


class StickSlipMode(StickSlip):
    """An arm in one mode, some joints held and the others moving in known directions: smooth for one step.

    Args:
        arm: The arm.
        t: The instant whose mode it is [s].
        y: The motion then.

    Attributes:
        places: Where each joint is among the velocities at which it may be held.
        stuck: For each joint, whether it is held.
        up: For each joint that moves, whether in the positive direction.
        fast: For each joint that moves, whether beyond its motor's limit of speed.
        accelerations: At the instant of the mode.
        latched: What holds or slows each joint then [N·m or N].
    """

    def __init__(self, arm: StickSlip, t: Scalar, y: Motion) -> None:
        super().__init__(arm.equations, arm.held)
        now = self.forces(t, y)
        self.places = self.latches.places(y.v)
        a, latched = self.latches.solved(now, self.places)
        self.start = now
        self.stuck: list[Any] = [
            both(negated(place.free), both(x <= 0.0, x >= 0.0)) for place, x in zip(self.places, a, strict=True)
        ]
        self.up = [either(v > 0.0, both(v >= 0.0, x > 0.0)) for v, x in zip(y.v, a, strict=True)]
        self.fast: list[Any] = [
            either(place.fast, both(place.at_limit, either(both(up, x > 0.0), both(negated(up), x < 0.0))))
            for place, up, x in zip(self.places, self.up, a, strict=True)
        ]
        self.accelerations = a
        self.latched = latched

    def _rates_of(self, t: Scalar, y: Motion) -> Motion:
        """The rates with held joints locked and the others moving on."""
        now = self.forces(t, y)
        sliding = self._sliding(now)
        a = solve_held(now.M, plus(now.f, sliding), self.stuck)
        latched = self._latched(now, sliding, a)
        return Motion(y.v, a, self._further(now, latched, y), self.worked(now, latched, y.v))

    def _further(self, now: Forces, latched: Scalars, y: Motion) -> Further:
        """Rates of the further states; a motor slowed by its limit of speed heats its winding by its current then."""
        windings, rates = self.equations.loads.windings, [*now.z.windings]
        if not rates or not self.latches.limits:
            return now.z
        drives, fulls = self._drives(now, latched, y.v), dict(zip(self.latches.limits, now.motors, strict=True))
        for k, (of, motor) in enumerate(windings.motors.items()):
            i = windings.arm.drivers[of]
            if i in drives:
                slow = either(self.fast[i], both(self.stuck[i], self.places[i].at_limit))
                rate = warming_rate(motor, y.z.windings[k], current_for(motor, fulls[i] + drives[i]))
                rates[k] = where(slow, rate, rates[k])
        return replace(now.z, windings=rates)

    def within(self, t: Scalar, y: Motion) -> StickSlipMode:
        """Itself: the mode stays."""
        return self

    def powers(self, t: Scalar, y: Motion) -> Works | None:
        """The powers [W]; None where they are not wanted."""
        if y.w is None or self.latches.limits:
            return self._rates_of(t, y).w
        now = self.equations.working(t, y.states, self.held)
        return self.worked(now, self._sliding(now), y.v)

    def _latched(self, now: Forces, sliding: Scalars, a: Scalars) -> Scalars:
        """What holds or slows each joint at accelerations a; that of a joint held at rest, which does no work, as if it slid."""
        return [
            where(self.stuck[i], row_times(now.M, i, a) - now.f[i], x) if i in self.latches.limits else x
            for i, x in enumerate(sliding)
        ]

    def jacobian(self, t: Scalar, y: Motion, k: Motion) -> RateJacobian:
        """The exact Jacobian at (t, y), where the rates are k, with held joints locked."""
        found = self.slopes_at(
            t, y, k, [side if i in self.latches.joints else 0.0 for i, side in enumerate(self._sides)]
        )
        found.held = self.stuck
        return found

    def momentum_equation(self, t: Scalar, y: Motion, h: Scalar) -> MomentumEquation:
        """The momentum equation of a step from (t, y), with sticking joints locked and the others slipping on."""
        up = [way if dry else None for way, dry in zip(self.up, self.latches.dry, strict=True)]
        return ArmMomentum(self.equations, self.held, t, y, h, [*zip(self.stuck, up, strict=True)])

    def slips(self, at: Motion) -> list[Scalar]:
        """The slip velocity of every joint that slips, and how far it is from its motor's limit of speed."""
        slips = []
        for i in self.latches.joints:
            speed = where(self.up[i], at.v[i], -at.v[i])
            slips.append(where(self.stuck[i], 1.0, speed))
            if i in self.latches.limits:
                spare = self.latches.limits[i] - speed
                slips.append(where(self.stuck[i], 1.0, where(self.fast[i], -spare, spare)))
        return slips

    def holding(self, t: Scalar, y: Motion) -> Scalars:
        """How much more force would let go of every joint that is held."""
        now = self.forces(t, y)
        total = plus(now.f, self._sliding(now))
        a = solve_held(now.M, total, self.stuck)
        margins = []
        for i in self.latches.joints:
            lower, upper = self.latches.bounds(i, now, self.places[i].at_limit, self.up[i])
            needed = row_times(now.M, i, a) - now.f[i]
            terms = absolute(now.f[i]) + absolute(needed + now.f[i])
            spare = minimum(needed - lower, upper - needed)
            # what the solver's tolerance lets stick at the step's start must not count as an event at its end
            spare = spare + leeway(lower, upper, terms)
            margins.append(where(self.stuck[i], where(spare <= inf, spare, -1.0), 1.0))  # NaN is an event, too
        return margins

    @property
    def mode(self) -> Scalars:  # type: ignore[override]  # computed when it is asked for
        """Of every joint that may be held: 0 where it is, else the side to which it moves, `FASTER` times that beyond a limit."""
        return [where(self.stuck[i], 0.0, self._sides[i]) for i in self.latches.joints]

    @property
    def _sides(self) -> Scalars:
        return [
            where(up, where(fast, FASTER, 1.0), where(fast, -FASTER, -1.0))
            for up, fast in zip(self.up, self.fast, strict=True)
        ]

    def arrest(self, before: Motion, after: Motion, h: Scalar) -> Motion:
        """Velocities at the step's end: a joint that has passed within the step a velocity at which it can be held is held there.

        The impulse over the step of what holds or slows the joints is taken back and solved for anew, now with holding allowed.
        """
        M, start = self.equations.mass(after.q, self.held), self.start
        used = self._sliding(start)
        passed: Any = False
        lower: list[Scalar] = [0.0] * len(after.v)
        upper = list(lower)
        at = list(lower)
        for i in self.latches.joints:
            v, up, stuck = after.v[i], self.up[i], self.stuck[i]
            back = either(both(up, v < 0.0), both(negated(up), v > 0.0))
            limited: Any = False
            if i in self.latches.limits:
                most, fast = self.latches.limits[i], self.fast[i]
                beyond = where(up, v, -v) > most
                crossed = either(both(fast, negated(beyond)), both(negated(fast), beyond))
                limited = one_of(stuck, self.places[i].at_limit, either(fast, beyond))
                back = either(back, crossed)
                at[i] = where(limited, where(up, most, -most), 0.0)
            passed = either(passed, both(negated(stuck), back))
            low, high = self.latches.bounds(i, start, limited, up)
            spent = where(stuck, self.latched[i], used[i])
            lower[i], upper[i] = h * (low - spent), h * (high - spent)
        away = minus(after.v, at)
        r = [row_times(M, i, away) for i in range(len(away))]
        guess = zero_where(self.stuck, away)
        laws = self.latches.laws(lower, upper)
        x, impulses = clipped_solve(M, r, laws, guess)
        v = plus(at, x)
        w = worked(after.w, by_joint(laws, impulses, len(v)), mean(v, after.v))
        return chosen(passed, after._replace(v=v, w=w), after)

    def _sliding(self, now: Forces) -> Scalars:
        """Dry friction of the joints that move, less what a limit of speed takes away from their motors."""
        return [
            slide(now, i, self.up[i], self.fast[i]) if i in self.latches.joints else 0.0 for i in range(len(self.up))
        ]


def accelerations(arm: Arm, q, qd, drives) -> Scalars:
    """Joint accelerations under drive torques [rad/s² or m/s²], n scalars; the inverse of `drive_torques`.

    Armature, friction, stops and contacts belong to the arm; dry friction holds a joint at rest as long as it can.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        drives: Drive torques [N·m or N], n scalars.
    """
    joints = list(zip(arm.joints, drives, q, qd, strict=True))
    total = [replace(unpowered(joint, q_i, qd_i), motor=drive).total for joint, drive, q_i, qd_i in joints]
    wrenches = contact_wrenches(arm, q, qd)
    if not any_sticks(arm):
        return forward_dynamics(arm, q, qd, total, wrenches, fastest_algorithm(arm))
    bounds = [dry_bounds(joint, drive, qd_i) for joint, drive, _, qd_i in joints]
    lower, upper = ([bound[side] for bound in bounds] for side in (0, 1))
    f = less_bias(arm, Motion(q, qd, None, None), total, wrenches)
    now = Forces(crba(arm, q), f, lower, upper, [(0.0, 0.0)] * arm.n, [], Further(Memory(), []), None)
    latches = Latches([sticks(joint) for joint in arm.joints], {})
    return latches.solved(now, latches.places(qd))[0]


def slipping(arm: Arm, q: Sequence[float]) -> list[str] | None:
    """The joints of an arm at rest that slip without drive; dry friction holds the others. None without dry friction.

    Args:
        arm: The arm, n joints, on numbers.
        q: Joint positions [rad or m], n of them.
    """
    if not any_sticks(arm):
        return None
    zeros = [0.0] * arm.n
    try:
        qdd = accelerations(arm, q, zeros, zeros)
    except ZeroDivisionError:  # a singular mass matrix
        return None
    return [joint.name for joint, a in zip(arm.joints, qdd, strict=True) if a != 0.0]
