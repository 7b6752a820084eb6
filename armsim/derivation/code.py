"""A derivation's programs as text of a language, by the printer of `armsim.exporting`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add, mul
from typing import Any

import sympy

from armsim.derivation.module import PrintedModule, Routine
from armsim.exporting.c import C
from armsim.exporting.fortran import Fortran
from armsim.exporting.interface import Argument, Entry, Kind, Model, Named
from armsim.exporting.language import Language, Style
from armsim.exporting.names import identifier
from armsim.exporting.program import Printable
from armsim.exporting.python import PlainPython
from armsim.expr import Function, Graph, Scalar, sqrt
from armsim.version import __version__

LANGUAGES: dict[str, type[Language]] = {"python": PlainPython, "c": C, "fortran": Fortran}
OPERATIONS = {sympy.cos: "cos", sympy.sin: "sin", sympy.exp: "exp", sympy.log: "log", sympy.Abs: "abs"}
WORDS = {
    "numbers": "symbols of the arm",
    "q": "joint positions",
    "qd": "joint velocities",
    "qdd": "joint accelerations",
    "tau": "joint forces",
    "r": "what constants gives",
    "grav": "gravity forces",
}


def code(module: PrintedModule, language: str) -> str:
    """A module in a language of `LANGUAGES`."""
    chosen = LANGUAGES[language](Style("none"))
    name = identifier(module.name, chosen.reserved).lower()
    about = [f"Kinematics and dynamics of {name}, derived by armsim {__version__}.", "In double precision."]
    numbers = tuple(Named(symbol, value=value) for symbol, value in module.parameters.items())
    entries = [_entry(routine, numbers) for routine in (module.constants, *module.routines)]
    model = Model(name, about, entries, numbers)
    return chosen.source(model, Printable([entry.function for entry in entries]))


def _entry(routine: Routine, numbers: tuple[Named, ...]) -> Entry:
    graph = Graph()
    at = {name: graph.input(name) for _, items in routine.inputs for name in items}
    at |= {name: graph.input(name) for name, _ in routine.body}
    body = [(at[name], scalar(value, at)) for name, value in routine.body]
    results = [scalar(x, at) for x in routine.results]
    arguments = []
    for name, items in routine.inputs:
        kind: Kind = "numbers" if name == "numbers" else "array"
        arguments.append(Argument(name, WORDS[name], numbers if kind == "numbers" else tuple(map(Named, items)), kind))
    output, columns = routine.output, routine.shape[1] if len(routine.shape) == 2 else 0
    places = [f"{i // columns + 1}{i % columns + 1}" if columns else f"{i + 1}" for i in range(len(results))]
    result = Argument(
        output, WORDS.get(output, "row by row"), tuple(Named(output + x) for x in places), columns=columns
    )
    return Entry(routine.name, routine.doc, Function(routine.name, graph, results), tuple(arguments), result, body)


def scalar(x: Any, at: Mapping[str, Scalar]) -> Scalar:
    """A SymPy expression on other scalars, by the names of its symbols; numbers are the nearest doubles."""
    if x.is_Symbol:
        return at[x.name]
    if not x.free_symbols:
        return float(x)
    if x.is_Add:
        return reduce(add, [scalar(term, at) for term in x.as_ordered_terms()])
    if x.is_Pow:
        return _power(x, at)
    if not x.is_Mul:
        arg: Any = scalar(x.args[0], at)
        return arg.graph.node(OPERATIONS[x.func], arg)
    number, rest = x.as_coeff_Mul()
    factors = rest.as_ordered_factors()
    below = [f for f in factors if f.is_Pow and f.exp.is_Rational and f.exp.is_negative]
    above = [scalar(f, at) for f in factors if f not in below]
    thirds = abs(number.p) == 1 and number.q % 3 == 0  # no decimal
    found = reduce(mul, above, float(number.p if thirds else number))
    divisors = [scalar(1 / f, at) for f in below] + [float(number.q)] * thirds
    return found / reduce(mul, divisors) if divisors else found


def _power(x: sympy.Pow, at: Mapping[str, Scalar]) -> Scalar:
    """Whole and half powers by products and a square root."""
    base, exponent = scalar(x.base, at), x.exp
    if exponent.is_negative:
        return 1.0 / scalar(1 / x, at)
    if exponent.is_Integer:
        return reduce(mul, [base] * int(exponent))
    if exponent.is_Rational and exponent.q == 2:
        return reduce(mul, [sqrt(base)] * int(exponent.p))
    return scalar(sympy.exp(exponent * sympy.log(x.base), evaluate=False), at)
