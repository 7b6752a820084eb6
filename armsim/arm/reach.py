"""How far an arm reaches."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace

from armsim.arm.golden import greatest
from armsim.dynamics import frame_position, own_poses
from armsim.dynamics.kinematics import joint_pose
from armsim.model import Arm, Joint
from armsim.spatial import IDENTITY, ZERO, Pose, Vector

STARTS = 8
SWEEPS = 200
VISITS = (
    16_000  # joints turned in all ascents together, so that a long arm's reach takes no longer than a second or two
)
SEARCH = 25  # joints turned in the time of a search for the position of a joint that others on the path mimic
SETTLED = 1e-12  # relative gain of a sweep at which the ascent has converged
PARTS = 32  # grid cells per turn of a screw, in the search for its farthest position


def reach(arm: Arm) -> float:
    """The greatest distance of the tool from the first joint on its path, within limits [m]; inf if a slide there has no end.

    Coordinate ascent: in one joint the squared distance is a sinusoid of an angle, or a parabola of a slide, with a maximum in
    closed form; that of a screw, or of joints that move as one, is searched for. The best of several ascents from fixed poses is
    a lower bound of the reach.
    """
    path = arm.path(arm.link_of(arm.tool))[::-1]
    joints = [arm.links_in_range[i] for i in path]
    if any(joint.kind.slides and None in joint.bounds for joint in joints):
        return math.inf
    start = reach_center(arm)
    rng = random.Random(0)
    poses = [list(arm.initial)]
    poses += [[rng.uniform(*usable_range(joint)) for joint in arm.joints] for _ in range(STARTS - 1)]
    return max(_climb(arm, joints, start, q) for q in poses)


def reach_center(arm: Arm) -> Vector:
    """Where the first joint on the tool's path is in the world [m]; a slide at its zero."""
    return own_poses(arm, [0.0] * arm.n)[arm.path(arm.link_of(arm.tool))[-1]].position


def usable_range(joint: Joint) -> tuple[float, float]:
    """The range of a joint; at most one turn of a revolute one, and not infinite."""
    limit = joint.limit
    lower, upper = (-math.inf, math.inf) if limit is None else (limit.lower, limit.upper)
    if joint.kind.slides and None not in joint.bounds:
        return float(lower), float(upper)
    return max(lower, min(upper, math.pi) - 2 * math.pi), min(upper, max(lower, -math.pi) + 2 * math.pi)


def _climb(arm: Arm, joints: list[Joint], start: Vector, q: list[float]) -> float:
    far, leaders = 0.0, [arm.leader(joint) for joint in joints]
    coupled = {leader for leader in leaders if leaders.count(leader) > 1}
    for _ in range(min(SWEEPS, max(1, VISITS // (STARTS * len(joints) * (1 + SEARCH * len(coupled)))))):
        before = far
        for i in coupled:
            q[i] = _farthest_as_one(arm, i, start, q)
        at = [
            q[i] if joint.mimic is None else joint.mimic.position(q[i])
            for joint, i in zip(joints, leaders, strict=True)
        ]
        beyond = [arm.placement(arm.tool).position]  # the tool seen from each link, tip to base
        for joint, q_i in zip(reversed(joints[1:]), reversed(at[1:]), strict=True):
            R, p = joint_pose(joint, q_i)
            beyond.append(p + R @ beyond[-1])
        pose = arm.base
        for joint, i, q_i, r in zip(joints, leaders, at, reversed(beyond), strict=True):
            seen = joint.tilt.T @ (
                pose.inverse.point(start) - joint.position
            )  # the point that distance is measured from, in the joint's frame
            if i not in coupled:
                candidates = [q_i, *_best(joint, r, seen)]
                q_i = max(candidates, key=lambda x: _distance(joint, x, r, seen))
                q[i] = q_i if joint.mimic is None else joint.mimic.invert(q_i)
            R, p = joint_pose(joint, q_i)
            pose = pose @ Pose(R.matrix, p)
        tip = pose.point(arm.placement(arm.tool).position) - start
        far = math.sqrt(tip.dot(tip))
        if far <= before * (1 + SETTLED):
            break
    return far


def _best(joint: Joint, r: Vector, c: Vector) -> list[float]:
    """Candidates for the joint position of the greatest distance."""
    ends = [bound for bound in joint.bounds if bound is not None]
    if not joint.kind.turns:
        return ends
    lower, upper = usable_range(joint)
    if joint.kind.slides:
        return [*ends, _farthest_of_screw(joint, r, c, lower, upper)]
    q = math.atan2(c.y * r.x - c.x * r.y, c.x * r.x + c.y * r.y) + math.pi - joint.offset
    q -= 2 * math.pi * math.floor((q - lower) / (2 * math.pi))
    return [*ends, q] if q <= upper else ends


def _farthest_of_screw(joint: Joint, r: Vector, c: Vector, lower: float, upper: float) -> float:
    """The farthest position of a screw.

    The squared distance is a sinusoid and a parabola that opens upwards: a whole turn away from its vertex is no nearer, so the
    farthest position is within a turn of an end of the range, however many turns there are between.
    """
    slides, offset = joint.slides, joint.offset
    along, cosine, sine = r.z - c.z, r.x * c.x + r.y * c.y, r.x * c.y - r.y * c.x

    def squared(q: float) -> float:  # up to a constant
        x = q + offset
        return float(slides * x * (slides * x + 2 * along) - 2 * (cosine * math.cos(x) + sine * math.sin(x)))

    return _farthest(squared, lower, upper)


def _farthest_as_one(arm: Arm, i: int, start: Vector, q: list[float]) -> float:
    """The position of joint i where the tool is farthest from the start, with all that mimic it."""

    def squared(x: float) -> float:
        d = frame_position(arm, [*q[:i], x, *q[i + 1 :]], arm.tool) - start
        return float(d.dot(d))

    return max(q[i], _farthest(squared, *usable_range(arm.joints[i])), key=squared)


def _farthest(squared: Callable[[float], float], lower: float, upper: float) -> float:
    """Where a squared distance is greatest: a grid search within a turn of the ends, refined by golden section."""
    turn = min(2 * math.pi, upper - lower)
    step = turn / PARTS
    best = max((end + k * step for end in (lower, upper - turn) for k in range(PARTS + 1)), key=squared)
    return greatest(squared, max(lower, best - step), min(upper, best + step))


def _distance(joint: Joint, q: float, r: Vector, c: Vector) -> float:
    """Squared distance between c and the point r beyond a joint at q, both seen from where the joint begins."""
    R, p = joint_pose(replace(joint, tilt=IDENTITY, position=ZERO), q)
    d = p + R @ r - c
    return float(d.dot(d))
