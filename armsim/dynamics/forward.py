"""Forward dynamics by whichever algorithm takes fewer operations on the arm at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from armsim.dynamics.aba import aba
from armsim.dynamics.crba import crba
from armsim.dynamics.factor import solve_ldl
from armsim.dynamics.rnea import Wrench, bias
from armsim.expr import trace
from armsim.model import Arm
from armsim.spatial import Scalar

Algorithm = Literal["crba", "aba"]


def forward_dynamics(
    arm: Arm,
    q,
    qd,
    tau,
    armature,
    external: Sequence[Wrench] | None = None,
    algorithm: Algorithm = "crba",
) -> list[Scalar]:
    """Joint accelerations for given joint forces.

    Args:
        arm: The arm, n joints; its numbers may be floats or expressions.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        tau: Joint forces, friction included [N·m or N], n scalars.
        armature: Inertia of the rotors felt at the joints [kg m² or kg], n scalars.
        external: Moment about the origin and force on every link from outside, in its own frame; None for none.
        algorithm: "crba" for M qdd = tau - bias with M by CRBA, solved by LDLᵀ; "aba" for the articulated-body algorithm.

    Returns:
        Joint accelerations [rad/s² or m/s²], n scalars.
    """
    if algorithm == "aba":
        return aba(arm, q, qd, tau, armature, external)
    M = crba(arm, q)
    for i, extra in enumerate(armature):
        M[i][i] = M[i][i] + extra
    return solve_ldl(M, [t - b for t, b in zip(tau, bias(arm, q, qd, external), strict=True)])


def fewest_operations(arm: Arm) -> Algorithm:
    """The algorithm of `forward_dynamics` that traces to fewer operations on this arm as it is written.

    Mostly CRBA's up to some ten joints; ABA's on some short arms, too: those with parallel or sliding joints, or with many zeros
    among their offsets and inertias.
    """
    n = arm.n

    def flops(algorithm: Algorithm) -> int:
        def body(*x):
            q, qd, tau, armature = (
                x[k * n : (k + 1) * n] for k in range(4)
            )  # armature: without rotors M may be singular
            return forward_dynamics(arm, q, qd, tau, armature, algorithm=algorithm)

        return trace(body, [f"x{i}" for i in range(4 * n)]).flops()

    return "crba" if flops("crba") <= flops("aba") else "aba"
