"""The equations of motion by Euler and Lagrange: energies from homogeneous transformations, differentiated.

With the pose T_i of link i as a 4x4 matrix and the pseudo-inertia J_i, the integral of r rᵀ dm over its points r = (x, y, z, 1),
the kinetic energy is the sum of tr(Ṫ_i J_i Ṫ_iᵀ) / 2 (Uicker's form). Nothing is shared with the recursive
algorithms of `armsim.dynamics`: no velocities of frames, no regrouped inertias, no forces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from armsim.derivation.exact import ExactArm, exact
from armsim.derivation.motion import MotionRing
from armsim.model import Arm, Joint
from armsim.spatial import Inertia, Pose

Square = list[list[Any]]  # 4x4, or n x n


@dataclass(frozen=True)
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
    along = [ring.zero if x is None else x for x in motion.along]
    for T, inertia in zip(
        poses(exact_arm.arm, motion.turned, along, motion.constant, motion.reduced), exact_arm.inertias
    ):
        J = pseudo_inertia(inertia, motion.constant)
        for row, g in zip(T, gravity):
            rate = [motion.rate(x) for x in row]
            kinetic += half * motion.reduced(dot([dot(rate, column) for column in J], rate))  # J is symmetric
            potential -= motion.reduced(g * dot(row, J[3]))
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
        turned: Cosine and sine of each joint's angle.
        along: Joint positions with their offsets.
        qd: Joint velocities.
        qdd: Joint accelerations.
        number: Makes a number of a SymPy expression.
    """
    joints, zero = exact_arm.arm.joints, number(sympy.Integer(0))
    tau = [number(exact(joint.armature)) * a for joint, a in zip(joints, qdd)]
    gravity = [number(g) for g in exact_arm.arm.gravity]
    T = homogeneous(exact_arm.arm.base, number)
    rate = second = [[zero] * 4 for _ in range(4)]
    slopes: list[Square] = []
    for i, (joint, inertia) in enumerate(zip(joints, exact_arm.inertias)):
        (c, s), x = turned[i], along[i]
        k = number(slides(joint)) if joint.kind.slides else zero
        turns = number(sympy.Integer(int(joint.kind.turns)))
        one = number(sympy.Integer(1))
        fixed = homogeneous(Pose(joint.tilt, joint.position), number)
        A = [[c, -s, zero, zero], [s, c, zero, zero], [zero, zero, one, k * x], [zero, zero, zero, one]]
        # the generator of the joint's motion: dA/dq = A Q
        Q = [[zero, -turns, zero, zero], [turns, zero, zero, zero], [zero, zero, zero, k], [zero] * 4]
        A = matmul(fixed, A)
        dA = matmul(A, Q)
        rated = _scaled(dA, qd[i])
        twice = _plus(_scaled(matmul(dA, Q), qd[i] * qd[i]), _scaled(dA, qdd[i]))
        slopes = [matmul(slope, A) for slope in slopes] + [matmul(T, dA)]
        T, rate, second = (
            matmul(T, A),
            _plus(matmul(rate, A), matmul(T, rated)),
            _plus(_plus(matmul(second, A), _scaled(matmul(rate, rated), 2 * one)), matmul(T, twice)),
        )
        J = pseudo_inertia(inertia, number)
        for j, slope in enumerate(slopes):
            for row, change, g in zip(slope, second, gravity):
                weighted = [dot(row, column) for column in J]
                tau[j] = tau[j] + dot(weighted, change) - g * weighted[3]
    return tau


def matmul(a: Square, b: Square) -> Square:
    """The product of two matrices."""
    return [[dot(row, column) for column in zip(*b)] for row in a]


def _plus(a: Square, b: Square) -> Square:
    return [[x + y for x, y in zip(*rows)] for rows in zip(a, b)]


def _scaled(a: Square, k: Any) -> Square:
    return [[k * x for x in row] for row in a]


def pseudo_inertia(inertia: Inertia, constant: Callable[[Any], Any]) -> Square:
    """The integral of r rᵀ dm over the points r = (x, y, z, 1) of a body, a symmetric 4x4 matrix."""
    xx, yy, zz, xy, xz, yz = (
        constant(getattr(inertia.J, component)) for component in ("xx", "yy", "zz", "xy", "xz", "yz")
    )
    trace = (xx + yy + zz) / 2
    hx, hy, hz = (constant(x) for x in inertia.h)
    return [
        [trace - xx, -xy, -xz, hx],
        [-xy, trace - yy, -yz, hy],
        [-xz, -yz, trace - zz, hz],
        [hx, hy, hz, constant(inertia.mass)],
    ]


def poses(
    arm: Arm,
    turned: Sequence[tuple[Any, Any]],
    along: Sequence[Any],
    constant: Callable[[Any], Any],
    reduced: Callable[[Any], Any] = lambda x: x,
) -> list[Square]:
    """The poses of the links' own frames in the world, 4x4.

    Args:
        arm: Its numbers are SymPy's.
        turned: Cosine and sine of each joint's angle.
        along: How far each joint is slid or, of a screw, its angle.
        constant: From a number of the arm to the scalars that the result is of.
        reduced: Simplifies an entry.
    """
    T = homogeneous(arm.base, constant)
    found = []
    for joint, (c, s), x in zip(arm.joints, turned, along):
        zero, one = constant(sympy.Integer(0)), constant(sympy.Integer(1))
        slid = constant(sympy.sympify(slides(joint))) * x if joint.kind.slides else zero
        variable = [[c, -s, zero, zero], [s, c, zero, zero], [zero, zero, one, slid], [zero, zero, zero, one]]
        for A in (homogeneous(Pose(joint.tilt, joint.position), constant), variable):
            T = [[reduced(dot(row, column)) for column in zip(*A)] for row in T]
        found.append(T)
    return found


def slides(joint: Joint) -> Any:
    """Translation per unit of joint position, exactly."""
    return joint.pitch / (2 * sympy.pi) if joint.kind.has_pitch else sympy.Integer(1)


def homogeneous(pose: Pose, constant: Callable[[Any], Any]) -> Square:
    """A pose as a 4x4 matrix."""
    rows = [[*row, p] for row, p in zip(pose.rotation, pose.position)]
    return [[constant(sympy.sympify(x)) for x in row] for row in (*rows, (0, 0, 0, 1))]


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """The sum of products."""
    return sum((x * y for x, y in zip(a[1:], b[1:])), start=a[0] * b[0])
