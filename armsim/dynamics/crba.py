"""The mass matrix: the composite-rigid-body algorithm."""

from __future__ import annotations

from armsim.dynamics.kinematics import along, joint_poses
from armsim.model import Arm
from armsim.spatial import Inertia, Scalar, Vector, Z, cross, cross_plus


def crba(arm: Arm, q) -> list[list[Scalar]]:
    """Lower triangle of the mass matrix M, armature included, row i with i + 1 entries [kg m², kg m or kg].

    Composite-rigid-body algorithm, RBDA section 6.2, in link frames: row i is the force that a unit acceleration of joint i
    takes for the composite body beyond it, projected on the axes of joints 0 to i. Armature adds to the diagonal.

    Args:
        arm: The arm, n joints; its numbers may be floats or expressions.
        q: Joint positions [rad or m], n scalars.
    """
    poses = joint_poses(arm, q)
    M: list[list[Scalar]] = [[0.0] * (i + 1) for i in range(arm.n)]
    composite = Inertia()
    for i in reversed(range(arm.n)):
        composite = arm.regrouped[i] + composite
        joint, J = arm.joints[i], composite.J
        n = Vector(J.xz, J.yz, J.zz) * joint.turns + cross(composite.h, Z) * joint.slides
        f = cross(Z, composite.h) * joint.turns + Z * (composite.mass * joint.slides)
        for j in reversed(range(i + 1)):
            M[i][j] = along(arm.joints[j], n, f)
            R, p = poses[j]
            f = R @ f
            n = cross_plus(p, f, R @ n)
        M[i][i] = M[i][i] + joint.armature
        composite = composite.moved(*poses[i])
    return M


def mass_matrix(arm: Arm, q) -> list[list[Scalar]]:
    """The mass matrix by `crba`, both triangles, n rows of n [kg m², kg m or kg]."""
    M = crba(arm, q)
    return [[M[max(i, j)][min(i, j)] for j in range(arm.n)] for i in range(arm.n)]
