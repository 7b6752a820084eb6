"""Joint positions for poses on arrays: from a start, from many starts, and why there are none."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from armsim.arm.arrays import joined, row_array, row_count
from armsim.arm.reach import usable_range
from armsim.arrays import Array, ArrayLike
from armsim.errors import ArmsimError, ShapeError, UsageError, spelled
from armsim.expr import leaves, sqrt
from armsim.files.nodes import quoted
from armsim.inverse_kinematics.near import TOLERANCE, solve_near
from armsim.inverse_kinematics.task import Pointing, PoseGoal
from armsim.model import Arm, Limit, LinkFrame
from armsim.spatial import Vector, X, Y, Z, rotation_quaternion

BATCHES = (0, 1, 2, 4, 8, 16, 32, 64, 128)  # of starts that are tried at once, until one leads to the goal
FEW = 4
SPREAD = 8  # starts after which they no longer lie around a given one
ROUNDS = 50  # of each attempt
POLISH = 4  # attempts more from the nearest pose, which is approached linearly
SINGULAR = 1e-6  # ratio of the singular values of a Jacobian: the root of the tolerance, as distance is flat there
BLOCK = 8192  # goals that are sought at once, so that their starts stay within 100 MB
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
        limits: Whether the joints' limits hold.
        weights: Of position [1/m] and angle [1/rad].
    """

    arm: Arm
    evaluate: Callable[[str, Callable[..., Any], Sequence[Array], int], Array]
    frame: LinkFrame
    axis: Vector | None
    limits: bool
    weights: Array

    def __post_init__(self) -> None:
        w = self.weights
        if w.shape != (2,) or not (np.isfinite(w) & (w > 0.0)).all():
            mend = "write for example weights=(1.0, 0.1)"
            raise UsageError.of("weights", "two positive numbers, of position and angle", quoted(w.tolist()), mend)

    @property
    def idle(self) -> list[int]:
        """Indices of the joints that do not carry the frame."""
        arm = self.arm
        links = [arm.links[i] for i in arm.path(arm.link_of(self.frame))]
        carrying = {link.mimic.joint if link.mimic else link.name for link in links}
        return [i for i, name in enumerate(arm.joint_names) if name not in carrying]

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

        name = f"inverse_kinematics of {self.frame.name} {self.axis} {goals.shape[-1]} {self.limits}"
        return self.evaluate(name, body, [goals, self.weights, starts], WORTH)

    def cost(self, found: Array) -> Array:
        """Weighted squared residuals; 0 where the goal is met, infinite where there is none."""
        missing = found[..., -3:-1]
        cost = ((missing * self.weights) ** 2).sum(axis=-1)
        return np.where((missing < TOLERANCE).all(axis=-1), 0.0, np.nan_to_num(cost, nan=math.inf))

    def best(self, goals: Array, near: Array) -> Array:
        """For every goal the first solution that is found, else the nearest pose: rows as of `attempts`.

        Args:
            goals: Shape (m, 3, 6 or 7).
            near: Where to begin, and around which to go on, shape (m, n).
        """
        starts, free = even_starts(self.arm), replace(self, limits=False)
        best = np.full((len(goals), self.arm.n + 3), math.nan)
        left = np.flatnonzero(np.isfinite(goals).all(axis=1))
        for first, last in pairwise(BATCHES):
            if not len(left):
                break
            share = np.minimum(np.arange(first, last)[:, None] / SPREAD, 1.0)
            begin = ((1.0 - share) * near[left, None] + share * starts[first:last]).reshape(-1, self.arm.n)
            asked = np.repeat(goals[left], last - first, axis=0)
            if self.limits and first >= FEW:  # solutions without limits are starts that no limit keeps from a corner
                begin = free.fewest_turns(free.attempts(asked, begin), starts[0])[:, :-3]
            begin[:, self.idle] = np.repeat(near[left][:, self.idle], last - first, axis=0)
            found = self.attempts(asked, begin).reshape(len(left), last - first, -1)
            found = found[np.arange(len(left)), self.cost(found).argmin(axis=1)]
            better = self.cost(found) < self.cost(best[left])
            best[left[better]] = found[better]
            left = left[self.cost(best[left]) > 0.0]
        return self.fewest_turns(best, near)

    def fewest_turns(self, found: Array, near: Array) -> Array:
        """The same poses with joints turned to within half a turn of a start, where limits allow it."""
        arm, (lower, upper) = self.arm, self.ranges
        led = {link.mimic.joint for link in arm.followers if link.mimic}
        free = [joint.kind.turns and not joint.kind.slides and joint.name not in led for joint in arm.joints]
        q = found[:, :-3]
        turned = q - math.tau * np.rint((q - near) / math.tau)
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
        q, (distance, angle) = best[0, :-3], best[0, -3:-1].tolist()
        _, J = self.goal([*goal[0].tolist(), *self.weights.tolist()]).linearized(arm, q.tolist())
        sizes = np.linalg.svd(np.array(J), compute_uv=False)
        singular, beyond = bool(sizes[-1] < SINGULAR * sizes[0]), dict[str, float]()
        reason, found, expected, mend = "reach", "out of reach: ", "a pose within reach", "move the pose or the base"
        free, alone = replace(self, limits=False), replace(self, axis=None)
        unlimited, (lower, upper) = free.best(goal, best[:, :-3]), self.ranges
        if free.cost(unlimited)[0] == 0.0:
            excess = np.maximum(lower - unlimited[0, :-3], unlimited[0, :-3] - upper).tolist()
            beyond = {name: x for name, x in zip(arm.joint_names, excess, strict=True) if x > 0.0}
            joints = ", ".join(f"{name} by {size:.5g}" for name, size in beyond.items())
            reason, found, expected = (
                "limits",
                f"beyond them: {joints} rad or m; within them ",
                "a pose within the joints' limits",
            )
            mend += f", or leave limits out: {spelled('--no-limits', 'limits=False')}"
        elif alone.cost(alone.best(goal[:, :3], best[:, :-3]))[0] == 0.0:
            reason, found = "orientation", "the position alone is within reach; with the orientation "
            expected = "an orientation that the frame can have there"
            mend = f"give the position alone, or the direction of one axis: {spelled('--axis z=0,0,-1', 'axis=')}"
        found += f"the nearest pose is {distance:.5g} m and {angle:.5g} rad away{', and singular' * singular}"
        at = ", ".join(f"{round(x, 5) + 0.0:g}" for x in q.tolist())
        error = NoSolution.of("no solution", expected, f"{found}\nat q = {at} rad or m", mend)
        facts = {"q": q, "distance": distance, "angle": angle, "beyond": beyond, "singular": singular}
        vars(error).update(facts, reason=reason)
        return error


def solve_poses(search: PoseSearch, goals: Array, near: Array | None) -> PoseSolutions:
    """The solutions of goals: of one, shape (k,), or of many, shape (m, k), whose rows are NaN where there is none.

    Raises:
        NoSolution: There is none of a single goal; says why.
    """
    start = even_starts(search.arm)[0] if near is None else near
    if near is None:
        start[search.idle] = np.array(search.arm.initial)[search.idle]
    many = row_count("inverse_kinematics", {"pose": goals, "near": start})
    rows, starts = (np.broadcast_to(x, (1 if many is None else many, x.shape[-1])) for x in (goals, start))
    blocks = [slice(i, i + BLOCK) for i in range(0, max(len(rows), 1), BLOCK)]
    found = np.concatenate([search.best(rows[block], starts[block]) for block in blocks])
    unsolved = search.cost(found) > 0.0
    if many is None and unsolved[0] and np.isfinite(found).all():
        raise search.refusal(rows, found)
    found[unsolved, :-3] = math.nan
    found = found[0] if many is None else found
    return PoseSolutions(np.ascontiguousarray(found[..., :-3]), found[..., -3], found[..., -2])


def every_solution(search: PoseSearch, goal: Array, near: Array | None, every_turn: bool = False) -> PoseSolutions:
    """All solutions of a goal, shape (k,), those next to `near` first, with the names of their branches.

    Raises:
        NoSolution: There is none; says why.
        ShapeError: There are many goals.
        UsageError: There are infinitely many solutions, or all of them cannot be told; see `solutions`.
    """
    from armsim.inverse_kinematics.solutions import solutions

    for name, given in (("pose", goal), ("near", near)):
        if given is not None and given.ndim > 1:
            raise ShapeError(f"{name}: expected one, as all solutions are wanted, found {len(given)}")
    start = None if near is None else near.tolist()
    wanted = search.goal([*goal.tolist(), *search.weights.tolist()])
    found = solutions(search.arm, wanted, start, search.limits, every_turn)
    if not np.isfinite(goal).all():
        return PoseSolutions(np.empty((0, search.arm.n)), np.empty(0), np.empty(0))
    if not found:
        return solve_poses(search, goal, near)  # which says why
    q, distance, angle = (np.array([getattr(one, key) for one in found]) for key in ("q", "distance", "angle"))
    return PoseSolutions(q, distance, angle, tuple(one.branch for one in found))


def pointing_axis(axis: Any) -> Vector | None:
    """The axis of a frame that is to point along a direction; None without one.

    Raises:
        UsageError: It is none of x, y and z, or there is no direction.
    """
    directions = {"x": X, "y": Y, "z": Z}
    if axis is None:
        return None
    if not (isinstance(axis, (tuple, list)) and len(axis) == 2 and axis[0] in list(directions)):
        example = spelled("--axis z=0,0,-1", 'axis=("z", [0, 0, -1])')
        raise UsageError.of("axis", "x, y or z, and a direction", quoted(axis), f"write for example {example}")
    return directions[axis[0]]


def pose_goals(pose: Any, axis: tuple[str, ArrayLike] | None) -> Array:
    """Positions, with quaternions or directions behind them, shape (k,) or (m, k).

    Raises:
        UsageError: They are no numbers, or zero where a direction is asked for.
        ShapeError: They have another shape.
    """
    position, rest = pose if isinstance(pose, tuple) and len(pose) == 2 else (pose, None)
    if rest is not None and axis is not None:
        mend = "give the position alone with axis, or leave axis out"
        raise UsageError.of("axis", "a pose without an orientation", "one with a quaternion", mend)
    try:
        parts = {"position": row_array("position", position, 3)}
        if axis is not None:
            parts["axis"] = row_array("axis", axis[1], 3)
        elif rest is not None:
            parts["quaternion"] = row_array("quaternion", rest, 4)
    except UsageError:
        mend = "write for example [0.4, 0, 0.3], or ([0.4, 0, 0.3], [0, 1, 0, 0])"
        raise UsageError.of("pose", "numbers: a position or (position, quaternion)", quoted(pose), mend) from None
    if any((part == 0.0).all(axis=-1).any() for name, part in parts.items() if name != "position"):
        raise UsageError.of("orientation", "a quaternion or a direction", "zeros", "give one that is not zero")
    many = row_count("pose", parts)
    goals = joined([*parts.values()])
    return goals[0] if many is None else goals


def even_starts(arm: Arm) -> Array:
    """Joint positions that fill the joints' ranges evenly, from the middle on, shape (.., n).

    Multiples, modulo 1, of the powers of 1 / x with x^(n+1) = x + 1 (Roberts 2018, The unreasonable effectiveness of
    quasirandom sequences).
    """
    root, (low, high) = 1.5, np.array([usable_range(joint) for joint in arm.joints]).T
    for _ in range(64):  # Newton's method
        power = math.prod([root] * arm.n)
        root -= (root * power - root - 1.0) / ((arm.n + 1) * power - 1.0)
    multiples = np.arange(BATCHES[-1])[:, None] * np.cumprod([1.0 / root] * arm.n)
    return np.asarray(low + (high - low) * np.fmod(0.5 + multiples, 1.0))
