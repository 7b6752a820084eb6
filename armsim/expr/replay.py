"""Evaluation of traced functions on any scalars."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from armsim.expr import elementary, scalar
from armsim.expr.function import Function, Loop, loop
from armsim.expr.graph import Expr
from armsim.expr.scan import Scan, scan

OPERATIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "add": operator.add,
    "and": scalar.both,
    "bit": lambda shifted, i: scalar.bit(shifted, int(i)),
    "cos": elementary.cos,
    "div": operator.truediv,
    "exp": elementary.exp,
    "exp2": lambda k: scalar.scale2(1.0, k),
    "exponent": lambda x: scalar.split2(x)[1],
    "fma": scalar.fma,
    "implicit": lambda value, _: value,
    "le": operator.le,
    "log": elementary.log,
    "lookup": scalar.lookup,
    "lt": operator.lt,
    "mantissa": lambda x: scalar.split2(x)[0],
    "mul": operator.mul,
    "neg": operator.neg,
    "not": scalar.negated,
    "round": scalar.rounded,
    "sin": elementary.sin,
    "sqrt": scalar.sqrt,
    "sub": operator.sub,
    "where": scalar.where,
}

Call = Callable[[Function, list[Any]], list[Any]]  # from a function and its arguments to its results
Calls = Callable[[Function], Call]


def replay(
    function: Function,
    args: Sequence[Any],
    operations: Mapping[str, Callable[..., Any]] = OPERATIONS,
    calls: Calls | None = None,
) -> list[Any]:
    """The outputs of a traced function for given arguments.

    Args:
        function: The function.
        args: One scalar per input: floats, expressions of another graph, or SymPy symbols.
        operations: Implementation of each operation.
        calls: Given a function that is replayed, the handler of its calls, (callee, arguments) to results; callees are
            inlined unless given.

    Returns:
        One scalar per output.
    """
    call = None if calls is None else calls(function)
    values: dict[Expr, Any] = dict(zip(function.inputs, args, strict=True))

    for node in function.live():
        if node.op == "input":
            continue
        operands = [values[arg] if isinstance(arg, Expr) else arg for arg in node.args]
        if node.op == "call":
            inner, *given = operands
            values[node] = replay(inner, given, operations) if call is None else call(inner, given)
        elif node.op == "loop":
            repeated, *given = operands
            values[node] = _repeat(repeated, given, operations, calls)
        elif node.op == "scan":
            swept, *given = operands
            values[node] = _sweep(swept, given, operations, calls)
        elif node.op == "series":
            width, *given = operands
            values[node] = [given[i : i + int(width)] for i in range(0, len(given), int(width))]
        elif node.op == "item":
            rows, row, column = operands
            values[node] = rows[int(row)][int(column)]
        elif node.op == "out":
            results, place = operands
            values[node] = results[int(place)]
        else:
            values[node] = operations[node.op](*operands)
    return [values[out] if isinstance(out, Expr) else out for out in function.outputs]


def _repeat(
    repeated: Loop, given: Sequence[Any], operations: Mapping[str, Callable[..., Any]], calls: Calls | None
) -> list[Any]:
    """Evaluate a traced loop, given its initial state and captured values."""
    state, captured = given[: repeated.size], given[repeated.size :]
    last: list[Any] = [None, None]  # the last evaluation: condition and next state are asked for in turn

    def run(*x: Any) -> list[Any]:
        if last[0] is None or any(a is not b for a, b in zip(last[0], x, strict=True)):
            last[:] = x, replay(repeated.body, [*x, *captured], operations, calls)
        results: list[Any] = last[1]
        return results

    return loop(state, lambda *x: run(*x)[1:], lambda *x: run(*x)[0], repeated.at_most)


def _sweep(
    swept: Scan, given: Sequence[Any], operations: Mapping[str, Callable[..., Any]], calls: Calls | None
) -> list[Any]:
    """Evaluate a traced scan, given its arrays, initial state and captured values: the state at the end, and its results."""
    arrays = sum(width > 0 for width in swept.widths)
    state, captured = list(given[arrays : arrays + swept.size]), given[arrays + swept.size :]

    def body(state: list[Any], *items: list[Any]) -> tuple[list[Any], list[Any]]:
        found = replay(swept.body, [*state, *(x for item in items for x in item), *captured], operations, calls)
        return found[: swept.size], found[swept.size :]

    end, results = scan(state, body, *given[:arrays], count=swept.count, backward=swept.backward)
    return [*end, results]
