"""Generalised momenta, and the generalised forces of the arm's own motion and of gravity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armsim.dynamics.kinematics import along, joint_poses, pass_on
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
    poses = joint_poses(arm, q)

    # base to tip: velocities, momenta, and gravity in every link's axes
    rates = arm.rates(qd)
    motions = [(ZERO, ZERO, arm.base.rotation.T @ arm.gravity)] * (len(poses) + 1)  # the base's is the last
    momentum = []
    for i, ((R, p), link, inertia, qd_i) in enumerate(zip(poses, arm.links, arm.regrouped, rates, strict=True)):
        w, v, g = motions[arm.parents[i]]
        v = R.T @ cross_plus(w, p, v) + Z * (link.slides * qd_i)
        w, g = R.T @ w + Z * (link.turns * qd_i), R.T @ g
        motions[i] = w, v, g
        momentum.append((cross_plus(inertia.h, v, inertia.J @ w), cross_plus(w, inertia.h, v * inertia.mass)))

    # tip to base: momentum, mass, first moment and external wrench of all links from joint i on
    generalised: list[Scalar] = [0.0] * len(poses)
    forces: list[Scalar] = [0.0] * len(poses)
    beyond: dict[int, tuple[Any, ...]] = {}
    for i in reversed(range(len(poses))):
        L, P, mass, h, n, f = beyond.get(i, (ZERO, ZERO, 0.0, ZERO, ZERO, ZERO))
        L, P = momentum[i][0] + L, momentum[i][1] + P
        mass, h = arm.regrouped[i].mass + mass, arm.regrouped[i].h + h
        if external is not None:
            n, f = external[i][0] + n, external[i][1] + f
        w, v, g = motions[i]
        link = arm.links[i]
        generalised[i] = fma(link.armature, rates[i], along(link, L, P))
        turning, sliding = n.z + _minor(h, g) + (_minor(L, w) + _minor(P, v)), f.z + mass * g.z + _minor(P, w)
        forces[i] = link.turns * turning + link.slides * sliding
        R, p = poses[i]
        P = R @ P
        h = R @ h
        if external is not None:
            f = R @ f
            n = cross_plus(p, f, R @ n)
        pass_on(beyond, arm.parents[i], cross_plus(p, P, R @ L), P, mass, h.plus(mass, p), n, f)
    return arm.project(generalised), arm.project(forces)


def _minor(a: Vector, b: Vector) -> Scalar:
    """The z component of a × b."""
    return fma(a.x, b.y, -(a.y * b.x))
