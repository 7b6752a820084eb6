"""Inverse dynamics."""

from __future__ import annotations

from collections.abc import Sequence

from armsim.dynamics.kinematics import (
    JointPose,
    LinkMotion,
    along,
    base_motion,
    joint_poses,
    link_motions,
    moved_on,
    pass_on,
)
from armsim.dynamics.recursion import LinkRecursion, Segment
from armsim.expr import Scalar, Scalars, fma
from armsim.model import Arm
from armsim.spatial import ZERO, Inertia, Symmetric, Vector, cross_plus

Wrench = tuple[Vector, Vector]  # moment about the origin [N·m], force [N]


def rnea(arm: Arm, q, qd, qdd, external: Sequence[Wrench] | None = None) -> Scalars:
    """Joint forces that produce a given motion (inverse dynamics).

    Args:
        arm: The arm, n joints; its numbers may be floats or expressions.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        qdd: Joint accelerations [rad/s² or m/s²], n scalars.
        external: External wrenches, per link moment about its origin and force, in its own frame; None for none.

    Returns:
        Joint forces [N·m or N], n scalars, armature included, without friction.
    """
    links = LinkRecursion(arm)
    if links.rolled:
        return arm.project(_rolled(links, q, arm.rates(qd), arm.rates(qdd), external))
    _, *wrenches = joint_wrenches(arm, q, qd, qdd, arm.regrouped, external)
    return arm.project(
        [
            along(link, n, f) + link.armature * qdd_i
            for link, (n, f), qdd_i in zip(arm.links, wrenches, arm.rates(qdd), strict=True)
        ]
    )


def _rolled(links: LinkRecursion, q, qd, qdd, external: Sequence[Wrench] | None) -> Scalars:
    """The forces of all links' joints, as the recursions of `joint_wrenches` give them."""
    poses, outside = joint_poses(links.arm, q), [None] * len(qd) if external is None else external

    def moved(before: LinkMotion, pose: JointPose, joint: Segment, qd_i: Scalar, qdd_i: Scalar, wrench: Wrench | None):
        motion = moved_on(before, pose, joint, qd_i, qdd_i)
        n, f = link_wrench(joint.inertia, motion)
        return motion, (n, f) if wrench is None else (n - wrench[0], f - wrench[1])

    def carried(beyond: Wrench, pose: JointPose, joint: Segment, motion: tuple[LinkMotion, Wrench], qdd_i: Scalar):
        (_, (n, f)), (R, p) = motion, pose
        n, f = n + beyond[0], f + beyond[1]
        below = R @ f
        return (cross_plus(p, below, R @ n), below), along(joint, n, f) + joint.armature * qdd_i

    motions = links.outward(base_motion(links.arm), moved, poses, links.segments, qd, qdd, outside)
    return [tau for _, tau in links.inward((ZERO, ZERO), carried, poses, links.segments, motions, qdd)]


def link_wrench(inertia: Inertia, motion: LinkMotion) -> Wrench:
    """The moment and force that a link takes for a motion."""
    w, wd, a, turned = motion
    force = (turned @ inertia.h).plus(inertia.mass, a)
    return cross_plus(inertia.h, a, inertia.J @ wd + gyroscopic(inertia.J, w)), force


def joint_wrenches(
    arm: Arm, q, qd, qdd, inertias: Sequence[Inertia], external: Sequence[Wrench] | None = None
) -> list[Wrench]:
    """The wrenches that base and joints transmit in a given motion.

    Recursive Newton-Euler algorithm in link frames, Craig, *Introduction to Robotics*, section 6.5, also for prismatic and screw
    joints. Gravity enters as an upward acceleration of the base. Two departures from the page, for fewer operations: velocity
    products are formed once per link (`turning`), and inertias are about the frame's origin, so there is no parallel-axis
    term. `cross_plus` and `plus` are fused multiply-adds.

    Args:
        arm: The arm, n joints; its numbers may be floats or expressions.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        qdd: Joint accelerations [rad/s² or m/s²], n scalars.
        inertias: Of all links: `Arm.inertias`; those of `Arm.regrouped` give the same joint forces, other wrenches.
        external: As of `rnea`.

    Returns:
        Pairs (moment [N·m], force [N]), one more than links: what the ground exerts on the base, about the base's origin and
        along its axes; then what each joint, bearing and drive together, exerts on its link, about the origin of the link's own
        frame and along its axes, of which z is the joint's. Armature is not of the links.
    """
    poses = joint_poses(arm, q)

    # base to tip: the force and moment that each link takes
    moments, forces = [], []
    for inertia, motion in zip(inertias, link_motions(arm, poses, qd, qdd), strict=True):
        n, f = link_wrench(inertia, motion)
        moments.append(n)
        forces.append(f)

    # less external wrenches
    if external is not None:
        moments = [n - outside for n, (outside, _) in zip(moments, external, strict=True)]
        forces = [f - outside for f, (_, outside) in zip(forces, external, strict=True)]

    return transmitted(arm, poses, list(zip(moments, forces, strict=True)))


def transmitted(arm: Arm, poses: Sequence[JointPose], wrenches: Sequence[Wrench]) -> list[Wrench]:
    """What the base and all joints transmit, of what the links take: each transmits that of all links beyond it.

    Args:
        arm: The arm.
        poses: As of `joint_poses`.
        wrenches: That each link takes, moment about its origin [N·m] and force [N], in its own frame.
    """
    found = []
    beyond: dict[int, tuple[Vector, Vector]] = {}
    for i, (R, p) in reversed(list(enumerate(poses))):
        n, f = (own + more for own, more in zip(wrenches[i], beyond.get(i, (ZERO, ZERO)), strict=True))
        found.append((n, f))
        f = R @ f
        pass_on(beyond, arm.parents[i], cross_plus(p, f, R @ n), f)
    return [beyond[-1], *reversed(found)]


def gyroscopic(J: Symmetric, w: Vector) -> Vector:
    """w × (J w), in the products that `turning` has formed already, as common subexpressions."""
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
    return Vector(
        fma(J.zz - J.yy, yz, fma(J.yz, yy - zz, fma(J.xz, xy, -(J.xy * xz)))),
        fma(J.xx - J.zz, xz, fma(J.xz, zz - xx, fma(J.xy, yz, -(J.yz * xy)))),
        fma(J.yy - J.xx, xy, fma(J.xy, xx - yy, fma(J.yz, xz, -(J.xz * yz)))),
    )


def bias(arm: Arm, q, qd, external: Sequence[Wrench] | None = None) -> Scalars:
    """Bias forces [N·m or N], n scalars: gravity, Coriolis and centrifugal, less those of external wrenches."""
    return rnea(arm, q, qd, [0.0] * arm.n, external)


def gravity_torque(arm: Arm, q) -> Scalars:
    """Joint forces that hold the arm at rest at q (holding torque) [N·m or N], n scalars."""
    return bias(arm, q, [0.0] * arm.n)
