"""The geometric Jacobian of the tool."""

from __future__ import annotations

from armsim.dynamics.kinematics import own_poses
from armsim.model import Arm
from armsim.spatial import Scalar, Vector, Z, cross


def tool_jacobian(arm: Arm, q) -> list[list[Scalar]]:
    """Geometric Jacobian of the tool's origin, in world axes: 6 rows of n, angular velocity first.

    Craig, *Introduction to Robotics*, section 5.7: a joint turns the tool about its axis, shifts it along the axis, or both.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
    """
    poses = own_poses(arm, q)
    tip = (poses[-1] @ arm.tool_in_link).position
    columns: list[tuple[Vector, Vector]] = []
    for pose, joint in zip(poses, arm.joints, strict=True):
        axis = pose.rotation @ Z
        w = axis * joint.turns
        columns.append((w, cross(w, tip - pose.position) + axis * joint.slides))
    angular = [[getattr(w, k) for w, _ in columns] for k in "xyz"]
    linear = [[getattr(v, k) for _, v in columns] for k in "xyz"]
    return angular + linear
