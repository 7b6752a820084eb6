"""Programs of an arm's equations: closed forms with grouped constants, and the recursive algorithms unrolled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy

from armsim.derivation.exact import ExactArm
from armsim.derivation.forms import FORMS, EquationForm, Writer, parallel_runs
from armsim.derivation.grouping import Grouping
from armsim.derivation.motion import MotionRing
from armsim.dynamics.factor import solve_ldl
from armsim.expr import trace
from armsim.programs.factoring import Polynomial
from armsim.programs.program import Call, Definition, Solution, assembled, graph_definitions

MANY = 120  # terms, beyond which they are not searched for common factors
TRIES, TRIES_OF_OTHERS = 40, 4  # searches of few terms


@dataclass
class Closed:
    """The equations of motion in one form, ready to be made programs of.

    Attributes:
        writer: Of this form.
        grouping: Its constants.
        torque: Joint forces, by joint, of the rates of the form.
    """

    exact: ExactArm
    motion: MotionRing
    writer: Writer
    grouping: Grouping
    torque: list[Polynomial] = field(default_factory=list)

    @property
    def terms(self) -> int:
        """Of all joint forces together."""
        return sum(map(len, self.torque))


def closed_form(exact: ExactArm, motion: MotionRing, tau: Sequence[Any], form: EquationForm) -> Closed:
    """The equations of motion in a form, with grouped constants.

    Args:
        exact: The arm.
        motion: Its ring.
        tau: Joint forces in the ring.
        form: What they are written in.
    """
    writer = Writer(motion, *parallel_runs(exact), form)
    sums = {str(i): writer.write(p) for i, p in enumerate(tau)}
    taken = (
        {str(symbol) for symbol in motion.ring.symbols} | set(writer.rates) | set(writer.angles) | set(exact.symbols)
    )
    grouping = Grouping(motion.atoms, taken)
    return Closed(exact, motion, writer, grouping, list(grouping.group(sums).values()))


def closed_forms(exact: ExactArm, motion: MotionRing, tau: Sequence[Any]) -> list[Closed]:
    """The forms that differ, of joint forces that are not too long to be searched."""
    runs, _ = parallel_runs(exact)
    parallel = any(len(run) > 1 for run in runs)
    if sum(map(len, tau)) > 4 * MANY:
        return []
    found = [closed_form(exact, motion, tau, form) for form in (FORMS if parallel else FORMS[-1:])]
    return [closed for closed in found if closed.terms <= MANY]


def inverse_dynamics(closed: Closed, names: Sequence[str]) -> Solution:
    """Joint forces of a motion, in few operations.

    Args:
        closed: The equations.
        names: Of the joint forces.
    """
    return solution(closed, dict(zip(names, closed.torque)), names)


def polynomials(exact: ExactArm, motion: MotionRing, items: Sequence[Any], outputs: Sequence[str]) -> list[Solution]:
    """Programs of some elements of the ring in the forms that differ; none where they are too long to be searched.

    Args:
        exact: The arm.
        motion: Its ring.
        items: The elements.
        outputs: Names for them.
    """
    if sum(map(len, items)) > MANY:
        return []
    forms = [EquationForm(harmonics, links=False) for harmonics in (True, False)]
    closed = [closed_form(exact, motion, items, form) for form in forms]
    return [solution(one, dict(zip(outputs, one.torque)), outputs, TRIES_OF_OTHERS) for one in closed]


def forward_dynamics(closed: Closed, names: Sequence[str], torque: Sequence[str]) -> Solution:
    """Joint accelerations under joint forces: M a = tau - bias, solved by M = L D Lᵀ, in the rates of the form.

    Args:
        closed: The equations.
        names: Of the accelerations.
        torque: Of the joint forces.
    """
    n = closed.exact.arm.n
    rates = [_rate_names(closed, i) for i in range(n)]
    change = [{rates.index(name): k for name, k in _combination(closed, i).items()} for i in range(n)]  # qdd = change a
    weighted: list[Polynomial] = [{} for _ in range(n)]
    for i in range(n):
        for j, k in change[i].items():
            for m, factor in closed.torque[i].items():
                weighted[j][m] = weighted[j].get(m, Fraction(0)) - k * factor
            weighted[j][((torque[i], 1),)] = k
    definitions: dict[str, Definition] = {}
    for i in range(n):
        definitions[f"%b{i}"] = {
            m: k for m, k in weighted[i].items() if k and not any((name, 1) in m for name in rates)
        }
        for j in range(i + 1):
            definitions[f"%m{i}_{j}"] = {
                tuple(x for x in m if x != (rates[j], 1)): -k
                for m, k in weighted[i].items()
                if k and (rates[j], 1) in m
            }
    definitions |= solved(n, definitions)
    for i, name in enumerate(names):
        definitions[name] = {((f"%z{j}", 1),): k for j, k in change[i].items()}
    return solution(closed, definitions, names)


def solved(n: int, given: Mapping[str, Definition]) -> dict[str, Definition]:
    """Definitions of z0 ... from M z = b by `armsim.dynamics.factor`: m{i}_{j} of the lower triangle and b{i} are given."""
    names = [f"%m{i}_{j}" for i in range(n) for j in range(i + 1)] + [f"%b{i}" for i in range(n)]
    present = [name for name in names if given[name]]

    def body(*scalars: Any) -> list[Any]:
        known = dict.fromkeys(names, 0.0) | dict(zip(present, scalars))
        M = [[known[f"%m{i}_{j}"] for j in range(i + 1)] for i in range(n)]
        return solve_ldl(M, [known[f"%b{i}"] for i in range(n)])

    return graph_definitions(trace(body, present, "solve"), present, [f"%z{i}" for i in range(n)])


def solution(
    closed: Closed, definitions: Mapping[str, Definition], outputs: Sequence[str], tries: int = TRIES
) -> Solution:
    """The program of definitions in a form: with its sines, cosines, rates of links and constants."""
    every: dict[str, Definition] = dict(definitions)
    used = {x for value in definitions.values() if not isinstance(value, Call) for m in value for x, _ in m}
    constants = {
        name: value.as_expr(*closed.motion.atoms, sympy.Symbol("_")) for name, value in closed.grouping.values.items()
    }
    for name, p in closed.writer.rates.items():
        if name in used:
            every[name] = p
    for name, (kind, multiples) in closed.writer.angles.items():
        if name in used:
            angle, offsets = closed_angle(closed, multiples)
            constants |= offsets
            key = "%t" + name[1:]
            every[key] = angle
            every[name] = Call({"c": "cos", "s": "sin"}[kind], key)
    program = assembled(every, outputs, constants, tries)
    return Solution(program, program.needed(constants), "closed")


def closed_angle(closed: Closed, multiples: Sequence[int]) -> tuple[Polynomial, dict[str, sympy.Expr]]:
    """A sum of joint angles, and the constant offsets in it by name."""
    p: Polynomial = {}
    offsets: dict[str, sympy.Expr] = {}
    for i, k in enumerate(multiples):
        if k:
            p[((str(closed.motion.q[i]), 1),)] = Fraction(k)
            offset = closed.motion.angles[i] - closed.motion.q[i]
            if offset != 0:
                name = f"offset{i + 1}" + "_" * (f"offset{i + 1}" in closed.exact.symbols)
                offsets[name] = offset
                p[((name, 1),)] = Fraction(k)
    return p, offsets


def _rate_names(closed: Closed, i: int) -> str:
    """The acceleration that the form has for joint i: its own, or its link's."""
    if not closed.writer.form.links:
        return str(closed.motion.qdd[i])
    run = next((run for run in closed.writer.runs if i in run), [i])
    return str(closed.motion.qdd[i]) if i == run[0] else f"a{i + 1}"


def _combination(closed: Closed, i: int) -> dict[str, Fraction]:
    """A joint's acceleration in terms of those of the form."""
    name = str(closed.motion.qdd[i])
    p = closed.writer.replaced.get(name, {((name, 1),): Fraction(1)})
    return {m[0][0]: k for m, k in p.items()}
