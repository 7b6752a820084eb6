"""The mass matrix."""

from __future__ import annotations

from armsim.dynamics.kinematics import joint_poses
from armsim.model import Arm
from armsim.spatial import Inertia, Scalar, Vector, Z, cross, cross_plus


def crba(arm: Arm, q) -> list[list[Scalar]]:
    """Lower triangle of the mass matrix M, row i with i + 1 entries [kg m², kg m or kg].

    Composite-rigid-body algorithm, RBDA section 6.2, in link frames: column i is the force that the composite body beyond
    joint i takes for a unit acceleration of that joint, felt at every joint before it.

    Args:
        arm: The arm, n joints; its numbers may be floats or expressions.
        q: Joint positions [rad or m], n scalars.
    """
    poses = joint_poses(arm, q)
    M: list[list[Scalar]] = [[0.0] * (i + 1) for i in range(arm.n)]
    composite = Inertia()
    for i in reversed(range(arm.n)):
        composite = arm.regrouped[i] + composite
        if arm.joints[i].type == "revolute":
            J = composite.J
            n, f = Vector(J.xz, J.yz, J.zz), cross(Z, composite.h)
        else:
            n, f = cross(composite.h, Z), Z * composite.mass
        for j in reversed(range(i + 1)):
            M[i][j] = n.z if arm.joints[j].type == "revolute" else f.z
            R, p = poses[j]
            f = R @ f
            n = cross_plus(p, f, R @ n)
        composite = composite.moved(*poses[i])
    return M
