"""Forward dynamics in O(n): the articulated-body algorithm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from armsim.dynamics.kinematics import along, joint_poses, pass_on, turning
from armsim.dynamics.rnea import Wrench, gyroscopic
from armsim.expr import where
from armsim.model import Arm
from armsim.records import record
from armsim.spatial import ZERO, Inertia, JointRotation, Matrix, Scalar, Symmetric, Vector, Z, cross


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


def aba(arm: Arm, q, qd, tau, external: Sequence[Wrench] | None = None) -> list[Scalar]:
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
    return articulated_body(arm, q, qd, lambda i, b: tau[i] + b, external)


def articulated_body(
    arm: Arm,
    q,
    qd,
    force: Callable[[int, Scalar], Scalar],
    external: Sequence[Wrench] | None = None,
    locked: Callable[[int], Any] | None = None,
    flywheels: Sequence[Scalar] | None = None,
) -> list[Scalar]:
    """Forward dynamics with joint forces that may depend on the articulated bias force.

    Articulated-body algorithm, Featherstone, RBDA table 7.1, in link frames, with the armature added to each D. Velocity
    products are kept as classical accelerations (those of the link's own points), as in `rnea`.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        force: (i, b) to u_i = tau_i + b, with b = -Sᵀ pᴬ from the articulated bias force at joint i, gravity left out.
            Called from tip to base.
        external: External wrenches, per link moment about its origin and force, in its own frame; None for none.
        locked: From a joint's index to the condition under which its acceleration is set to zero in the last pass.
        flywheels: Inertia about each link's own z axis without gyroscopic effect [kg m²].

    Returns:
        Joint accelerations [rad/s² or m/s²], n scalars.

    Raises:
        ValueError: The arm has joints that mimic others; the mass matrix takes them.
    """
    if arm.followers:
        raise ValueError("the articulated-body algorithm takes no joints that mimic others")
    poses = joint_poses(arm, q)

    # base to tip: velocities, velocity-product accelerations c, bias forces p
    spins = [ZERO] * (arm.n + 1)  # the base's is the last, where -1 finds it
    c, bias_force = [], []
    for i, ((R, p), joint, qd_i) in enumerate(zip(poses, arm.links, qd, strict=True)):
        w = spins[arm.parents[i]]
        a = R.T @ (turning(w, ZERO) @ p)
        w = R.T @ w
        c.append((cross(w, Z * (joint.turns * qd_i)), a + cross(w, Z * (2 * joint.slides * qd_i))))
        spins[i] = w = w + Z * (joint.turns * qd_i)
        inertia = arm.regrouped[i]
        n, f = gyroscopic(inertia.J, w), turning(w, ZERO) @ inertia.h
        if external is not None:
            n, f = n - external[i][0], f - external[i][1]
        bias_force.append((n, f))

    # tip to base: articulated inertias and bias forces
    U: list[Wrench] = [(ZERO, ZERO)] * arm.n
    D: list[Scalar] = [0.0] * arm.n
    u: list[Scalar] = [0.0] * arm.n
    beyond: dict[int, tuple[Any, ...]] = {}
    for i in reversed(range(arm.n)):
        body = Articulated.of(arm.regrouped[i])
        if flywheels is not None:
            body = body + Articulated.of(Inertia(J=Symmetric(zz=flywheels[i])))
        n = f = ZERO
        if i in beyond:
            more, n, f = beyond[i]
            body = body + more
        n, f = bias_force[i][0] + n, bias_force[i][1] + f
        joint = arm.links[i]
        U[i] = body.force(Z * joint.turns, Z * joint.slides)
        D[i] = along(joint, *U[i]) + joint.armature
        u[i] = force(i, -along(joint, n, f))
        left = body.less(U[i][0], U[i][1], D[i])
        dn, df = left.force(*c[i])
        share = u[i] / D[i]
        n, f = n + dn + U[i][0] * share, f + df + U[i][1] * share
        R, p = poses[i]
        f = R @ f
        pass_on(beyond, arm.parents[i], left.moved(R, p), R @ n + cross(p, f), f)

    # base to tip: accelerations
    motions = [(ZERO, arm.base.rotation.T @ -arm.gravity)] * (arm.n + 1)
    qdd = []
    for i, (R, p) in enumerate(poses):
        wd, a = motions[arm.parents[i]]
        a = R.T @ (a + cross(wd, p)) + c[i][1]
        wd = R.T @ wd + c[i][0]
        qdd_i = (u[i] - U[i][0].dot(wd) - U[i][1].dot(a)) / D[i]
        if locked is not None:
            qdd_i = where(locked(i), 0.0, qdd_i)
        qdd.append(qdd_i)
        motions[i] = wd + Z * (arm.links[i].turns * qdd_i), a + Z * (arm.links[i].slides * qdd_i)
    return qdd


def _sum(A: Matrix, B: Matrix) -> Matrix:
    return Matrix(A.row_x + B.row_x, A.row_y + B.row_y, A.row_z + B.row_z)


def _outer(a: Vector, b: Vector) -> Symmetric:
    return Symmetric(a.x * b.x, a.y * b.y, a.z * b.z, a.x * b.y, a.x * b.z, a.y * b.z)
