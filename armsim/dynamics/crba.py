"""The mass matrix: the composite-rigid-body algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armsim.dynamics.kinematics import JointPose, along, joint_poses, pass_on
from armsim.dynamics.recursion import LinkRecursion, Segment, is_large
from armsim.dynamics.rnea import Wrench
from armsim.expr import parts, scan
from armsim.expr.function import innermost
from armsim.model import Arm
from armsim.spatial import ZERO, Inertia, Scalar, Vector, Z, cross, cross_plus


def crba(arm: Arm, q) -> list[list[Scalar]]:
    """Lower triangle of the mass matrix M, armature included, row i with i + 1 entries [kg m², kg m or kg].

    Composite-rigid-body algorithm, RBDA section 6.2, in link frames: row i is the force that a unit acceleration of joint i
    takes for the composite body beyond it, projected on the axes from joint i to the base. Joints on different branches have an
    entry of zero (RBDA section 6.4). Armature adds to the diagonal.

    Args:
        arm: The arm, n joints; its numbers may be floats or expressions.
        q: Joint positions [rad or m], n scalars.
    """
    poses = joint_poses(arm, q)
    M: list[list[Scalar]] = [[0.0] * (i + 1) for i in range(len(arm.links))]
    if is_large(arm) and innermost(q) is not None:
        rows = enumerate(_rolled(LinkRecursion(arm), poses))
        M = [[x if j in arm.path(i) else 0.0 for j, x in enumerate(row[: i + 1])] for i, row in rows]
        return _on_coordinates(arm, M) if arm.followers else M
    beyond: dict[int, tuple[Inertia]] = {}
    for i in reversed(range(len(arm.links))):
        (more,) = beyond.get(i, (Inertia(),))
        composite = arm.regrouped[i] + more
        n, f = _taken(composite, arm.links[i])
        for j in arm.path(i):
            M[i][j] = along(arm.links[j], n, f)
            R, p = poses[j]
            f = R @ f
            n = cross_plus(p, f, R @ n)
        M[i][i] = M[i][i] + arm.links[i].armature
        pass_on(beyond, arm.parents[i], composite.moved(*poses[i]))
    return _on_coordinates(arm, M) if arm.followers else M


def _taken(composite: Inertia, joint: Any) -> Wrench:
    """The moment and force that a unit acceleration of a joint takes for the composite body beyond it."""
    J = composite.J
    n = Vector(J.xz, J.yz, J.zz) * joint.turns + cross(composite.h, Z) * joint.slides
    return n, cross(Z, composite.h) * joint.turns + Z * (composite.mass * joint.slides)


def _rolled(links: LinkRecursion, poses: Sequence[JointPose]) -> Sequence[Sequence[Scalar]]:
    """Rows of the mass matrix of all links, by scans: the wrench of each row is passed down from its link."""

    def composed(beyond: tuple[Inertia], pose: JointPose, joint: Segment) -> tuple[tuple[Inertia], Wrench]:
        composite = joint.inertia + beyond[0]
        return (composite.moved(*pose),), _taken(composite, joint)

    taken = parts(links.inward((Inertia(),), composed, poses, links.segments), lambda found: found[1])

    def row(unit: list[Scalar], wrench: Wrench) -> tuple[list[Scalar], list[Scalar]]:
        def passed(beyond: Wrench, pose: JointPose, joint: Segment, here: Scalar) -> tuple[Wrench, Scalar]:
            n, f = (own * here + more for own, more in zip(wrench, beyond, strict=True))
            R, p = pose
            below = R @ f
            return (cross_plus(p, below, R @ n), below), along(joint, n, f) + joint.armature * here

        found = links.inward((ZERO, ZERO), passed, poses, links.segments, unit)
        return [0.0, *unit[:-1]], [x for _, x in found]

    return scan([1.0, *[0.0] * (len(poses) - 1)], row, taken)[1]


def _on_coordinates(arm: Arm, M: list[list[Scalar]]) -> list[list[Scalar]]:
    """The lower triangle of Gᵀ M G, M that of all links, where their velocities are G times those of `arm.joints`."""
    rows = [arm.project([M[max(i, j)][min(i, j)] for j in range(len(M))]) for i in range(len(M))]
    columns = [arm.project(column) for column in zip(*rows, strict=True)]
    return [[columns[j][i] for j in range(i + 1)] for i in range(arm.n)]


def mass_matrix(arm: Arm, q) -> list[list[Scalar]]:
    """The mass matrix by `crba`, both triangles, n rows of n [kg m², kg m or kg]."""
    M = crba(arm, q)
    return [[M[max(i, j)][min(i, j)] for j in range(arm.n)] for i in range(arm.n)]
