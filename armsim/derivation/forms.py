"""Forms of an arm's equations: which sines, cosines and rates they are written in.

Along joints with parallel axes products of sines and cosines become those of sums of angles, as cos(q1 + q2) for
c1 c2 - s1 s2; and velocities may be those of the links, q̇1 + q̇2, in place of those of the joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy
from sympy.polys.rings import PolyElement

from armsim.derivation.exact import ExactArm
from armsim.derivation.factoring import ONE, Monomial, Polynomial, plus, times, variable
from armsim.derivation.motion import MotionRing
from armsim.records import record

Harmonic = tuple[str, tuple[int, ...]]  # "c" or "s", and the multiples of the angles
Sum = dict[Monomial, Any]  # coefficients that are constants of the arm, by monomial of the motion


@record
class EquationForm:
    """A choice of variables.

    Attributes:
        harmonics: Whether sines and cosines are of sums of angles along parallel axes.
        links: Whether rates along parallel axes are those of the links.
    """

    harmonics: bool
    links: bool


FORMS = [EquationForm(harmonics, links) for harmonics in (True, False) for links in (True, False)]


class Writer:
    """Writes polynomials of a motion in a form.

    Attributes:
        form: The form.
        angles: Of each sine and cosine in use the multiples of the joints' angles, by name.
        rates: Of each rate of a link what it is the sum of, by name.
        replaced: Rates of joints as those of links, where it has these.
    """

    def __init__(self, exact: ExactArm, motion: MotionRing, form: EquationForm) -> None:
        self.motion = motion
        self.form = form
        self.runs, self.signs = parallel_runs(exact)
        self.parents = exact.arm.parents
        self.angles: dict[str, Harmonic] = {}
        self.rates: dict[str, Polynomial] = {}
        self.names = [str(symbol) for symbol in motion.ring.symbols]
        self.replaced: dict[str, Polynomial] = {}
        if form.links:
            self._take_links("w", motion.qd)
            self._take_links("a", motion.qdd)

    def write(self, p: PolyElement) -> Sum:
        """A polynomial of the motion in this form: coefficients by monomial."""
        found: Sum = {}
        for m, k in p.items():
            coefficient = self.motion.coefficient(m, k)
            for monomial, number in self._rewritten(dict(enumerate(m))).items():
                term = coefficient * sympy.QQ(number.numerator, number.denominator)
                found[monomial] = found.get(monomial, 0) + term
        return {m: k for m, k in found.items() if k}

    def rate(self, name: str) -> Polynomial:
        """The rate of a joint in terms of this form's."""
        return self.replaced.get(name) or variable(name)

    def _take_links(self, letter: str, rates: Sequence[sympy.Symbol]) -> None:
        """Take rates of links, each about its own axis: that of its joint and of those with parallel axes before."""
        for run in self.runs:
            known: dict[int, str] = {}
            for i in run:
                own = known[i] = str(rates[self.motion.leaders[i][0]])
                before = known.get(self.parents[i])
                if before is None:
                    continue
                name = f"{letter}{i + 1}"
                while name in self.names:
                    name += "_"
                known[i] = name
                self.rates[name] = plus(variable(own), self.rates.get(before) or variable(before), self.signs[i])
                self.replaced[own] = variable(name) | variable(before, -self.signs[i])

    def _rewritten(self, powers: dict[int, int]) -> Polynomial:
        """A monomial of the motion's generators, the constants' left out, in this form."""
        atoms = len(self.motion.atoms)
        result: Polynomial = {ONE: Fraction(1)}
        left = {place: k for place, k in powers.items() if k and place >= atoms}
        if self.form.harmonics:
            for run in self.runs:
                result = times(result, self._run(run, left))
        for i, (c, s) in enumerate(zip(self.motion.c, self.motion.s)):
            for kind, symbol in (("c", c), ("s", s)):
                if left.get(self.motion.place.get(symbol, -1)):
                    self.angles[str(symbol)] = (kind, tuple(int(j == i) for j in range(len(self.motion.c))))
        for place, k in left.items():
            factor = self.rate(self.names[place])
            for _ in range(k):
                result = times(result, factor)
        return result

    def _run(self, run: list[int], left: dict[int, int]) -> Polynomial:
        """The sines and cosines of a run of joints as a sum of those of sums of angles; they are taken out of `left`."""
        n = len(self.motion.c)
        total: dict[Harmonic, Fraction] = {("c", (0,) * n): Fraction(1)}
        for i in run:
            unit = tuple(int(j == i) for j in range(n))
            for kind, symbol in (("c", self.motion.c[i]), ("s", self.motion.s[i])):
                for _ in range(left.pop(self.motion.place[symbol], 0)):
                    total = _product_to_sum(total, kind, unit)
        return {self._harmonic(*angle): k for angle, k in total.items() if k}

    def _harmonic(self, kind: str, multiples: tuple[int, ...]) -> Monomial:
        if not any(multiples):
            return ONE
        name = kind + _digits(multiples)
        while name in self.names and name not in map(str, (*self.motion.c, *self.motion.s)):
            name += "_"
        self.angles[name] = (kind, multiples)
        return ((name, 1),)


def parallel_runs(exact: ExactArm) -> tuple[list[list[int]], list[int]]:
    """Links, two or more, that carry each other by joints with parallel axes, and the signs of all axes, seen from the carrier's.

    Followers are left out: their rates are no coordinates.
    """
    runs: dict[int, list[int]] = {}  # by any of their links
    signs = []
    for i, (joint, parent) in enumerate(zip(exact.arm.links, exact.arm.parents)):
        z = joint.tilt.row_z.z
        signs.append(int(z) if z in (1, -1) else 1)
        if joint.type == "revolute" and joint.mimic is None:
            runs[i] = runs.get(parent, []) if z in (1, -1) else []
            runs[i].append(i)
    return [run for i, run in runs.items() if run[0] == i and len(run) > 1], signs


def _product_to_sum(total: dict[Harmonic, Fraction], kind: str, unit: tuple[int, ...]) -> dict[Harmonic, Fraction]:
    """A sum of sines and cosines, times one more: cos a cos b = (cos(a + b) + cos(a - b)) / 2 and so on."""
    found: dict[Harmonic, Fraction] = {}
    for (mine, a), k in total.items():
        plus, minus = tuple(x + y for x, y in zip(a, unit)), tuple(x - y for x, y in zip(a, unit))
        if mine == kind:
            terms = [("c", plus, 1 if kind == "c" else -1), ("c", minus, 1)]
        else:
            terms = [("s", plus, 1), ("s", minus, 1 if mine == "s" else -1)]
        for name, angle, sign in terms:
            if next((x for x in angle if x), 0) < 0:
                angle, sign = tuple(-x for x in angle), sign if name == "c" else -sign
            if name == "s" and not any(angle):
                continue
            found[name, angle] = found.get((name, angle), Fraction(0)) + k * sign / 2
    return found


def _digits(multiples: tuple[int, ...]) -> str:
    """The angles of a sum by number: 12 for q1 + q2, 112 for 2 q1 + q2, 1m2 for q1 - q2."""
    wide = len(multiples) > 9
    parts = [("m" if k < 0 else "") + str(i + 1) for i, k in enumerate(multiples) for _ in range(abs(k))]
    return ("_" if wide else "").join(parts)
