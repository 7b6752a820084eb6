"""The fastest motion along a path under limits of path speed and path acceleration, by sets of reachable path speeds.

With s the path parameter, w = ds/dt and u = d²s/dt², limits are rows A u + B w² + C w + D <= 0. At a point of the path they bound
u between an upper envelope of quadratics in w and a lower one, piece by piece: between two envelopes the admissible speeds are
intervals, as many as there are. Between two points u is linear in s, so that

    w₁² - w₀² = Δ (u₀ + u₁),

of second order in Δ, also from rest. From the end back, the speeds at a point from which the end can be reached are those with
w² + Δ u in what the next point can be reached from: roots of quadratics on each piece. Forwards, the greatest of them is taken.
Trajectories in the plane of s and w cannot pass each other but by meeting, where either may go on as the other, so the
greatest of all is a trajectory, and the fastest one. (Pham and Pham, "A new approach to time-optimal path parameterization
based on reachability analysis", IEEE T-RO 2018, for rows without C; sets of intervals, C and the linear u are ours.)

Both sweeps are written over scalars and run as machine code, with as many pieces and intervals as a point has at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from armsim import sources
from armsim.compile import BatchKernel
from armsim.expr import Scalar, Scalars, both, either, maximum, minimum, negated, sqrt, trace, where
from armsim.references.path_timing import PathTiming, durations

Array = Any  # numpy's
Interval = tuple[Scalar, Scalar]  # empty where its end is below its beginning
ABSENT = 1e30  # a bound of u where there is none
EMPTY = (ABSENT, -1.0)
NO_INERTIA = 1e-9  # relative to the greatest A of a path
NEARLY = (
    1e-9  # relative: a root this near to where an envelope changes is there, and intervals this near to each other meet
)
SLACKS = (1e-13, 1e-10, 1e-7, 1e-4)  # of w² against its scale: rounding by which a speed may miss what can be reached
ISLANDS = 3  # intervals of speeds at a point that are kept apart; of more, those that are found last are given up
COUNTS = (4, 8, 16, 32, 64)  # of pieces: for which machine code is made
WIDTH = 8  # numbers of a piece that sweeps take: first and last speed, c₀ c₁ c₂ of the least acceleration, and of the greatest
LOWER, UPPER = 8, 9  # columns behind them: rows of the least and the greatest acceleration


class Unreachable(Exception):
    """No speed leads on: at which path parameter, and the rows that do not let it."""


def envelope(c: Array) -> tuple[Array, Array]:
    """The lower envelope, for w >= 0, of quadratics c₀ + c₁ w + c₂ w², shape (m, R, 3), of m points.

    Returns:
        Where its pieces begin, inf where there are no more, and the index of their quadratics, shape (m, pieces) each.
    """
    tied = c[..., 0] == c[..., 0].min(axis=1, keepdims=True)
    slope = np.where(tied, c[..., 1], np.inf)
    tied = slope == slope.min(axis=1, keepdims=True)
    active = np.where(tied, c[..., 2], np.inf).argmin(axis=1)
    w, todo = np.zeros(len(c)), np.arange(len(c))
    begins, which = [w.copy()], [active.copy()]
    for _ in range(4 * c.shape[1]):
        d = c[todo] - c[todo, active[todo]][:, None]
        square = d[..., 1] ** 2 - 4.0 * d[..., 0] * d[..., 2]
        root = np.sqrt(np.maximum(square, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):  # where the difference falls through 0
            at = np.where(
                d[..., 1] > 0.0, (-d[..., 1] - root) / (2.0 * d[..., 2]), 2.0 * d[..., 0] / (root - d[..., 1])
            )
        now = w[todo, None]
        sound = (square > 0.0) & np.isfinite(at) & (at >= now * (1.0 - NEARLY)) & (at >= 0.0)
        at = np.where(sound, np.maximum(at, now), np.inf)
        found = at.argmin(axis=1)
        at = at[np.arange(len(todo)), found]
        on = np.isfinite(at)
        todo, found, at = todo[on], found[on], at[on]
        if not len(todo):
            break
        w[todo], active[todo] = at, found
        begin = np.full(len(c), np.inf)
        begin[todo] = at
        begins.append(begin)
        which.append(active.copy())
    return np.stack(begins, axis=1), np.stack(which, axis=1)


def pieces_of(rows: Array, fastest: float, inertia: float = 1.0) -> Array:
    """The admissible speeds and accelerations at m points.

    Args:
        rows: Of the points, shape (m, R, 4).
        fastest: Greatest speed.
        inertia: Greatest A along the path, against which one may count as none.

    Returns:
        Pieces between which a point has as many as any has, shape (m, P, 10): `WIDTH` numbers, and the rows of both bounds.
    """
    A = rows[..., 0]
    free = np.abs(A) <= NO_INERTIA * inertia  # rows that bound the speed alone
    quotient = -rows[..., [3, 2, 1]] / np.where(free, 1.0, A)[..., None]
    none = np.array([ABSENT, 0.0, 0.0])
    kinds = ((A > 0.0) & ~free, 1.0), ((A < 0.0) & ~free, -1.0), (free, 1.0)
    bounds = [sign * np.where(of[..., None], quotient, sign * none) for of, sign in kinds]
    found = [envelope(c) for c in bounds]
    begins = np.sort(np.concatenate([begin for begin, _ in found], axis=1), axis=1)
    index = np.arange(len(rows))[:, None]
    which = [k[index, (begin[:, None, :] <= begins[..., None]).sum(axis=2) - 1] for begin, k in found]
    most, least, speed = (c[index, k] for c, k in zip(bounds, which, strict=True))
    last = np.minimum(np.append(begins[:, 1:], np.full((len(rows), 1), np.inf), axis=1), fastest)
    ends = np.stack([begins, last], axis=2)
    ends[(begins >= last)] = EMPTY
    given = np.concatenate([ends, most + least, speed], axis=2).reshape(-1, WIDTH)
    spans: Array = np.empty((len(rows), 4 * begins.shape[1], 2))
    _admitted()([(given.ctypes.data, given.strides[0])], spans.ctypes.data, len(given))
    order = (spans[..., 0] > spans[..., 1]).argsort(axis=1, kind="stable")
    order = order[:, : (spans[..., 0] <= spans[..., 1]).sum(axis=1).max(initial=1)]
    k = order // 4
    numbers = [-least, most, which[1][..., None], which[0][..., None]]
    return np.concatenate([spans[index, order], *(x[index, k] for x in numbers)], axis=2)


@cache
def _admitted() -> BatchKernel:
    """From an interval and two quadratics to the four intervals in which neither is negative, or fewer."""

    def admitted(first: Scalar, last: Scalar, *c: Scalar) -> Scalars:
        spans = [it for a, b in positive(c[0], c[1], c[2], first, last) for it in positive(c[3], c[4], c[5], a, b)]
        return [*chain(*spans)]

    return BatchKernel(trace(admitted, [f"x{i}" for i in range(WIDTH)], "admitted"))


def positive(c0: Scalar, c1: Scalar, c2: Scalar, first: Scalar, last: Scalar) -> tuple[Interval, Interval]:
    """Where in an interval of speeds c₀ + c₁ w + c₂ w² is not negative: two intervals, which may be empty."""
    square, flat = c1 * c1 - 4.0 * c0 * c2, abs(c2) <= 0.0
    root = sqrt(where(square > 0.0, square, 0.0))
    t = where(c1 < 0.0, root - c1, -(root + c1)) / 2.0
    far = where(flat, where(c1 < 0.0, ABSENT, -ABSENT), t / where(flat, 1.0, c2))
    near = where(abs(t) > 0.0, c0 / where(abs(t) > 0.0, t, 1.0), 0.0)
    low, high = minimum(far, near), maximum(far, near)
    constant = both(flat, abs(c1) <= 0.0)
    whole, opens = either(constant, square < 0.0), where(constant, c0, c2) >= 0.0
    begin, end = (
        where(opens, first, maximum(first, low)),
        where(whole, where(opens, last, -1.0), where(opens, low, high)),
    )
    return (begin, minimum(last, end)), (maximum(first, where(both(opens, negated(whole)), high, ABSENT)), last)


def value(c: Scalars, w: Scalar) -> Scalar:
    """c₀ + c₁ w + c₂ w²"""
    return c[0] + w * (c[1] + w * c[2])


def shifted(c: Scalars, factor: Scalar, sign: float = 1.0) -> tuple[Scalar, Scalar, Scalar]:
    """Coefficients of sign (w² + factor c)."""
    return sign * factor * c[0], sign * factor * c[1], sign * (1.0 + factor * c[2])


def greatest(c: Scalars, first: Scalar, last: Scalar) -> Scalar:
    """The greatest value of a quadratic on an interval."""
    bent = c[2] < 0.0
    top = -c[1] / where(bent, 2.0 * c[2], 1.0)
    inside = both(bent, both(first < top, top < last))
    return maximum(maximum(value(c, first), value(c, last)), value(c, where(inside, top, first)))


def pairs(numbers: Scalars) -> list[Interval]:
    """Intervals of their ends."""
    return [*zip(numbers[::2], numbers[1::2], strict=True)]


def common(a: Interval, b: Interval) -> Interval:
    """What two intervals have in common."""
    return maximum(a[0], b[0]), minimum(a[1], b[1])


def joined(intervals: Sequence[Interval], more: Interval) -> list[Interval]:
    """As many intervals, apart from each other, with another one, which is given up where there is no room for it."""
    (first, last), kept, found = more, [], []
    real = first <= last
    for a, b in intervals:
        near = NEARLY * (abs(a) + abs(b))
        meets = both(real, both(a <= last + near, first <= b + near))
        first, last = where(both(meets, a < first), a, first), where(both(meets, b > last), b, last)
        kept.append((where(meets, EMPTY[0], a), where(meets, EMPTY[1], b)))
    for a, b in kept:
        put = both(real, a > b)
        found.append((where(put, first, a), where(put, last, b)))
        real = both(real, negated(put))
    return found


class Sweeps:
    """Both sweeps through the plane as machine code.

    Args:
        count: Pieces of a point.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        width = 2 + 2 * count * WIDTH
        self.backward = self.kernel(self.reaching, 2 * ISLANDS, width)
        self.forward = self.kernel(self.fastest, 1, width + 1 + 2 * ISLANDS)

    def kernel(self, step: Callable[..., Scalars], state: int, width: int) -> BatchKernel:
        """The kernel of a step, which is traced only if its code is not in the cache."""
        names = [f"x{i}" for i in range(state + width)]
        key = f"{step.__name__} {self.count} {sources.digest(sources.LOADED)}"
        return BatchKernel(lambda: trace(step, names, "sweep"), lanes=1, widths=[state, width], key=key, repeats=True)

    def pieces(self, numbers: Scalars) -> list[tuple[Interval, tuple[Scalar, ...], tuple[Scalar, ...]]]:
        """Of each piece the speeds, and coefficients of the least and the greatest acceleration."""
        every = (numbers[i : i + WIDTH] for i in range(0, len(numbers), WIDTH))
        return [((x[0], x[1]), tuple(x[2:5]), tuple(x[5:])) for x in every]

    def reaching(self, *x: Scalar) -> Scalars:
        """From the speeds at the end of an interval to those where it begins."""
        after, (f, g), rest = pairs(x[: 2 * ISLANDS]), x[2 * ISLANDS :][:2], x[2 * ISLANDS + 2 :]
        left, right = self.pieces(rest[: len(rest) // 2]), self.pieces(rest[len(rest) // 2 :])
        targets = found = [EMPTY] * ISLANDS
        for speeds, least, most in right:
            for it in after:
                first, last = common(it, speeds)
                low, high = -greatest(shifted(most, -g, -1.0), first, last), greatest(shifted(least, -g), first, last)
                targets = joined(targets, (where(first <= last, low, ABSENT), where(first <= last, high, -ABSENT)))
        for low, high in targets:
            for speeds, least, most in left:
                slow, fast = shifted(least, f, -1.0), shifted(most, f)
                for span in positive(slow[0] + high, slow[1], slow[2], *speeds):
                    for it in positive(fast[0] - low, fast[1], fast[2], *span):
                        found = joined(found, it)
        return [*chain(*found)]

    def fastest(self, w: Scalar, *x: Scalar) -> Scalars:
        """From the speed where an interval begins to the greatest at its end, below 0 if there is none; and its accelerations."""
        (delta, f, g), after, rest = x[:3], pairs(x[3 : 3 + 2 * ISLANDS]), x[3 + 2 * ISLANDS :]
        left, right = self.pieces(rest[: len(rest) // 2]), self.pieces(rest[len(rest) // 2 :])
        apart, a, b = ABSENT, 0.0, 0.0
        for (first, last), least, most in left:
            beside = maximum(maximum(first - w, w - last), 0.0)
            a, b = where(beside < apart, value(least, w), a), where(beside < apart, value(most, w), b)
            apart = minimum(apart, beside)
        square, best, c, d = w * w, -1.0, 0.0, 0.0
        scale = square + delta * sum(where(abs(x) < ABSENT, abs(x), 0.0) for x in (a, b))
        for slack in SLACKS:
            extra, top, least_there, most_there = slack * scale, -1.0, 0.0, 0.0
            for speeds, least, most in right:
                near, far = shifted(most, -g, -1.0), shifted(least, -g)
                for it in after:
                    for span in positive(near[0] + square + f * b + extra, near[1], near[2], *common(it, speeds)):
                        for first, last in positive(far[0] - square - f * a + extra, far[1], far[2], *span):
                            better = both(first <= last, last > top)
                            top = where(better, last, top)
                            least_there = where(better, value(least, last), least_there)
                            most_there = where(better, value(most, last), most_there)
            taken = best < 0.0
            best, c, d = where(taken, top, best), where(taken, least_there, c), where(taken, most_there, d)
        rise = (best * best - square) / delta
        within = minimum(minimum(maximum(maximum(rise / 2.0, rise - d), a), rise - c), b)
        u = where(both(f - g >= 0.0, f - g <= 0.0), where(w + best > 0.0, within, b), rise / 2.0)
        return [where(w < 0.0, -1.0, best), u, rise - u]


sweeps = cache(Sweeps)


class PhasePlane:
    """The plane of path parameter and path speed.

    Args:
        s: Path parameter of N + 1 points, increasing.
        left: Pieces at the beginning of each interval, shape (N, P, 10).
        right: At its end.
        share: Of the acceleration at its end in the mean of each interval, shape (N,): 1/2, and 1 or 0 for one that is constant.
    """

    def __init__(self, s: Array, left: Array, right: Array, share: Array) -> None:
        self.s, self.left, self.right, delta = s, left, right, np.diff(s)
        steps = np.column_stack([2 * delta * (1 - share), 2 * delta * share])
        self.sweeps = sweeps(COUNTS[np.searchsorted(COUNTS, max(left.shape[1], right.shape[1]))])
        pieces = [fitted(x, self.sweeps.count)[..., :WIDTH].reshape(len(delta), -1) for x in (left, right)]
        self.steps, self.pieces, self.delta = steps, pieces, delta[:, None]

    def controllable(self, end: float) -> Array:
        """The speeds at each point from which the end can be reached at a speed, as intervals, shape (N + 1, islands, 2).

        Raises:
            Unreachable: There is none at a point.
        """
        begin = np.array([end, end, *EMPTY * (ISLANDS - 1)])
        items = np.concatenate([self.steps, *self.pieces], axis=1)[::-1]
        found = np.concatenate([begin[None], swept(self.sweeps.backward, begin, items)])[::-1].reshape(-1, ISLANDS, 2)
        none = np.flatnonzero((found[..., 0] > found[..., 1]).all(axis=1))
        if len(none):
            raise Unreachable(float(self.s[none[-1]]), self.hindrance(int(none[-1]), found[none[-1] + 1]))
        return found

    def hindrance(self, i: int, after: Array) -> tuple[int, ...]:
        """The rows that let no speed lead on from a point, or from the next one; none where they contradict each other."""
        left, right = (x[x[:, 0] <= x[:, 1]] for x in (self.left[i], self.right[i]))
        f, g = self.steps[i]
        reached = [
            greatest(shifted(x[2:5], -g), *both_ends)
            for x in right for it in after if np.less_equal(*(both_ends := common(x[:2], it)))
        ]  # fmt: skip
        if not reached or not len(left):
            return ()
        slow = value(shifted(left[0, 2:5], f), left[0, 0]) > max(reached)
        return (int(left[0, LOWER] if slow else left[-1, UPPER]),)

    def timing(self, start: float, end: float) -> PathTiming:
        """The fastest motion between path speeds.

        Raises:
            Unreachable: There is none.
        """
        sets = self.controllable(end)
        first = sets[0][sets[0, :, 0] <= sets[0, :, 1]]
        if not ((first[:, 0] - NEARLY <= start) & (start <= first[:, 1] + NEARLY)).any():
            slow, pieces = start < first.min(), self.left[0][self.left[0, :, 0] <= self.left[0, :, 1]]
            raise Unreachable(float(self.s[0]), (int(pieces[0, UPPER] if slow else pieces[-1, LOWER]),))
        items = np.concatenate([self.delta, self.steps, sets[1:].reshape(len(self.delta), -1), *self.pieces], axis=1)
        w, begin, last = swept(self.sweeps.forward, np.array([start]), items).T
        if (w < 0.0).any():
            raise Unreachable(float(self.s[(w < 0.0).argmax()]), ())
        w, tops = np.append(start, w), np.append(self.left[..., 1].max(axis=1), self.right[-1, :, 1].max())
        return PathTiming(self.s, w, begin, last, durations(self.s, w, begin, last), tops, np.zeros(len(begin), int))


def swept(kernel: BatchKernel, start: Array, items: Array) -> Array:
    """The results of all steps of a sweep through N items, shape (N, results)."""
    items = np.ascontiguousarray(items)
    found = np.empty((len(items) + 1, len(kernel.function.outputs)))
    given = [(start.ctypes.data, 0), (items.ctypes.data, 0)]
    kernel(given, found.ctypes.data, 1, len(items), True)
    return found[:-1]


def fitted(pieces: Array, count: int) -> Array:
    """Pieces of points with empty ones behind them."""
    found = np.zeros((len(pieces), count, pieces.shape[2]))
    found[..., :2] = EMPTY
    found[:, : pieces.shape[1]] = pieces
    return found
