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

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from armsim.compile import BatchKernel
from armsim.expr import Scalar, Scalars, both, chosen, leaves, maximum, minimum, negated, scan, when, where
from armsim.fastest.admissible import ABSENT, EMPTY, LOWER, NEARLY, UPPER, WIDTH, roots, stepwise, value
from armsim.references.path_timing import PathTiming, durations

Array = Any  # numpy's
Interval = tuple[Scalar, Scalar]  # empty where its end is below its beginning
Piece = tuple[Interval, Scalars, Scalars]  # speeds, coefficients of the least and the greatest acceleration
SLACKS = (1e-13, 1e-10, 1e-7, 1e-4)  # of w² against its scale: rounding by which a speed may miss what can be reached
ISLANDS = 3  # intervals of speeds at a point that are kept apart; of more, those that are found last are given up
STEP = 3 + 2 * ISLANDS  # of an interval before its pieces: Δ, f, g, and the speeds from which the end can be reached


class Unreachable(Exception):
    """No speed leads on: at which path parameter, and the rows that do not let it; or the search ended with the first exceeded by
    a third argument, relative."""


def positive(c: Scalars, first: Scalar, last: Scalar) -> tuple[Interval, Interval]:
    """Where in an interval of speeds a quadratic is not negative: two intervals, which may be empty."""
    falls, rises = roots(c)
    never, bent = both(c[0] < 0.0, both(abs(c[1]) <= 0.0, abs(c[2]) <= 0.0)), c[2] < 0.0
    begin = maximum(first, rises)
    return (where(bent, begin, first), minimum(last, where(never, -1.0, falls))), (where(bent, ABSENT, begin), last)


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
        width = STEP + 2 * count * WIDTH
        self.backward = stepwise(self.reaching, [2 * ISLANDS, width], lanes=1)
        self.forward = stepwise(self.fastest, [1, width], lanes=1)

    def pieces(self, numbers: Scalars) -> tuple[list[Piece], list[Piece]]:
        """Those at the beginning of an interval, and at its end."""
        made = (numbers[i : i + WIDTH] for i in range(0, len(numbers), WIDTH))
        every: list[Piece] = [((x[0], x[1]), list(x[2:5]), list(x[5:LOWER])) for x in made]
        return every[: self.count], every[self.count :]

    def reaching(self, *x: Scalar) -> list[Scalar]:
        """From the speeds at the end of an interval to those where it begins."""
        after, interval = pairs(x[: 2 * ISLANDS]), x[2 * ISLANDS :]
        (f, g), (left, right) = interval[1:3], self.pieces(interval[STEP:])

        def aim(targets: list[Interval], piece: Piece) -> tuple[list[Interval], Any]:
            speeds, least, most = piece
            for it in after:
                first, last = common(it, speeds)

                def more(*now: Interval, first: Scalar = first, last: Scalar = last) -> list[Interval]:
                    low = -greatest(shifted(most, -g, -1.0), first, last)
                    return joined(now, (low, greatest(shifted(least, -g), first, last)))

                targets = when(first <= last, more, *targets)
            return targets, ()

        targets, _ = scan([EMPTY] * ISLANDS, aim, right)

        def back(found: list[Interval], piece: Piece) -> tuple[list[Interval], Any]:
            speeds, least, most = piece
            for low, high in targets:

                def more(*now: Interval, low: Scalar = low, high: Scalar = high) -> list[Interval]:
                    slow, fast, made = shifted(least, f, -1.0), shifted(most, f), list(now)
                    for span in positive([slow[0] + high, *slow[1:]], *speeds):
                        for it in positive([fast[0] - low, *fast[1:]], *span):
                            made = joined(made, it)
                    return made

                found = when(both(low <= high, speeds[0] <= speeds[1]), more, *found)
            return found, ()

        return leaves(scan([EMPTY] * ISLANDS, back, left)[0])

    def fastest(self, w: Scalar, *x: Scalar) -> list[Scalar]:
        """From the speed where an interval begins to the greatest at its end, below 0 if there is none; and its accelerations."""
        (delta, f, g), after = x[:3], pairs(x[3:STEP])
        left, right = self.pieces(x[STEP:])

        def nearest(now: list[Scalar], piece: Piece) -> tuple[list[Scalar], Any]:
            (first, last), least, most = piece
            beside = maximum(maximum(first - w, w - last), 0.0)
            return chosen(beside < now[0], [beside, value(least, w), value(most, w)], now), ()

        (_, a, b), _ = scan([ABSENT, 0.0, 0.0], nearest, left)
        square = w * w
        scale = square + delta * sum(where(abs(x) < ABSENT, abs(x), 0.0) for x in (a, b))

        def ahead(found: list[list[Scalar]], piece: Piece) -> tuple[list[list[Scalar]], Any]:
            speeds, least, most = piece
            near, far = shifted(most, -g, -1.0), shifted(least, -g)
            for it in after:
                first, last = common(it, speeds)
                for k, slack in enumerate(SLACKS):

                    def reach(
                        *now: Scalar, first: Scalar = first, last: Scalar = last, slack: float = slack
                    ) -> list[Scalar]:
                        extra = slack * scale
                        for span in positive([near[0] + square + f * b + extra, *near[1:]], first, last):
                            for start, top in positive([far[0] - square - f * a + extra, *far[1:]], *span):
                                better = both(start <= top, top > now[0])
                                now = chosen(better, [top, value(least, top), value(most, top)], list(now))
                        return list(now)

                    hopes = both(first <= last, last > found[k][0])
                    hopes = both(hopes, found[k - 1][0] < 0.0) if k else hopes
                    found = [*found[:k], when(hopes, reach, *found[k]), *found[k + 1 :]]
            return found, ()

        tops, _ = scan([[-1.0, 0.0, 0.0]] * len(SLACKS), ahead, right, backward=True)
        best, c, d = tops[-1]
        for it in reversed(tops[:-1]):
            best, c, d = chosen(it[0] >= 0.0, it, [best, c, d])
        rise = (best * best - square) / delta
        within = minimum(minimum(maximum(maximum(rise / 2.0, rise - d), a), rise - c), b)
        u = where(both(f - g >= 0.0, f - g <= 0.0), where(w + best > 0.0, within, b), rise / 2.0)
        return [where(w < 0.0, -1.0, best), u, rise - u]


sweeps = cache(Sweeps)


class PhasePlane:
    """The plane of path parameter and path speed.

    Args:
        s: Path parameter of N + 1 points, increasing.
        pieces: At the beginning and at the end of each interval, shape (N, 2, P, 10).
        share: Of the acceleration at its end in the mean of each interval, shape (N,): 1/2, and 1 or 0 for one that is constant.
    """

    def __init__(self, s: Array, pieces: Array, share: Array) -> None:
        self.s, self.pieces, self.sweeps, delta = s, pieces, sweeps(pieces.shape[2]), np.diff(s)
        steps = np.column_stack([delta, 2 * delta * (1 - share), 2 * delta * share])
        self.items = np.concatenate(
            [steps, np.empty((len(delta), 2 * ISLANDS)), pieces.reshape(len(delta), -1)], axis=1
        )

    def controllable(self, end: float) -> Array:
        """The speeds at each point from which the end can be reached at a speed, as intervals, shape (N + 1, islands, 2).

        Raises:
            Unreachable: There is none at a point.
        """
        begin = np.array([end, end, *EMPTY * (ISLANDS - 1)])
        found = swept(self.sweeps.backward, begin, self.items[::-1])
        found = np.concatenate([begin[None], found])[::-1].reshape(-1, ISLANDS, 2)
        none = np.flatnonzero((found[..., 0] > found[..., 1]).all(axis=1))
        if len(none):
            raise Unreachable(float(self.s[none[-1]]), self.hindrance(int(none[-1]), found[none[-1] + 1]))
        return found

    def hindrance(self, i: int, after: Array) -> tuple[int, ...]:
        """The rows that let no speed lead on from a point, or from the next one; none where they contradict each other."""
        left, right = (x[x[:, 0] <= x[:, 1]] for x in self.pieces[i])
        f, g = self.items[i, 1:3]
        ends = [(x, common(x[:2], it)) for x in right for it in after]
        reached = [greatest(shifted(x[2:5], -g), *it) for x, it in ends if it[0] <= it[1]]
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
            slow, left = start < first.min(), self.pieces[0, 0]
            pieces = left[left[:, 0] <= left[:, 1]]
            raise Unreachable(float(self.s[0]), (int(pieces[0, UPPER] if slow else pieces[-1, LOWER]),))
        self.items[:, 3:STEP] = sets[1:].reshape(len(self.items), -1)
        w, begin, last = swept(self.sweeps.forward, np.array([start]), self.items).T
        if (w < 0.0).any():
            raise Unreachable(float(self.s[(w < 0.0).argmax()]), ())
        w, tops = np.append(start, w), self.pieces[..., 1].max(axis=2)
        h, row = durations(self.s, w, begin, last), np.zeros(len(begin), int)
        tops = np.append(tops[:, 0], tops[-1, 1])
        return PathTiming(self.s, w, begin, last, h, tops, row, np.diff(self.s))


def swept(kernel: BatchKernel, start: Array, items: Array) -> Array:
    """The results of all steps of a sweep through N items, shape (N, results)."""
    items = np.ascontiguousarray(items)
    found = np.empty((len(items) + 1, len(kernel.function.outputs)))
    given = [(start.ctypes.data, 0), (items.ctypes.data, 0)]
    kernel(given, found.ctypes.data, 1, len(items), True)
    return found[:-1]
