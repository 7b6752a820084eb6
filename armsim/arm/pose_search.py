"""Joint positions for poses on arrays: from a start, from many starts, and why there are none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, repeat
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armsim.arm.arrays import Array, joined, row_array, row_count
from armsim.arm.reach import usable_range
from armsim.errors import ArmsimError, UsageError, spelled
from armsim.expr import leaves, sqrt
from armsim.inverse_kinematics.near import TOLERANCE, solve_near
from armsim.inverse_kinematics.task import Pointing, PoseGoal
from armsim.model import Arm, Limit, LinkFrame
from armsim.spatial import Vector, rotation_quaternion

BATCHES = (1, 1, 2, 4, 8, 16, 32, 64)  # starts that are tried at once, until one leads to the goal
FEW = 4
SPREAD = 8  # starts after which they no longer lie around a given one
ROUNDS = 50  # of each attempt
POLISH = 4  # attempts more from the nearest pose, which is approached linearly
SINGULAR = 1e-6  # ratio of the singular values of a Jacobian: the root of the tolerance, as distance is flat there
WORTH = 64  # attempts worth a thread


class PoseSolutions(NamedTuple):
    """Joint positions, and what is missing.

    Attributes:
        q: Joint positions [rad or m], shape (..., n).
        distance: Of the frame's origin from the goal [m], shape (...).
        angle: Of the rotation that is missing [rad], shape (...).
        branches: Names of the solutions, such as "elbow up"; of all solutions alone.
    """

    q: Array
    distance: Array
    angle: Array
    branches: tuple[str, ...] = ()


class NoSolution(ArmsimError):
    """No joint positions bring the frame to the pose.

    Attributes:
        reason: "limits": without them there is a solution; "orientation": its position alone is reached; or "reach".
        q: Joint positions of the nearest pose within limits [rad or m], shape (n,).
        distance: From there to the goal [m].
        angle: Likewise [rad].
        beyond: Of "limits" by how much a solution is beyond them [rad or m], by joint.
        singular: Whether the nearest pose is singular, as of a stretched arm.
    """

    exit_code = 1
    reason: str
    q: Array
    distance: float
    angle: float
    beyond: dict[str, float]
    singular: bool


@dataclass(frozen=True)
class PoseSearch:
    """What is asked of every pose.

    Attributes:
        arm: The arm.
        evaluate: As `Robot._evaluate`.
        frame: The frame.
        axis: Direction in the frame that a direction in the world is given for, if one is.
        rotated: Whether quaternions are given.
        limits: Whether the joints' limits hold.
        weights: Of position [1/m] and angle [1/rad].
    """

    arm: Arm
    evaluate: Callable[[str, Callable[..., Any], Sequence[Array], int], Array]
    frame: LinkFrame
    axis: Vector | None
    rotated: bool
    limits: bool
    weights: Array

    def goal(self, numbers) -> PoseGoal:
        """The goal of position, quaternion or direction, and weights."""
        position, rest, weights = Vector(*numbers[:3]), numbers[3:-2], tuple(numbers[-2:])
        if self.axis is not None:
            direction = Vector(*rest)
            unit = direction * (1.0 / sqrt(direction.dot(direction)))
            return PoseGoal(self.frame, position, Pointing(self.axis, unit), weights)
        return PoseGoal(self.frame, position, rotation_quaternion(*rest) if rest else None, weights)

    def attempts(self, goals: Array, starts: Array) -> Array:
        """What `solve_near` finds for every goal from its start: rows of q, distance, angle, rounds."""
        n = self.arm.n

        def body(*x):
            return leaves(solve_near(self.arm, self.goal(x[:-n]), x[-n:], self.limits, ROUNDS))

        name = f"inverse_kinematics of {self.frame.name} {self.axis} {self.rotated} {self.limits}"
        return self.evaluate(name, body, [goals, self.weights, starts], WORTH)

    def cost(self, found: Array) -> Array:
        """Weighted squared residuals; 0 where the goal is met, infinite where there is none."""
        missing = found[..., -3:-1]
        cost = ((missing * self.weights) ** 2).sum(axis=-1)
        return np.where((missing < TOLERANCE).all(axis=-1), 0.0, np.where(np.isnan(cost), math.inf, cost))

    def best(self, goals: Array, near: Array | None) -> Array:
        """For every goal the first solution that is found, else the nearest pose: rows as of `attempts`.

        Args:
            goals: Shape (m, 3, 6 or 7).
            near: Where to begin, and around which to go on, shape (m, n) or (n,); None for the middle of the joints' ranges.
        """
        best = np.full((len(goals), self.arm.n + 3), math.nan)
        left = np.flatnonzero(np.isfinite(goals).all(axis=1))
        k, starts = 0, low_discrepancy_starts(self.arm)
        for count in BATCHES:
            asked, begin = np.repeat(goals[left], count, axis=0), np.array([next(starts) for _ in range(count)])
            if near is not None:
                centre = np.broadcast_to(near, best[:, :-3].shape)[left, None]
                begin = centre + np.minimum(np.arange(k, k + count)[:, None] / SPREAD, 1.0) * (begin - centre)
            begin = np.broadcast_to(begin, (len(left), count, begin.shape[-1])).reshape(len(asked), -1)
            if self.limits and count > FEW:  # solutions without limits are starts that no limit keeps from a corner
                free = replace(self, limits=False)
                begin = free.fewest_turns(free.attempts(asked, begin), None)[:, :-3]
            found = self.attempts(asked, begin).reshape(len(left), count, -1)
            found = found[np.arange(len(left)), self.cost(found).argmin(axis=1)]
            better = self.cost(found) < self.cost(best[left])
            best[left[better]] = found[better]
            left, k = left[self.cost(best[left]) > 0], k + count
            if not len(left):
                break
        return self.fewest_turns(best, near)

    def fewest_turns(self, found: Array, near: Array | None) -> Array:
        """The same poses with joints turned to within half a turn of a start, the middle of their ranges unless given."""
        arm, (lower, upper) = self.arm, self.ranges
        led = {link.mimic.joint for link in arm.followers if link.mimic}
        free = [joint.kind.turns and not joint.kind.slides and joint.name not in led for joint in arm.joints]
        q = found[:, :-3]
        centre = np.array([usable_range(joint) for joint in arm.joints]).mean(axis=1) if near is None else near
        turned = q - math.tau * np.rint((q - centre) / math.tau)
        within = (lower <= turned) & (turned <= upper) | (not self.limits)
        return np.hstack([np.where(free & within, turned, q), found[:, -3:]])

    @property
    def ranges(self) -> Array:
        """Least and greatest joint positions, shape (2, n)."""
        limits = [joint.limit or Limit(-math.inf, math.inf) for joint in self.arm.joints]
        return np.array([[limit.lower, limit.upper] for limit in limits], dtype=float).T

    def refusal(self, goal: Array, best: Array) -> NoSolution:
        """Why a goal, shape (1, ...), has no solution, from the nearest pose that `best` gave."""
        arm = self.arm
        for _ in range(POLISH):
            best = self.attempts(goal, best[:, :-3])
        *q, distance, angle, _ = best[0].tolist()
        _, J = self.goal([*goal[0].tolist(), *self.weights.tolist()]).linearized(arm, q)
        sizes = np.linalg.svd(np.array(J), compute_uv=False)
        singular = bool(sizes[-1] < SINGULAR * sizes[0])
        free, alone = replace(self, limits=False), replace(self, axis=None, rotated=False)
        unlimited = free.best(goal, np.array(q))
        lower, upper = self.ranges
        beyond: dict[str, float] = {}
        nearest = f"the nearest pose is {distance:.5g} m and {angle:.5g} rad away{', and singular' * singular}"
        at = f"at q = {', '.join(f'{x:.5g}' for x in q)}"
        if free.cost(unlimited)[0] == 0.0:
            excess = np.maximum(lower - unlimited[0, :-3], unlimited[0, :-3] - upper).tolist()
            beyond = {name: x for name, x in zip(arm.joint_names, excess, strict=True) if x > 0.0}
            joints = ", ".join(f"{name} by {size:.5g}" for name, size in beyond.items())
            mend = f"move the pose or the base, or leave limits out: {spelled('--no-limits', 'limits=False')}"
            text = (
                "limits",
                "a pose within the joints' limits",
                f"beyond them: {joints} rad or m; within them {nearest}",
                mend,
            )
        elif alone.cost(alone.best(goal[:, :3], np.array(q)))[0] == 0.0:
            mend = f"give the position alone, or the direction of one axis: {spelled('--axis z=0,0,-1', 'axis=')}"
            found = f"the position alone is within reach; with the orientation {nearest}"
            text = "orientation", "an orientation that the frame can have there", found, mend
        else:
            text = "reach", "a pose within reach", f"out of reach: {nearest}", "move the pose or the base"
        reason, expected, found, mend = text
        error = NoSolution.of("no solution", expected, f"{found}\n{at}", mend)
        error.reason, error.q, error.distance, error.angle = reason, np.array(q), distance, angle
        error.beyond, error.singular = beyond, singular
        return error


def solve_poses(search: PoseSearch, goals: Array, near: Array | None) -> PoseSolutions:
    """The solutions of goals: of one, shape (k,), or of many, shape (m, k), whose rows are NaN where there is none.

    Raises:
        NoSolution: There is none of a single goal; says why.
    """
    rows = np.atleast_2d(goals)
    found = search.best(rows, near)
    unsolved = search.cost(found) > 0.0
    if goals.ndim == 1 and unsolved[0]:
        raise search.refusal(rows, found)
    found[unsolved, :-3] = math.nan
    if goals.ndim == 1:
        found = found[0]
    return PoseSolutions(np.ascontiguousarray(found[..., :-3]), found[..., -3], found[..., -2])


def pose_goals(pose: Any, axis: tuple[str, ArrayLike] | None) -> Array:
    """Positions, with quaternions or directions behind them, shape (k,) or (m, k).

    Raises:
        UsageError: They are no numbers, or zero where a direction is asked for.
        ShapeError: They have another shape.
    """
    position, rest, width = pose, None, 4
    if isinstance(pose, tuple) and len(pose) == 2:
        position, rest = pose
    if axis is not None:
        rest, width = axis[1], 3
    parts = {"position": row_array("position", position, 3)}
    if rest is not None:
        parts["orientation"] = row_array("orientation", rest, width)
        if not np.abs(parts["orientation"]).max(axis=-1, initial=0.0).all():
            raise UsageError.of(
                "orientation", "a quaternion or a direction that is not zero", "zeros", "give one that is not"
            )
    many = row_count("pose", parts)
    goals = joined([*parts.values()])
    return goals[0] if many is None else goals


def low_discrepancy_starts(arm: Arm) -> Iterator[list[float]]:
    """Joint positions that fill the joints' ranges evenly, from the middle on: multiples of powers of a root, less whole numbers.

    Roberts 2018, The unreasonable effectiveness of quasirandom sequences: x^(n+1) = x + 1.
    """
    root, ranges = 1.5, [usable_range(joint) for joint in arm.joints]
    for _ in range(64):  # Newton's method
        power = math.prod(repeat(root, arm.n))
        root -= (root * power - root - 1.0) / ((arm.n + 1) * power - 1.0)
    powers = list(accumulate(repeat(1.0 / root, arm.n), mul))
    k = 0
    while True:
        yield [low + (high - low) * math.fmod(0.5 + k * x, 1.0) for x, (low, high) in zip(powers, ranges, strict=True)]
        k += 1
