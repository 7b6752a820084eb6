"""The fastest motion along a path within all limits of an arm: grids that are refined until limits hold between their points."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, reduce
from typing import Any

import numpy as np

from armsim.compile import BatchKernel
from armsim.expr import Scalar, both, maximum, sqrt, where
from armsim.fastest.admissible import ABSENT, NO_INERTIA, fitted, pieces_of, stepwise
from armsim.fastest.path_limits import PathLimits, RowLabel
from armsim.fastest.phase_plane import PhasePlane, Unreachable
from armsim.references.joint_path import JointPath
from armsim.references.path_timing import PathTiming, cut, divided

Array = Any  # numpy's
ACCURACY = 1e-4  # relative, of the time: what intervals give away in all
HELD = 5e-7  # relative: limits hold within the intervals of the grid
AIM = 2e-7  # to which they are lowered
POINTS = 64  # of the first grid
ENOUGH = 400  # of fewer points all intervals are halved before a path is refused
MOST_POINTS = 3200
INNER = np.linspace(0.0, 1.0, 9)  # parts of an interval at which limits are looked at
ROUNDS = 60  # of refinement and of lowering limits
LOWERED = 2e-3  # relative: where a limit would be lowered by more its interval is split, as it bounds speeds far around
GOAL = 0.8  # of the accuracy: to what intervals are split
LATER = 0.3  # of a part: by so little less than another one an interval is not split
PARTS, MANY = (
    4.0,
    16.0,
)  # into which an interval is split at most; and where one limit takes over from another, if few are
TURNS = 1e-6  # of the slope in the middle of an interval: with less at its end, a joint turns back there
STIFF = 2.0  # duration of an interval times the decay of speed by its limit
DIP = 0.5  # of the squared speed at the ends
SWITCH = 1e-3  # relative: with less of a limit used at an end, another one takes over within the interval
CLOSER = 10.0  # times that are given away there count so often, as instants of switching take few points
SHORTEST = 1e-5  # of the duration: an interval that is not split any more, as its quintic would be rounding
REFUSED = 4.0 * HELD  # what all limits are lowered by beforehand: one that is still exceeded by more cannot be kept
REACHED = 1e-2  # relative: a limit that is nearer binds
FEW = 100  # intervals: of fewer all are halved
BEND = 0.15  # the angle √|c| h of s'' = c s + const in an interval: of a greater one it is halved
TINY = 1e-300
ENDS, MIDDLE = [0, len(INNER) - 1], len(INNER) // 2
REST = 1e-9  # of the squared speed in the middle: no more at an end is rest
FASTEST = 1e6  # lengths of a path per second: no path speed is greater

Extra = Callable[[Array, Array], Array]  # rows of the tool at path parameters, by the pieces of the path


class PathRows:
    """Rows of all limits at points of a path.

    Args:
        path: The path.
        limits: Of the arm.
        extra: Of the tool.
        labels: What its rows bound, and those of jerk behind them.
    """

    def __init__(
        self, path: JointPath, limits: PathLimits, extra: Extra | None = None, labels: tuple[RowLabel, ...] = ()
    ):
        self.path, self.limits, self.extra = path, limits, extra
        self.labels = [*limits.labels, *labels]

    def at(self, s: Array, k: Array) -> Array:
        """Rows at path parameters, by the pieces k."""
        motion = self.path.at(s, k)
        return self.along(s, k, *motion, np.sign(motion[1]))

    def between(self, begin: Array, end: Array) -> Array:
        """Rows at parts of intervals, shape (N, R, parts, 4)."""
        parts = begin[:, None] + INNER * (end - begin)[:, None]
        parts[:, -1] = end
        k = self.path.piece((begin + end) / 2)[:, None]
        motion = self.path.at(parts, k)
        direction = motion[1].copy()
        direction[:, ENDS] += TURNS * direction[:, [MIDDLE]]  # at an end a joint may turn back
        s, k = parts.ravel(), np.broadcast_to(k, parts.shape).ravel()
        rows = self.along(s, k, *(x.reshape(len(s), -1) for x in (*motion, np.sign(direction))))
        return np.ascontiguousarray(np.swapaxes(rows.reshape(*parts.shape, -1, 4), 1, 2))

    def along(self, s: Array, k: Array, *motion: Array) -> Array:
        """Rows of a motion q, q' and q'' with the directions of the joints."""
        rows = self.limits.rows(*motion)
        if self.extra is None:
            return rows
        middle = (self.path.breaks[k] + self.path.breaks[k + 1]) / 2
        return np.concatenate([rows, self.extra(s, middle)], axis=1)

    def still(self, s: Array) -> Array:
        """By how much limits of joints are exceeded where the arm stands still, relative, shape (m, rows)."""
        return self.limits.still(self.path.at(s, self.path.piece(s))[0])

    def unheld(self, s: Array) -> Array:
        """The row by whose limit the arm cannot stand still at path parameters; -1 where it can."""
        over = self.still(s)
        return np.where(over.max(axis=1) > 0.0, over.argmax(axis=1), -1)


class LimitGrid:
    """A grid on a path with its limits; what intervals keep is not found anew.

    Args:
        rows: Of all limits.
        s: Path parameters of N + 1 points.

    Attributes:
        given: Rows at parts of intervals, shape (N, R, parts, 4).
        less: By how much they are lowered, shape (N, R).
        urge: How often over they are lowered by what exceeds them, shape (N, R).
        share: Of the acceleration at its end in the mean of each interval.
        pieces: What is admitted where intervals begin and where they end, shape (N, 2, P, 10).
    """

    def __init__(self, rows: PathRows, s: Array) -> None:
        self.rows, self.s, count = rows, s, len(s) - 1
        self.given = rows.between(s[:-1], s[1:])
        self.inertia = float(np.abs(self.given[..., 0]).max())
        self.less, self.share = np.zeros(self.given.shape[:2]), shares(self.given)
        self.urge = np.ones_like(self.less)
        self.pieces = self.admitted(np.full(count, True))

    def admitted(self, which: Array) -> Array:
        """Pieces at the ends of some intervals."""
        made = np.swapaxes(self.given[which][:, :, ENDS], 1, 2)
        made[..., 3] += self.less[which][:, None]
        found = pieces_of(made.reshape(-1, *made.shape[2:]), FASTEST * float(self.s[-1] - self.s[0]), self.inertia)
        return found.reshape(*made.shape[:2], *found.shape[1:])

    def split(self, parent: Array, part: Array) -> None:
        """Cut intervals; a limit that was lowered is lowered less in parts of its interval."""
        delta = np.diff(self.s)[parent]
        self.s = s = np.append(self.s[parent] + part * delta, self.s[-1])
        shorter = np.diff(s) / delta
        new = shorter < 1.0
        kept = self.given, self.urge, self.pieces, self.share
        self.given, self.urge, self.pieces, self.share = (np.take(x, parent, axis=0) for x in kept)
        self.less = self.less[parent] * shorter[:, None] ** 2
        self.given[new] = made = self.rows.between(s[:-1][new], s[1:][new])
        turning = shares(made)
        self.share[new] = np.where(turning == 0.5, self.share[new], turning)
        self.renew(new)

    def lower(self, over: Array) -> None:
        """Lower limits by what exceeds them, shape (N, R), and more each time that it does not help."""
        on = over > AIM
        self.less += np.where(on, 1.5 * self.urge * over + AIM, 0.0)
        self.urge = np.where(on, 2.0 * self.urge, 1.0)
        self.renew(on.any(axis=1))

    def renew(self, which: Array) -> None:
        """Find again what is admitted at the ends of some intervals."""
        if which.any():
            made = self.admitted(which)
            count = max(made.shape[2], self.pieces.shape[2])
            self.pieces = fitted(self.pieces, count)
            self.pieces[which] = fitted(made, count)


def shares(given: Array) -> Array:
    """Of the acceleration at its end in the mean of each interval; at an end where all joints turn back none."""
    first, last = np.abs(given[:, :, ENDS, 0]).max(axis=1).T
    return np.where(first < NO_INERTIA * last, 1.0, np.where(last < NO_INERTIA * first, 0.0, 0.5))


def excess(*x: Scalar) -> list[Scalar]:
    """By how much the rows of an interval exceed their limits, relative, row by row.

    Args:
        x: Of the rows before, the most at each part of the interval and in all, the row of that, and their number; of this row
            A, B, C and D at each part; of the interval its first path speed, both path accelerations, and its length.

    Returns:
        The same with this row, and its own most, with the tops of parabolas through three parts; beside an end at rest of
        parabolas in the path speed, which is a root of the path parameter there.
    """
    parts = len(INNER)
    *before, worst, of, number = x[: parts + 3]
    row, (w, begin, end, delta) = x[parts + 3 : -4], x[-4:]
    values: list[Scalar] = []
    squares: list[Scalar] = []
    for k, part in enumerate(INNER.tolist()):
        u = begin + (end - begin) * part
        squares.append(maximum(w * w + delta * part * (begin + u), 0.0))
        A, B, C, D = row[4 * k : 4 * k + 4]
        values.append(A * u + B * squares[-1] + C * sqrt(squares[-1]) + D)
    most = reduce(maximum, values)
    for inward in (slice(0, 3), slice(None, -4, -1)):
        (still, *others), (a, b, c) = squares[inward], values[inward]
        v, faster = map(sqrt, others)
        bend = ((c - a) / faster - (b - a) / v) / (faster - v)
        rise = (b - a) / v - bend * v
        inside = both(still <= REST * squares[MIDDLE], both(rise > 0.0, rise < -2.0 * bend * v))
        top = a - where(inside, rise * rise, 0.0) / (4.0 * where(inside, bend, 1.0))
        most = where(both(inside, top > most), top, most)
    for a, b, c in zip(values, values[1:], values[2:]):
        bend = a - 2.0 * b + c
        inside = abs(c - a) < -2.0 * bend
        top = b - where(inside, (c - a) * (c - a), 0.0) / (8.0 * where(inside, bend, 1.0))
        most = where(both(inside, top > most), top, most)
    return [*map(maximum, values, before), maximum(most, worst), where(most > worst, number, of), number + 1.0, most]


@cache
def exceeding() -> BatchKernel:
    """`excess`, row by row."""
    return stepwise(excess, [len(INNER) + 3, 4 * len(INNER), 4])


def used(timing: PathTiming, rows: Array) -> tuple[Array, Array, Array]:
    """By how much rows within intervals exceed their limits, relative.

    Args:
        timing: On N intervals.
        rows: At parts of these, shape (N, R, parts, 4).

    Returns:
        At each part the most, shape (N, parts); of each interval the worst row; each row's most, (N, R).
    """
    (count, R, parts), (w, begin, end) = rows.shape[:3], timing[1:4]
    found = np.empty((count, R + 1, parts + 4))
    given = (
        np.array([*[-ABSENT] * (parts + 1), 0.0, 0.0]),
        rows,
        np.column_stack([w[:-1], begin, end, np.diff(timing.s)]),
    )
    exceeding()([(x.ctypes.data, x.strides[0] * (x.ndim > 1)) for x in given], found.ctypes.data, count, R, True)
    return found[:, R - 1, :parts], found[:, R - 1, parts + 1].astype(int), found[:, :-1, -1]


def fastest_timing(rows: PathRows, speeds: tuple[float, float], accuracy: float = ACCURACY) -> PathTiming:
    """The fastest motion along a path, from a path speed to another one.

    Intervals are split until all of them together give away less than the accuracy. Where a limit is exceeded within another one,
    it is lowered there; where it pulls the speed to itself, or the path could come to rest and turn back, the acceleration of the
    interval becomes constant, as that of implicit Euler steps.

    Raises:
        Unreachable: There is none, or rounds were too few to keep a limit.
    """
    grid, best, found = LimitGrid(rows, rows.path.grid(POINTS)), np.inf, None
    for _ in range(ROUNDS):
        s, every = grid.s, np.arange(len(grid.s) - 1)
        try:
            timing = PhasePlane(s, grid.pieces, grid.share).timing(*speeds)
        except Unreachable:
            if best <= REFUSED:  # limits have been lowered by too much
                break
            if len(s) > ENOUGH:
                raise
            grid.split(*cut(np.zeros_like(s), np.full(len(every), 2.0)))
            continue
        over, row, most = used(timing, grid.given)
        nearest, worst, switching = grid.given[every, row], most[every, row], switches(over)
        lost, decay = losses(timing, nearest, over)
        stiff = ((decay > STIFF) | dips(timing)) & (grid.share == 0.5)
        parts = np.cbrt(np.minimum(lost, 1.0))
        parts *= np.sqrt(parts.sum() / (GOAL * accuracy)) if lost.sum() > accuracy else 0.0
        parts = np.maximum(parts - LATER, np.where(stiff, 0.0, worst / LOWERED))
        parts = np.minimum(parts, np.where(switching, np.clip(len(s) / (1 + switching.sum()), PARTS, MANY), PARTS))
        whole = timing.h[np.isfinite(timing.h)].sum()
        split = (parts > 1.0) & (timing.h > SHORTEST * whole) & (len(s) < MOST_POINTS)
        if not split.any():
            if worst.max() < best:
                best, found = worst.max(), timing._replace(row=np.where(worst > -REACHED, row, -1))
            if best < HELD and not stiff.any():
                break
        grid.share = np.where(stiff, nearest[:, MIDDLE, 0] > 0.0, grid.share)
        grid.lower(np.where((stiff | split)[:, None], 0.0, most))
        relaxed = (decay < STIFF * parts) | (nearest[:, ENDS, 0].prod(axis=1) <= 0.0)
        grid.share = np.where(split & relaxed, 0.5, grid.share)
        if split.any():
            grid.split(*cut(timing.w, np.where(split, parts, 1.0)))
    if found is None or best > REFUSED:
        k = int(worst.argmax())
        raise Unreachable(float(timing.s[k]), (int(row[k]),), float(min(best, worst[k])))
    return smooth(found)


def switches(over: Array) -> Array:
    """Whether less than all of a limit is used at an end of each interval."""
    return np.abs(over[:, ENDS]).max(axis=1) > SWITCH


def losses(timing: PathTiming, nearest: Array, over: Array) -> tuple[Array, Array]:
    """Of each interval the share of the time that is given away in it, and its duration times the decay of speed by its limit.

    A part ε of the nearest limit that is not used lowers the speed by ε h / (|A| + h (2 B w + C)); that lasts, but for the decay.

    Args:
        timing: On N intervals.
        nearest: The nearest row of each at its parts, shape (N, parts, 4).
        over: By how much rows are exceeded, shape (N, parts).
    """
    A, B, C, _ = nearest[:, MIDDLE].T
    h = np.where(np.isfinite(timing.h), timing.h, 0.0)
    total, w = h.sum(), np.diff(timing.s) / timing.h
    mean, switching = (timing.s[-1] - timing.s[0]) / total, switches(over)
    inert, pull = np.abs(A) + TINY, np.maximum(2.0 * B * w + C, 0.0)
    slower = np.abs(over).mean(axis=1) * h / (inert + h * pull)
    lasts = np.where(switching, 0.0, inert * total / (inert + pull * total))
    lost = slower * (w / mean**2 * lasts + np.where(switching, CLOSER, 1.0) * h / (w + TINY)) / total
    return np.where(h > 0.0, lost, np.inf), np.where(inert > NO_INERTIA, pull * h / inert, 0.0)


def dips(timing: PathTiming) -> Array:
    """Whether the speed falls within an interval to much less than at its ends: the path could come to rest and turn back."""
    squares, (begin, end) = timing.w**2, timing[2:4]
    inside = (begin < 0.0) & (end > 0.0)
    least = squares[:-1] - np.diff(timing.s) * begin**2 / np.where(inside, end - begin, 1.0)
    return inside & (least < DIP * np.minimum(squares[1:], squares[:-1]))


def smooth(timing: PathTiming) -> PathTiming:
    """The same motion with as many points as quintics of time between them take to follow it."""
    bend = np.sqrt(np.abs(timing.end - timing.begin) / np.diff(timing.s)) * timing.h / BEND
    bend = np.where(timing.h > SHORTEST * timing.h.sum(), bend, 1.0)
    return divided(timing, np.maximum(bend, FEW / len(bend)))
