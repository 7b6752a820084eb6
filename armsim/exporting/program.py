"""Traced functions made ready for printing: operations that languages have, and callees before their callers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any

from armsim.compile.lower import lower, sincos_function
from armsim.expr import Expr, Function, Repetition, Table, rounded, trace
from armsim.expr.elementary import cos, exp, exponential, log, logarithm, sin
from armsim.records import mutable_record

ELEMENTARY = {"sincos": "sine_and_cosine", "exp": "exponential", "log": "logarithm"}  # names in a text


@mutable_record
class Printable:
    """Functions as they are printed.

    Attributes:
        entries: Those that were asked for, lowered.
        callees: Functions that they call, each before those that call it.
        tables: That they look up.
        operations: Names of all operations in them.
    """

    entries: list[Function] = field(default_factory=list)
    callees: list[Function] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    operations: set[str] = field(default_factory=set)

    def names(self) -> dict[Function | Table, str]:
        """A name for every callee and table, in lower case."""
        own = {_elementary()[key]: name for key, name in ELEMENTARY.items()}
        found: dict[Function | Table, str] = {}
        for i, callee in enumerate(self.callees):
            found[callee] = own.get(callee) or f"{callee.name}_{i + 1}"
        return found | {table: f"table_{i + 1}" for i, table in enumerate(self.tables)}


def prepared(functions: Sequence[Function], own: bool) -> Printable:
    """Functions ready for printing.

    Args:
        functions: As traced.
        own: Whether sine, cosine, exponential, logarithm and rounding are armsim's; else they stay operations of the language.
    """
    program = Printable()
    elementary = _own() if own else _language()
    for function in functions:
        lowered = lower(function, elementary=elementary)
        _collect(lowered, program)
        program.entries.append(lowered)
    return program


def _collect(function: Function, program: Printable) -> None:
    """Add what a function calls and looks up."""
    for node in function.live():
        program.operations.add(node.op)
        first = node.args[0] if node.args else None
        if isinstance(first, Repetition):
            _collect(first.body, program)
        elif isinstance(first, Function) and first not in program.callees:
            _collect(first, program)
            program.callees.append(first)
        elif isinstance(first, Table) and first not in program.tables:
            program.tables.append(first)


@lru_cache(maxsize=1)
def _elementary() -> dict[str, Function]:
    """Armsim's elementary functions, traced."""
    return {
        "sincos": sincos_function(),
        "exp": trace(lambda x: [exponential(x)], ["x"], "exponential"),
        "log": trace(lambda x: [logarithm(x)], ["x"], "logarithm"),
    }


def _own() -> dict[str, Callable[[Any], Any]]:
    """Calls of armsim's elementary functions, each a function of the text."""

    def called(name: str, result: int, on_numbers: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def call(x: Any) -> Any:
            if not isinstance(x, Expr):
                return on_numbers(x)
            return x.graph.node("out", x.graph.node("call", _elementary()[name], x), result)

        return call

    return {
        "sin": called("sincos", 0, sin),
        "cos": called("sincos", 1, cos),
        "exp": called("exp", 0, exp),
        "log": called("log", 0, log),
    }


def _language() -> dict[str, Callable[[Any], Any]]:
    """Operations that stay as they are; of numbers, their values."""

    def kept(name: str, on_numbers: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: x.graph.node(name, x) if isinstance(x, Expr) else on_numbers(x)

    own = {"sin": sin, "cos": cos, "exp": exp, "log": log, "round": rounded}
    return {name: kept(name, on_numbers) for name, on_numbers in own.items()}
