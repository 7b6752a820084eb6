"""The path speeds and path accelerations that limits admit at points of a path, in pieces.

Rows A u + B w² + C w + D <= 0 bound the path acceleration u above (A > 0) or below (A < 0) by quadratics in the path speed w, or
(A = 0) the speed alone. Of each kind the lowest quadratic counts, u's lower bound taken negative. Between the speeds at which
another row becomes the lowest, and those at which the gap between both bounds closes or opens, nothing changes: that is a piece.
Where two rows leave no gap, the speeds up to their next root are passed at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from armsim import sources
from armsim.compile import BatchKernel
from armsim.expr import Scalar, Scalars, both, chosen, each, either, maximum, minimum, scan, sqrt, trace, where

Array = Any  # numpy's
ABSENT = 1e30  # a bound of u where there is none, and a speed beyond all
NO_INERTIA = 1e-9  # relative to the greatest A of a path
NEARLY = 1e-9  # relative: speeds this near to each other are one
LOOKS = 4  # pieces that are looked for at once
EMPTY = (ABSENT, -1.0)  # an interval whose end is below its beginning
WIDTH = 10  # numbers of a piece: first and last speed, c₀ c₁ c₂ of the least acceleration, and of the greatest, and of each ...
LOWER, UPPER = 8, 9  # its row
COUNTS = (4, 8, 16, 32, 64, 128, 256)  # of pieces at a point: for which machine code is made


class Quadratic(NamedTuple):
    """A quadratic c₀ + c₁ w + c₂ w², and the row that it is from."""

    c0: Scalar
    c1: Scalar
    c2: Scalar
    row: Scalar


class Envelopes(NamedTuple):
    """The lowest quadratics of each kind at a speed: what u is at most, what -u is at most, and what is not negative."""

    most: Quadratic
    least: Quadratic
    free: Quadratic

    def of(self, kind: Scalar) -> Quadratic:
        """That of a kind of rows: 1, -1 or 0."""
        return chosen(kind > 0.5, self.most, chosen(kind < -0.5, self.least, self.free))


OPEN = Envelopes(*[Quadratic(ABSENT, 0.0, 0.0, -1.0)] * 3)


def value(c: Scalars, w: Scalar) -> Scalar:
    """c₀ + c₁ w + c₂ w²"""
    return c[0] + w * (c[1] + w * c[2])


def roots(c: Scalars) -> tuple[Scalar, Scalar]:
    """The speeds at which a quadratic falls through 0 and at which it rises; beyond all speeds, or below 0, without one."""
    square = c[1] * c[1] - 4.0 * c[0] * c[2]
    real = square > 0.0
    t = where(real, sqrt(where(real, square, 0.0)) + abs(c[1]), 1.0)  # of either root the form that does not cancel
    straight = abs(c[2]) <= 0.0
    far = where(straight, ABSENT, t / where(straight, 1.0, 2.0 * c[2]))
    near, rising = 2.0 * c[0] / t, c[1] > 0.0
    return where(real, where(rising, -far, near), ABSENT), where(real, where(rising, -near, far), ABSENT)


def next_root(w: Scalar, *speeds: Scalar) -> Scalar:
    """The least of some speeds that is beyond w; ABSENT if none is."""
    found = ABSENT
    for x in speeds:
        found = where(both(x > w, x < found), x, found)
    return found


def bound(row: Scalars, number: Scalar, least: Scalar) -> tuple[Scalar, Quadratic]:
    """The kind of a row (1: bounds u; -1: bounds -u; 0: without u, where |A| is not above the least), and its bound."""
    A, B, C, D = row
    inert = abs(A) > least
    scale = -where(inert, abs(A), 1.0)
    return where(inert, where(A > 0.0, 1.0, -1.0), 0.0), Quadratic(D / scale, C / scale, B / scale, number)


def look(w: Scalar, fastest: Scalar, least: Scalar, *numbers: Scalar) -> list[Scalar]:
    """From a speed to the next one beyond which something else holds, and the piece in between, empty if nothing is admitted.

    Args:
        w: The speed.
        fastest: Greatest speed.
        least: |A| beyond which a row bounds u.
        numbers: The rows.
    """
    given = [list(numbers[i : i + 4]) for i in range(0, len(numbers), 4)]
    rows = each(lambda row, number: bound(row, number, least), given, [*map(float, range(len(given)))])
    past = w * (1.0 + NEARLY)

    def lower(now: Envelopes, row: Any) -> tuple[Envelopes, Any]:
        kind, c = row
        less: Any = False
        for x, y in reversed([*zip(*([value(b, past), b.c1 + 2.0 * past * b.c2, b.c2] for b in (c, now.of(kind))))]):
            less = either(x < y, both(x <= y, less))  # where they are alike the derivatives count
        on = kind > 0.5, kind < -0.5, abs(kind) < 0.5
        return Envelopes(*(chosen(both(less, this), c, b) for this, b in zip(on, now, strict=True))), ()

    bounds, _ = scan(OPEN, lower, rows)

    def nearest(now: Scalar, row: Any) -> tuple[Scalar, Any]:
        kind, c = row
        falls, _ = roots([x - y for x, y in zip(c[:3], bounds.of(kind)[:3], strict=True)])
        return where(both(falls > past, falls < now), falls, now), ()

    crossing, _ = scan(fastest, nearest, rows)
    gap = [a + b for a, b in zip(bounds.most[:3], bounds.least[:3], strict=True)]
    closed, barred = next_root(past, *roots(gap)), next_root(past, *roots(bounds.free))
    last = minimum(crossing, minimum(closed, barred))
    middle = (w + last) / 2.0
    shut, bar = value(gap, middle) < 0.0, value(bounds.free, middle) < 0.0
    after = maximum(where(shut, closed, last), where(bar, barred, last))
    empty = either(either(shut, bar), last <= past)
    least = [-x for x in bounds.least[:3]]
    ends = where(empty, EMPTY[0], w), where(empty, EMPTY[1], last)
    return [after, *ends, *least, *bounds.most[:3], bounds.least.row, bounds.most.row]


def stepwise(step: Callable[..., Scalars], widths: list[int], lanes: int | None = None) -> BatchKernel:
    """The kernel of a function that is evaluated step by step; it is traced only if its code is not in the cache."""
    names, key = [f"x{i}" for i in range(sum(widths))], f"{step.__name__} {sources.digest(sources.LOADED)}"
    return BatchKernel(lambda: trace(step, names, "step"), lanes=lanes, widths=widths, key=key, repeats=True)


@cache
def looking(count: int) -> BatchKernel:
    """`look` for so many rows."""
    return stepwise(look, [1, 0, 2, 4 * count])


def pieces_of(rows: Array, fastest: float, inertia: float = 1.0) -> Array:
    """The admissible speeds and accelerations at m points.

    Args:
        rows: Of the points, shape (m, R, 4).
        fastest: Greatest speed.
        inertia: Greatest A along the path, against which one may count as none.

    Returns:
        The pieces of each point, `WIDTH` numbers each, shape (m, P, 10), with empty ones behind them up to one of `COUNTS`.
    """
    kernel, most = looking(rows.shape[1]), np.array([fastest, NO_INERTIA * inertia])
    w, todo, left = np.zeros((len(rows), 1)), np.arange(len(rows)), np.ascontiguousarray(rows)
    found: list[Array] = []
    while len(todo):
        made = np.empty((len(todo), LOOKS + 1, WIDTH + 1))
        args = [(w, w.strides[0]), (w, 0), (most, 0), (left, left.strides[0])]
        kernel([(x.ctypes.data, stride) for x, stride in args], made.ctypes.data, len(todo), LOOKS, True)
        found.append(fitted(np.empty((len(rows), 0, WIDTH)), LOOKS))
        found[-1][todo] = made[:, :LOOKS, 1:]
        w = made[:, LOOKS - 1, :1]
        more = w[:, 0] < fastest
        w, left, todo = w[more], left[more], todo[more]
    return fitted(np.concatenate(found, axis=1), COUNTS[np.searchsorted(COUNTS, LOOKS * len(found))])


def fitted(pieces: Array, count: int) -> Array:
    """Pieces of points, in the last but one axis, with empty ones behind them."""
    if pieces.shape[-2] == count:
        return pieces
    found = np.zeros((*pieces.shape[:-2], count, pieces.shape[-1]))
    found[..., :2] = EMPTY
    found[..., : pieces.shape[-2], :] = pieces
    return found
