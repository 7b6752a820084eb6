"""Forward kinematics: poses and velocities of links and frames."""

from __future__ import annotations

from armsim.expr import cos, sin
from armsim.model import Arm, Joint, LinkFrame
from armsim.spatial import ZERO, JointRotation, Pose, Scalar, Vector, Z, cross


def joint_pose(joint: Joint, q: Scalar) -> tuple[JointRotation, Vector]:
    """Rotation and origin of a link's own frame, seen from the link before, at joint position q [rad or m]."""
    x = q + joint.offset
    angle = joint.turns * x
    R = JointRotation(joint.tilt, cos(angle), sin(angle))
    return R, joint.position + joint.tilt @ (Z * (joint.slides * x))


def joint_poses(arm: Arm, q) -> list[tuple[JointRotation, Vector]]:
    """`joint_pose` of every joint."""
    return [joint_pose(joint, q_i) for joint, q_i in zip(arm.joints, q, strict=True)]


def own_poses(arm: Arm, q) -> list[Pose]:
    """The links' own frames in the world; their z axes are the joints' axes."""
    pose = arm.base
    poses = []
    for R, p in joint_poses(arm, q):
        pose = pose @ Pose(R.matrix, p)
        poses.append(pose)
    return poses


def link_poses(arm: Arm, q) -> list[Pose]:
    """The frames of all links in the world, by the user's convention.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
    """
    return [pose @ joint.frame for pose, joint in zip(own_poses(arm, q), arm.joints, strict=True)]


def frame_pose(arm: Arm, q, frame: LinkFrame) -> Pose:
    """A frame of the arm in the world, at joint positions q [rad or m]."""
    return own_poses(arm, q)[arm.link_of(frame)] @ arm.placement(frame)


def frame_position(arm: Arm, q, frame: LinkFrame) -> Vector:
    """A frame's origin in the world [m], at joint positions q [rad or m]: from tip to base, without orientations."""
    p = arm.placement(frame).position
    for R, origin in reversed(joint_poses(arm, q)[: arm.link_of(frame) + 1]):
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
    velocities = []
    w = v = ZERO
    for (R, p), joint, qd_i in zip(joint_poses(arm, q), arm.joints, qd, strict=True):
        v = R.T @ (v + cross(w, p)) + Z * (joint.slides * qd_i)
        w = R.T @ w + Z * (joint.turns * qd_i)
        velocities.append((w, v))
    return velocities
