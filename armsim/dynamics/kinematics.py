"""Forward kinematics: poses, velocities and accelerations of links and frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from armsim.expr import cos, sin
from armsim.model import Arm, Joint, LinkFrame
from armsim.spatial import ZERO, JointRotation, Matrix, Pose, Scalar, Vector, Z, cross, cross_plus

JointPose = tuple[JointRotation, Vector]
LinkMotion = tuple[Vector, Vector, Vector, Matrix]  # see `link_motions`


def joint_pose(joint: Joint, q: Scalar) -> JointPose:
    """Rotation and origin of a link's own frame, seen from the link that carries it, at joint position q [rad or m]."""
    x = q + joint.offset
    angle = joint.turns * x
    R = JointRotation(joint.tilt, cos(angle), sin(angle))
    return R, joint.position + joint.tilt @ (Z * (joint.slides * x))


def joint_poses(arm: Arm, q) -> list[JointPose]:
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


def along(joint: Any, moment: Vector, force: Vector) -> Scalar:
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


def link_motions(arm: Arm, poses: Sequence[JointPose], qd, qdd) -> Iterator[LinkMotion]:
    """The motion of every link, from base to tip, in its own frame; gravity enters as an upward acceleration of the base.

    `times_plus` and `cross_plus` are fused multiply-adds.

    Args:
        arm: The arm, n joints.
        poses: As of `joint_poses`.
        qd: Joint velocities [rad/s or m/s], n scalars.
        qdd: Joint accelerations [rad/s² or m/s²], n scalars.

    Yields:
        Angular velocity [rad/s], angular acceleration [rad/s²], acceleration of the origin [m/s²], and their `turning`.
    """
    motions = [base_motion(arm)] * (len(poses) + 1)  # the base's is the last, where -1 finds it
    rates = zip(poses, arm.links, arm.rates(qd), arm.rates(qdd), strict=True)
    for i, each in enumerate(rates):
        motions[i] = moved_on(motions[arm.parents[i]], *each)
        yield motions[i]


def base_motion(arm: Arm) -> LinkMotion:
    """That of the base at rest."""
    return ZERO, ZERO, arm.base.rotation.T @ -arm.gravity, turning(ZERO, ZERO)


def moved_on(before: LinkMotion, pose: JointPose, joint: Any, qd_i: Scalar, qdd_i: Scalar) -> LinkMotion:
    """The motion of a link, of which `link_motions` tells, by that of the link that carries it."""
    (w, wd, a, turned), (R, p) = before, pose
    a = R.T @ turned.times_plus(p, a)
    w, wd = R.T @ w, R.T @ wd
    a = cross_plus(w, Z * (2 * joint.slides * qd_i), a) + Z * (joint.slides * qdd_i)
    wd = cross_plus(w, Z * (joint.turns * qd_i), wd) + Z * (joint.turns * qdd_i)
    w = w + Z * (joint.turns * qd_i)
    return w, wd, a, turning(w, wd)


def frame_acceleration(arm: Arm, q, qd, qdd, frame: LinkFrame) -> tuple[Vector, Vector]:
    """Angular acceleration [rad/s²] and acceleration of the origin [m/s²] of a frame, in world axes: J qdd + dJ/dt qd.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        qdd: Joint accelerations [rad/s² or m/s²], n scalars.
        frame: The frame.
    """
    link = arm.link_of(frame)
    _, wd, a, turned = list(link_motions(arm, joint_poses(arm, q), qd, qdd))[link]
    R = own_poses(arm, q)[link].rotation
    return R @ wd, R @ turned.times_plus(arm.placement(frame).position, a) + arm.gravity


def turning(w: Vector, wd: Vector) -> Matrix:
    """The matrix wd× + w× w×: r to the acceleration wd × r + w × (w × r) of that point of a rotating body."""
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
    return Matrix(
        Vector(-(yy + zz), xy - wd.z, xz + wd.y),
        Vector(xy + wd.z, -(xx + zz), yz - wd.x),
        Vector(xz - wd.y, yz + wd.x, -(xx + yy)),
    )


def pass_on(sums: dict[int, tuple[Any, ...]], link: int, *parts: Any) -> None:
    """Add what a link passes on to the link that carries it, to what other branches pass on to that."""
    known = sums.get(link)
    sums[link] = parts if known is None else tuple(a + b for a, b in zip(known, parts, strict=True))
