"""An arm together with the rotors of its motors, whose inertia is felt at the joints."""

from __future__ import annotations

from armsim import dynamics
from armsim.actuation.joint_torque import armature
from armsim.model import Arm
from armsim.spatial import Scalar


def mass_matrix(arm: Arm, q) -> list[list[Scalar]]:
    """Lower triangle of the mass matrix, rotors included [kg m², kg m or kg]: row i has i + 1 entries.

    Args:
        arm: The arm, n joints; its numbers may be floats or expressions.
        q: Joint positions [rad or m], n scalars.
    """
    M = dynamics.crba(arm, q)
    for i, joint in enumerate(arm.joints):
        M[i][i] = M[i][i] + armature(joint)
    return M


def kinetic_energy(arm: Arm, q, qd) -> Scalar:
    """Kinetic energy of links, payload and rotors [J].

    Args:
        arm: The arm, n joints; its numbers may be floats or expressions.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
    """
    rotors = sum((armature(joint) * v * v for joint, v in zip(arm.joints, qd, strict=True)), start=0.0)
    return dynamics.kinetic_energy(arm, q, qd) + rotors / 2
