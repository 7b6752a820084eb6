"""Forward dynamics by CRBA or ABA, whichever is faster for the number of joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from armsim.dynamics.aba import aba
from armsim.dynamics.crba import crba
from armsim.dynamics.factor import ldl, ldl_solve
from armsim.dynamics.recursion import is_large
from armsim.dynamics.rnea import Wrench, bias, rnea
from armsim.expr import Scalars, as_constant, implicit, minus, plus
from armsim.model import Arm

Algorithm = Literal["crba", "aba"]


def forward_dynamics(
    arm: Arm, q, qd, tau, external: Sequence[Wrench] | None = None, algorithm: Algorithm = "crba"
) -> Scalars:
    """Joint accelerations for given joint forces.

    Args:
        arm: The arm, n joints; its numbers may be floats or expressions.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        tau: Joint forces, friction included [N·m or N], n scalars.
        external: External wrenches, per link moment about its origin and force, in its own frame; None for none.
        algorithm: "crba" for M qdd = tau - bias with M by CRBA, solved by LDLᵀ; "aba" for the articulated-body algorithm.

    Returns:
        Joint accelerations [rad/s² or m/s²], n scalars.
    """
    if algorithm == "aba":
        return aba(arm, q, qd, tau, external)
    factors = ldl(crba(arm, q))
    qdd = ldl_solve(factors, minus(tau, bias(arm, q, qd, external)))

    def corrected() -> Scalars:
        """By inverse dynamics, so that derivatives need neither those of the mass matrix nor of its factors."""
        L, known = as_constant((factors, qdd))
        left = minus(tau, rnea(arm, q, qd, known, external))
        return plus(known, ldl_solve(L, left))

    return implicit(qdd, corrected)


def fastest_algorithm(arm: Arm) -> Algorithm:
    """The algorithm of `forward_dynamics` that is faster for an arm, by the number of its joints alone.

    The dependency chain is what takes time, and it is longer in the articulated-body algorithm: compiled, CRBA is faster up to
    some 16 joints, also where it takes twice the operations (parallel axes). Values must not matter here, or a number that is
    left open would not give the bits of the number written in. Followers' equations are projected on the leaders' coordinates,
    which takes the mass matrix.
    """
    return "aba" if is_large(arm) and not arm.followers else "crba"
