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
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

Array = Any  # numpy's
Interval = tuple[float, float]
ABSENT = 1e30  # a bound of u where there is none
NO_INERTIA = 1e-9  # relative to the greatest A of a point
NEARLY = 1e-9  # relative: a root this near to where an envelope changes is there
SLACKS = (1e-13, 1e-10, 1e-7, 1e-4)  # of w² against its scale: rounding by which a speed may miss what can be reached


class Unreachable(Exception):
    """No speed leads on: at which path parameter, and the rows that do not let it."""


class SpeedPiece(NamedTuple):
    """Bounds of the path acceleration at a point of the path, for some path speeds: quadratics in w, lowest power first.

    Attributes:
        first: Least speed.
        last: Greatest speed.
        least: Coefficients of the least acceleration.
        most: Coefficients of the greatest one.
        lower: Row of the least acceleration.
        upper: Row of the greatest one.
    """

    first: float
    last: float
    least: tuple[float, float, float]
    most: tuple[float, float, float]
    lower: int
    upper: int


class PathTiming(NamedTuple):
    """A motion along a path: from point to point, the path acceleration is linear in s.

    Attributes:
        s: Path parameter of N + 1 points.
        w: Path speeds there.
        begin: Path accelerations where each of N intervals begins.
        end: Where it ends.
        h: Duration of each interval [s].
        top: The greatest speed that limits admit at each point.
        row: The row that is nearest to its limit in each interval.
    """

    s: Array
    w: Array
    begin: Array
    end: Array
    h: Array
    top: Array
    row: Array


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


def pieces_of(rows: Array, fastest: float) -> list[list[SpeedPiece]]:
    """The admissible speeds and accelerations at m points, by their rows, shape (m, R, 4); speeds up to `fastest`."""
    A = rows[..., 0]
    free = np.abs(A) <= NO_INERTIA * np.abs(A).max(axis=1, keepdims=True)  # rows that bound the speed alone
    quotient = -rows[..., [3, 2, 1]] / np.where(free, 1.0, A)[..., None]
    none = np.array([ABSENT, 0.0, 0.0])
    upper = np.where(((A > 0.0) & ~free)[..., None], quotient, none)
    lower = np.where(((A < 0.0) & ~free)[..., None], quotient, -none)
    (high, of_high), (low, of_low) = envelope(upper), envelope(-lower)
    begins = np.sort(np.concatenate([high, low], axis=1), axis=1)
    index = np.arange(len(rows))[:, None]
    k = of_high[index, (high[:, None, :] <= begins[..., None]).sum(axis=2) - 1]
    j = of_low[index, (low[:, None, :] <= begins[..., None]).sum(axis=2) - 1]
    most, least, ends = upper[index, k].tolist(), lower[index, j].tolist(), begins.tolist()
    found = []
    for i, (begin, a, b, j_p, k_p) in enumerate(zip(ends, least, most, j.tolist(), k.tolist(), strict=True)):
        speeds = [(0.0, fastest)]
        for c0, c1, c2 in quotient[i, free[i]].tolist():
            speeds = [it for span in speeds for it in positive(c0, c1, c2, *span)]
        pieces = []
        for p, (first, last) in enumerate(pairwise([*begin, math.inf])):
            for span in common(speeds, first, last):
                c0, c1, c2 = (y - x for x, y in zip(a[p], b[p], strict=True))
                pieces += [
                    SpeedPiece(*it, tuple(a[p]), tuple(b[p]), j_p[p], k_p[p]) for it in positive(c0, c1, c2, *span)
                ]
        found.append(pieces)
    return found


def positive(c0: float, c1: float, c2: float, first: float, last: float) -> list[Interval]:
    """Where in an interval c₀ + c₁ w + c₂ w² is not negative."""
    if c2 == 0.0:
        if c1 == 0.0:
            return [(first, last)] if c0 >= 0.0 else []
        root = -c0 / c1
        ends = [(max(first, root), last)] if c1 > 0.0 else [(first, min(last, root))]
    else:
        square = c1 * c1 - 4.0 * c0 * c2
        if square < 0.0:
            return [(first, last)] if c2 > 0.0 else []
        t = -(c1 + math.copysign(math.sqrt(square), c1)) / 2.0
        a, b = sorted((t / c2, c0 / t if t else 0.0))
        ends = [(first, min(last, a)), (max(first, b), last)] if c2 > 0.0 else [(max(first, a), min(last, b))]
    return [it for it in ends if it[0] <= it[1]]


def value(c: Sequence[float], w: float) -> float:
    """c₀ + c₁ w + c₂ w²"""
    return c[0] + w * (c[1] + w * c[2])


def greatest(c: Sequence[float], first: float, last: float) -> float:
    """The greatest value of a quadratic on an interval."""
    best = max(value(c, first), value(c, last))
    if c[2] < 0.0 and first < (top := -c[1] / (2.0 * c[2])) < last:
        best = max(best, value(c, top))
    return best


def shifted(c: Sequence[float], factor: float, sign: float = 1.0) -> tuple[float, float, float]:
    """Coefficients of sign (w² + factor c)."""
    return sign * factor * c[0], sign * factor * c[1], sign * (1.0 + factor * c[2])


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """The union of intervals, in order."""
    found: list[Interval] = []
    for first, last in sorted(intervals):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def common(intervals: Sequence[Interval], first: float, last: float) -> list[Interval]:
    """The parts of intervals within another one."""
    return [(max(a, first), min(b, last)) for a, b in intervals if a <= last and b >= first]


class PhasePlane:
    """The plane of path parameter and path speed.

    Args:
        s: Path parameter of N + 1 points, increasing.
        left: Rows at the beginning of each interval, shape (N, R, 4).
        right: At its end.
        share: Of the acceleration at its end in the mean of each interval, shape (N,): 1/2, and 1 or 0 for one that is constant.
    """

    def __init__(self, s: Array, left: Array, right: Array, share: Array) -> None:
        self.s, delta = s, np.diff(s)
        self.h, self.steps = delta.tolist(), list(zip((2 * delta * (1 - share)).tolist(), (2 * delta * share).tolist()))
        fastest = 1e6 * float(s[-1] - s[0])
        self.left, self.right = pieces_of(left, fastest), pieces_of(right, fastest)

    def controllable(self, end: float) -> list[list[Interval]]:
        """The speeds at each point from which the end can be reached at a speed, as intervals.

        Raises:
            Unreachable: There is none at a point.
        """
        found = [[(end, end)]]
        for i in reversed(range(len(self.h))):
            (f, g), targets = self.steps[i], []
            for piece in self.right[i]:
                for first, last in common(found[-1], piece.first, piece.last):
                    low = -greatest(shifted(piece.most, -g, -1.0), first, last)
                    targets.append((low, greatest(shifted(piece.least, -g), first, last)))
            speeds = []
            for low, high in merged(targets):
                for piece in self.left[i]:
                    slow, fast = shifted(piece.least, f, -1.0), shifted(piece.most, f)
                    for span in positive(slow[0] + high, slow[1], slow[2], piece.first, piece.last):
                        speeds += positive(fast[0] - low, fast[1], fast[2], *span)
            found.append(merged(speeds))
            if not speeds:
                raise Unreachable(float(self.s[i]), self.hindrance(i, targets))
        return found[::-1]

    def hindrance(self, i: int, targets: Sequence[Interval]) -> tuple[int, ...]:
        """The rows that let no speed lead on from a point, or from the next one; none where they contradict each other."""
        if not targets or not self.left[i]:
            return ()
        piece, high = self.left[i][0], max(last for _, last in targets)
        slow = value(shifted(piece.least, self.steps[i][0]), piece.first) > high
        return (piece.lower,) if slow else (self.left[i][-1].upper,)

    def timing(self, start: float, end: float) -> PathTiming:
        """The fastest motion between path speeds.

        Raises:
            Unreachable: There is none.
        """
        sets = self.controllable(end)
        w, begin, last = [start], [], []
        if not any(a - NEARLY <= start <= b + NEARLY for a, b in sets[0]):
            piece = self.left[0][0 if start < sets[0][0][0] else -1]
            raise Unreachable(float(self.s[0]), (piece.upper if start < sets[0][0][0] else piece.lower,))
        for i, (f, g) in enumerate(self.steps):
            now = w[-1]
            bounds = [
                bound(p, now) for p in self.left[i] if p.first <= now * (1 + NEARLY) and now <= p.last * (1 + NEARLY)
            ]
            a, b = bounds[0] if bounds else bound(min(self.left[i], key=lambda p: abs(p.first - now)), now)
            x = now * now
            for slack in SLACKS:
                extra = slack * (x + self.h[i] * (abs(a) + abs(b)))
                best, chosen = -1.0, None
                for piece in self.right[i]:
                    near, far = shifted(piece.most, -g, -1.0), shifted(piece.least, -g)
                    for it in common(sets[i + 1], piece.first, piece.last):
                        for span in positive(near[0] + x + f * b + extra, near[1], near[2], *it):
                            for _, top in positive(far[0] - x - f * a + extra, far[1], far[2], *span):
                                if top > best:
                                    best, chosen = top, piece
                if chosen is not None:
                    break
            else:
                raise Unreachable(float(self.s[i]), ())
            c, d = bound(chosen, best)
            rise = (best * best - x) / self.h[i]
            u = rise / 2.0
            if f == g:
                u = min(max(u, rise - d, a), rise - c, b) if x or best else b
            w.append(best)
            begin.append(u)
            last.append(rise - u)
        tops = np.array([pieces[-1].last if pieces else 0.0 for pieces in (*self.left, self.right[-1])])
        speeds, u, v = (np.array(x) for x in (w, begin, last))
        return PathTiming(self.s, speeds, u, v, durations(self.s, speeds, u, v), tops, np.zeros(len(u), int))


def durations(s: Array, w: Array, begin: Array, end: Array) -> Array:
    """Of intervals [s]: s'' = c s + const has (s₁ - s₀) / (w₀ + w₁) = tanh(√c h / 2) / √c."""
    delta = np.diff(s)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = delta / (w[1:] + w[:-1])
        k = np.sqrt(np.abs(end - begin) / delta)
        h = 2.0 / k * np.where(end > begin, np.arctanh(np.minimum(k * mean, 1.0)), np.arctan(k * mean))
        return np.where(k * mean > 1e-6, h, 2.0 * mean)


def halved(timing: PathTiming, i: Array) -> PathTiming:
    """The same motion with a point more in some intervals, at about half their time."""
    s, w, begin, end, _, top, row = timing
    delta, sum_ = np.diff(s)[i], w[1:][i] + w[i]
    part = np.where(sum_ > 0.0, (3.0 * w[i] + w[1:][i]) / (4.0 * np.where(sum_ > 0.0, sum_, 1.0)), 0.5)
    u = begin[i] + (end - begin)[i] * part
    speed = np.sqrt(np.maximum(w[i] ** 2 + delta * part * (begin[i] + u), 0.0))
    least = np.minimum(top[1:], top[:-1])[i]
    s, w, begin, top = (
        np.insert(a, i + 1, x) for a, x in ((s, s[i] + part * delta), (w, speed), (begin, u), (top, least))
    )
    end = np.insert(end, i, u)
    return PathTiming(s, w, begin, end, durations(s, w, begin, end), top, np.insert(row, i, row[i]))


def bound(piece: SpeedPiece, w: float) -> Interval:
    """The least and the greatest path acceleration at a speed."""
    return value(piece.least, w), value(piece.most, w)
