"""The geometric Jacobian of a frame."""

from __future__ import annotations

from armsim.dynamics.kinematics import own_poses
from armsim.expr import Scalars
from armsim.model import Arm, LinkFrame
from armsim.spatial import ZERO, Vector, Z, cross


def frame_jacobian(arm: Arm, q, frame: LinkFrame) -> list[Scalars]:
    """Geometric Jacobian of a frame's origin, in world axes: 6 rows of n, angular velocity first.

    Craig, *Introduction to Robotics*, section 5.7: a joint turns the frame about its axis, shifts it along the axis, or both;
    joints that do not carry the frame's link do neither.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        frame: The frame.
    """
    last = arm.link_of(frame)
    poses = own_poses(arm, q)
    tip = (poses[last] @ arm.placement(frame)).position
    columns: list[tuple[Vector, Vector]] = [(ZERO, ZERO)] * len(poses)
    for i in reversed(arm.path(last)):
        pose, joint = poses[i], arm.links[i]
        axis = pose.rotation @ Z
        w = axis * joint.turns
        columns[i] = w, cross(w, tip - pose.position) + axis * joint.slides
    angular = [[getattr(w, k) for w, _ in columns] for k in "xyz"]
    linear = [[getattr(v, k) for _, v in columns] for k in "xyz"]
    return [arm.project(row) for row in angular + linear]
