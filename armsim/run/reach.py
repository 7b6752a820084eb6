"""How far an arm reaches."""

from __future__ import annotations

import math
import random

from armsim.dynamics import own_poses
from armsim.dynamics.kinematics import joint_pose
from armsim.model import Arm
from armsim.spatial import Pose, Vector

STARTS = 8
SWEEPS = 200
SETTLED = 1e-12  # relative gain of a sweep below which nothing more is to be had


def reach(arm: Arm) -> float:
    """The greatest distance of the tool from the first joint, within the joints' limits [m]; inf if a slide has no end.

    Joint by joint the distance is a sinusoid of an angle, or a parabola of a slide, whose greatest value is known; going
    through the joints again and again climbs to a maximum. The best of a few climbs from fixed poses is taken, so the
    result is at most the true one.
    """
    if any(
        j.type == "prismatic" and (j.limit is None or math.isinf(j.limit.upper - j.limit.lower)) for j in arm.joints
    ):
        return math.inf
    start = own_poses(arm, [0.0] * arm.n)[0].position
    rng = random.Random(0)
    poses = [[float(q) for q in arm.initial]]
    poses += [[rng.uniform(*_range(arm, i)) for i in range(arm.n)] for _ in range(STARTS - 1)]
    return max(_climb(arm, start, q) for q in poses)


def _range(arm: Arm, i: int) -> tuple[float, float]:
    """The range of joint i, a turn where it has no end."""
    limit = arm.joints[i].limit
    lower, upper = (-math.inf, math.inf) if limit is None else (limit.lower, limit.upper)
    return max(lower, min(upper, math.pi) - 2 * math.pi), min(upper, max(lower, -math.pi) + 2 * math.pi)


def _climb(arm: Arm, start: Vector, q: list[float]) -> float:
    far = 0.0
    for _ in range(SWEEPS):
        before = far
        beyond = [arm.tool_in_link.position]  # the tool seen from each link, tip to base
        for joint, q_i in zip(reversed(arm.joints[1:]), reversed(q[1:]), strict=True):
            R, p = joint_pose(joint, q_i)
            beyond.append(p + R @ beyond[-1])
        pose = arm.base
        for i, (joint, r) in enumerate(zip(arm.joints, reversed(beyond), strict=True)):
            c = joint.tilt.T @ (
                pose.inverse.point(start) - joint.position
            )  # where we measure from, seen from the joint
            candidates = [q[i], *_best(arm, i, r, c)]
            q[i] = max(candidates, key=lambda x: _distance(joint.type, x + joint.offset, r, c))
            R, p = joint_pose(joint, q[i])
            pose = pose @ Pose(R.matrix, p)
        tip = pose.point(arm.tool_in_link.position) - start
        far = math.sqrt(tip.dot(tip))
        if far <= before * (1 + SETTLED):
            break
    return far


def _best(arm: Arm, i: int, r: Vector, c: Vector) -> list[float]:
    """Positions of joint i among which the farthest one is."""
    joint = arm.joints[i]
    limit = joint.limit
    ends = [] if limit is None else [float(x) for x in (limit.lower, limit.upper) if math.isfinite(x)]
    if joint.type == "prismatic":
        return ends
    lower, upper = _range(arm, i)
    q = math.atan2(c.y * r.x - c.x * r.y, c.x * r.x + c.y * r.y) + math.pi - joint.offset
    q -= 2 * math.pi * math.floor((q - lower) / (2 * math.pi))
    return [*ends, q] if q <= upper else ends


def _distance(type: str, x: float, r: Vector, c: Vector) -> float:
    """Squared distance between c and the point r beyond a joint at x, offset included."""
    if type == "revolute":
        s, k = math.sin(x), math.cos(x)
        r = Vector(k * r.x - s * r.y, s * r.x + k * r.y, r.z)
    else:
        r = Vector(r.x, r.y, r.z + x)
    d = r - c
    return d.x * d.x + d.y * d.y + d.z * d.z
