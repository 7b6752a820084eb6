"""Tracing: functions as expression graphs, functions traced once and called from several places, and loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any

from armsim.expr.graph import Expr, Graph, array_columns
from armsim.expr.scalar import where
from armsim.expr.tree import flatten, leaves, unflatten

MEMORY = ("loop", "scan", "series", "item")  # operations that compute nothing by themselves
_depth: ContextVar[int] = ContextVar("depth", default=-1)  # of the graph under trace; -1 where there is none


class Function:
    """A traced function of scalars: its graph, its inputs and its outputs.

    Attributes:
        name: For messages and generated code.
        graph: Its nodes.
        inputs: Input nodes, captured ones last.
        outputs: Nodes or floats, in order.
    """

    def __init__(self, name: str, graph: Graph, outputs: Sequence[Expr | float]) -> None:
        self.name = name
        self.graph = graph
        self.outputs = tuple(graph._own(out) for out in outputs)

    @property
    def inputs(self) -> list[Expr]:
        return self.graph.inputs

    def __repr__(self) -> str:
        return f"Function({self.name}: {len(self.inputs)} -> {len(self.outputs)}, {len(self.graph.nodes)} nodes)"

    def live(self, outputs: Iterable[Expr | float] | None = None) -> list[Expr]:
        """The nodes that the outputs (all unless given) depend on, in topological order."""
        if outputs is None:
            return self._live
        wanted = {out for out in outputs if isinstance(out, Expr)}
        for node in reversed(self.graph.nodes):
            if node in wanted:
                wanted.update([arg for arg in node.args if isinstance(arg, Expr)])
        return [node for node in self.graph.nodes if node in wanted]

    @cached_property
    def _live(self) -> list[Expr]:
        return self.live(self.outputs)

    def counts(self) -> dict[str, int]:
        """Operation counts of one call, callees included."""
        total: dict[str, int] = {}
        calls = set()
        for node in self.live():
            if node.op == "out":
                if node.args[0] not in calls:
                    calls.add(node.args[0])
                    for op, times in node.args[0].args[0].counts().items():
                        total[op] = total.get(op, 0) + times
            elif node.op not in ("input", "call", *MEMORY):
                total[node.op] = total.get(node.op, 0) + 1
        return total

    def flops(self) -> int:
        """Additions, subtractions, multiplications and divisions of one call; a fused multiply-add counts as two."""
        counts = self.counts()
        return sum(counts.get(op, 0) for op in ("add", "sub", "mul", "div")) + 2 * counts.get("fma", 0)


def trace(body: Callable[..., Iterable[Any]], names: Sequence[str], name: str = "f") -> Function:
    """Trace `body`: run it on one expression per name and record its operations as a `Function`.

    Args:
        body: Takes as many scalars as there are names, returns scalars. It may capture expressions of an enclosing trace;
            they become further inputs, see `Graph.captured`.
        names: Names of the inputs.
        name: Name of the function.
    """
    graph = Graph(_depth.get() + 1)
    with nested(graph):
        outputs = list(body(*[graph.input(n) for n in names]))
    return Function(name, graph, outputs)


@contextmanager
def nested(graph: Graph) -> Iterator[None]:
    """While a graph is under trace, functions that are traced are nested in it and may capture its values."""
    token = _depth.set(graph.depth)
    try:
        yield
    finally:
        _depth.reset(token)


def shared(body: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`body`, traced once for each graph it is called from; every use there is one call node.

    On numbers `body` itself runs. The right-hand side in a Runge-Kutta step is such a function: its four stages are four calls.

    Args:
        body: Takes trees of scalars, returns one (see `armsim.expr.tree`). It may capture expressions of the graph it is
            called in (numbers left open).
        name: Name of the function in generated code.
    """
    traced: dict[tuple[Graph, Any], tuple[Function, Any]] = {}

    def call(*args: Any) -> Any:
        if _depth.get() < 0:  # nothing is under trace
            return body(*args)
        given, structure = flatten(args)
        graph = innermost(given)
        if graph is None:
            return body(*args)
        if (graph, structure) not in traced:
            inner = Graph(graph.depth + 1)
            with nested(inner):
                result = body(*unflatten(structure, [inner.input(f"x{i}") for i in range(len(given))]))
            outputs, form = flatten(result)
            if any(map(array_columns, inner.captured)):
                raise ValueError("a series belongs to the function that it was made in")
            traced[graph, structure] = Function(name, inner, outputs), form
        function, form = traced[graph, structure]
        node = graph.node("call", function, *given, *function.graph.captured)
        outs = enumerate(function.outputs)
        return unflatten(form, [graph.node("out", node, i) if isinstance(out, Expr) else out for i, out in outs])

    return call


def innermost(scalars: Iterable[Any]) -> Graph | None:
    """The innermost graph that any of the scalars belongs to; None if there are only numbers."""
    graphs = [x.graph for x in scalars if isinstance(x, Expr)]
    return max(graphs, key=lambda graph: graph.depth) if graphs else None


class Repetition:
    """What is iterated on a state.

    Attributes:
        body: An iteration; captured values of outer graphs are its last inputs.
        size: Number of state entries.
    """

    def __init__(self, body: Function, size: int) -> None:
        self.body = body
        self.size = size


class Loop(Repetition):
    """A traced while loop, the first argument of a "loop" node.

    Attributes:
        body: From the state to (whether it is done, *the next state); captured values of outer graphs are further inputs.
        size: Number of state entries.
        at_most: Bound on the number of iterations.
    """

    def __init__(self, body: Function, size: int, at_most: int) -> None:
        super().__init__(body, size)
        self.at_most = at_most

    @property
    def outputs(self) -> range:
        """One result per state entry."""
        return range(self.size)

    def counts(self) -> dict[str, int]:
        """Operation counts of one iteration."""
        return self.body.counts()


def loop(
    state: Sequence[Any],
    body: Callable[..., Iterable[Any]],
    until: Callable[..., Any],
    at_most: int,
) -> list[Any]:
    """Iterate `body` on a state until a condition holds: a bounded while loop. Vector lanes that are done keep their state.

    Args:
        state: Trees of scalars to begin with (see `armsim.expr.tree`).
        body: Takes as many trees as the state has, returns the next ones, of the same structure.
        until: Takes the state, returns whether it is done; evaluated before every iteration.
        at_most: Bound on the number of iterations.

    Returns:
        The state at the end.
    """
    values, left = list(state), at_most
    while innermost(leaves(values)) is None:  # numbers; a body that uses expressions ends that
        done = until(*values) if left else True
        if isinstance(done, Expr):
            return _traced_loop(values, body, until, left, [done])
        if done:
            return values
        values, left = list(body(*values)), left - 1
    return _traced_loop(values, body, until, left, leaves(values))


def when(condition: Any, body: Callable[..., Iterable[Any]], *state: Any) -> list[Any]:
    """What `body` makes of a state where a condition holds, else the state.

    It is evaluated only where a lane needs it, but for what does not depend on its arguments.
    """
    begin = [where(condition, 1.0, 0.0), *state]
    return loop(begin, lambda _, *now: [0.0, *body(*now)], lambda due, *_: due < 0.5, 1)[1:]


def _traced_loop(
    state: Sequence[Any],
    body: Callable[..., Iterable[Any]],
    until: Callable[..., Any],
    at_most: int,
    seen: Sequence[Any],
) -> list[Any]:
    """The loop as a node, in the innermost graph of the expressions seen."""
    graph = innermost(seen)
    assert graph is not None
    begin, structure = flatten(list(state))
    inner = Graph(graph.depth + 1, graph)
    with nested(inner):
        inputs = unflatten(structure, [inner.input(f"s{i}") for i in range(len(begin))])
        done = until(*inputs)
        after, form = flatten(list(body(*inputs)))
    if form != structure:
        raise ValueError(f"the body of a loop changes the structure of its state: {structure} becomes {form}")
    traced = Loop(Function("loop", inner, [done, *after]), len(begin), at_most)
    node = graph.node("loop", traced, *begin, *inner.captured)
    ends: list[Any] = unflatten(structure, [graph.node("out", node, i) for i in range(len(begin))])
    return ends
