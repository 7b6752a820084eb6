"""Kinetic and potential energy."""

from __future__ import annotations

from armsim.dynamics.kinematics import link_velocities, own_poses
from armsim.model import Arm
from armsim.spatial import Scalar, cross


def kinetic_energy(arm: Arm, q, qd) -> Scalar:
    """Kinetic energy of links, payload and armature [J]: the sum of (m v·v + 2 v·(w × h) + w·J w) / 2, and armature qd² / 2.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
    """
    energy: Scalar = 0.0
    for (w, v), inertia in zip(link_velocities(arm, q, qd), arm.inertias, strict=True):
        momentum = v * inertia.mass + cross(w, inertia.h) * 2.0
        energy = energy + (v.dot(momentum) + w.dot(inertia.J @ w)) / 2
    rotors = sum((link.armature * v * v for link, v in zip(arm.links, arm.rates(qd), strict=True)), start=0.0)
    return energy + rotors / 2


def potential_energy(arm: Arm, q) -> Scalar:
    """Gravitational potential energy, zero with all mass at the world's origin [J]: the sum of -g·(m p + R h)."""
    energy: Scalar = 0.0
    for pose, inertia in zip(own_poses(arm, q), arm.inertias, strict=True):
        energy = energy - arm.gravity.dot(pose.position * inertia.mass + pose.rotation @ inertia.h)
    return energy
