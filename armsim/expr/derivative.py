"""Exact derivatives of traced functions, and of values that equations define.

A graph is differentiated as traced, before `armsim.compile` lowers it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from armsim.expr.forward_mode import ForwardMode, Partials, sparsity
from armsim.expr.function import Function, innermost, shared, trace
from armsim.expr.graph import Expr, Graph
from armsim.expr.replay import OPERATIONS, replay
from armsim.expr.scan import scan
from armsim.expr.tree import flatten, leaves, mapped, unflatten

_differentiable: ContextVar[bool] = ContextVar("differentiable", default=False)
Evaluate = Callable[[Function, Sequence[Any]], Sequence[Any]]  # the results of a function on numbers
DIRECTIONS = 4  # in which a text with scans is differentiated at once


@contextmanager
def differentiable() -> Iterator[None]:
    """What is traced meanwhile is to be differentiated: `implicit` values keep the equations that define them."""
    token = _differentiable.set(True)
    try:
        yield
    finally:
        _differentiable.reset(token)


def implicit(values: Any, solution: Callable[[], Any]) -> Any:
    """Values that are known otherwise, by iterations for one, with the derivatives of the equations that define them.

    By the implicit function theorem the derivatives of x(p) with r(x, p) = 0 are those of a Newton correction at x, in which x
    and the matrix are constant (`as_constant`): x - (dr/dx)⁻¹ r(x, p).

    Args:
        values: A tree of scalars.
        solution: A tree of that structure, equal to it but for rounding; asked for only where it will be differentiated.
    """
    if not _differentiable.get():
        return values
    return mapped(_implicit, values, solution())


def as_constant(values: Any) -> Any:
    """A tree of scalars whose derivatives count as zero."""
    return implicit(values, lambda: mapped(lambda _: 0.0, values))


def _implicit(value: Any, defining: Any) -> Any:
    graph = innermost([value, defining])
    return value if graph is None or not isinstance(value, Expr) else graph.node("implicit", value, defining)


def jacobian(function: Function, wrt: Sequence[int] | None = None, of: Sequence[int] | None = None) -> Function:
    """A function and its Jacobian.

    At a kink it is the derivative of the branch taken; of |x| at 0 it is 0, of a table at a breakpoint the right-hand one. Of a
    loop it is that of its last iterate.

    Args:
        function: m outputs.
        wrt: Indices of the inputs to differentiate by; all unless given.
        of: Indices of the outputs to differentiate; all unless given.

    Returns:
        A function of the same inputs: the m outputs, followed by the Jacobian by rows. Structural zeros are the number 0.0.
    """
    graph = Graph(function.graph.depth)
    inputs = [graph.input(str(node.args[0])) for node in function.inputs]
    chosen = range(len(inputs)) if wrt is None else wrt
    seeds: list[Partials] = [{} for _ in inputs]
    for k, i in enumerate(chosen):
        seeds[i][k] = 1.0
    found = ForwardMode(function, inputs, seeds, of)
    rows = [row.get(k, 0.0) for row in found.rows for k in range(len(chosen))]
    return Function(f"{function.name}_jacobian", graph, [*found.outputs, *rows])


def with_jacobian(
    body: Callable[..., Any],
    wrt: Sequence[int],
    name: str,
    evaluate: Evaluate = replay,
) -> Callable[..., tuple[Any, Any]]:
    """`body` and its Jacobian as one function; in a graph it is one call, as by `shared`. Calls in it are inlined.

    On numbers it is traced at the first call; numbers that `body` closes over keep their values of that call.

    Args:
        body: Takes trees of scalars, returns one (see `armsim.expr.tree`). It may capture expressions of the graph it is
            called in; they are held constant.
        wrt: Indices of the arguments to differentiate by.
        name: Name of the function in generated code.
        evaluate: Evaluates the traced function on numbers.

    Returns:
        A function of the same arguments. It returns the value, and its derivatives: the value's tree with each leaf replaced
        by a tuple of the leaf's derivatives by each argument of `wrt`, trees of that argument's structure.
    """
    on_numbers: dict[Any, tuple[Function, Any]] = {}

    def both(*args: Any) -> tuple[Any, Any]:
        value, form = flatten(body(*args))
        graph = innermost(leaves(args))
        assert graph is not None
        values = inlined(value, graph)
        structure = flatten(tuple(args[i] for i in wrt))[1]
        rows = partials(values, leaves([args[i] for i in wrt]))
        return unflatten(form, values), unflatten(form, [unflatten(structure, row) for row in rows])

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
        made: tuple[Any, Any] = unflatten(form, evaluate(function, [*given, *function.graph.captured]))
        return made

    return call


def inlined(outputs: Sequence[Any], graph: Graph) -> list[Any]:
    """The same outputs with all calls inlined, in the same graph."""
    return replay(Function("inlined", graph, outputs), graph.inputs, {**OPERATIONS, "implicit": _implicit})


def partials(outputs: Sequence[Any], wrt: Sequence[Expr]) -> list[list[Any]]:
    """Derivatives of expressions with respect to inputs of their graph, as expressions of that graph.

    Args:
        outputs: Expressions, or floats.
        wrt: Inputs.

    Returns:
        The Jacobian: one row per output, one entry per input; structural zeros are 0.0.
    """
    if not wrt:
        return [[] for _ in outputs]
    graph = wrt[0].graph
    places = {x: k for k, x in enumerate(wrt)}
    seeds: list[Partials] = [{places[x]: 1.0} if x in places else {} for x in graph.inputs]
    function = Function("outputs", graph, outputs)
    if any(node.op == "scan" for node in function.live()):
        return _by_directions(function, [places.get(x) for x in graph.inputs], len(wrt))
    rows = ForwardMode(function, list(graph.inputs), seeds).rows
    return [[row.get(k, 0.0) for k in range(len(wrt))] for row in rows]


def _by_directions(function: Function, places: Sequence[int | None], count: int) -> list[list[Any]]:
    """The Jacobian of a function with scans, in its graph: a scan over the directions, so that its text is that of a few of them.

    Args:
        function: The function.
        places: Of each input its direction, None where it is constant.
        count: Number of directions.
    """
    moves, _ = sparsity(function, [frozenset() if k is None else frozenset((k,)) for k in places], function.outputs)
    depends = [moves.get(out, frozenset()) if isinstance(out, Expr) else frozenset() for out in function.outputs]
    turns = {k: turn for turn, k in enumerate(sorted(frozenset().union(*depends)))}
    rounds = max(-(-len(turns) // DIRECTIONS), 1)

    def body(unit: list[Any]) -> tuple[list[Any], list[list[Any]]]:
        seeds: list[Partials] = [{} for _ in places]
        for seed, k in zip(seeds, places, strict=True):
            if k in turns:
                seed[turns[k] % DIRECTIONS] = unit[turns[k] // DIRECTIONS]
        rows = ForwardMode(function, function.inputs, seeds).rows
        return [0.0, *unit[:-1]], [[row.get(i, 0.0) for i in range(DIRECTIONS)] for row in rows]

    unit = [1.0, *[0.0] * (rounds - 1)]
    columns = [*scan(unit, body, count=rounds, uses=function.inputs)[1]]
    return [
        [columns[turns[k] // DIRECTIONS][i][turns[k] % DIRECTIONS] if k in own else 0.0 for k in range(count)]
        for i, own in enumerate(depends)
    ]
