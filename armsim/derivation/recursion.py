"""The recursive algorithms of `armsim.dynamics`, the very text that simulates, on an arm's exact numbers.

They are traced as for a simulation. The graph is evaluated on polynomials, which proves it against Lagrange's equations, on exact
numbers at a point, or unrolled to a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from armsim.derivation.exact import ExactArm
from armsim.derivation.motion import Angle, MotionRing
from armsim.dynamics import (
    fastest_algorithm,
    forward_dynamics,
    gravity_torque,
    mass_matrix,
    rnea,
    tool_jacobian,
    tool_pose,
)
from armsim.expr import Function, flatten, replay, trace, unflatten
from armsim.model import Arm
from armsim.programs.program import Solution, assembled, graph_definitions

Algorithm = Callable[[Arm, Sequence[Any], Sequence[Any], Sequence[Any]], list[Any]]


@dataclass(frozen=True)
class Recursion:
    """A recursive algorithm as a graph.

    Attributes:
        function: Its inputs are the constants, then q, qd and qdd or tau.
        constants: Exact values of the constants, by name.
    """

    function: Function
    constants: dict[str, sympy.Expr]


def inverse(arm: Arm, q: Sequence[Any], qd: Sequence[Any], qdd: Sequence[Any]) -> list[Any]:
    """`armsim.dynamics.rnea`: joint forces."""
    return rnea(arm, q, qd, qdd)


def forward(arm: Arm, q: Sequence[Any], qd: Sequence[Any], tau: Sequence[Any]) -> list[Any]:
    """`armsim.dynamics.forward_dynamics`: joint accelerations."""
    return forward_dynamics(arm, q, qd, tau, algorithm=fastest_algorithm(arm))


def traced(exact: ExactArm, algorithm: Algorithm) -> Recursion:
    """An algorithm as a graph whose inputs are the arm's constants and the motion.

    Constants 0 and ±1 are numbers in the graph, so that what they cancel is left out; equal ones are one input.
    """
    given, structure = flatten((exact.arm, exact.regrouped))
    meant = {value: name for name, value in reversed(list(labelled(exact).items()))}
    names: dict[sympy.Expr, str] = {}
    for x in given:
        if x not in (0, 1, -1) and x not in names and -x not in names:
            names[x] = meant.get(x) or meant.get(-x) or f"k{len(names) + 1}"
            if names[x] == meant.get(-x):
                names[-x] = names.pop(x)
    n = exact.arm.n

    def body(*scalars: Any) -> list[Any]:
        known = dict(zip(names, scalars))

        def scalar(x: Any) -> Any:
            return float(x) if x in (0, 1, -1) else known[x] if x in known else -known[-x]

        arm, regrouped = unflatten(structure, [scalar(x) for x in given])
        vars(arm)["regrouped"] = regrouped
        motion = scalars[len(names) :]
        return algorithm(arm, motion[:n], motion[n : 2 * n], motion[2 * n :])

    inputs = [*names.values(), *(f"{x}{i}" for x in ("q", "qd", "u") for i in range(n))]
    return Recursion(trace(body, inputs, "recursion"), {name: value for value, name in names.items()})


def newton_euler(exact: ExactArm, motion: MotionRing) -> list[Any]:
    """Joint forces as polynomials of the motion, n elements of its ring.

    Raises:
        TooLarge: They have too many terms.
    """
    recursion = traced(exact, inverse)
    rates = [motion.gen(symbol) for symbol in (*motion.qd, *motion.qdd)]
    args = [*(motion.constant(x) for x in recursion.constants.values()), *motion.positions, *rates]
    return [motion.reduced(motion.ring(tau)) for tau in replay(recursion.function, args, motion.operations)]


def newton_euler_at(
    exact: ExactArm, turned: Sequence[Any], along: Sequence[Any], qd: Sequence[Any], qdd: Sequence[Any], number: Any
) -> list[Any]:
    """Joint forces at a point, on exact numbers or such of many digits.

    Args:
        exact: The arm.
        turned: Cosine and sine of each joint's angle.
        along: Joint positions with their offsets.
        qd: Joint velocities.
        qdd: Joint accelerations.
        number: Makes such a number of a SymPy expression without symbols.
    """
    from armsim.derivation.exact import exact as exactly

    recursion = traced(exact, inverse)

    def value(x: Any) -> Any:
        return number(exactly(x)) if isinstance(x, float) else x.length if isinstance(x, Angle) else x

    def plus(a: Any, b: Any) -> Any:
        return next((x for x in (a, b) if isinstance(x, Angle)), None) or value(a) + value(b)

    operations: dict[str, Callable[..., Any]] = {
        "add": plus,
        "sub": lambda a, b: a if isinstance(a, Angle) else value(a) - value(b),
        "mul": lambda a, b: value(a) * value(b),
        "div": lambda a, b: value(a) / value(b),
        "fma": lambda a, b, c: value(a) * value(b) + value(c),
        "neg": lambda a: -value(a),
        "cos": lambda a: turned[a.joint][0],
        "sin": lambda a: turned[a.joint][1],
    }
    positions = [
        Angle(i, x) if joint.kind.turns else x - number(joint.offset)
        for i, (joint, x) in enumerate(zip(exact.arm.joints, along))
    ]
    args = [*(number(x) for x in recursion.constants.values()), *positions, *qd, *qdd]
    return [value(tau) for tau in replay(recursion.function, args, operations)]


def unrolled(exact: ExactArm, algorithm: Algorithm, inputs: Sequence[str], outputs: Sequence[str]) -> Solution:
    """An algorithm as a program, with its common factors and sums.

    Args:
        exact: The arm.
        algorithm: `inverse` or `forward`.
        inputs: Names of positions, velocities, and accelerations or forces.
        outputs: Names of the results.
    """
    recursion = traced(exact, algorithm)
    names = [*inputs, *(f"%no{i}" for i in range(3 * exact.arm.n - len(inputs)))]  # what it does not depend on
    definitions = graph_definitions(recursion.function, [*recursion.constants, *names], outputs)
    program = assembled(definitions, outputs, recursion.constants)
    return Solution(program, program.needed(recursion.constants), "recursive")


def labelled(exact: ExactArm) -> dict[str, sympy.Expr]:
    """The constants of an arm by what they are called: J2zz, h2x of regrouped links, p2x of joints' places, g0x of gravity."""
    found: dict[str, sympy.Expr] = {}

    def put(name: str, x: Any) -> None:
        found[name if name not in exact.symbols else name + "_"] = sympy.sympify(x)

    for k in "xyz":
        put(f"g0{k}", getattr(exact.arm.gravity, k))
    for i, (joint, inertia) in enumerate(zip(exact.arm.joints, exact.regrouped), 1):
        put(f"m{i}_", inertia.mass)
        for k in "xyz":
            put(f"h{i}{k}", getattr(inertia.h, k))
        for k in ("zz", "xx", "yy", "xy", "xz", "yz"):
            put(f"J{i}{k}", getattr(inertia.J, k))
        for k in "xyz":
            put(f"p{i}{k}", getattr(joint.position, k))
        put(f"offset{i}", joint.offset)
        if joint.motor is not None:
            put(f"Ia{i}", joint.motor.rotor_inertia)
        put(f"pitch{i}", joint.pitch)
        for row, line in zip("xyz", joint.tilt):
            for k in "xyz":
                put(f"R{i}{row}{k}", getattr(line, k))
    return found


def meaning(name: str) -> str:
    """What a constant of `labelled` is, in words; empty for another name."""
    kinds: Mapping[str, str] = {
        "g0": "gravity",
        "h": "first moment",
        "J": "moment of inertia",
        "p": "place of joint",
        "offset": "offset of joint",
        "Ia": "armature of joint",
        "pitch": "pitch of joint",
        "R": "twist before joint",
        "m": "mass",
    }
    for prefix in sorted(kinds, key=len, reverse=True):
        rest = name.removeprefix(prefix)
        if rest != name and (rest[:1].isdigit() or prefix == "g0"):
            link = "".join(c for c in rest if c.isdigit())
            axes = "".join(c for c in rest if c.isalpha())
            noun = " of link" if prefix in "hJm" else ""
            regrouped = ", regrouped" if noun else ""
            return (
                f"{kinds[prefix]}{noun}{' ' + link if prefix != 'g0' else ''}{', ' + axes if axes else ''}{regrouped}"
            )
    return ""


def _mass_matrix(arm: Arm, q: Sequence[Any], *_: Any) -> list[Any]:
    return [x for row in mass_matrix(arm, q) for x in row]


def _kinematics(arm: Arm, q: Sequence[Any], *_: Any) -> list[Any]:
    pose = tool_pose(arm, q)
    return [x for row, p in zip(pose.rotation, pose.position) for x in (*row, p)] + [0.0, 0.0, 0.0, 1.0]


def _jacobian(arm: Arm, q: Sequence[Any], *_: Any) -> list[Any]:
    return [x for row in tool_jacobian(arm, q) for x in row]


def _gravity(arm: Arm, q: Sequence[Any], *_: Any) -> list[Any]:
    return gravity_torque(arm, q)


ALGORITHMS: dict[str, Algorithm] = {
    "mass_matrix": _mass_matrix,
    "gravity": _gravity,
    "forward_kinematics": _kinematics,
    "jacobian": _jacobian,
}
