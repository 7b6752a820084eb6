"""Forces that give way: dry friction, stops and limited damping, solved for all joints together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from armsim.dynamics.factor import solve_held, solve_ldl
from armsim.expr import STATIC, Scalar, absolute, both, either, fma, loop, maximum, where

ROUNDS = 400  # never met in practice; principal pivoting with the least index ends by itself
PATIENCE = 3  # rounds that flip all laws at once without a gain, before they are flipped one by one
SLACK = 1e-13  # of a bound: what rounding may add to a force
ROUNDING = 64 * 2.0**-53  # of the terms of a force: how far off their sum may be


@dataclass(slots=True)
class Law:
    """A force on one joint that decreases with the joint's x, within bounds: clip(b - d x, lower, upper).

    Attributes:
        joint: Its index.
        lower: Least force.
        upper: Greatest force.
        b: The force at x = 0, within no bounds. Of dry friction it does not count.
        d: Slope, not negative; None for infinitely steep: dry friction, which holds x at zero within its bounds.
        free: Where this condition holds, the force is `lower` whatever x is; for dry friction only.
    """

    joint: int = field(metadata=STATIC)
    lower: Scalar
    upper: Scalar
    b: Scalar = 0.0
    d: Scalar | None = None
    free: Any = False

    def times(self, h: Scalar) -> Law:
        """The law of the impulses over h seconds, with x a velocity."""
        slope = None if self.d is None else h * self.d
        return Law(self.joint, h * self.lower, h * self.upper, h * self.b, slope, self.free)

    def seen_from(self, x: Scalar) -> Law:
        """The law as a function of how much more than x its argument is; that of dry friction only from 0."""
        return self if self.d is None else replace(self, b=fma(-self.d, x, self.b))


def clipped_solve(
    M: Sequence[Sequence[Scalar]], r: Sequence[Scalar], laws: Sequence[Law], guess: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """x and the laws' forces f with M x = r + (the sum of the forces on each joint).

    With x the joint velocities after a step and f impulses this is Coulomb's law, the law of stops and that of damping which
    saturates, for all joints together. M is positive definite and every force decreases with its x, so there is exactly one
    solution.

    Block principal pivoting: every law is within its bounds (dry friction: holds), or at one of them. All that turn out not to
    be are moved on at once, as long as that makes them fewer, else the first of them alone, which cannot cycle (Júdice and
    Pires 1992, *J. Optimization Theory and Applications* 74(2); Murty's least-index rule).

    Args:
        M: Lower triangle of a positive definite matrix, row i with i + 1 entries.
        r: Right-hand side, n scalars.
        laws: Any number for a joint, but dry friction at most once.
        guess: x expected, n scalars; of dry friction only the sign counts, zero for held.

    Returns:
        x, exactly zero where dry friction holds, n scalars; and one force per law.
    """
    n, m = len(r), len(laws)
    if not laws:
        return solve_ldl([list(row) for row in M], list(r)), []

    def solved(side: Sequence[Scalar], rounding: float) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        """x and f for given sides (1: at the lower bound, -1: at the upper, 0: between), and how each ought to change.

        A force that is beyond its bound by no more than `rounding` of its terms is taken to be within.
        """
        A, b = [list(row) for row in M], list(r)
        between = [absolute(s) < 0.5 for s in side]
        f: list[Scalar] = []
        held: list[Any] = [False] * n
        for law, s, inner in zip(laws, side, between, strict=True):
            i = law.joint
            f.append(where(inner, law.b if law.d is not None else 0.0, where(s > 0.5, law.lower, law.upper)))
            b[i] = b[i] + f[-1]
            if law.d is None:
                held[i] = inner
            else:
                A[i][i] = A[i][i] + where(inner, law.d, 0.0)
        x = solve_held(A, b, held) if any(law.d is None for law in laws) else solve_ldl(A, b)
        change: list[Scalar] = [0.0] * m
        for e, law in enumerate(laws):
            if law.d is not None:
                slope = law.d * x[law.joint]
                force = law.b - slope
                spare = rounding * (absolute(law.b) + absolute(slope)) if rounding else None
                change[e] = _change(law, side[e], between[e], force, spare)
                f[e] = where(between[e], force, f[e])
        for e, law in enumerate(laws):
            if law.d is None:
                i = law.joint
                needed, terms = -r[i], absolute(r[i])
                for j in range(n):
                    term = (M[i][j] if j <= i else M[j][i]) * x[j]
                    needed, terms = needed + term, terms + absolute(term)
                for other, force in zip(laws, f, strict=True):
                    if other.joint == i and other is not law:
                        needed, terms = needed - force, terms + absolute(force)
                wrong = _change_of_dry(law, side[e], between[e], needed, x[i], rounding * terms if rounding else 0.0)
                change[e] = where(law.free, 0.0, wrong)
                f[e] = where(between[e], needed, f[e])
        return x, f, change

    def count(change: Sequence[Scalar]) -> Scalar:
        total: Scalar = 0.0
        for c in change:
            total = total + absolute(c)
        return total

    def step(now: Pivot) -> list[Pivot]:
        together = now.patience > 0.5
        flipped, earlier = [], 0.0
        for s, c in zip(now.side, now.change, strict=True):
            moves = either(together, earlier < 0.5)
            flipped.append(where(moves, s + c, s))
            earlier = earlier + absolute(c)
        x, f, fresh = solved(flipped, ROUNDING)  # or an exact tie would go to and fro
        left = count(fresh)
        gain = left < now.best
        patience = where(gain, float(PATIENCE), maximum(now.patience - 1.0, 0.0))
        return [Pivot(flipped, x, f, fresh, where(gain, left, now.best), patience)]

    def done(now: Pivot) -> Any:
        satisfied: Any = True
        for c in now.change:
            satisfied = both(satisfied, absolute(c) < 0.5)
        return satisfied

    side = [_side(law, guess[law.joint]) for law in laws]
    start = Pivot(side, *solved(side, 0.0), m + 1.0, float(PATIENCE))
    (end,) = loop([start], step, done, ROUNDS)
    return end.x, end.f


@dataclass(slots=True)
class Pivot:
    """Where the pivoting has come to.

    Attributes:
        side: Where each law is taken to be: 1 at its lower bound, -1 at its upper, 0 between.
        x: The solution for these.
        f: The laws' forces.
        change: How each side ought to change.
        best: The least number of changes so far.
        patience: Rounds left that flip all laws at once without a gain.
    """

    side: list[Scalar]
    x: list[Scalar]
    f: list[Scalar]
    change: list[Scalar]
    best: Scalar
    patience: Scalar


def _side(law: Law, x: Scalar) -> Scalar:
    """Where a law is expected to be at x."""
    if law.d is None:
        return where(law.free, 1.0, where(x > 0.0, 1.0, where(x < 0.0, -1.0, 0.0)))
    return _side_of(law, fma(-law.d, x, law.b))


def _side_of(law: Law, force: Scalar) -> Scalar:
    """Where a law of finite slope is whose force would be `force` without its bounds."""
    return where(force < law.lower, 1.0, where(force > law.upper, -1.0, 0.0))


def leeway(lower: Scalar, upper: Scalar, terms: Scalar) -> Scalar:
    """How far beyond its bounds a holding force may be that `clipped_solve` still lets hold, and twice that.

    Args:
        lower: Least force.
        upper: Greatest force.
        terms: Sum of the magnitudes of what the holding force is computed from.
    """
    return 2.0 * fma(ROUNDING, terms, SLACK * maximum(absolute(lower), absolute(upper)))


def _change(law: Law, side: Scalar, between: Any, force: Scalar, spare: Scalar | None) -> Scalar:
    """How the side of a law ought to change whose force would be `force` without its bounds; None to be exact about it."""
    if spare is None:
        right = _side_of(law, force)
        return where(right > side, 1.0, where(right < side, -1.0, 0.0))
    low, high = SLACK * absolute(law.lower) + spare, SLACK * absolute(law.upper) + spare
    leaves = where(force > law.upper + high, -1.0, where(force < law.lower - low, 1.0, 0.0))
    from_lower = where(force <= law.lower + low, 0.0, -1.0)
    from_upper = where(force >= law.upper - high, 0.0, 1.0)
    return where(between, leaves, where(side > 0.5, from_lower, from_upper))


def _change_of_dry(law: Law, side: Scalar, between: Any, needed: Scalar, x: Scalar, spare: Scalar) -> Scalar:
    """How the side of dry friction ought to change: it slips if more than its bounds is needed, and never drives."""
    over = needed > law.upper + SLACK * absolute(law.upper) + spare
    under = needed < law.lower + SLACK * law.lower - spare
    slips = where(over, -1.0, where(under, 1.0, 0.0))
    holds = where(both(side > 0.5, x < 0.0), -1.0, where(both(side < -0.5, x > 0.0), 1.0, 0.0))
    return where(between, slips, holds)
