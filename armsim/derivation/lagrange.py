"""The equations of motion by Euler and Lagrange: energies from homogeneous transformations, differentiated.

With the pose T_i of link i as a 4x4 matrix and the pseudo-inertia J_i, the integral of r rᵀ dm over its points r = (x, y, z, 1),
the kinetic energy is the sum of tr(Ṫ_i J_i Ṫ_iᵀ) / 2 (Uicker's form). Nothing is shared with the recursive
algorithms of `armsim.dynamics`: no velocities of frames, no regrouped inertias, no forces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy

from armsim.derivation.exact import ExactArm, exact
from armsim.derivation.motion import MotionRing
from armsim.model import Arm, Joint
from armsim.records import record
from armsim.spatial import Inertia, Pose

Square = list[list[Any]]  # n x n
Objects = Any  # a numpy array of scalars of any kind


@record
class LagrangeEquations:
    """M(q) qdd + C(q, qd) qd + g(q) = tau, as elements of a `MotionRing`'s ring.

    Attributes:
        M: Mass matrix, armature included, n rows of n.
        C: Coriolis matrix of Christoffel symbols: dM/dt - 2 C is skew-symmetric.
        g: Gravity forces, n.
        kinetic: Kinetic energy.
        potential: Potential energy; zero with all mass at the world's origin.
        tau: d/dt dL/dqd - dL/dq, n.
    """

    M: Square
    C: Square
    g: list[Any]
    kinetic: Any
    potential: Any
    tau: list[Any]


def lagrange(exact_arm: ExactArm, motion: MotionRing) -> LagrangeEquations:
    """Lagrange's equations of an arm.

    Raises:
        TooLarge: They have too many terms.
    """
    n, ring = exact_arm.arm.n, motion.ring
    half = ring.domain(1, 2)
    qd = [motion.gen(x) for x in motion.qd]
    kinetic = potential = ring.zero
    gravity = [motion.constant(x) for x in exact_arm.arm.gravity]
    for T, inertia in zip(
        poses(exact_arm.arm, motion.turned, motion.along, motion.constant, motion.reduced), exact_arm.inertias
    ):
        J = pseudo_inertia(inertia, motion.constant)
        for row, g in zip(T, gravity):
            rate = np.array([motion.rate(x) for x in row], object)
            kinetic += half * motion.reduced(rate @ J @ rate)
            potential -= motion.reduced(g * (row @ J[3]))  # J is symmetric
    for joint, rate_i in zip(exact_arm.arm.joints, qd):
        kinetic += half * motion.constant(exact(joint.armature)) * rate_i**2
    p = [kinetic.diff(rate_i) for rate_i in qd]
    tau = [motion.rate(p[i]) - motion.slope(kinetic - potential, i) for i in range(n)]
    M = [[p[i].diff(rate_j) for rate_j in qd] for i in range(n)]
    slopes = [[[motion.slope(M[i][j], k) for k in range(n)] for j in range(n)] for i in range(n)]
    C = [
        [
            half
            * sum(((slopes[i][j][k] + slopes[i][k][j] - slopes[j][k][i]) * qd[k] for k in range(n)), start=ring.zero)
            for j in range(n)
        ]
        for i in range(n)
    ]
    return LagrangeEquations(M, C, [motion.slope(potential, i) for i in range(n)], kinetic, potential, tau)


def lagrange_at(
    exact_arm: ExactArm,
    turned: Sequence[tuple[Any, Any]],
    along: Sequence[Any],
    qd: Sequence[Any],
    qdd: Sequence[Any],
    number: Callable[[Any], Any],
) -> list[Any]:
    """Joint forces at a point, of an arm whose equations are too long to be written out, n numbers.

    d/dt dK/dqd_j - dK/dq_j is the sum of tr(dT_i/dq_j J_i T̈_iᵀ) (Hollerbach's recursive Lagrangian).

    Args:
        exact_arm: The arm.
        turned: Cosine and sine of each link's joint's angle.
        along: Positions of the links' joints with their offsets.
        qd: Joint velocities.
        qdd: Joint accelerations.
        number: Makes a number of a SymPy expression.
    """
    arm, zero, one = exact_arm.arm, number(sympy.Integer(0)), number(sympy.Integer(1))
    tau = [number(exact(joint.armature)) * a for joint, a in zip(arm.joints, qdd)]
    gravity = np.array([*map(number, arm.gravity), zero], object)
    T = homogeneous(arm.base, number)
    still = T * zero
    slopes: dict[int, Objects] = {}
    motions = [(T, still, still, slopes)]
    for i, (joint, inertia, (leader, led)) in enumerate(zip(arm.links, exact_arm.inertias, exact_arm.leaders)):
        T, rate, second, slopes = motions[arm.parents[i] + 1]
        ratio = number(led)
        k = number(slides(joint)) if joint.kind.slides else zero
        turns = one if joint.kind.turns else zero
        A = homogeneous(Pose(joint.tilt, joint.position), number) @ moved(*turned[i], k * along[i], zero, one)
        # the generator of the joint's motion: dA/dq = A Q
        Q = np.array([[zero, -turns, zero, zero], [turns, zero, zero, zero], [zero, zero, zero, k], [zero] * 4], object)
        dA = A @ Q
        v, a = ratio * qd[leader], ratio * qdd[leader]
        rated, twice = dA * v, dA @ Q * (v * v) + dA * a
        slopes = {j: slope @ A for j, slope in slopes.items()}
        slopes[leader] = slopes.get(leader, still) + T @ dA * ratio
        T, rate, second = T @ A, rate @ A + T @ rated, second @ A + rate @ rated * (2 * one) + T @ twice
        motions.append((T, rate, second, slopes))
        J = pseudo_inertia(inertia, number)
        for j, slope in slopes.items():
            weighted = slope @ J
            tau[j] = tau[j] + (weighted * second).sum() - gravity @ weighted[:, 3]
    return tau


def pseudo_inertia(inertia: Inertia, constant: Callable[[Any], Any]) -> Objects:
    """The integral of r rᵀ dm over the points r = (x, y, z, 1) of a body, a symmetric 4x4 matrix."""
    J = inertia.J
    xx, yy, zz, xy, xz, yz = map(constant, (J.xx, J.yy, J.zz, J.xy, J.xz, J.yz))
    trace = (xx + yy + zz) / 2
    hx, hy, hz = map(constant, inertia.h)
    rows = [
        [trace - xx, -xy, -xz, hx],
        [-xy, trace - yy, -yz, hy],
        [-xz, -yz, trace - zz, hz],
        [hx, hy, hz, constant(inertia.mass)],
    ]
    return np.array(rows, object)


def poses(
    arm: Arm,
    turned: Sequence[tuple[Any, Any]],
    along: Sequence[Any],
    constant: Callable[[Any], Any],
    reduced: Callable[[Any], Any] = lambda x: x,
) -> list[Objects]:
    """The poses of the links' own frames in the world, 4x4.

    Args:
        arm: Its numbers are SymPy's.
        turned: Cosine and sine of each link's joint's angle.
        along: How far each of these is slid or, of a screw, its angle.
        constant: From a number of the arm to the scalars that the result is of.
        reduced: Simplifies an entry.
    """
    zero, one = constant(sympy.Integer(0)), constant(sympy.Integer(1))
    simplified = np.frompyfunc(reduced, 1, 1)
    found = [homogeneous(arm.base, constant)]
    for joint, parent, (c, s), x in zip(arm.links, arm.parents, turned, along):
        slid = constant(sympy.sympify(slides(joint))) * x if joint.kind.slides else zero
        fixed = homogeneous(Pose(joint.tilt, joint.position), constant)
        found.append(simplified(simplified(found[parent + 1] @ fixed) @ moved(c, s, slid, zero, one)))
    return found[1:]


def moved(c: Any, s: Any, slid: Any, zero: Any, one: Any) -> Objects:
    """The motion of a joint: about z by an angle of cosine c and sine s, and along z."""
    rows = [[c, -s, zero, zero], [s, c, zero, zero], [zero, zero, one, slid], [zero, zero, zero, one]]
    return np.array(rows, object)


def slides(joint: Joint) -> Any:
    """Translation per unit of joint position, exactly."""
    return joint.pitch / (2 * sympy.pi) if joint.kind.has_pitch else sympy.Integer(1)


def homogeneous(pose: Pose, constant: Callable[[Any], Any]) -> Objects:
    """A pose as a 4x4 matrix."""
    rows = [*((*row, p) for row, p in zip(pose.rotation, pose.position)), (0, 0, 0, 1)]
    return np.array([[constant(sympy.sympify(x)) for x in row] for row in rows], object)
