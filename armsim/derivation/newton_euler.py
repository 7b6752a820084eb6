"""Inverse dynamics by the recursive Newton-Euler algorithm, the very text that simulates, on exact numbers."""

from __future__ import annotations

from typing import Any

from armsim.derivation.exact import ExactArm
from armsim.derivation.motion import Motion
from armsim.dynamics import rnea
from armsim.expr import Function, flatten, replay, trace, unflatten


def traced(exact: ExactArm) -> tuple[Function, list[Any]]:
    """`armsim.dynamics.rnea` as a graph whose inputs are the arm's constants, q, qd and qdd; and those constants.

    Constants 0 and ±1 are numbers in the graph, so that what they cancel is left out; equal ones are one input.
    """
    given, structure = flatten((exact.arm, exact.regrouped))
    constants: list[Any] = []
    for x in given:
        if x not in (0, 1, -1) and x not in constants and -x not in constants:
            constants.append(x)
    n = exact.arm.n

    def body(*scalars: Any) -> list[Any]:
        known = dict(zip(constants, scalars))

        def scalar(x: Any) -> Any:
            return float(x) if x in (0, 1, -1) else known[x] if x in known else -known[-x]

        arm, regrouped = unflatten(structure, [scalar(x) for x in given])
        vars(arm)["regrouped"] = regrouped
        motion = scalars[len(constants) :]
        return rnea(arm, motion[:n], motion[n : 2 * n], motion[2 * n :])

    names = [f"k{i}" for i in range(len(constants))] + [f"{x}{i}" for x in ("q", "qd", "qdd") for i in range(n)]
    return trace(body, names, "rnea"), constants


def newton_euler(exact: ExactArm, motion: Motion) -> list[Any]:
    """Joint forces as polynomials of the motion, n elements of its ring.

    Raises:
        TooLarge: They have too many terms.
    """
    function, constants = traced(exact)
    rates = [motion.gen(symbol) for symbol in (*motion.qd, *motion.qdd)]
    args = [*(motion.constant(x) for x in constants), *motion.positions, *rates]
    return [motion.ring(tau) if tau == 0 else motion.reduced(tau) for tau in replay(function, args, motion.operations)]
