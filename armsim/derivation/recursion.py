"""The recursive algorithms of `armsim.dynamics`, the very text that simulates, on an arm's exact numbers.

They are traced as for a simulation. The graph is evaluated on polynomials, which proves it against Lagrange's equations, on exact
numbers at a point, or unrolled to a program.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import sympy

from armsim.derivation.exact import ExactArm
from armsim.derivation.exact import exact as exactly
from armsim.derivation.motion import Angle, MotionRing
from armsim.derivation.program import Program, assembled, graph_definitions
from armsim.dynamics import (
    fastest_algorithm,
    forward_dynamics,
    frame_jacobian,
    frame_pose,
    gravity_torque,
    mass_matrix,
    rnea,
)
from armsim.expr import Function, flatten, leaves, replay, trace, unflatten
from armsim.model import Arm
from armsim.records import record

Algorithm = Callable[[Arm, Sequence[Any], Sequence[Any], Sequence[Any]], Any]  # to a tree of scalars


@record
class Recursion:
    """A recursive algorithm as a graph.

    Attributes:
        function: Its inputs are the constants, then q, qd and qdd or tau.
        constants: Exact values of the constants, by name.
    """

    function: Function
    constants: dict[str, sympy.Expr]


def traced(exact: ExactArm, algorithm: Algorithm, apart: bool = False) -> Recursion:
    """An algorithm as a graph whose inputs are the arm's constants and the motion.

    Constants 0 and ±1 are numbers in the graph, so that what they cancel is left out; equal ones are one input.

    Args:
        exact: The arm.
        algorithm: Of any row.
        apart: Whether positions are those of all links' joints, each an input of its own.
    """
    given, structure = flatten((exact.arm, exact.regrouped))
    meant = {value: name for name, (value, _) in reversed(list(labelled(exact).items()))}
    names: dict[sympy.Expr, str] = {}
    for x in given:
        if x not in (0, 1, -1) and x not in names and -x not in names:
            names[x] = meant.get(x) or meant.get(-x) or f"k{len(names) + 1}"
            if names[x] == meant.get(-x):
                names[-x] = names.pop(x)
    n, last = len(exact.arm.links) if apart else exact.arm.n, -exact.arm.n

    def body(*scalars: Any) -> list[Any]:
        known = dict(zip(names, scalars))

        def scalar(x: Any) -> Any:
            return float(x) if x in (0, 1, -1) else known[x] if x in known else -known[-x]

        arm, regrouped = unflatten(structure, [scalar(x) for x in given])
        vars(arm)["regrouped"] = regrouped
        if apart:
            vars(arm)["positions"] = lambda q: q
        motion = scalars[len(names) :]
        return leaves(algorithm(arm, motion[:n], motion[n:last], motion[last:]))

    inputs = [*names.values(), *(f"q{i}" for i in range(n)), *(f"{x}{i}" for x in ("qd", "u") for i in range(-last))]
    return Recursion(trace(body, inputs, "recursion"), {name: value for value, name in names.items()})


def evaluated(
    exact: ExactArm,
    algorithm: Algorithm,
    state: Sequence[Any],
    number: Callable[[sympy.Expr], Any],
    turned: Sequence[tuple[Any, Any]],
    times: Callable[[Any, Any], Any] = operator.mul,
) -> list[Any]:
    """The results of an algorithm on scalars of some kind.

    Args:
        exact: The arm.
        algorithm: Of any row.
        state: Positions of the links' joints, those of joints that turn as `Angle`; then the other arguments.
        number: Makes a scalar of a constant of the arm.
        turned: Cosine and sine of each link's joint's angle.
        times: The product of two scalars.
    """
    recursion = traced(exact, algorithm, apart=True)

    def value(x: Any) -> Any:
        return number(exactly(x)) if isinstance(x, (float, int)) else x.length if isinstance(x, Angle) else x

    def plus(a: Any, b: Any) -> Any:  # the offset of an angle is part of it
        return next((x for x in (a, b) if isinstance(x, Angle)), None) or value(a) + value(b)

    operations: dict[str, Callable[..., Any]] = {
        "add": plus,
        "sub": lambda a, b: a if isinstance(a, Angle) else value(a) - value(b),
        "mul": lambda a, b: times(value(a), value(b)),
        "div": lambda a, b: times(value(a), number(1 / exactly(b))),  # by a number
        "fma": lambda a, b, c: times(value(a), value(b)) + value(c),
        "neg": lambda a: -value(a),
        "cos": lambda a: turned[a.joint][0],
        "sin": lambda a: turned[a.joint][1],
    }
    args = [*map(number, recursion.constants.values()), *state]
    return [value(x) for x in replay(recursion.function, args, operations)]


def in_ring(exact: ExactArm, algorithm: Algorithm, motion: MotionRing) -> list[Any]:
    """The results of an algorithm on joint positions, velocities and accelerations as polynomials of the motion.

    Raises:
        TooLarge: They have too many terms.
    """
    state = [*motion.positions, *map(motion.gen, (*motion.qd, *motion.qdd))]
    found = evaluated(exact, algorithm, state, motion.constant, motion.turned, motion.times)
    return [motion.reduced(x) for x in found]


def unrolled(exact: ExactArm, algorithm: Algorithm, inputs: Sequence[str], outputs: Sequence[str]) -> Program:
    """An algorithm as a program, with its common factors and sums.

    Args:
        exact: The arm.
        algorithm: Of `ALGORITHMS`.
        inputs: Names of positions, velocities, and accelerations or forces.
        outputs: Names of the results.
    """
    recursion = traced(exact, algorithm)
    names = [*inputs, *(f"%no{i}" for i in range(3 * exact.arm.n - len(inputs)))]  # what it does not depend on
    definitions = graph_definitions(recursion.function, [*recursion.constants, *names], outputs)
    return assembled(definitions, outputs, recursion.constants, "recursive")


def labelled(exact: ExactArm) -> dict[str, tuple[sympy.Expr, str]]:
    """The constants of an arm by what they are called, with words: J2zz, h2x of regrouped links, p2x of joints' places."""
    found: dict[str, tuple[sympy.Expr, str]] = {}

    def put(name: str, x: Any, words: str) -> None:
        found[name if name not in exact.symbols else name + "_"] = sympy.sympify(x), words

    for k in "xyz":
        put(f"g0{k}", getattr(exact.arm.gravity, k), f"gravity, {k}")
    for i, (joint, inertia) in enumerate(zip(exact.arm.links, exact.regrouped), 1):
        put(f"m{i}_", inertia.mass, f"mass of link {i}, regrouped")
        for k in "xyz":
            put(f"h{i}{k}", getattr(inertia.h, k), f"first moment of link {i}, {k}, regrouped")
        for k in ("zz", "xx", "yy", "xy", "xz", "yz"):
            put(f"J{i}{k}", getattr(inertia.J, k), f"moment of inertia of link {i}, {k}, regrouped")
        for k in "xyz":
            put(f"p{i}{k}", getattr(joint.position, k), f"place of joint {i}, {k}")
        put(f"offset{i}", joint.offset, f"offset of joint {i}")
        if joint.mimic is not None:
            put(f"ratio{i}", joint.mimic.ratio, f"ratio of joint {i} to the one that it mimics")
            put(f"shift{i}", joint.mimic.offset, f"position of joint {i} where that one's is 0")
        if joint.motor is not None:
            put(f"Ia{i}", joint.motor.rotor_inertia, f"armature of joint {i}")
        put(f"pitch{i}", joint.pitch, f"pitch of joint {i}")
        for row, line in zip("xyz", joint.tilt):
            for k in "xyz":
                put(f"R{i}{row}{k}", getattr(line, k), f"twist before joint {i}, {row}{k}")
    return found


def _pose(arm: Arm, q: Sequence[Any]) -> list[Any]:
    """The pose of the tool, homogeneous."""
    pose = frame_pose(arm, q, arm.tool)
    return [*((row, p) for row, p in zip(pose.rotation, pose.position)), (0.0, 0.0, 0.0, 1.0)]


ALGORITHMS: dict[str, Algorithm] = {
    "inverse_dynamics": lambda arm, q, qd, qdd: rnea(arm, q, qd, qdd),
    "forward_dynamics": lambda arm, q, qd, tau: forward_dynamics(arm, q, qd, tau, algorithm=fastest_algorithm(arm)),
    "mass_matrix": lambda arm, q, *_: mass_matrix(arm, q),
    "gravity": lambda arm, q, *_: gravity_torque(arm, q),
    "forward_kinematics": lambda arm, q, *_: _pose(arm, q),
    "jacobian": lambda arm, q, *_: frame_jacobian(arm, q, arm.tool),
}
