"""Routines of an arm with one set of constants: what is printed as a program in some language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import sympy

from armsim.programs.factoring import Polynomial, factored
from armsim.programs.program import Assignment, Operations, Solution, count, expression


@dataclass(frozen=True)
class Routine:
    """A function of the motion.

    Attributes:
        name: Of the function.
        doc: What it computes, with units, in one line.
        inputs: Vectors: their name, and the scalars that the body knows their items by.
        output: Name of the result.
        shape: Of the result: (n,), or (rows, columns).
        body: Its assignments.
        results: Items of the result, row by row.
    """

    name: str
    doc: str
    inputs: tuple[tuple[str, tuple[str, ...]], ...]
    output: str
    shape: tuple[int, ...]
    body: tuple[Assignment, ...]
    results: tuple[sympy.Expr, ...]

    @cached_property
    def symbols(self) -> set[str]:
        """Names that its expressions contain."""
        return {x.name for e in (*(value for _, value in self.body), *self.results) for x in e.free_symbols}


@dataclass
class PrintedModule:
    """Routines that share constants.

    Attributes:
        name: Of the arm.
        parameters: Values of the arm's symbols in the file, by name.
        constants: Assignments in order; of intermediate results, too.
        shared: Names of the constants that routines use, in the order of their array.
        routines: The functions.
    """

    name: str
    parameters: dict[str, float]
    constants: list[Assignment] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    routines: list[Routine] = field(default_factory=list)


class Constants:
    """Constants of several solutions under names of their own: equal ones have one name."""

    def __init__(self, taken: Sequence[str]) -> None:
        self.taken = set(taken)
        self.values: dict[str, sympy.Expr] = {}  # in the arm's symbols
        self.later: dict[str, sympy.Expr] = {}  # in other constants

    def add(self, solution: Solution) -> dict[sympy.Symbol, sympy.Expr]:
        """The names here for the constants of a solution."""
        names: dict[sympy.Symbol, sympy.Expr] = {}
        for known, table in ((solution.constants, self.values), (dict(solution.program.constants), self.later)):
            for name, value in known.items():
                value = value.xreplace(names) if table is self.later else sympy.expand(value)
                names[sympy.Symbol(name)] = sympy.Symbol(self._name(name, value, table))
        return names

    def _name(self, name: str, value: sympy.Expr, table: dict[str, sympy.Expr]) -> str:
        for other, known in table.items():
            if known == value:
                return other
        if value.is_Symbol and table is self.values:
            name = str(value)
        elif name in self.taken or table is self.later:
            letter = "k" if table is self.later else "r"
            i = 1
            while f"{letter}{i}" in self.taken:
                i += 1
            name = f"{letter}{i}"
        self.taken.add(name)
        table[name] = value
        return name

    def assignments(self, wanted: set[str]) -> list[Assignment]:
        """What works out the constants of these names."""
        later: dict[str, sympy.Expr] = {}
        needed = set(wanted)
        for name, value in reversed(list(self.later.items())):
            if name in needed:
                later[name] = value
                needed |= {x.name for x in value.free_symbols}
        values = {name: value for name, value in self.values.items() if name in needed and str(value) != name}
        return [*worked_out(values), *reversed(later.items())]


def worked_out(values: Mapping[str, sympy.Expr]) -> list[Assignment]:
    """Assignments of constants that are polynomials of symbols, surds and the like, in few operations."""
    numbers = {name: value for name, value in values.items() if not value.free_symbols}
    others = {name: sympy.expand(value) for name, value in values.items() if name not in numbers}
    atoms: dict[sympy.Expr, str] = {}
    polynomials: dict[str, Polynomial] = {}
    for name, value in others.items():
        polynomials[name] = _polynomial(value, atoms)
    found: list[Assignment] = list(numbers.items())
    found += [(name, atom) for atom, name in atoms.items() if name != str(atom)]
    if polynomials:
        found += [(n, expression(p)) for n, p in factored(polynomials, "%p", 10).items()]
    return _merged(found, values)


def _merged(assignments: list[Assignment], wanted: Mapping[str, sympy.Expr]) -> list[Assignment]:
    """Assignments without those that only give an intermediate result a wanted name: it has that name from the start."""
    names = {
        value: sympy.Symbol(name)
        for name, value in reversed(assignments)
        if value.is_Symbol and str(value) not in wanted
    }
    kept = [(str(names.get(sympy.Symbol(n), n)), v.xreplace(names)) for n, v in assignments]
    found = [(n, v) for n, v in kept if n != str(v)]
    inner = [n for n, _ in found if n.startswith("%")]
    numbered = {sympy.Symbol(n): sympy.Symbol(f"{n[1]}_{i}") for i, n in enumerate(inner, 1)}
    return [(str(numbered.get(sympy.Symbol(n), n)), v.xreplace(numbered)) for n, v in found]


def operations_of(assignments: Sequence[Assignment]) -> Operations:
    """The operations of assignments; numbers alone take none."""
    return count(value for _, value in assignments if value.free_symbols)


def numbered(
    solution: Solution, names: Mapping[sympy.Symbol, sympy.Expr], scalars: Iterable[str]
) -> tuple[tuple[Assignment, ...], tuple[sympy.Expr, ...]]:
    """The body and the results of a routine for a solution, its temporaries numbered.

    Args:
        solution: Its results are the routine's.
        names: Of its constants.
        scalars: Names of the items of the inputs.
    """
    renamed = dict(names)
    outputs = set(solution.program.outputs)
    body: list[Assignment] = []
    taken = {*map(str, names.values()), *scalars}
    results: dict[str, sympy.Expr] = {}
    for target, value in solution.program.body:
        value = value.xreplace(renamed)
        if target in outputs:
            results[target] = value
            continue
        new = target if target[:1] in "cswa" and target[1:2].isdigit() and target not in taken else _fresh(taken)
        taken.add(new)
        renamed[sympy.Symbol(target)] = sympy.Symbol(new)
        body.append((new, value))
    return tuple(body), tuple(results[target] for target in solution.program.outputs)


def _fresh(taken: set[str]) -> str:
    i = 1
    while f"x{i}" in taken:
        i += 1
    return f"x{i}"


def _polynomial(value: sympy.Expr, atoms: dict[sympy.Expr, str]) -> Polynomial:
    """An expression as a polynomial of symbols, and of names for what else is in it."""
    found: Polynomial = {}
    for term in sympy.Add.make_args(value):
        k, factors = term.as_coeff_mul()
        powers: dict[str, int] = {}
        for factor in factors:
            base, power = factor.as_base_exp()
            if not (power.is_Integer and power > 0):
                base, power = factor, sympy.Integer(1)
            if base not in atoms:
                atoms[base] = str(base) if base.is_Symbol else f"%a{len(atoms)}"
            powers[atoms[base]] = powers.get(atoms[base], 0) + int(power)
        m = tuple(sorted(powers.items()))
        found[m] = found.get(m, Fraction(0)) + Fraction(int(k.p), int(k.q))
    return found
