"""Routines of an arm with one set of constants: what is printed as a program in some language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import count as count_from

import sympy

from armsim.derivation.factoring import Polynomial
from armsim.derivation.grouping import fraction
from armsim.derivation.motion import atoms_of
from armsim.derivation.program import Assignment, Operations, Program, assembled, count, names_in
from armsim.records import record


@record
class Routine:
    """A function of the motion.

    Attributes:
        name: Of the function.
        doc: What it computes, with units, in one line.
        inputs: Their name, and the scalars that the body knows their items by.
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
        return names_in([*self.body, *((self.output, x) for x in self.results)])


@record
class PrintedModule:
    """Routines that share constants.

    Attributes:
        name: Of the arm.
        parameters: Values of the arm's symbols in the file, by name.
        constants: From the symbols to the constants that the others share.
        routines: The others.
    """

    name: str
    parameters: dict[str, float]
    constants: Routine
    routines: list[Routine]


class Constants:
    """Constants of several programs under names of their own: equal ones have one name."""

    def __init__(self, taken: Sequence[str]) -> None:
        self.taken = set(taken)
        self.values: dict[str, sympy.Expr] = {}  # in the arm's symbols
        self.later: dict[str, sympy.Expr] = {}  # in other constants

    def add(self, program: Program) -> dict[sympy.Symbol, sympy.Expr]:
        """The names here for the constants of a program."""
        names: dict[sympy.Symbol, sympy.Expr] = {}
        for known, table in ((program.given.items(), self.values), (program.constants, self.later)):
            for name, value in known:
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
            name = _fresh("k" if table is self.later else "r", self.taken)
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
    numbers = [(name, value) for name, value in values.items() if not value.free_symbols]
    others = {name: value for name, value in values.items() if value.free_symbols}
    if not others:
        return numbers
    atoms = atoms_of(list(others.values()))
    called = [str(atom) if atom.is_Symbol else f"%a{i}" for i, atom in enumerate(atoms)]
    polynomials: dict[str, Polynomial] = {}
    for name, value in others.items():
        terms = sympy.Poly(value, *atoms, domain=sympy.QQ).terms()
        polynomials[name] = {tuple(sorted((x, e) for x, e in zip(called, m) if e)): fraction(k) for m, k in terms}
    body = assembled(polynomials, list(polynomials), {}, "closed", 10, "%p").body
    found = [*((name, atom) for name, atom in zip(called, atoms) if not atom.is_Symbol), *body]
    # an intermediate result that is one of the constants has its name from the start
    names = {value: sympy.Symbol(n) for n, value in reversed(body) if value.is_Symbol and str(value) not in values}
    inner = [x for n, _ in found if n.startswith("%") and (x := sympy.Symbol(n)) not in names]
    names |= {x: sympy.Symbol(f"{x.name[1]}_{i}") for i, x in enumerate(inner, 1)}
    renamed = [(str(names.get(sympy.Symbol(n), n)), value.xreplace(names)) for n, value in found]
    return numbers + [(n, value) for n, value in renamed if n != str(value)]


def operations_of(assignments: Sequence[Assignment]) -> Operations:
    """The operations of assignments; numbers alone take none."""
    return count(value for _, value in assignments if value.free_symbols)


def numbered(
    program: Program, names: Mapping[sympy.Symbol, sympy.Expr], scalars: Iterable[str]
) -> tuple[tuple[Assignment, ...], tuple[sympy.Expr, ...]]:
    """The body and the results of a routine for a program, its temporaries numbered.

    Args:
        program: Its results are the routine's.
        names: Of its constants.
        scalars: Names of the items of the inputs.
    """
    renamed = dict(names)
    outputs = set(program.outputs)
    body: list[Assignment] = []
    taken = {*map(str, names.values()), *scalars}
    results: dict[str, sympy.Expr] = {}
    for target, value in program.body:
        value = value.xreplace(renamed)
        if target in outputs:
            results[target] = value
            continue
        new = target if target[:1] in "cswa" and target[1:2].isdigit() and target not in taken else _fresh("x", taken)
        taken.add(new)
        renamed[sympy.Symbol(target)] = sympy.Symbol(new)
        body.append((new, value))
    return tuple(body), tuple(results[target] for target in program.outputs)


def _fresh(letter: str, taken: set[str]) -> str:
    return next(name for i in count_from(1) if (name := f"{letter}{i}") not in taken)
