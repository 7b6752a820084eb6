"""Programs of an arm's equations: closed forms with grouped constants, and the recursive algorithms unrolled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy

from armsim.derivation.exact import ExactArm
from armsim.derivation.factoring import ONE, Polynomial, plus, times, variable
from armsim.derivation.forms import FORMS, EquationForm, Writer
from armsim.derivation.grouping import Grouping, fraction
from armsim.derivation.motion import MotionRing
from armsim.derivation.program import Call, Definition, Program, assembled, graph_definitions
from armsim.dynamics.factor import solve_ldl
from armsim.expr import Scalars, trace

MANY = 120  # terms, beyond which they are not searched for common factors
TRIES, TRIES_OF_OTHERS = 40, 4  # searches of few terms


class Closed:
    """Elements of the ring, such as joint forces, in one form and with grouped constants, ready to be made programs of.

    Attributes:
        writer: Of this form.
        grouping: Its constants.
        items: The elements.
    """

    def __init__(self, exact: ExactArm, motion: MotionRing, items: Sequence[Any], form: EquationForm) -> None:
        self.exact, self.motion = exact, motion
        self.writer = writer = Writer(exact, motion, form)
        sums = {str(i): writer.write(p) for i, p in enumerate(items)}
        taken = {*map(str, motion.ring.symbols), *writer.rates, *writer.angles, *exact.symbols}
        self.grouping = Grouping(taken)
        self.items: list[Polynomial] = list(self.grouping.group(sums).values())

    def program(
        self, outputs: Sequence[str], definitions: Mapping[str, Definition] | None = None, tries: int = TRIES
    ) -> Program:
        """The program of definitions, of the items unless given: with sines, cosines, rates of links and constants."""
        every: dict[str, Definition] = dict(zip(outputs, self.items) if definitions is None else definitions)
        used = {x for value in every.values() if not isinstance(value, Call) for m in value for x, _ in m}
        constants = self.grouping.constants
        every |= {name: p for name, p in self.writer.rates.items() if name in used}
        for name, (kind, multiples) in self.writer.angles.items():
            if name in used:
                angle, offsets = self._angle(multiples)
                constants |= offsets
                key = "%t" + name[1:]
                every[key] = angle
                every[name] = Call({"c": "cos", "s": "sin"}[kind], key)
        return assembled(every, outputs, constants, "closed", tries)

    def forward_dynamics(self, outputs: Sequence[str], torque: Sequence[str]) -> Program:
        """Joint accelerations under joint forces, of items that are these: M a = tau - bias, by M = L D Lᵀ, in the form's rates.

        Args:
            outputs: Names of the accelerations.
            torque: Of the joint forces.
        """
        n = len(self.items)
        combined = [self.writer.rate(str(symbol)) for symbol in self.motion.qdd]
        rates = [next(name for ((name, _),) in p) for p in combined]  # of the link, where the form has those
        change = [{rates.index(m[0][0]): k for m, k in p.items()} for p in combined]  # qdd = change a
        weighted: list[Polynomial] = [{} for _ in range(n)]
        for i in range(n):
            for j, k in change[i].items():
                weighted[j] = plus(weighted[j], self.items[i], -k) | variable(torque[i], k)
        definitions: dict[str, Definition] = {}
        for i in range(n):
            definitions[f"%b{i}"] = {m: k for m, k in weighted[i].items() if not any((name, 1) in m for name in rates)}
            for j in range(i + 1):
                definitions[f"%m{i}_{j}"] = {
                    tuple(x for x in m if x != (rates[j], 1)): -k for m, k in weighted[i].items() if (rates[j], 1) in m
                }
        definitions |= solved(n, definitions)
        for i, name in enumerate(outputs):
            definitions[name] = {((f"%z{j}", 1),): k for j, k in change[i].items()}
        return self.program(outputs, definitions)

    def _angle(self, multiples: Sequence[int]) -> tuple[Polynomial, dict[str, sympy.Expr]]:
        """A sum of joint angles, and the constants in it by name."""
        p: Polynomial = {}
        constants: dict[str, sympy.Expr] = {}

        def named(name: str, value: sympy.Expr) -> Polynomial:
            name += "_" * (name in self.exact.symbols)
            constants[name] = value
            return variable(name)

        for i, k in enumerate(multiples):
            if k:
                q, angle = self.motion.q[self.motion.leaders[i][0]], self.motion.angles[i]
                ratio, offset = angle.coeff(q), angle.subs(q, 0)
                factor = {ONE: fraction(ratio)} if ratio.is_Rational else named(f"ratio{i + 1}", ratio)
                p = plus(p, times(variable(str(q)), factor), k)
                if offset != 0:
                    p = plus(p, named(f"offset{i + 1}", offset), k)
        return p, constants


def closed_forms(exact: ExactArm, motion: MotionRing, tau: Sequence[Any]) -> list[Closed]:
    """The forms that differ, of joint forces that are not too long to be searched."""
    if sum(map(len, tau)) > 4 * MANY:
        return []
    forms = [Closed(exact, motion, tau, form) for form in FORMS]
    differing = forms if forms[0].writer.runs else forms[-1:]
    return [closed for closed in differing if sum(map(len, closed.items)) <= MANY]


def polynomials(exact: ExactArm, motion: MotionRing, items: Sequence[Any], outputs: Sequence[str]) -> list[Program]:
    """Programs of some elements of the ring in the forms that differ; none where they are too long to be searched.

    Args:
        exact: The arm.
        motion: Its ring.
        items: The elements.
        outputs: Names for them.
    """
    if sum(map(len, items)) > MANY:
        return []
    forms = [Closed(exact, motion, items, form) for form in FORMS if not form.links]
    return [closed.program(outputs, tries=TRIES_OF_OTHERS) for closed in forms]


def solved(n: int, given: Mapping[str, Definition]) -> dict[str, Definition]:
    """Definitions of z0 ... from M z = b by `armsim.dynamics.factor`: m{i}_{j} of the lower triangle and b{i} are given."""
    names = [f"%m{i}_{j}" for i in range(n) for j in range(i + 1)] + [f"%b{i}" for i in range(n)]
    present = [name for name in names if given[name]]

    def body(*scalars: Any) -> Scalars:
        known = dict.fromkeys(names, 0.0) | dict(zip(present, scalars))
        M = [[known[f"%m{i}_{j}"] for j in range(i + 1)] for i in range(n)]
        return solve_ldl(M, [known[f"%b{i}"] for i in range(n)])

    return graph_definitions(trace(body, present, "solve"), present, [f"%z{i}" for i in range(n)])
