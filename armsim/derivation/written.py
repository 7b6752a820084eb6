"""The closed form of an arm's equations, written with grouped constants and sines and cosines of sums of angles."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import Any

import sympy

from armsim.derivation.exact import ExactArm
from armsim.derivation.factoring import ONE, Polynomial
from armsim.derivation.forms import EquationForm, Sum, Writer
from armsim.derivation.grouping import Grouping, substituted
from armsim.derivation.lagrange import LagrangeEquations, homogeneous, poses
from armsim.derivation.motion import MotionRing
from armsim.derivation.program import Program, expression

LETTERS = {
    "mass_matrix": "M",
    "coriolis": "C",
    "gravity": "g",
    "kinetic_energy": "T",
    "potential_energy": "V",
    "forward_kinematics": "P",
    "jacobian": "J",
}


class Written:
    """The equations of an arm in a form to be read.

    Attributes:
        items: Elements of the motion's ring by letter, row by row: M, C, g, the energies T and V, the tool's pose P and the
            Jacobian J.
        shapes: Of each, (rows, columns).
        grouping: The grouped constants.
    """

    def __init__(self, exact: ExactArm, motion: MotionRing, equations: LagrangeEquations, inverse: Program) -> None:
        self.exact, self.motion = exact, motion
        n = exact.arm.n
        pose, jacobian = kinematics(exact, motion)
        self.items: dict[str, list[Any]] = {
            "M": [*chain(*equations.M)],
            "C": [*chain(*equations.C)],
            "g": list(equations.g),
            "T": [equations.kinetic],
            "V": [equations.potential],
            "P": [*chain(*pose)],
            "J": [*chain(*jacobian)],
        }
        self.shapes = {"M": (n, n), "C": (n, n), "g": (n, 1), "T": (1, 1), "V": (1, 1), "P": (4, 4), "J": (6, n)}
        self.writer = self._writer()
        self._sums: dict[str, list[Sum]] = {}
        self.grouping = Grouping({*map(str, motion.ring.symbols), *exact.symbols, *self.writer.angles})
        if inverse.form == "closed" and motion.atoms:
            self.grouping.adopt({name: self._constant(value) for name, value in inverse.given.items()})

    def matrix(self, letter: str) -> sympy.Matrix:
        """M, C, g, T, V, P or J in the arm's own symbols, with cosines and sines of sums of q."""
        entries = [self._expression(written) for written in self.sums(letter)]
        return sympy.Matrix(*self.shapes[letter], entries)

    def grouped(self, letter: str) -> list[sympy.Expr]:
        """Its entries row by row, with names for sines and cosines and, but in kinematics, for constants."""
        if letter in "PJ":
            return [self._expression(written, names=True) for written in self.sums(letter)]
        return [expression(p) for p in self.polynomials(letter)]

    def polynomials(self, letter: str) -> list[Polynomial]:
        """Its entries as polynomials of names."""
        return [self._named(written) for written in self.sums(letter)]

    def sums(self, letter: str) -> list[Sum]:
        """Its entries in the form that they are written in."""
        if letter not in self._sums:
            self._sums[letter] = [self.writer.write(p) for p in self.items[letter]]
        return self._sums[letter]

    def angle(self, name: str) -> sympy.Expr | None:
        """What a name stands for: the cosine or sine of a sum of angles; None for another name."""
        if name not in self.writer.angles:
            return None
        kind, multiples = self.writer.angles[name]
        total = sympy.Add(*(k * angle for k, angle in zip(multiples, self.motion.angles)))
        return sympy.cos(total) if kind == "c" else sympy.sin(total)

    @cached_property
    def uses(self) -> dict[str, list[str]]:
        """Where a constant of the mass matrix or of gravity is, by name: in M11, in M12 with c2."""
        found: dict[str, list[str]] = {}
        for letter in "Mg":
            columns = self.shapes[letter][1]
            for k, p in enumerate(self.polynomials(letter)):
                i, j = divmod(k, columns)
                if j > i and letter == "M":
                    continue
                place = f"{letter}{i + 1}{j + 1 if letter == 'M' else ''}"
                for x, _ in chain(*p):
                    if x in self.grouping.values and place not in found.setdefault(x, []):
                        found[x].append(place)
        return found

    def meaning(self, name: str) -> str:
        """What a grouped constant is, by where it is."""
        places = self.uses.get(name, [])
        if not places:
            return ""
        kinds = {place[0] for place in places}
        terms = [dict(m) for p in self.polynomials("M") for m in p]
        turning = any(x in self.writer.angles for m in terms if name in m for x in m)
        what = "gravity force" if kinds == {"g"} else "inertial coupling" if turning else "inertia"
        return f"{what if len(kinds) == 1 else 'shared'}, in {', '.join(places)}"

    def _writer(self) -> Writer:
        """The form in which M and g have the fewest terms."""
        writers = [Writer(self.exact, self.motion, EquationForm(harmonics, links=False)) for harmonics in (True, False)]
        return min(writers, key=lambda writer: sum(len(writer.write(p)) for x in "Mg" for p in self.items[x]))

    def _constant(self, value: sympy.Expr) -> Any:
        terms = sympy.Poly(value, *self.motion.atoms, domain=sympy.QQ).rep.to_dict()
        return sum((self.motion.coefficient(m, k) for m, k in terms.items()), self.motion.constants.zero)

    def _named(self, written: Sum) -> Polynomial:
        """A sum with names for its coefficients, or plain numbers where the arm has no symbols."""

        def named(k: Any) -> Polynomial:
            known = self.grouping.written(k)
            return next(iter(self.grouping.group({"": {ONE: k}}).values())) if known is None else known

        return substituted(written, named)

    def _expression(self, written: Sum, names: bool = False) -> sympy.Expr:
        real = {str(symbol): symbol for symbol in self.motion.ring.symbols}
        terms = []
        for m, k in written.items():
            factors = [(sympy.Symbol(x) if names else self.angle(x) or real[x]) ** e for x, e in m]
            terms.append(sympy.factor_terms(k.as_expr()) * sympy.Mul(*factors))
        return sympy.Add(*terms)


def kinematics(exact: ExactArm, motion: MotionRing) -> tuple[list[list[Any]], list[list[Any]]]:
    """The tool's pose in the world, 4x4, and its geometric Jacobian, 6 rows of n, as elements of the ring."""
    links = poses(exact.arm, motion.turned, motion.along, motion.constant, motion.reduced)
    last = exact.arm.link_of(exact.arm.tool)
    tool = links[last] @ homogeneous(exact.arm.placement(exact.arm.tool), motion.constant)
    pose = [[motion.reduced(x) for x in row] for row in tool]
    n = range(exact.arm.n)
    angular = [[motion.ring.zero for _ in n] for _ in range(3)]
    for i in exact.arm.path(last):
        leader, ratio = motion.leaders[i]
        for k in range(3) if motion.turns[i] else ():
            angular[k][leader] += links[i][k][2] * ratio
    linear = [[motion.slope(pose[k][3], i) for i in n] for k in range(3)]
    return pose, angular + linear
