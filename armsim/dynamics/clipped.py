"""A box-constrained linear complementarity problem: dry friction, stops and saturating damping of all joints together.

M x = r + f with forces f between bounds, each a non-increasing function of its x: mixed linear complementarity, as the joints
without such a force have free unknowns. It is solved by block principal pivoting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any

from armsim.dynamics.factor import solve_held, solve_ldl
from armsim.expr import (
    STATIC,
    Scalar,
    Scalars,
    absolute,
    as_constant,
    both,
    each,
    either,
    fma,
    implicit,
    loop,
    maximum,
    where,
)
from armsim.records import mutable_record

ROUNDS = 400  # pivots at most; never met in practice, the least-index rule terminates by itself
PATIENCE = 3  # block pivots without fewer infeasibilities, before single pivots
SLACK = 1e-13  # tolerance at a bound, relative to it
ROUNDING = 64 * 2.0**-53  # rounding error of a force, relative to the sum of its terms' magnitudes


@mutable_record
class Law:
    """A force on one joint that decreases with the joint's x, within bounds: clip(b - d x, lower, upper).

    Attributes:
        joint: Its index.
        lower: Least force.
        upper: Greatest force.
        b: The force at x = 0 before clipping; unused for dry friction.
        d: Slope, not negative; None for dry friction, the limit of infinite slope: it holds x at zero within its bounds.
        free: Where this condition holds, the force is `lower` whatever x is; for dry friction only.
    """

    joint: int = field(metadata=STATIC)
    lower: Scalar
    upper: Scalar
    b: Scalar = 0.0
    d: Scalar | None = None
    free: Any = False

    def times(self, h: Scalar) -> Law:
        """The law of impulses over h seconds, with x a velocity."""
        slope = None if self.d is None else h * self.d
        return Law(self.joint, h * self.lower, h * self.upper, h * self.b, slope, self.free)

    def seen_from(self, x: Scalar) -> Law:
        """The law as a function of the increment over x; for dry friction x must be 0."""
        return self if self.d is None else replace(self, b=fma(-self.d, x, self.b))


@mutable_record
class Pivot:
    """A state of the pivoting.

    Attributes:
        active: The active set: 1 for a law at its lower bound, -1 at its upper, 0 between.
        x: The solution of its linear system.
        f: The laws' forces.
        exchange: What is added to each law's entry: 0 where it is feasible.
        best: Least number of infeasibilities so far.
        patience: Block pivots left without fewer infeasibilities.
    """

    active: Scalars
    x: Scalars
    f: Scalars
    exchange: Scalars
    best: Scalar
    patience: Scalar


def clipped_solve(M: Sequence[Scalars], r: Scalars, laws: Sequence[Law], guess: Scalars) -> tuple[Scalars, Scalars]:
    """x and the laws' forces f with M x = r + (the sum of the forces on each joint).

    With x the joint velocities after a step and f impulses this is Coulomb's law, the unilateral law of stops and that of
    damping which saturates, coupled through M. M is positive definite and every force is non-increasing in its x, so there is
    exactly one solution.

    Block principal pivoting: an active set takes every law as at its lower bound, at its upper bound, or between them (dry
    friction: sticks), and the linear system that results is solved. All infeasible laws are exchanged at once as long as that
    leaves fewer infeasibilities, else the first of them alone, which cannot cycle (Júdice and Pires 1992, *J. Optimization
    Theory and Applications* 74(2); Murty's least-index rule).

    Args:
        M: Lower triangle of a positive definite matrix, row i with i + 1 entries.
        r: Right-hand side, n scalars.
        laws: Any number for a joint, but dry friction at most once.
        guess: Initial x, n scalars, from which the active set follows; for dry friction by its sign, zero for stick.

    Returns:
        x, exactly zero where dry friction sticks, n scalars; and one force per law.
    """
    n, m = len(r), len(laws)
    if not laws:
        return solve_ldl([list(row) for row in M], list(r)), []

    def solved(active: Scalars, rounding: float) -> tuple[Scalars, Scalars, Scalars]:
        """x and f for an active set (1: at the lower bound, -1: at the upper, 0: between), and the exchange of each law.

        A force that exceeds its bound by no more than `rounding`, relative to its terms, is feasible.
        """
        A, b = [list(row) for row in M], list(r)
        between = [absolute(s) < 0.5 for s in active]
        f: list[Scalar] = []
        held: list[Any] = [False] * n
        for law, s, inner in zip(laws, active, between, strict=True):
            i = law.joint
            f.append(where(inner, law.b if law.d is not None else 0.0, where(s > 0.5, law.lower, law.upper)))
            b[i] = b[i] + f[-1]
            if law.d is None:
                held[i] = inner
            else:
                A[i][i] = A[i][i] + where(inner, law.d, 0.0)
        x = solve_held(A, b, held) if any(law.d is None for law in laws) else solve_ldl(A, b)
        exchange: list[Scalar] = [0.0] * m
        for e, law in enumerate(laws):
            if law.d is not None:
                slope = law.d * x[law.joint]
                force = law.b - slope
                spare = rounding * (absolute(law.b) + absolute(slope)) if rounding else None
                exchange[e] = _exchange(law, active[e], between[e], force, spare)
                f[e] = where(between[e], force, f[e])
        dry = [law.joint for law in laws if law.d is None]
        rows = [[M[max(i, j)][min(i, j)] for j in range(n)] for i in dry]
        forces = dict(zip(dry, each(partial(_left, x), rows, [r[i] for i in dry], uses=x), strict=True)) if dry else {}
        for e, law in enumerate(laws):
            if law.d is None:
                i = law.joint
                needed, terms = forces[i]
                for other, force in zip(laws, f, strict=True):
                    if other.joint == i and other is not law:
                        needed, terms = needed - force, terms + absolute(force)
                wrong = _dry_exchange(law, active[e], between[e], needed, x[i], rounding * terms if rounding else 0.0)
                exchange[e] = where(law.free, 0.0, wrong)
                f[e] = where(between[e], needed, f[e])
        return x, f, exchange

    def infeasibilities(exchange: Scalars) -> Scalar:
        total: Scalar = 0.0
        for c in exchange:
            total = total + absolute(c)
        return total

    def step(now: Pivot) -> list[Pivot]:
        together = now.patience > 0.5
        exchanged, earlier = [], 0.0
        for s, c in zip(now.active, now.exchange, strict=True):
            moves = either(together, earlier < 0.5)
            exchanged.append(where(moves, s + c, s))
            earlier = earlier + absolute(c)
        x, f, fresh = solved(exchanged, ROUNDING)  # or an exact tie would cycle
        left = infeasibilities(fresh)
        gain = left < now.best
        patience = where(gain, float(PATIENCE), maximum(now.patience - 1.0, 0.0))
        return [Pivot(exchanged, x, f, fresh, where(gain, left, now.best), patience)]

    def done(now: Pivot) -> Any:
        satisfied: Any = True
        for c in now.exchange:
            satisfied = both(satisfied, absolute(c) < 0.5)
        return satisfied

    active = [_active(law, guess[law.joint]) for law in laws]
    start = Pivot(active, *solved(active, 0.0), m + 1.0, float(PATIENCE))
    (end,) = loop([start], step, done, ROUNDS)
    # derivatives are those at the active set found: it does not change for small changes
    found: tuple[Scalars, Scalars] = implicit((end.x, end.f), lambda: solved(as_constant(end.active), 0.0)[:2])
    return found


def _left(x: Scalars, row: Scalars, r: Scalar) -> tuple[Scalar, Scalar]:
    """row x - r, and the sum of its terms' magnitudes."""
    left, terms = -r, absolute(r)
    for a, x_j in zip(row, x, strict=True):
        term = a * x_j
        left, terms = left + term, terms + absolute(term)
    return left, terms


def _active(law: Law, x: Scalar) -> Scalar:
    """The active set's entry of a law at x."""
    if law.d is None:
        return where(law.free, 1.0, where(x > 0.0, 1.0, where(x < 0.0, -1.0, 0.0)))
    return _active_of(law, fma(-law.d, x, law.b))


def _active_of(law: Law, force: Scalar) -> Scalar:
    """The active set's entry of a law of finite slope whose force is `force` before clipping."""
    return where(force < law.lower, 1.0, where(force > law.upper, -1.0, 0.0))


def leeway(lower: Scalar, upper: Scalar, terms: Scalar) -> Scalar:
    """Twice the tolerance by which a sticking force may exceed its bounds in `clipped_solve`.

    Args:
        lower: Least force.
        upper: Greatest force.
        terms: Sum of the magnitudes of the sticking force's terms.
    """
    return 2.0 * fma(ROUNDING, terms, SLACK * maximum(absolute(lower), absolute(upper)))


def _exchange(law: Law, active: Scalar, between: Any, force: Scalar, spare: Scalar | None) -> Scalar:
    """The exchange of a law whose force is `force` before clipping, within a tolerance `spare`; None for none."""
    if spare is None:
        right = _active_of(law, force)
        return where(right > active, 1.0, where(right < active, -1.0, 0.0))
    low, high = SLACK * absolute(law.lower) + spare, SLACK * absolute(law.upper) + spare
    leaves = where(force > law.upper + high, -1.0, where(force < law.lower - low, 1.0, 0.0))
    from_lower = where(force <= law.lower + low, 0.0, -1.0)
    from_upper = where(force >= law.upper - high, 0.0, 1.0)
    return where(between, leaves, where(active > 0.5, from_lower, from_upper))


def _dry_exchange(law: Law, active: Scalar, between: Any, needed: Scalar, x: Scalar, spare: Scalar) -> Scalar:
    """The exchange of dry friction: it slips if `needed` to stick exceeds its bounds or is NaN, and sticks if it would drive."""
    below = needed <= law.upper + SLACK * absolute(law.upper) + spare
    above = needed >= law.lower + SLACK * law.lower - spare
    slips = where(below, where(above, 0.0, 1.0), -1.0)
    holds = where(both(active > 0.5, x < 0.0), -1.0, where(both(active < -0.5, x > 0.0), 1.0, 0.0))
    return where(between, slips, holds)
