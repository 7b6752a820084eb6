"""Forward dynamics in O(n): the articulated-body algorithm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from armsim.dynamics.kinematics import JointPose, along, joint_poses, turning
from armsim.dynamics.recursion import LinkRecursion, Segment
from armsim.dynamics.rnea import Wrench, gyroscopic
from armsim.expr import Scalar, Scalars, where
from armsim.model import Arm
from armsim.records import record
from armsim.spatial import ZERO, Inertia, JointRotation, Matrix, Symmetric, Vector, Z, cross


@record
class Articulated:
    """An articulated-body inertia [[J, H], [Hᵀ, M]] (RBDA section 7.1), its diagonal blocks kept symmetric."""

    J: Symmetric
    H: Matrix
    M: Symmetric

    @staticmethod
    def of(body: Inertia) -> Articulated:
        h, m = body.h, body.mass
        skew = Matrix(Vector(0.0, -h.z, h.y), Vector(h.z, 0.0, -h.x), Vector(-h.y, h.x, 0.0))
        return Articulated(body.J, skew, Symmetric(m, m, m))

    def __add__(self, other: Articulated) -> Articulated:
        return Articulated(self.J + other.J, _sum(self.H, other.H), self.M + other.M)

    def less(self, n: Vector, f: Vector, d: Scalar) -> Articulated:
        """The inertia with the joint's degree of freedom eliminated: I - U Uᵀ / D with U = (n, f)."""
        n_d, f_d = n * (1 / d), f * (1 / d)
        return Articulated(
            self.J + _outer(n, n_d) * -1.0,
            Matrix(self.H.row_x - f * n_d.x, self.H.row_y - f * n_d.y, self.H.row_z - f * n_d.z),
            self.M + _outer(f, f_d) * -1.0,
        )

    def moved(self, R: JointRotation, p: Vector) -> Articulated:
        """The same inertia in the frame before the joint: Xᵀ I X."""
        M = R.turn(self.M)
        full = R.matrix
        H = full @ self.H @ full.T
        px = Matrix(Vector(0.0, -p.z, p.y), Vector(p.z, 0.0, -p.x), Vector(-p.y, p.x, 0.0))
        pM = px @ Matrix(*M.rows())
        H_moved = _sum(H, pM)
        # J + p× Hᵀ - H p× - p× M p×, symmetric term by term: (p× Hᵀ) and its transpose, and p× M (p×)ᵀ
        a = px @ H.T
        b = pM @ px.T
        J = R.turn(self.J) + Symmetric(
            xx=2 * a.row_x.x + b.row_x.x,
            yy=2 * a.row_y.y + b.row_y.y,
            zz=2 * a.row_z.z + b.row_z.z,
            xy=a.row_x.y + a.row_y.x + b.row_x.y,
            xz=a.row_x.z + a.row_z.x + b.row_x.z,
            yz=a.row_y.z + a.row_z.y + b.row_y.z,
        )
        return Articulated(J, H_moved, M)

    def force(self, wd: Vector, a: Vector) -> tuple[Vector, Vector]:
        """Moment and force for a spatial acceleration."""
        return self.J @ wd + self.H @ a, self.H.T @ wd + self.M @ a


def aba(arm: Arm, q, qd, tau, external: Sequence[Wrench] | None = None) -> Scalars:
    """Joint accelerations for given joint forces (forward dynamics).

    Args:
        arm: The arm, n joints; its numbers may be floats or expressions.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        tau: Joint forces [N·m or N], n scalars.
        external: External wrenches, per link moment about its origin and force, in its own frame; None for none.

    Returns:
        Joint accelerations [rad/s² or m/s²], n scalars.
    """
    return articulated_body(arm, q, qd, JointForces(tau, lambda tau_i, b: tau_i + b), external)


@record
class JointForces:
    """Joint forces that may depend on the articulated bias force.

    Attributes:
        given: What the functions want to know of each joint.
        force: From that and b to u_i = tau_i + b, with b = -Sᵀ pᴬ from the articulated bias force at the joint, gravity left out.
            Called from tip to base.
        locked: To the condition under which the joint's acceleration is set to zero in the last pass.
    """

    given: Sequence[Any]
    force: Callable[[Any, Scalar], Scalar]
    locked: Callable[[Any], Any] | None = None


def articulated_body(
    arm: Arm,
    q,
    qd,
    forces: JointForces,
    external: Sequence[Wrench] | None = None,
    flywheels: Scalars | None = None,
) -> Scalars:
    """Forward dynamics with joint forces that may depend on the articulated bias force.

    Articulated-body algorithm, Featherstone, RBDA table 7.1, in link frames, with the armature added to each D. Velocity
    products are kept as classical accelerations (those of the link's own points), as in `rnea`.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        forces: Of the joints.
        external: External wrenches, per link moment about its origin and force, in its own frame; None for none.
        flywheels: Inertia about each link's own z axis without gyroscopic effect [kg m²].

    Returns:
        Joint accelerations [rad/s² or m/s²], n scalars.

    Raises:
        ValueError: The arm has joints that mimic others; the mass matrix takes them.
    """
    if arm.followers:
        raise ValueError("the articulated-body algorithm takes no joints that mimic others")
    locked = forces.locked
    plain = locked is None and flywheels is None
    links = LinkRecursion(arm, None if plain else False)
    poses, segments = joint_poses(arm, q), links.segments
    outside = [None] * arm.n if external is None else external
    wheels = [None] * arm.n if flywheels is None else flywheels

    # base to tip: velocities, velocity-product accelerations c, bias forces p
    def moved(w: Vector, pose: JointPose, joint: Segment, qd_i: Scalar, wrench: Wrench | None) -> tuple[Vector, Any]:
        R, p = pose
        a = R.T @ (turning(w, ZERO) @ p)
        w = R.T @ w
        c = cross(w, Z * (joint.turns * qd_i)), a + cross(w, Z * (2 * joint.slides * qd_i))
        w = w + Z * (joint.turns * qd_i)
        n, f = gyroscopic(joint.inertia.J, w), turning(w, ZERO) @ joint.inertia.h
        if wrench is not None:
            n, f = n - wrench[0], f - wrench[1]
        return w, (c, (n, f))

    motions = links.outward(ZERO, moved, poses, segments, qd, outside)

    # tip to base: articulated inertias and bias forces
    def articulated(beyond: Any, pose: JointPose, joint: Segment, motion: Any, known: Any, wheel: Scalar | None) -> Any:
        more, n, f = beyond
        body = Articulated.of(joint.inertia)
        if wheel is not None:
            body = body + Articulated.of(Inertia(J=Symmetric(zz=wheel)))
        body = body + more
        _, (c, own) = motion
        n, f = own[0] + n, own[1] + f
        U = body.force(Z * joint.turns, Z * joint.slides)
        D = along(joint, *U) + joint.armature
        u = forces.force(known, -along(joint, n, f))
        left = body.less(U[0], U[1], D)
        dn, df = left.force(*c)
        share = u / D
        n, f = n + dn + U[0] * share, f + df + U[1] * share
        R, p = pose
        f = R @ f
        return (left.moved(R, p), R @ n + cross(p, f), f), (U, D, u)

    nothing = Articulated(Symmetric(), Matrix(ZERO, ZERO, ZERO), Symmetric()), ZERO, ZERO
    bodies = links.inward(nothing, articulated, poses, segments, motions, forces.given, wheels)

    # base to tip: accelerations
    def accelerated(before: Wrench, pose: JointPose, joint: Segment, motion: Any, body: Any, known: Any) -> Any:
        (wd, a), (R, p), (_, (c, _)), (_, (U, D, u)) = before, pose, motion, body
        a = R.T @ (a + cross(wd, p)) + c[1]
        wd = R.T @ wd + c[0]
        qdd_i = (u - U[0].dot(wd) - U[1].dot(a)) / D
        if locked is not None:
            qdd_i = where(locked(known), 0.0, qdd_i)
        return (wd + Z * (joint.turns * qdd_i), a + Z * (joint.slides * qdd_i)), qdd_i

    base = ZERO, arm.base.rotation.T @ -arm.gravity
    found = links.outward(base, accelerated, poses, segments, motions, bodies, forces.given)
    return [qdd_i for _, qdd_i in found]


def _sum(A: Matrix, B: Matrix) -> Matrix:
    return Matrix(A.row_x + B.row_x, A.row_y + B.row_y, A.row_z + B.row_z)


def _outer(a: Vector, b: Vector) -> Symmetric:
    return Symmetric(a.x * b.x, a.y * b.y, a.z * b.z, a.x * b.y, a.x * b.z, a.y * b.z)
