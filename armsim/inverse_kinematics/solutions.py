"""All solutions of inverse kinematics: every joint configuration that meets a goal, from the geometry of the axes.

`candidates(arm, goal)` has them to rounding times the condition of the arm, many goals at once; `solutions(arm, goal)` polishes
those of one goal by `solve_near`, drops doubles, turns joints into their ranges, and names branches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from armsim.inverse_kinematics.branches import branch_names
from armsim.inverse_kinematics.closed_form import closed_form, conformal, generators, moved
from armsim.inverse_kinematics.elimination import eliminate
from armsim.inverse_kinematics.kinematic_loop import KinematicLoop, kinematic_loop
from armsim.inverse_kinematics.near import TOLERANCE, PoseSolution, solve_near
from armsim.inverse_kinematics.task import PoseGoal
from armsim.model import Arm

SAME = 1e-6  # rad or m; a double root is found to the root of rounding
EDGE = 1e-12  # by which rounding may leave a range [rad or m]
SINGULAR = 1e-6  # ratio of the singular values of a Jacobian
ROUGH = 0.3  # distance of a candidate from the goal, in lengths of the arm: others are spurious
ROUNDS = 20
TURNS = range(-9, 10)  # more than a cable bears


@dataclass(frozen=True)
class Solution:
    """A joint configuration that meets a goal.

    Attributes:
        q: Joint positions [rad or m], shape (n,).
        branch: Such as "shoulder right, elbow up, wrist flipped", or a number, from 1; with "singular" behind it.
        distance: Residual of the position [m].
        angle: Residual of the orientation [rad].
        singular: Whether the arm is singular there: the solution is a double one, or one of infinitely many.
    """

    q: np.ndarray
    branch: str
    distance: float
    angle: float
    singular: bool


def candidates(arm: Arm, goal: PoseGoal) -> np.ndarray:
    """Joint positions among which are all that meet a goal, (m, k, n); NaN where there are fewer than k.

    Joints that do not carry the frame are at their initial positions.

    Args:
        arm: The arm, n joints.
        goal: Its numbers may be arrays, of m goals.

    Raises:
        UsageError: There are infinitely many, or a joint is a screw or moves with another.
    """
    loop = kinematic_loop(arm, goal)
    form, (R, p) = closed_form(loop), loop.motions(goal)
    G = conformal(R, p)
    with np.errstate(all="ignore"):
        found = eliminate(loop, R, p) if form is None else form.solve(G)
        if form is None:
            found[~(_distance(loop, G, found) < ROUGH)] = math.nan
    found = np.where(loop.turns, found, found * loop.length)
    q = np.tile(arm.initial, (*found.shape[:2], 1))
    q[..., loop.joints] = found[..., : len(loop.joints)]
    return q


def solutions(
    arm: Arm, goal: PoseGoal, near: Sequence[float] | None = None, limits: bool = True, every_turn: bool = False
) -> list[Solution]:
    """All joint configurations that meet a goal.

    Args:
        arm: The arm, n joints.
        goal: Of floats.
        near: Of the turns of a joint that lead to the same pose, the nearest to this is taken [rad or m]; the middle of the
            joint's range, or 0, unless given. Joints that do not carry the frame stay here, or at their initial positions.
        limits: Whether joints have to be within their limits.
        every_turn: All turns within limits instead, each a solution.

    Raises:
        UsageError: There are infinitely many, or a joint is a screw or moves with another.
    """
    turning = [joint.kind.turns for joint in arm.joints]
    bounds = [joint.bounds if limits else (None, None) for joint in arm.joints]
    ranges = [(-math.inf if a is None else a, math.inf if b is None else b) for a, b in bounds]
    middle = [sum(ends) / 2 if math.isfinite(sum(ends)) else 0.0 for ends in ranges] if near is None else near
    rest, own = arm.initial if near is None else near, kinematic_loop(arm, goal).joints
    ends: list[PoseSolution] = []
    for start in candidates(arm, goal)[0].tolist():
        if math.isfinite(sum(start)) and _apart(start, ends, turning):
            end = solve_near(arm, goal, start, False, ROUNDS)
            if max(end.distance, end.angle) < TOLERANCE and _apart(end.q, ends, turning):
                ends.append(end)
    found = []
    for end, branch in zip(ends, branch_names(arm, goal.frame, [end.q for end in ends]), strict=True):
        _, J = goal.linearized(arm, end.q)
        sizes = np.linalg.svd(np.array(J)[:, own])[1]
        singular = bool(sizes[-1] < SINGULAR * sizes[0])
        branch += ", singular" * singular
        choices = [_turns(*each, every_turn) for each in zip(end.q, middle, turning, ranges, strict=True)]
        choices = [choices[i] if i in own else [rest[i]] for i in range(arm.n)]
        for q in product(*choices):
            found.append(Solution(np.array(q), branch, end.distance, end.angle, singular))
    return sorted(found, key=lambda one: np.linalg.norm(one.q - middle))


def _distance(loop: KinematicLoop, G: np.ndarray, q: np.ndarray) -> np.ndarray:
    """How far the arm's own joints leave points of the frame from the goal, (m, k)."""
    X = np.column_stack([loop.points, (loop.points**2).sum(axis=1), np.ones(len(loop.points))])
    goal = X @ G.transpose(0, 2, 1)
    for i in range(len(loop.joints))[::-1]:
        X = moved(generators(loop.twists[i : i + 1])[0], q[..., i, None], X)
    return abs(X - goal[:, None])[..., :3].max(axis=(2, 3))


def _apart(q: Sequence[float], others: Sequence[PoseSolution], turning: Sequence[bool]) -> bool:
    """Whether joint positions differ from all others by more than turns."""
    off = [np.subtract(q, other.q) for other in others]
    return all(abs(np.where(turning, np.sin(0.5 * x), x)).max() > SAME for x in off)


def _turns(q: float, near: float, turns: bool, ends: tuple[float, float], every: bool) -> list[float]:
    """A joint's position by the turns within its range: the one nearest to another position, or all of a finite range."""
    lower, upper = ends
    first = q - math.tau * round((q - near) / math.tau) if turns else q
    nearby = (first + math.tau * k for k in (TURNS if turns else (0,)))
    within = [min(max(x, lower), upper) for x in nearby if lower - EDGE < x < upper + EDGE]
    return within if every and math.isfinite(upper - lower) else sorted(within, key=lambda x: abs(x - near))[:1]
