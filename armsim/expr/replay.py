"""Evaluation of traced functions on any scalars."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from armsim.expr import elementary, scalar
from armsim.expr.function import Function, Loop, loop
from armsim.expr.graph import Expr
from armsim.expr.scan import Scan, Series, scan
from armsim.expr.tree import leaves

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
        if node.op != "input":
            operands = [values[arg] if isinstance(arg, Expr) else arg for arg in node.args]
            if node.op == "call" and call is not None:
                values[node] = call(operands[0], operands[1:])
            else:
                values[node] = applied(node.op, operands, operations, calls)
    return [values[out] if isinstance(out, Expr) else out for out in function.outputs]


def applied(
    op: str,
    operands: Sequence[Any],
    operations: Mapping[str, Callable[..., Any]] = OPERATIONS,
    calls: Calls | None = None,
) -> Any:
    """The result of an operation of a graph on its operands; see `replay`. Callees are inlined."""
    if op in operations:
        return operations[op](*operands)
    of, *given = operands
    if op == "call":
        return replay(of, given, operations)
    if op == "loop":
        return _repeat(of, given, operations, calls)
    if op == "scan":
        return _sweep(of, given, operations, calls)
    if op == "series":
        return [given[i : i + int(of)] for i in range(0, len(given), int(of))]
    if op == "item":
        row, column = given
        return of.graph.node(op, of, *given) if isinstance(of, Expr) else of[int(row)][int(column)]
    (place,) = given  # of an "out"
    return of[int(place)]


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
    arrays, state, before, captured = swept.split(given)

    def body(state: list[Any], *items: Sequence[Any]) -> tuple[list[Any], Any]:
        found = replay(swept.body, [*state, *(x for item in items for x in item), *captured], operations, calls)
        after, made = found[: swept.size], found[swept.size :]
        return after, (made[: swept.linked], made[swept.linked :]) if swept.links else made

    end, results = scan(
        list(state),
        body,
        *arrays,
        *swept.numbers,
        count=swept.count,
        backward=swept.backward,
        links=swept.led,
        before=list(before),
        uses=captured,
    )
    if isinstance(results, Series):
        return [*end, results.flat]
    return [*end, [leaves(row) for row in results]]
