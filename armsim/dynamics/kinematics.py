"""Forward kinematics: poses and velocities of links and frames."""

from __future__ import annotations

from typing import Any

from armsim.expr import cos, sin
from armsim.model import Arm, Joint, LinkFrame
from armsim.spatial import ZERO, JointRotation, Pose, Scalar, Vector, Z, cross


def joint_pose(joint: Joint, q: Scalar) -> tuple[JointRotation, Vector]:
    """Rotation and origin of a link's own frame, seen from the link that carries it, at joint position q [rad or m]."""
    x = q + joint.offset
    angle = joint.turns * x
    R = JointRotation(joint.tilt, cos(angle), sin(angle))
    return R, joint.position + joint.tilt @ (Z * (joint.slides * x))


def joint_poses(arm: Arm, q) -> list[tuple[JointRotation, Vector]]:
    """`joint_pose` of every link."""
    return [joint_pose(link, q_i) for link, q_i in zip(arm.links, arm.positions(q), strict=True)]


def own_poses(arm: Arm, q) -> list[Pose]:
    """The links' own frames in the world; their z axes are the joints' axes."""
    poses = [arm.base] * (len(arm.links) + 1)  # the base's is the last, where -1 finds it
    for i, (R, p) in enumerate(joint_poses(arm, q)):
        poses[i] = poses[arm.parents[i]] @ Pose(R.matrix, p)
    return poses[:-1]


def link_poses(arm: Arm, q) -> list[Pose]:
    """The frames of all links in the world, by the user's convention.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
    """
    return [pose @ link.frame for pose, link in zip(own_poses(arm, q), arm.links, strict=True)]


def frame_pose(arm: Arm, q, frame: LinkFrame) -> Pose:
    """A frame of the arm in the world, at joint positions q [rad or m]."""
    return own_poses(arm, q)[arm.link_of(frame)] @ arm.placement(frame)


def frame_position(arm: Arm, q, frame: LinkFrame) -> Vector:
    """A frame's origin in the world [m], at joint positions q [rad or m]: from tip to base, without orientations."""
    p = arm.placement(frame).position
    poses = joint_poses(arm, q)
    for i in arm.path(arm.link_of(frame)):
        R, origin = poses[i]
        p = R @ p + origin
    return arm.base.point(p)


def frame_velocity(arm: Arm, q, qd, frame: LinkFrame) -> tuple[Vector, Vector]:
    """Angular velocity [rad/s] and velocity of the origin [m/s] of a frame, in world axes.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        frame: The frame.
    """
    link = arm.link_of(frame)
    w, v = link_velocities(arm, q, qd)[link]
    R = own_poses(arm, q)[link].rotation
    return R @ w, R @ (v + cross(w, arm.placement(frame).position))


def along(joint: Joint, moment: Vector, force: Vector) -> Scalar:
    """The projection on a joint's axis of a wrench, moment [N·m] about its link's origin and force [N]: Sᵀ f [N·m or N].

    Likewise of angular and linear momentum.
    """
    return joint.turns * moment.z + joint.slides * force.z


def link_velocities(arm: Arm, q, qd) -> list[tuple[Vector, Vector]]:
    """Angular velocity [rad/s] and velocity of the origin [m/s] of every link's own frame, in its own axes.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
    """
    velocities = [(ZERO, ZERO)] * (len(arm.links) + 1)  # the base's is the last, where -1 finds it
    for i, ((R, p), link, qd_i) in enumerate(zip(joint_poses(arm, q), arm.links, arm.rates(qd), strict=True)):
        w, v = velocities[arm.parents[i]]
        v = R.T @ (v + cross(w, p)) + Z * (link.slides * qd_i)
        w = R.T @ w + Z * (link.turns * qd_i)
        velocities[i] = w, v
    return velocities[:-1]


def pass_on(sums: dict[int, tuple[Any, ...]], link: int, *parts: Any) -> None:
    """Add what a link passes on to the link that carries it, to what other branches pass on to that."""
    known = sums.get(link)
    sums[link] = parts if known is None else tuple(a + b for a, b in zip(known, parts, strict=True))
