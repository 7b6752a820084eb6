"""The joint positions of a goal near a start, by Levenberg-Marquardt within the joints' limits.

`solve_near(arm, goal, q, limits=True) -> PoseSolution(q, distance, angle, rounds)`, over floats or expressions: on floats it is
called as it stands, traced it is the body of a `BatchKernel`. It never fails: `distance` [m] and `angle` [rad] say what is
missing, 0 to rounding where the goal is met (`TOLERANCE`), and a local minimum of the weighted residual otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from armsim.dynamics import frame_pose, solve_held, solve_ldl
from armsim.expr import Scalar, Scalars, absolute, both, chosen, clip, dot, either, loop, maximum, negated, sqrt, where
from armsim.inverse_kinematics.task import PoseGoal
from armsim.model import Arm, Limit
from armsim.records import mutable_record

TOLERANCE = 1e-11  # m and rad; an exact answer is mostly below it by a factor of a thousand
ROUNDS = 100  # at most; a dozen is common
LEAP = 1.0  # most that a joint moves in a round [rad or m]: linearisation holds no further
FLOOR = 1e-15  # of the damping: singular equations can be solved, and a step is off by no more than rounding makes it
MET = 1e-28  # squared residual that is only rounding
STILL = 1e-16  # steps that no longer change a residual [rad or m]
LEAST = 1e-3  # damping
CAUTION = 4.0


@mutable_record
class PoseSolution:
    """What was found.

    Attributes:
        q: Joint positions [rad or m], n scalars.
        distance: Of the frame's origin from the goal [m].
        angle: Of the rotation that is missing [rad].
        rounds: Evaluations of the Jacobian.
    """

    q: Scalars
    distance: Scalar
    angle: Scalar
    rounds: Scalar


@mutable_record
class SolverState:
    """A state of the iteration.

    Attributes:
        q: The best joint positions so far.
        cost: Their squared residual.
        step: What is tried next.
        hope: By how much the linearised residual's square falls with that.
        damping: Levenberg-Marquardt's parameter, relative to the cost.
        rounds: So far.
    """

    q: Scalars
    cost: Scalar
    step: Scalars
    hope: Scalar
    damping: Scalar
    rounds: Scalar


def solve_near(arm: Arm, goal: PoseGoal, q: Scalars, limits: bool = True, at_most: int = ROUNDS) -> PoseSolution:
    """Joint positions that bring a frame to a goal, from a start.

    Levenberg-Marquardt with a damping in proportion to the squared residual, which makes it quadratic where the goal can be met
    (Yamashita and Fukushima 2001, *Computing Supplement* 15); a step that does not reduce the residual is shortened. Joints
    at a limit beyond which the residual would fall are held, others projected onto their range (Bertsekas 1982, *SIAM J. Control
    and Optimization* 20(2)). Where there are more joints than conditions, every step is the least that does it.

    Args:
        arm: The arm, n joints.
        goal: What is wanted.
        q: Where to begin [rad or m], n scalars.
        limits: Whether the joints' limits hold.
        at_most: Bound on the evaluations of the Jacobian.
    """
    ends = Limit(-math.inf, math.inf)
    ranges = [(joint.limit or ends) if limits else ends for joint in arm.joints]

    def improve(now: SolverState) -> list[SolverState]:
        tried = [clip(x + d, of.lower, of.upper) for x, d, of in zip(now.q, now.step, ranges, strict=True)]
        r, J = goal.linearized(arm, tried)
        cost = dot(r, r)
        gain = now.cost - cost
        better = gain > 0.0
        less = where(gain > 0.5 * now.hope, maximum(now.damping / CAUTION, LEAST), now.damping)
        damping = where(better, less, now.damping * CAUTION * CAUTION)
        fresh, hope = _step(r, J, damping * cost + FLOOR, tried, ranges)
        back = [d / CAUTION for d in now.step]
        q, cost, step, hope = chosen(better, (tried, cost, fresh, hope), (now.q, now.cost, back, now.hope / CAUTION))
        return [SolverState(q, cost, step, hope, damping, now.rounds + 1.0)]

    def done(now: SolverState) -> Any:
        size: Scalar = 0.0
        for d in now.step:
            size = maximum(absolute(d), size)
        return either(negated(now.cost > MET), both(size < STILL, now.rounds > 0.5))

    start = SolverState(list(q), 1e300, [0.0] * arm.n, 0.0, 1.0, 0.0)
    (end,) = loop([start], improve, done, at_most)
    shift, turn = goal.missing(frame_pose(arm, end.q, goal.frame))
    return PoseSolution(end.q, sqrt(shift.dot(shift)), sqrt(turn.dot(turn)), end.rounds)


def _step(
    r: Scalars,
    J: Sequence[Scalars],
    damping: Scalar,
    q: Scalars,
    ranges: Sequence[Limit],
) -> tuple[Scalars, Scalar]:
    """The damped step d to less residual, and by how much the linearised |r|² falls with it.

    (Jᵀ J + λ) d = Jᵀ r, or with more joints than conditions d = Jᵀ (J Jᵀ + λ)⁻¹ r.
    """
    columns = [list(column) for column in zip(*J, strict=True)]
    slopes = [dot(column, r) for column in columns]
    held = [
        either(both(x <= of.lower, slope < 0.0), both(x >= of.upper, slope > 0.0))
        for x, slope, of in zip(q, slopes, ranges, strict=True)
    ]
    if len(columns) <= len(r):
        d = solve_held(_gram(columns, damping), slopes, held)
    else:
        free = [[where(stuck, 0.0, x) for x in column] for stuck, column in zip(held, columns, strict=True)]
        forces = solve_ldl(_gram(list(zip(*free, strict=True)), damping), r)
        d = [dot(column, forces) for column in free]
    size: Scalar = LEAP
    for x in d:
        size = maximum(absolute(x), size)
    d = [x * (LEAP / size) for x in d]
    return d, dot(d, slopes) + damping * dot(d, d)


def _gram(rows: Sequence[Scalars], damping: Scalar) -> Sequence[Scalars]:
    """Lower triangle of the rows' inner products, with the damping on its diagonal."""
    return [[dot(a, b, damping if i == j else 0.0) for j, b in enumerate(rows[: i + 1])] for i, a in enumerate(rows)]
