"""Arms with their rotors, friction and stops, seen from the drives.

What a drive gives a joint is its torque here; rotor inertia, viscous friction and stops belong to the arm, in both
directions: `accelerations` of `drive_torques` are the accelerations again.
"""

from __future__ import annotations

from armsim.actuation.joint_torque import armature, unpowered
from armsim.dynamics import forward_dynamics, rnea
from armsim.dynamics.forward import Algorithm
from armsim.model import Arm
from armsim.spatial import Scalar


def drive_torques(arm: Arm, q, qd, qdd) -> list[Scalar]:
    """Torques that the drives must give for a motion [N·m or N], n scalars.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        qdd: Joint accelerations [rad/s² or m/s²], n scalars.
    """
    drives = []
    for joint, tau, q_i, qd_i, qdd_i in zip(arm.joints, rnea(arm, q, qd, qdd), q, qd, qdd, strict=True):
        passive = unpowered(joint, q_i, qd_i)
        drives.append(tau + armature(joint) * qdd_i - passive.friction - passive.limit)
    return drives


def accelerations(arm: Arm, q, qd, drives, algorithm: Algorithm = "crba") -> list[Scalar]:
    """Joint accelerations under torques of the drives [rad/s² or m/s²], n scalars; arguments as for `drive_torques`."""
    total = []
    for joint, drive, q_i, qd_i in zip(arm.joints, drives, q, qd, strict=True):
        passive = unpowered(joint, q_i, qd_i)
        total.append(drive + passive.friction + passive.limit)
    return forward_dynamics(arm, q, qd, total, [armature(joint) for joint in arm.joints], algorithm=algorithm)
