"""Forms of an arm's equations: which sines, cosines and rates they are written in.

Along joints with parallel axes products of sines and cosines become those of sums of angles, as cos(q1 + q2) for
c1 c2 - s1 s2; and velocities may be those of the links, q̇1 + q̇2, in place of those of the joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from sympy.polys.rings import PolyElement, PolyRing

from armsim.derivation.exact import ExactArm
from armsim.derivation.motion import MotionRing
from armsim.programs.factoring import ONE, Monomial, Polynomial, product

Harmonic = tuple[str, tuple[int, ...]]  # "c" or "s", and the multiples of the angles
Sum = dict[Monomial, Any]  # coefficients that are constants of the arm, by monomial of the motion


@dataclass(frozen=True)
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
        constants: The ring of the arm's constants.
        angles: Of each sine and cosine in use the multiples of the joints' angles, by name.
        rates: Of each rate of a link in use what it is the sum of, by name.
    """

    def __init__(self, motion: MotionRing, runs: list[list[int]], signs: list[int], form: EquationForm) -> None:
        self.motion = motion
        self.form = form
        self.runs = [run for run in runs if len(run) > 1]
        self.signs = signs
        self.constants = PolyRing([*motion.atoms, sympy.Symbol("_")], sympy.QQ)
        self.angles: dict[str, Harmonic] = {}
        self.rates: dict[str, Polynomial] = {}
        self.names = [str(symbol) for symbol in motion.ring.symbols]
        self.replaced = {name: self._rate(i, letter) for letter in ("qd", "qdd") for i, name in self._rates(letter)}

    def write(self, p: PolyElement) -> Sum:
        """A polynomial of the motion in this form: coefficients by monomial."""
        atoms = len(self.motion.atoms)
        found: Sum = {}
        for m, k in p.items():
            coefficient = self.constants.from_dict({(*m[:atoms], 0): k})
            for monomial, number in self._rewritten(dict(enumerate(m))).items():
                term = coefficient * self.constants.domain(number.numerator, number.denominator)
                found[monomial] = found.get(monomial, self.constants.zero) + term
        return {m: k for m, k in found.items() if k}

    def used(self, names: set[str]) -> tuple[dict[str, Harmonic], dict[str, Polynomial]]:
        """Of these names, those that are sines and cosines and those that are rates of links."""
        rates = dict(self.rates)
        return (
            {name: angle for name, angle in self.angles.items() if name in names},
            {name: p for name, p in rates.items() if name in names},
        )

    def _rates(self, letter: str) -> list[tuple[int, str]]:
        return [(i, str(symbol)) for i, symbol in enumerate(getattr(self.motion, letter))]

    def _rate(self, i: int, letter: str) -> Polynomial:
        """The rate of a joint in terms of this form's: of its link less that of the one before."""
        symbols = [str(symbol) for symbol in getattr(self.motion, letter)]
        if not self.form.links or not any(i in run[1:] for run in self.runs):
            return {((symbols[i], 1),): Fraction(1)}
        return {
            ((self._link(i, letter), 1),): Fraction(1),
            ((self._link(i - 1, letter), 1),): Fraction(-self.signs[i]),
        }

    def _link(self, i: int, letter: str) -> str:
        """The rate of a link about its own axis: that of its joint and of those with parallel axes before."""
        symbols = [str(symbol) for symbol in getattr(self.motion, letter)]
        run = next((run for run in self.runs if i in run), [i])
        if i == run[0]:
            return symbols[i]
        name = {"qd": "w", "qdd": "a"}[letter] + str(i + 1)
        while name in self.names:
            name += "_"
        total: Polynomial = {}
        sign = 1
        for j in reversed(run[: run.index(i) + 1]):
            total[((symbols[j], 1),)] = Fraction(sign)
            sign *= self.signs[j]
        self.rates[name] = total
        return name

    def _rewritten(self, powers: dict[int, int]) -> Polynomial:
        """A monomial of the motion's generators, the constants' left out, in this form."""
        atoms = len(self.motion.atoms)
        result: Polynomial = {ONE: Fraction(1)}
        left = {place: k for place, k in powers.items() if k and place >= atoms}
        if self.form.harmonics:
            for run in self.runs:
                result = _times(result, self._run(run, left))
        for i, (c, s) in enumerate(zip(self.motion.c, self.motion.s)):
            for kind, symbol in (("c", c), ("s", s)):
                if left.get(self.motion.place.get(symbol, -1)):
                    self.angles[str(symbol)] = (kind, tuple(int(j == i) for j in range(len(self.motion.c))))
        for place, k in left.items():
            name = self.names[place]
            factor = self.replaced.get(name, {((name, 1),): Fraction(1)})
            for _ in range(k):
                result = _times(result, factor)
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
    """Runs of joints that turn about parallel axes, and the sign of each joint's axis, seen from the axis before."""
    runs: list[list[int]] = []
    signs = []
    for i, joint in enumerate(exact.arm.joints):
        z = joint.tilt.row_z.z
        turns = joint.kind.turns and not joint.kind.slides
        if turns and z in (1, -1) and runs and exact.arm.joints[i - 1].kind.turns and i > 0 and runs[-1]:
            runs[-1].append(i)
        else:
            runs.append([i] if turns else [])
        signs.append(int(z) if z in (1, -1) else 1)
    return [run for run in runs if run], signs


def _times(a: Polynomial, b: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for m, j in a.items():
        for n, k in b.items():
            mn = product(m, n)
            found[mn] = found.get(mn, Fraction(0)) + j * k
    return {m: k for m, k in found.items() if k}


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
