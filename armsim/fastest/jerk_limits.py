"""The fastest motion along a path whose jerk is bounded, too: arcs of constant path jerk, by a sequence of linear programs.

Between points of the path s''' = j is constant for a duration h, which joins path speeds w and path accelerations u = s'' there:

    w₁ = w₀ + h (u₀ + u₁) / 2    and    Δ = h (w₀ + w₁) / 2 + h² (u₀ - u₁) / 12.

Limits are the rows A u + B w² + C w + D <= 0 and |q' j + 3 q'' w u + q''' w³| <= jerk of each joint at both ends of each arc.
Linearised about a motion they make a linear program: the step, within a trust region, that makes the sum of durations least.
What a motion violates is mended as far as the region lets it, at a penalty. A step is taken if it lowers time and penalty, or if
it has less time or less violation than each motion before (a filter: Fletcher and Leyffer, Mathematical Programming 2002).

Where no limit binds all along an arc, the optimum changes from one limit to another one within it. It is split where the jerks
beside it would give its own. Rows that are exceeded between the ends of arcs are lowered there, as without jerk.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from armsim.fastest.phase_plane import Unreachable
from armsim.fastest.timing import AIM, HELD, INNER, POINTS, REACHED, REFUSED, TINY, PathRows
from armsim.references.path_timing import PathTiming, divided

Array = Any  # numpy's
CONTROLS = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])  # of the quadratic w(t), whose hull it cannot leave
FINE = 8.0  # parts of the intervals without jerk, between whose times those of the first arcs are interpolated
SLOW = 1e-3  # of the greatest path speed: the first arcs are no slower but at their ends
ROUNDS = 30  # of splitting and of lowering limits
STEPS = 60  # programs in a round
LOWERED = 1e-3  # relative: an arc in which a limit would be lowered by more is split
RADIUS, WIDEST, NARROWEST = 0.3, 0.8, 1e-7  # of the trust region, relative to a motion
TURN = 4.0  # how much more than w and h, relative, the path acceleration may change in a step
PENALTY = 10.0  # durations, for a limit that is exceeded as a whole
BETTER = 0.1  # of what a program promised
MET = 1e-10  # relative: by which a motion may miss equations and limits of its program
CONVERGED = 1e-9  # relative: a program that promises less of the time is the last one
EXACT = 1e-6  # relative, of the time: what arcs may give away in all
AT_ONCE, MANY = 24, 220  # arcs that are split in a round, those first that give away most, until there are many
LONGEST = 1.5e-4  # of the duration: arcs along bends are split in three until they are shorter; quintics follow these
FOLLOWED = 5e-3  # where only the jerk of the path parameter is bounded, which such quintics keep
THIRDS = 1.0 / 3.0, 2.0 / 3.0
DIGITS = 1e-6  # of w / (h² jerk), by which rounding of w passes on to the jerk of an arc: more would exceed it by 1e-7
NEXT = 0.01  # of an arc: to an end that is nearer it is not split
OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Arcs(NamedTuple):
    """A motion of constant path jerk between points.

    Attributes:
        s: Path parameter of N + 1 points.
        w: Path speeds there.
        u: Path accelerations.
        h: Duration of each arc [s].
    """

    s: Array
    w: Array
    u: Array
    h: Array

    @property
    def local(self) -> Array:
        """What is known of each arc, w₀, u₀, w₁, u₁ and h, shape (5, N)."""
        return np.stack([self.w[:-1], self.u[:-1], self.w[1:], self.u[1:], self.h])

    @property
    def jerk(self) -> Array:
        """Of the path parameter on each arc."""
        return np.diff(self.u) / self.h

    @property
    def way(self) -> Array:
        """Length of each arc, to its own digits."""
        w0, u0, w1, u1, h = self.local
        return h * (w0 + w1) / 2.0 + h * h * (u0 - u1) / 12.0

    def at(self, p: Array, q: Array) -> tuple[Array, Array, Array]:
        """Path parameters, path speeds and path accelerations at parts of arcs, shape (N, parts).

        Of path speeds it is the polar form, w(t) for p = q = t / h, the control points of w for p, q = 0 or 1.
        """
        (w, u, *_, h), j = self.local[..., None], self.jerk[:, None]
        t = h * (p + q) / 2.0
        s = np.minimum(self.s[:-1, None] + t * (w + t * (u / 2.0 + j * t / 6.0)), self.s[1:, None])
        return s, w + t * u + h * h * p * q * j / 2.0, u + j * t

    def split(self, which: Array, parts: Array) -> Arcs:
        """The same motion with points more at two parts of some arcs, of shape (N, 2)."""
        kept = np.column_stack([np.full_like(which, True), which, which])
        made = [
            np.append(np.column_stack([x[:-1], more])[kept], x[-1])
            for x, more in zip(self[:3], self.at(parts, parts), strict=True)
        ]
        shares = np.where(which[:, None], np.diff(parts, prepend=0.0, append=1.0), 1.0)
        return Arcs(made[0], made[1], made[2], (self.h[:, None] * shares)[kept])


class JerkLimits:
    """Limits along a path with those of jerk behind them.

    Args:
        rows: Of the other limits.
        jerk: Greatest jerk of each joint [rad/s³ or m/s³]; a number for that of the path parameter.
    """

    def __init__(self, rows: PathRows, jerk: Array | float) -> None:
        self.rows, self.jerk = rows, jerk

    def factors(self, s: Array, k: Array, motion: tuple[Array, Array, Array]) -> Array:
        """Of j, w u and w³ in each jerk, relative to its limit, shape (3, m, jerks)."""
        if np.ndim(self.jerk) == 0:
            return np.multiply.outer([1.0, 0.0, 0.0], np.ones((len(s), 1))) / self.jerk
        return np.stack([motion[1], 3.0 * motion[2], self.rows.path.third(s, k)]) / self.jerk

    def equations(self, arcs: Arcs) -> tuple[Array, Array]:
        """By how much arcs miss both equations, relative, shape (N, 2), and derivatives by what is known of them, (N, 2, 5)."""
        w0, u0, w1, u1, h = arcs.local
        one, delta = np.ones_like(h), np.diff(arcs.s)
        missed = [w1 - w0 - h * (u0 + u1) / 2.0, arcs.way - delta]
        speeds = [-one, -h / 2.0, one, -h / 2.0, -(u0 + u1) / 2.0]
        way = [h / 2.0, h * h / 12.0, h / 2.0, -h * h / 12.0, (w0 + w1) / 2.0 + h * (u0 - u1) / 6.0]
        scale = np.column_stack([np.maximum(w0, w1), delta])
        return np.transpose(missed) / scale, np.moveaxis(np.array([speeds, way]), 2, 0) / scale[..., None]

    def excess(self, arcs: Arcs, p: Array, q: Array) -> tuple[Array, Array]:
        """By how much rows are exceeded at parts of arcs, shape (N, parts, R), and derivatives likewise, (N, parts, R, 5)."""
        s, w, u = arcs.at(p, q)
        shape, s, w, u = w.shape, s.ravel(), w[..., None], u[..., None]
        path, middle = self.rows.path, (arcs.s[1:] + arcs.s[:-1]) / 2.0
        k = path.piece(middle)
        direction = np.repeat(np.sign(path.at(middle, k)[1]), len(p), axis=0)
        k = np.repeat(k, len(p))
        motion = path.at(s, k)
        A, B, C, D = np.moveaxis(self.rows.along(s, k, *motion, direction).reshape(*shape, -1, 4), -1, 0)
        a, b, c = self.factors(s, k, motion).reshape(3, *shape, -1)
        (_, u0, _, u1, h), j = arcs.local[..., None, None], arcs.jerk[:, None, None]
        p, pq = (p + q)[:, None] / 2.0, (p * q)[:, None] / 2.0
        none, one = np.zeros_like(w), np.ones_like(w)
        by_u = np.stack([none, one * (1.0 - p), none, one * p, none], axis=-1)
        by_w = np.stack([one, h * (p - pq), none, h * pq * one, u0 * p + (u1 - u0) * pq], axis=-1)
        by_j = np.stack([none, -one / h, none, one / h, -one * j / h], axis=-1)
        jerk = a * j + b * w * u + c * w**3
        bent = a[..., None] * by_j + (b * w)[..., None] * by_u + (b * u + 3.0 * c * w * w)[..., None] * by_w
        value, slope = A * u + B * w * w + C * w + D, A[..., None] * by_u + (2.0 * B * w + C)[..., None] * by_w
        return np.concatenate([value, jerk - 1.0, -jerk - 1.0], axis=2), np.concatenate([slope, bent, -bent], axis=2)


class LinearProgram:
    """The linear program about a motion.

    Args:
        limits: Of the path.
        arcs: The motion.
        less: By how much rows are lowered on each arc, shape (N, R).

    Attributes:
        time: Of the motion [s].
        beyond: By how much it misses equations and limits at most, relative.
    """

    def __init__(self, limits: JerkLimits, arcs: Arcs, less: Array) -> None:
        self.arcs, self.time = arcs, float(arcs.h.sum())
        self.missed, self.by_missed = limits.equations(arcs)
        self.value, self.by_value = limits.excess(arcs, *CONTROLS)
        self.value += less[:, None]
        self.beyond = max(float(np.abs(self.missed).max()), float(self.value.max()), 0.0)

    def step(self, radius: float, penalty: float) -> tuple[Arcs, float]:
        """The motion at the end of the best step, and by how much it promises to lower time and penalty; inf without one."""
        s, w, u, h = self.arcs
        count = len(h)
        near = np.maximum(w, np.maximum(np.append(w[1:], 0.0), np.append(0.0, w[:-1])))
        turn = np.full_like(u, TURN * max(np.abs(u).max(), near.max() / self.time))
        ends = [0, -1]
        near[ends], turn[ends] = 0.0, np.where(w[ends] > 0.0, turn[ends], 0.0)  # at rest it begins and ends without
        box = radius * np.concatenate([near, turn, h])
        of = np.arange(count)[:, None] + [0, count + 1, 1, count + 2, 2 * count + 2]
        by_missed, by_value = self.by_missed * box[of][:, None], self.by_value * box[of][:, None, None]
        close = np.nonzero(self.value + np.abs(by_value).sum(axis=-1) > 0.0)

        def matrix(by: Array, of: Array, mended: Array) -> Any:
            columns = np.column_stack([of, np.full(len(of), len(box))])
            rows = np.repeat(np.arange(len(of)), 6)
            return csr_matrix((np.column_stack([by, mended]).ravel(), (rows, columns.ravel())), (len(of), len(box) + 1))

        value, missed = self.value[close], self.missed.ravel()
        low = np.full(len(box) + 1, -1.0)
        low[: count + 1], low[-1] = np.maximum(-1.0, -0.9 * w / np.maximum(box[: count + 1], TINY)), 0.0
        found = linprog(
            np.concatenate([np.zeros(2 * count + 2), box[2 * count + 2 :], [penalty * self.beyond]]),
            matrix(by_value[close], of[close[0]], -np.maximum(value, 0.0)),
            -value,
            matrix(by_missed.reshape(-1, 5), np.repeat(of, 2, axis=0), -missed),
            -missed,
            np.column_stack([low, np.ones_like(low)]),
            options=OPTIONS,
        )
        if found.x is None:
            return self.arcs, np.inf
        step = np.split(found.x[:-1] * box, [count + 1, 2 * count + 2])
        return Arcs(s, w + step[0], u + step[1], h + step[2]), penalty * self.beyond - found.fun


def fastest_nearby(limits: JerkLimits, arcs: Arcs, less: Array) -> LinearProgram:
    """The fastest motion between the same points, from another one on."""
    seen: list[tuple[float, float]] = []
    now, radius = LinearProgram(limits, arcs, less), RADIUS
    penalty = PENALTY * now.time
    for _ in range(STEPS):
        arcs, hoped = now.step(radius, penalty)
        if hoped < CONVERGED * now.time and now.beyond < MET:
            break
        then = LinearProgram(limits, arcs, less)
        made = now.time - then.time + penalty * (now.beyond - then.beyond)
        seen.append((now.time, now.beyond))
        if made > BETTER * hoped or all(then.time < time or then.beyond < 0.9 * beyond for time, beyond in seen):
            now, radius = then, min(2.0 * radius, WIDEST)
        elif radius < NARROWEST:
            break
        else:
            radius /= 4.0
    return now


def within_jerk(limits: JerkLimits, timing: PathTiming) -> PathTiming:
    """The fastest motion whose jerk is bounded, from that without this limit.

    Raises:
        Unreachable: None was found, or one that exceeds a limit as rounds of splitting were too few.
    """
    s = limits.rows.path.grid(POINTS)
    fine = divided(timing, np.full(len(timing.h), FINE))
    t, w = (np.array(np.interp(s, fine.s, x)) for x in (np.append(0.0, np.cumsum(fine.h)), fine.w))
    u = np.array(np.gradient(w, t))
    u[[0, -1]] *= w[[0, -1]] > 0.0
    w[1:-1] = np.maximum(w[1:-1], SLOW * w.max())
    arcs = Arcs(s, w, u, np.diff(t))
    less = np.zeros((len(s) - 1, limits.excess(arcs, *CONTROLS)[0].shape[2]))
    for _ in range(ROUNDS):
        found = fastest_nearby(limits, arcs, less)
        arcs, count = found.arcs, len(less)
        value, _ = limits.excess(arcs, INNER, INNER)
        a, b, c = value[:, :-2], value[:, 1:-1], value[:, 2:]
        bend = np.minimum(a - 2.0 * b + c, -TINY)
        tops = b - np.where(np.abs(c - a) < -2.0 * bend, (c - a) ** 2 / (8.0 * bend), 0.0)  # of parabolas
        most = np.maximum(value.max(axis=1), tops.max(axis=1))
        worst, unused = most.max(axis=1), -np.minimum((value + less[:, None]).max(axis=2), 0.0).mean(axis=1)
        lost = count * unused * arcs.h / found.time
        which = (lost > EXACT) & (lost >= np.sort(lost)[-AT_ONCE]) | (worst > LOWERED)
        parts, exact = switches(limits, arcs)
        which &= exact & (count < MANY)
        if found.beyond > LOWERED:
            break
        if which.any():
            arcs, less = arcs.split(which, parts), np.where(which[:, None], 0.0, less)
            less = np.repeat(less, 1 + 2 * which, axis=0)
        elif worst.max() < HELD:
            break
        else:
            less += np.where(most > AIM, 1.5 * most + AIM, 0.0)
    row = most.argmax(axis=1)
    if worst.max() > REFUSED or found.beyond > HELD:
        k = int(np.maximum(worst, np.abs(found.missed).max(axis=1)).argmax())
        raise Unreachable(float(arcs.s[k]), (int(row[k]),), float(worst[k]) if found.beyond < LOWERED else 0.0)
    row = np.where(worst > -REACHED, row, -1)
    arcs = joined(arcs)
    longest = found.time * (FOLLOWED if np.ndim(limits.jerk) == 0 else LONGEST)
    while limits.rows.path.coefficients.shape[2] > 2 and (which := arcs.h > longest).any():
        arcs, row = arcs.split(which, np.full((len(row), 2), THIRDS)), np.repeat(row, 1 + 2 * which)
    top = np.interp(arcs.s, timing.s, timing.top)
    return PathTiming(arcs.s, arcs.w, arcs.u[:-1], arcs.u[1:], arcs.h, top, row, arcs.way)


def joined(arcs: Arcs) -> Arcs:
    """The same motion to the digits of its jerk: integrated from both ends to the longest arc."""
    k = int(arcs.h.argmax())

    def integrated(first: float, rates: Array, last: float) -> Array:
        after = last - np.cumsum(rates[:k:-1])
        return np.concatenate([[first], first + np.cumsum(rates[:k]), after[::-1], [last]])

    s, w, u, h = arcs
    arcs = arcs._replace(w=integrated(w[0], h * (u[:-1] + u[1:]) / 2.0, w[-1]))
    return arcs._replace(s=integrated(s[0], arcs.way, s[-1]))


def switches(limits: JerkLimits, arcs: Arcs) -> tuple[Array, Array]:
    """Two parts at which each arc would be split, shape (N, 2), and whether the digits of its jerk let it.

    Where the jerk is between those beside it the first lasts for that part of the arc that makes its own; beside the ends the
    greatest jerk counts. The second part halves the longer rest. Quarters are cut off other arcs.
    """
    j, path, middle = arcs.jerk, limits.rows.path, (arcs.s[1:] + arcs.s[:-1]) / 2.0
    k = path.piece(middle)
    least = np.abs(limits.factors(middle, k, path.at(middle, k))[0]).max(axis=1)
    before, after = np.append(np.sign(j[0]) / least[0], j[:-1]), np.append(j[1:], np.sign(j[-1]) / least[-1])
    part = (j - after) / np.where(before == after, np.inf, before - after)
    shortest = np.sqrt(DIGITS * np.maximum(arcs.w[1:], arcs.w[:-1]) * least) / arcs.h
    between = np.minimum(part, 1.0 - part) > np.maximum(shortest, NEXT)
    other = np.where(part < 0.5, 1.0 + part, part) / 2.0
    return np.sort(np.where(between[:, None], np.column_stack([part, other]), [0.25, 0.75]), axis=1), shortest < 0.25
