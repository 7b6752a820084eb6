"""Constants of an arm grouped into as few numbers as its equations of motion need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from sympy.polys.rings import PolyElement

from armsim.derivation.factoring import ONE, Polynomial, plus, times, variable
from armsim.derivation.forms import Sum

PLAIN = 4  # a whole number up to it stays a number


class Grouping:
    """The coefficients of some polynomials, each a name or a simple multiple of one.

    Coefficients that are rational multiples of each other share a name, as 4 l1 l2 mp + 2 l1 l2 m2 and twice that. Single symbols
    keep theirs, and small whole numbers stay numbers.

    Attributes:
        values: What the names stand for: elements of the constants' ring.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)
        self.values: dict[str, PolyElement] = {}
        self._adopted: list[str] = []
        self._known: dict[Any, tuple[str, Fraction]] = {}  # from a normalised coefficient to a name and its multiple

    @property
    def constants(self) -> dict[str, sympy.Expr]:
        """Values of the names so far, in the arm's symbols."""
        return {name: value.as_expr() for name, value in self.values.items()}

    def adopt(self, values: Mapping[str, PolyElement]) -> None:
        """Take constants over under their names."""
        for name, value in values.items():
            key, number = normalised(value)
            if key is not None:
                self.values[name] = value
                self._adopted.append(name)
                self._known.setdefault(key, (name, number))

    def group(self, sums: Mapping[str, Sum]) -> dict[str, Polynomial]:
        """The same sums with names for their coefficients."""
        coefficients = [k for written in sums.values() for k in written.values()]
        multiples: dict[Any, Counter[Fraction]] = {}
        for k in coefficients:
            key, number = normalised(k)
            if key is not None:
                multiples.setdefault(key, Counter())[abs(number)] += 1
        for key, counted in multiples.items():
            if key not in self._known:
                most = max(counted.values())
                unit = min(number for number, times in counted.items() if times == most)
                self._known[key] = self._named(key, unit)
        return {name: substituted(written, self._term) for name, written in sums.items()}

    def written(self, coefficient: PolyElement) -> Polynomial | None:
        """A coefficient as a combination of adopted names, with rational numbers; None where it is none. Numbers stay numbers."""
        names = self._adopted
        if coefficient.is_ground:
            return {ONE: fraction(coefficient.LC)}
        if normalised(coefficient)[0] in self._known:
            return self._term(coefficient)
        if not names:
            return None
        rows = sorted({m for p in (coefficient, *(self.values[name] for name in names)) for m in p})
        system = sympy.Matrix([[_rational(self.values[name].get(m, 0)) for name in names] for m in rows])
        right = sympy.Matrix([_rational(coefficient.get(m, 0)) for m in rows])
        unknowns = sympy.symbols(f"x:{len(names)}")
        solutions = sympy.linsolve((system, right), *unknowns)
        for solution in solutions:
            found = [x.subs(dict.fromkeys(unknowns, 0)) for x in solution]
            return {((name, 1),): fraction(x) for name, x in zip(names, found) if x != 0}
        return None

    def _term(self, coefficient: PolyElement) -> Polynomial:
        """A coefficient as a multiple of a name, or a number."""
        key, number = normalised(coefficient)
        if key is None:
            return {ONE: number}
        name, unit = self._known[key]
        return variable(name, number / unit)

    def _named(self, key: Any, unit: Fraction) -> tuple[str, Fraction]:
        """A name for a normalised coefficient and its multiple that the name stands for."""
        value = key * key.ring.domain(unit.numerator, unit.denominator)
        if unit == 1 and len(key) == 1 and sum(next(iter(key))) == 1:  # a symbol by itself
            atom = key.ring.symbols[next(iter(key)).index(1)]
            if atom.is_Symbol:
                self.values[str(atom)] = key
                return str(atom), Fraction(1)
        i = sum(name.startswith("r") and name[1:].rstrip("_").isdigit() for name in self.values) + 1
        name = f"r{i}"
        while name in self.taken:
            name += "_"
        self.values[name] = value
        return name, unit


def normalised(coefficient: PolyElement) -> tuple[Any, Fraction]:
    """A coefficient as a number times a polynomial without a numerical factor of its own; None for a number that stays one."""
    ring = coefficient.ring
    if coefficient.is_ground:
        number = fraction(coefficient.LC)
        if number.denominator == 1 and abs(number) <= PLAIN:
            return None, number
        odd = abs(number)
        while odd.numerator % 2 == 0:
            odd /= 2
        while odd.denominator % 2 == 0:
            odd *= 2
        return ring(ring.domain(odd.numerator, odd.denominator)), number / odd
    leading = coefficient.LC
    return coefficient.quo_ground(leading), fraction(leading)


def substituted(written: Sum, value: Callable[[PolyElement], Polynomial]) -> Polynomial:
    """A sum with polynomials for its coefficients."""
    found: Polynomial = {}
    for m, k in written.items():
        found = plus(found, times({m: Fraction(1)}, value(k)))
    return found


def fraction(x: Any) -> Fraction:
    """A rational number of SymPy's, or of its rings."""
    return Fraction(int(x.numerator), int(x.denominator))


def _rational(x: Any) -> sympy.Rational:
    return sympy.Rational(int(x.numerator), int(x.denominator)) if x else sympy.Integer(0)
