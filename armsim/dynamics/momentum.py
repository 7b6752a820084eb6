"""Generalised momenta, and the generalised forces of the arm's own motion and of gravity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armsim.dynamics.kinematics import JointPose, along, joint_poses
from armsim.dynamics.recursion import LinkRecursion, Segment
from armsim.dynamics.rnea import Wrench
from armsim.expr import fma
from armsim.model import Arm
from armsim.spatial import ZERO, Scalar, Vector, Z, cross_plus


def momenta(arm: Arm, q, qd) -> list[Scalar]:
    """Generalised momenta p = dT/dqd = M qd, armature included [kg m²/s or kg m/s], n scalars.

    Args:
        arm: The arm, n joints; its numbers may be floats or expressions.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
    """
    return momenta_and_forces(arm, q, qd)[0]


def momenta_and_forces(arm: Arm, q, qd, external: Sequence[Wrench] | None = None) -> tuple[list[Scalar], list[Scalar]]:
    """Generalised momenta p, and the generalised forces d(T - V)/dq and of external wrenches.

    By Lagrange's equations, dp/dt = tau + d(T - V)/dq. Base to tip each link's momentum, tip to base the composite momentum
    (L, P) of the links from joint i on, about and in its frame: its projection on the joint's axis, plus that of the armature,
    is p_i; dT/dq_i is (L, P) times the motion product of the velocity (w, v) with the axis (RBDA section 2.9). No accelerations
    are needed, so it takes fewer operations than `bias`.

    `Arm.regrouped` inertias will do: T as a function of q and qd is the same, V differs by a constant.

    Args:
        arm: The arm, n joints; its numbers may be floats or expressions.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        external: External wrenches, per link moment about its origin and force, in its own frame; None for none.

    Returns:
        p [kg m²/s or kg m/s] and the forces [N·m or N], n scalars each.
    """
    links = LinkRecursion(arm)
    poses, rates = joint_poses(arm, q), arm.rates(qd)
    outside = [None] * len(poses) if external is None else external

    # base to tip: velocities, momenta, and gravity in every link's axes
    def moved(before: Any, pose: JointPose, joint: Segment, qd_i: Scalar) -> tuple[Any, Any]:
        (w, v, g), (R, p) = before, pose
        v = R.T @ cross_plus(w, p, v) + Z * (joint.slides * qd_i)
        w, g = R.T @ w + Z * (joint.turns * qd_i), R.T @ g
        body = joint.inertia
        return (w, v, g), (cross_plus(body.h, v, body.J @ w), cross_plus(w, body.h, v * body.mass))

    motions = links.outward((ZERO, ZERO, arm.base.rotation.T @ arm.gravity), moved, poses, links.segments, rates)

    # tip to base: momentum, mass, first moment and external wrench of all links from joint i on
    def composed(
        beyond: Any, pose: JointPose, joint: Segment, motion: Any, qd_i: Scalar, wrench: Wrench | None
    ) -> tuple[Any, Any]:
        (L, P, mass, h, n, f), ((w, v, g), own), (R, p) = beyond, motion, pose
        L, P = own[0] + L, own[1] + P
        mass, h = joint.inertia.mass + mass, joint.inertia.h + h
        if wrench is not None:
            n, f = wrench[0] + n, wrench[1] + f
        generalised = fma(joint.armature, qd_i, along(joint, L, P))
        turning, sliding = n.z + _minor(h, g) + (_minor(L, w) + _minor(P, v)), f.z + mass * g.z + _minor(P, w)
        force = joint.turns * turning + joint.slides * sliding
        P, h = R @ P, R @ h
        if wrench is not None:
            f = R @ f
            n = cross_plus(p, f, R @ n)
        return (cross_plus(p, P, R @ L), P, mass, h.plus(mass, p), n, f), (generalised, force)

    nothing = ZERO, ZERO, 0.0, ZERO, ZERO, ZERO
    found = links.inward(nothing, composed, poses, links.segments, motions, rates, outside)
    generalised, forces = zip(*(of_joint for _, of_joint in found), strict=True)
    return arm.project(generalised), arm.project(forces)


def _minor(a: Vector, b: Vector) -> Scalar:
    """The z component of a × b."""
    return fma(a.x, b.y, -(a.y * b.x))
