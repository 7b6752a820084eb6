"""Forces that hold a joint still as long as they can: dry friction, solved for all joints together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armsim.dynamics.factor import solve_held
from armsim.expr import Scalar, absolute, both, either, loop, maximum, where

ROUNDS = 400  # never met in practice; principal pivoting with the least index ends by itself
PATIENCE = 3  # rounds that flip all joints at once without a gain, before they are flipped one by one
SLACK = 1e-13  # of a bound: what rounding may add to a holding force
ROUNDING = 64 * 2.0**-53  # of the terms of a holding force: how far off their sum may be


def clipped_solve(
    M: Sequence[Sequence[Scalar]],
    r: Sequence[Scalar],
    lower: Sequence[Scalar],
    upper: Sequence[Scalar],
    guess: Sequence[Scalar],
    free: Sequence[Any],
) -> tuple[list[Scalar], list[Scalar]]:
    """x and f with M x = r + f, where f holds x_i at zero within its bounds and gives way at them.

    For each i one of three holds: lower_i <= f_i <= upper_i and x_i = 0; f_i = lower_i and x_i >= 0; f_i = upper_i and
    x_i <= 0. With x the joint velocities after a step and f the impulses of friction this is Coulomb's law for all joints
    together. M is positive definite, so there is exactly one solution.

    Block principal pivoting: all joints that violate their part are moved to the next one at once, as long as that makes
    violations fewer, else the first of them alone, which cannot cycle (Júdice and Pires 1992, *J. Optimization Theory and
    Applications* 74(2); Murty's least-index rule).

    Args:
        M: Lower triangle of a positive definite matrix, row i with i + 1 entries.
        r: Right-hand side, n scalars.
        lower: Least forces, not positive.
        upper: Greatest forces, not negative.
        guess: Signs of x expected, n scalars: positive, negative, or zero for held.
        free: Conditions; where one holds, f_i is lower_i whatever x_i is.

    Returns:
        x, exactly zero where held, and f; n scalars each.
    """
    n = len(r)

    def solved(side: Sequence[Scalar], rounding: float) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        """x and f for given sides (1: moving up, -1: moving down, 0: held), and to which side each ought to change.

        A holding force that is beyond its bound by no more than `rounding` of its terms is taken to be within.
        """
        held = [absolute(s) < 0.5 for s in side]
        f = [where(s > 0.5, lo, hi) for s, lo, hi in zip(side, lower, upper, strict=True)]
        x = solve_held(M, [r[i] + f[i] for i in range(n)], held)
        change = []
        for i in range(n):
            needed, terms = -r[i], absolute(r[i])
            for j in range(n):
                term = (M[i][j] if j <= i else M[j][i]) * x[j]
                needed, terms = needed + term, terms + absolute(term)
            spare = rounding * terms if rounding else 0.0
            over = needed > upper[i] + SLACK * absolute(upper[i]) + spare
            under = needed < lower[i] + SLACK * lower[i] - spare
            slip = where(over, -1.0, where(under, 1.0, 0.0))  # held no longer
            wrong = where(held[i], slip, where(both(side[i] > 0.5, x[i] < 0.0), -1.0, 0.0))
            wrong = where(held[i], wrong, where(both(side[i] < -0.5, x[i] > 0.0), 1.0, wrong))
            change.append(where(free[i], 0.0, wrong))
            f[i] = where(held[i], needed, f[i])
        return x, f, change

    def count(change: Sequence[Scalar]) -> Scalar:
        total: Scalar = 0.0
        for c in change:
            total = total + absolute(c)
        return total

    def begin() -> list[Scalar]:
        side = [
            where(known, 1.0, where(g > 0.0, 1.0, where(g < 0.0, -1.0, 0.0)))
            for g, known in zip(guess, free, strict=True)
        ]
        x, f, change = solved(side, 0.0)
        return [*side, *x, *f, *change, count(change), float(PATIENCE)]

    def step(*state: Scalar) -> list[Scalar]:
        side, change = state[:n], state[3 * n : 4 * n]
        best, patience = state[4 * n], state[4 * n + 1]
        together = patience > 0.5
        flipped, earlier = [], 0.0
        for s, c in zip(side, change, strict=True):
            moves = either(together, earlier < 0.5)
            flipped.append(where(moves, s + c, s))
            earlier = earlier + absolute(c)
        x, f, fresh = solved(flipped, ROUNDING)  # or an exact tie would go to and fro
        left = count(fresh)
        gain = left < best
        return [
            *flipped,
            *x,
            *f,
            *fresh,
            where(gain, left, best),
            where(gain, float(PATIENCE), maximum(patience - 1.0, 0.0)),
        ]

    def done(*state: Scalar) -> Scalar:
        none = state[3 * n]
        satisfied = absolute(none) < 0.5
        for c in state[3 * n + 1 : 4 * n]:
            satisfied = both(satisfied, absolute(c) < 0.5)
        return satisfied

    end = loop(begin(), step, done, ROUNDS)
    return list(end[n : 2 * n]), list(end[2 * n : 3 * n])
