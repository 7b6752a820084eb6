"""The fastest motion along a path within all limits of an arm: grids that are refined until limits hold between their points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from armsim.loading.path_limits import PathLimits, RowLabel
from armsim.references.joint_path import JointPath
from armsim.references.phase_plane import PathTiming, PhasePlane, Unreachable, halved

Array = Any  # numpy's
ACCURACY = 3e-4  # relative: by how much the time changes with half the intervals
HELD = 1e-6  # relative: limits hold between the points of the grid
AIM = 2e-7  # to which they are lowered
POINTS = 100  # of the first grid
MOST_POINTS = 3200
INNER = np.linspace(0.0, 1.0, 17)  # parts of an interval at which limits are looked at
ROUNDS = 10  # of tightening limits
STIFF = 3e-4  # relative, of limits within an interval: more than what makes its acceleration constant
SHORTEST = 3e-6  # of the duration: an interval that is not split any more, as its quintic would be rounding
REFUSED = 1e-4  # relative: a limit that is still exceeded by more cannot be kept
FEW = 300  # intervals: of fewer all are halved
BEND = 0.06  # the angle √|c| h of s'' = c s + const in an interval: of a greater one it is halved
REACHED = 1e-2  # relative: a limit that is nearer binds

Extra = Callable[[Array, Array], Array]  # rows of the tool at path parameters, by the pieces of the path


class PathRows:
    """Rows of all limits at points of a path.

    Args:
        path: The path.
        limits: Of the arm.
        extra: Of the tool.
        labels: What its rows bound.
    """

    def __init__(
        self, path: JointPath, limits: PathLimits, extra: Extra | None = None, labels: tuple[RowLabel, ...] = ()
    ):
        self.path, self.limits, self.extra = path, limits, extra
        self.labels = [*limits.labels, *labels]

    def at(self, s: Array, k: Array, direction: Array) -> Array:
        """Rows at path parameters, by the pieces k and the directions of the joints' motions."""
        rows = self.limits.rows(*self.path.at(s, k), direction)
        if self.extra is None:
            return rows
        middle = (self.path.breaks[k] + self.path.breaks[k + 1]) / 2
        return np.concatenate([rows, self.extra(s, middle)], axis=1)

    def between(self, s: Array) -> tuple[Array, Array, Array]:
        """Rows where each interval begins, where it ends, and within it, shape (points, N, R, 4)."""
        middle = (s[1:] + s[:-1]) / 2
        k = self.path.piece(middle)
        direction = np.sign(self.path.at(middle, k)[1])
        left, right = self.at(s[:-1], k, direction), self.at(s[1:], k, direction)
        return left, right, np.stack([left, *(self.inside(s, k, part) for part in INNER[1:-1]), right])

    def inside(self, s: Array, k: Array, part: float) -> Array:
        """Rows at a part of each interval."""
        x = s[:-1] + part * np.diff(s)
        return self.at(x, k, np.sign(self.path.at(x, k)[1]))

    def still(self, s: Array) -> Array:
        """By how much limits of joints are exceeded where the arm stands still, relative, shape (m, rows)."""
        return self.limits.still(self.path.at(s, self.path.piece(s))[0])

    def unheld(self, s: Array) -> Array:
        """The row by whose limit the arm cannot stand still at path parameters; -1 where it can."""
        over = self.still(s)
        return np.where(over.max(axis=1) > 0.0, over.argmax(axis=1), -1)


def used(timing: PathTiming, rows: Array) -> Array:
    """By how much rows within intervals exceed their limits, relative; shape (points, N, R)."""
    part, delta = INNER[:, None], np.diff(timing.s)
    u = timing.begin + (timing.end - timing.begin) * part
    x = timing.w[:-1] ** 2 + delta * part * (timing.begin + u)
    x = np.maximum(x, 0.0)
    terms = np.stack([u, x, np.sqrt(x), np.ones_like(x)], axis=2)
    return (rows * terms[:, :, None, :]).sum(axis=3)


def held_timing(
    s: Array, left: Array, right: Array, inner: Array, speeds: tuple[float, float]
) -> tuple[PathTiming, Array]:
    """The fastest motion on a grid that keeps to limits within its intervals, too; and by how much each is still exceeded.

    Where one would be exceeded, the acceleration of the interval becomes constant, as that of implicit Euler steps, which a limit
    that pulls the speed to itself needs; where that does not suffice, the limit is lowered there.
    """
    less, share, every = np.zeros(left.shape[:2]), np.full(len(left), 0.5), np.arange(len(left))
    for i in range(ROUNDS):
        rows = [np.concatenate([x[..., :3], (x[..., 3] + less)[..., None]], axis=2) for x in (left, right)]
        try:
            timing = PhasePlane(s, rows[0], rows[1], share).timing(*speeds)
        except Unreachable:
            if i:  # limits have been lowered by too much
                break
            raise
        over = used(timing, inner).max(axis=0)
        row = over.argmax(axis=1)
        turning = (timing.begin < 0.0) & (timing.end > 0.0)  # between them it could come to rest, and turn back
        most = np.where(turning, np.maximum(over[every, row], STIFF + HELD), over[every, row])
        if most.max() < HELD:
            break
        stiff = (most > STIFF) & (share == 0.5)
        share = np.where(stiff, inner[len(INNER) // 2, every, row, 0] > 0.0, share)
        less += np.where((over > AIM) & ~stiff[:, None], 1.2 * over + AIM, 0.0)
    return timing._replace(row=np.where(most > -REACHED, row, -1)), most


def fastest_timing(rows: PathRows, speeds: tuple[float, float], accuracy: float = ACCURACY) -> PathTiming:
    """The fastest motion along a path, from a path speed to another one; raises `Unreachable` where there is none."""
    s, before = rows.path.grid(POINTS), np.inf
    while True:
        timing, most = held_timing(s, *rows.between(s), speeds)
        total = float(timing.h.sum())
        split = most > HELD
        if abs(total - before) > accuracy * total:
            split[:] = True
        split &= timing.h > SHORTEST * total
        if not split.any() or len(s) > MOST_POINTS:
            worst = int(most.argmax())
            if most[worst] > REFUSED:
                raise Unreachable(float(s[worst]), (int(timing.row[worst]),))
            return smooth(timing)
        before = total
        s = halved(timing, np.flatnonzero(split)).s


def smooth(timing: PathTiming) -> PathTiming:
    """The same motion with as many points as quintics of time between them take to follow it."""
    while True:
        bend = np.sqrt(np.abs(timing.end - timing.begin) / np.diff(timing.s)) * timing.h
        more = (bend > BEND) & (timing.h > SHORTEST * timing.h.sum()) | (len(bend) < FEW)
        if not more.any():
            return timing
        timing = halved(timing, np.flatnonzero(more))
