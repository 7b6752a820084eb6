"""Exact derivatives of traced functions: sparse forward-mode automatic differentiation on the graph.

Every node carries its partial derivatives with respect to the inputs it depends on and no others. They are nodes of the
same graph, so subexpressions shared with the values, such as the cosine in the derivative of a sine, are computed once.
A graph is differentiated as traced, before `armsim.compile` lowers it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from armsim.expr.elementary import cos, sin
from armsim.expr.function import Function, innermost, shared, trace
from armsim.expr.graph import CONDITIONS, Expr, Graph
from armsim.expr.replay import replay
from armsim.expr.scalar import either, fma, lookup, where
from armsim.expr.tree import flatten, leaves, unflatten

Partials = dict[int, Any]  # a sparse row of the Jacobian, by the index of the input


def jacobian(function: Function, wrt: Sequence[int] | None = None) -> Function:
    """A function and its Jacobian.

    At a kink it is the derivative of the branch taken; of |x| at 0 it is 0, of a table at a breakpoint the right-hand one.

    Args:
        function: m outputs; calls are inlined.
        wrt: Indices of the inputs to differentiate by; all unless given.

    Returns:
        A function of the same inputs: the m outputs, followed by the Jacobian by rows. Structural zeros are the number 0.0.

    Raises:
        NotImplementedError: It depends on an input through a loop.
    """
    graph = Graph(function.graph.depth)
    inputs = [graph.input(str(node.args[0])) for node in function.inputs]
    outputs = replay(function, inputs)
    chosen = range(len(inputs)) if wrt is None else wrt
    rows = partials(outputs, [inputs[i] for i in chosen])
    return Function(f"{function.name}_jacobian", graph, [*outputs, *(x for row in rows for x in row)])


def with_jacobian(body: Callable[..., Any], wrt: Sequence[int], name: str) -> Callable[..., tuple[Any, Any]]:
    """`body` and its Jacobian as one function; in a graph it is one call, as by `shared`.

    On numbers it is traced at the first call and replayed; numbers that `body` closes over keep their values of that call.

    Args:
        body: Takes trees of scalars, returns one (see `armsim.expr.tree`). It may capture expressions of the graph it is
            called in; they are held constant.
        wrt: Indices of the arguments to differentiate by.
        name: Name of the function in generated code.

    Returns:
        A function of the same arguments. It returns the value, and its derivatives: the value's tree with each leaf replaced
        by a tuple of the leaf's derivatives by each argument of `wrt`, trees of that argument's structure.
    """
    on_numbers: dict[Any, tuple[Function, Any]] = {}

    def both(*args: Any) -> tuple[Any, Any]:
        value, form = flatten(body(*args))
        inputs = leaves([args[i] for i in wrt])
        graph = innermost(leaves(args))
        assert graph is not None
        value = inlined(value, graph)
        structure = flatten(tuple(args[i] for i in wrt))[1]
        slopes = [unflatten(structure, row) for row in partials(value, inputs)]
        return unflatten(form, value), unflatten(form, slopes)

    in_graph = shared(both, name)

    def call(*args: Any) -> tuple[Any, Any]:
        given, structure = flatten(args)
        if innermost(given) is not None:
            found: tuple[Any, Any] = in_graph(*args)
            return found
        if structure not in on_numbers:
            forms: list[Any] = []

            def flat(*x: Any) -> list[Any]:
                results, form = flatten(both(*unflatten(structure, x)))
                forms.append(form)
                return results

            function = trace(flat, [f"x{i}" for i in range(len(given))], name)
            on_numbers[structure] = function, forms[0]
        function, form = on_numbers[structure]
        made: tuple[Any, Any] = unflatten(form, replay(function, [*given, *function.graph.captured]))
        return made

    return call


def inlined(outputs: Sequence[Any], graph: Graph) -> list[Any]:
    """The same outputs with all calls inlined, in the same graph."""
    return replay(Function("inlined", graph, outputs), graph.inputs)


def partials(outputs: Sequence[Any], wrt: Sequence[Expr]) -> list[list[Any]]:
    """Derivatives of expressions with respect to inputs of their graph, as expressions of that graph.

    Args:
        outputs: Expressions without function calls (see `inlined`), or floats.
        wrt: Inputs.

    Returns:
        The Jacobian: one row per output, one entry per input; structural zeros are 0.0.

    Raises:
        NotImplementedError: An output depends on one of the inputs through a loop.
    """
    if not wrt:
        return [[] for _ in outputs]
    known: dict[Expr, Partials] = {x: {k: 1.0} for k, x in enumerate(wrt)}
    for node in Function("outputs", wrt[0].graph, outputs).live():
        if any(arg in known for arg in node.args if isinstance(arg, Expr)) and node.op not in CONDITIONS:
            found = _of_choice(node, known) if node.op == "where" else _by_chain_rule(node, known)
            found = {k: x for k, x in found.items() if isinstance(x, Expr) or x != 0}
            if found:
                known[node] = found
    rows = [known.get(out, {}) if isinstance(out, Expr) else {} for out in outputs]
    return [[row.get(k, 0.0) for k in range(len(wrt))] for row in rows]


def _of_choice(node: Expr, known: dict[Expr, Partials]) -> Partials:
    """The derivatives of the branch taken."""
    condition, a, b = node.args
    of_a, of_b = (known.get(x, {}) if isinstance(x, Expr) else {} for x in (a, b))
    return {k: where(condition, of_a.get(k, 0.0), of_b.get(k, 0.0)) for k in {**of_a, **of_b}}


def _by_chain_rule(node: Expr, known: dict[Expr, Partials]) -> Partials:
    """The sum over the operands: local partial derivative times the operand's derivatives."""
    total: Partials = {}
    for arg, slope in _local_partials(node):
        if isinstance(arg, Expr) and arg in known:
            for k, x in known[arg].items():
                total[k] = _product_plus(slope, x, total[k]) if k in total else slope * x
    return total


def _local_partials(node: Expr) -> Iterator[tuple[Any, Any]]:
    """The operands of an operation, each with the local partial derivative by it."""
    op, args = node.op, node.args
    if op == "add":
        yield args[0], 1.0
        yield args[1], 1.0
    elif op == "sub":
        yield args[0], 1.0
        yield args[1], -1.0
    elif op == "neg":
        yield args[0], -1.0
    elif op == "round":
        yield args[0], 1.0
    elif op in ("mul", "fma"):
        a, b, *rest = args
        yield from ((c, 1.0) for c in rest)
        if a is b:
            yield a, a + a
        else:
            yield a, b
            yield b, a
    elif op == "div":
        inverse = 1.0 / args[1]
        yield args[0], inverse
        yield args[1], -node * inverse
    elif op == "sin":
        yield args[0], cos(args[0])
    elif op == "cos":
        yield args[0], -sin(args[0])
    elif op == "exp":
        yield args[0], node
    elif op == "log":
        yield args[0], _over(1.0, args[0])
    elif op == "sqrt":
        yield args[0], _over(0.5, node)
    elif op == "abs":
        (x,) = args
        yield x, where(x > 0.0, 1.0, where(x < 0.0, -1.0, 0.0))
    elif op == "lookup":
        table, x = args
        yield x, lookup(table.slope, x) if table.hold == "linear" else 0.0
    elif op == "loop":
        raise NotImplementedError("a loop is not differentiated: take the derivative of what its result solves instead")
    else:
        raise NotImplementedError(f"no derivative of {node!r}: differentiate before calls are made and graphs lowered")


def _over(number: float, x: Expr) -> Any:
    """number / x, infinite at 0 and no error: branches not taken are evaluated too."""
    elsewhere = either(x > 0.0, x < 0.0)
    return where(elsewhere, number / where(elsewhere, x, 1.0), float("inf"))


def _product_plus(p: Any, x: Any, s: Any) -> Any:
    """fma(p, x, s), by the graph's existing node up to signs.

    The components of a rotated vector, fma(c, x, -s y) and fma(s, x, c y), are each other's derivatives by the angle up to sign.
    One that fuses the other product is left alone: whether there is one depends on which numbers are 0, and decides the rounding.
    """
    result = fma(p, x, s)
    if not isinstance(result, Expr) or result.op != "fma":
        return result
    u, v, addend = result.args
    for sign, same in ((1, (-u, -v, addend)), (-1, (-u, v, -addend)), (-1, (u, -v, -addend))):
        found = result.graph.existing("fma", *same)
        if found is not None:
            return found if sign > 0 else -found
    return result
