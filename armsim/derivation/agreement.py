"""Whether two derivations of the same equations agree, and what is printed with the compiled engine."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy

from armsim.arm.robot import Robot
from armsim.derivation.code import code
from armsim.derivation.exact import ExactArm
from armsim.derivation.lagrange import LagrangeEquations, lagrange_at
from armsim.derivation.module import PrintedModule
from armsim.derivation.motion import Angle, MotionRing
from armsim.derivation.recursion import ALGORITHMS, evaluated
from armsim.errors import INTERNAL, ArmsimError
from armsim.expr import leaves
from armsim.records import record

POINTS = 3
DIGITS = 60  # of numbers at a point that are not rational
CLOSE = sympy.Float("1e-40", DIGITS)
ROUNDED = 1e-12  # with numbers that are doubles
STATES = 5
ROUNDING = 1e-9  # of the largest item; accelerations of badly conditioned mass matrices lose some digits
REPORT = "this is a fault of armsim: please report it with the file"


class Disagreement(ArmsimError):
    """Two derivations of the same equations differ: a fault of armsim, never of a robot file."""

    exit_code = INTERNAL


@record
class Check:
    """What was compared, and how.

    Attributes:
        what: The two sides.
        how: "identical polynomials", or how many points and the largest difference.
        difference: The largest relative difference; 0 for identical.
    """

    what: str
    how: str
    difference: float


def compare_polynomials(
    motion: MotionRing, equations: LagrangeEquations, tau: Sequence[Any], rounded: bool
) -> list[Check]:
    """Newton and Euler's joint forces against Lagrange's, and M, C and g against those.

    Args:
        motion: The ring.
        equations: Lagrange's.
        tau: Newton and Euler's.
        rounded: Whether some of the arm's numbers are doubles.

    Raises:
        Disagreement: They differ.
    """
    n = range(len(tau))
    qd, qdd = ([motion.gen(x) for x in symbols] for symbols in (motion.qd, motion.qdd))
    for i in n:
        _require(f"joint force {i + 1}, by Newton-Euler and by Lagrange", motion, tau[i] - equations.tau[i], rounded)
        whole = sum((equations.M[i][j] * qdd[j] + equations.C[i][j] * qd[j] for j in n), start=equations.g[i])
        _require(f"joint force {i + 1} and row {i + 1} of M qdd + C qd + g", motion, whole - tau[i], rounded)
        for j in n:
            rate = motion.rate(equations.M[i][j])
            skew = rate - equations.C[i][j] - equations.C[j][i]  # (dM/dt - 2 C) + its transpose, halved
            _require(f"dM/dt - 2 C, row {i + 1}, column {j + 1}", motion, skew, rounded)
    same = "identical polynomials" + (", but for the rounding of oblique axes" if rounded else "")
    return [
        Check("Newton-Euler and Lagrange", same, 0.0),
        Check("M qdd + C qd + g and Newton-Euler", same, 0.0),
        Check("dM/dt - 2 C and its negative transpose", same, 0.0),
    ]


def _require(what: str, motion: MotionRing, difference: Any, rounded: bool) -> None:
    """Raise unless an element of the ring is zero; where irrational or rounded constants hide it, at a random point."""
    left = motion.reduced(difference)
    if left == 0:
        return
    rng = random.Random(what)
    expression = left.as_expr()
    values = {x: sympy.Rational(rng.randint(1, 999), 500) for x in expression.free_symbols}
    for c, s in zip(motion.c, motion.s):
        values[c], values[s] = _on_circle(rng)
    size = sum(abs(term.subs(values).evalf(DIGITS)) for term in sympy.Add.make_args(expression))
    if not abs(expression.subs(values).evalf(DIGITS)) <= (ROUNDED if rounded else CLOSE * size):
        raise Disagreement.of(
            what, "the same polynomial", f"a difference of {sympy.Add.make_args(expression)[0]} ...", REPORT
        )


def compare_points(exact: ExactArm) -> list[Check]:
    """Newton and Euler's joint forces against Lagrange's at random points, with the file's values for its symbols.

    Raises:
        Disagreement: They differ.
    """
    # angles are random: offsets of joints that turn do not matter
    arm = exact.arm.map_links(lambda link: link if link.kind.slides else replace(link, offset=sympy.Integer(0)))
    exact = replace(exact, arm=arm)
    values = exact.at
    numbers = [sympy.sympify(x).subs(values) for x in leaves((exact.arm, exact.inertias, exact.regrouped))]
    rational = all(x.is_Rational for x in numbers) and not any(joint.kind.has_pitch for joint in exact.arm.links)

    def number(x: Any) -> Any:
        x = sympy.sympify(x).subs(values)
        return Fraction(int(x.p), int(x.q)) if rational else x.evalf(DIGITS)

    rng = random.Random(exact.arm.name)
    worst = max(_at_point(exact, rng, number) for _ in range(POINTS))
    how = f"{POINTS} random points, exactly" if rational else f"{POINTS} random points, {DIGITS} digits"
    return [Check("Newton-Euler and Lagrange", how, worst)]


def compare_engine(module: PrintedModule, robot: Robot) -> Check:
    """The module, as it is printed in Python, against the engine at random states, with the file's values for its symbols.

    Raises:
        Disagreement: They differ by more than rounding.
    """
    import numpy as np

    printed: dict[str, Callable[..., Any]] = {}
    exec(compile(code(module, "python"), "<derivation>", "exec"), printed)
    r = printed["constants"](*([printed["Numbers"]()] if module.parameters else []))
    rng = np.random.default_rng(0)
    n = robot.arm.n
    worst = 0.0
    for q, qd, qdd in rng.uniform(-2, 2, (STATES, 3, n)):
        M, bias, g = robot.mass_matrix(q), robot.bias(q, qd), robot.gravity_torque(q)
        tau = M @ qdd + bias
        pose = robot.forward_kinematics(q)
        given = {"q": q.tolist(), "qd": qd.tolist(), "qdd": qdd.tolist(), "tau": tau.tolist(), "r": r}
        expected = {"inverse_dynamics": tau, "forward_dynamics": qdd, "mass_matrix": M, "gravity": g}
        expected |= {"jacobian": robot.jacobian(q), "coriolis": bias - g, "forward_kinematics": pose.position}
        for routine in module.routines:
            found = np.array(printed[routine.name](*(given[vector] for vector, _ in routine.inputs)))
            if routine.name == "coriolis":
                found = found @ qd
            if routine.name == "forward_kinematics":
                found = found[:3, 3]
            wanted = expected[routine.name]
            scale = max(np.abs(M).max() * 10 if routine.name == "coriolis" else 0.0, np.abs(wanted).max(), 1e-300)
            difference = float(np.abs(found - wanted).max() / scale)
            worst = max(worst, difference)
            if not difference <= ROUNDING:
                raise Disagreement.of(
                    f"{module.name}: {routine.name}, as printed and as compiled",
                    "the same numbers but for rounding",
                    f"a relative difference of {difference:.1e}",
                    REPORT,
                )
    return Check("printed program and compiled engine", f"{STATES} random states, to rounding", worst)


def _at_point(exact: ExactArm, rng: random.Random, number: Any) -> float:
    n = exact.arm.n
    level = sympy.Integer(1), sympy.Integer(0)
    links = exact.arm.links
    turned = [tuple(number(x) for x in (_on_circle(rng) if joint.kind.turns else level)) for joint in links]
    along, qd, qdd = (
        [number(sympy.Rational(rng.randint(-200, 200), 100)) for _ in range(k)] for k in (len(links), n, n)
    )
    positions = [
        Angle(i, x) if joint.kind.turns else x - number(joint.offset) for i, (joint, x) in enumerate(zip(links, along))
    ]
    first = evaluated(exact, ALGORITHMS["inverse_dynamics"], [*positions, *qd, *qdd], number, turned)
    second = lagrange_at(exact, turned, along, qd, qdd, number)
    size = max(abs(x) for x in second) or 1
    difference = max(abs(a - b) for a, b in zip(first, second)) / size
    if difference > (Fraction(1, 10**12) if exact.rounded else Fraction(1, 10**40)):
        raise Disagreement.of(
            f"{exact.arm.name}: joint forces by Newton-Euler and by Lagrange",
            "the same numbers",
            f"a relative difference of {float(difference):.1e}",
            REPORT,
        )
    return float(difference)


def _on_circle(rng: random.Random) -> tuple[sympy.Rational, sympy.Rational]:
    """The cosine and sine of an angle, both rational."""
    t = sympy.Rational(rng.randint(-50, 50), 40)
    return (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
