"""Lowering: from traced graphs to graphs of machine operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from armsim.expr import Expr, Function, Graph, replay, trace
from armsim.expr.elementary import exponential, logarithm, sincos
from armsim.expr.replay import OPERATIONS, Call
from armsim.expr.scalar import rounded_by_shift

PACK = 4  # angles whose sines and cosines are computed in one vector register
TRIGONOMETRIC = ("sin", "cos")


def lower(
    function: Function,
    pack: bool = False,
    first: int = 0,
    inline: int = 1,
    elementary: Mapping[str, Callable[[Any], Any]] | None = None,
) -> Function:
    """The same function in machine operations: sin, cos, exp, log and rounding expanded, functions of few calls inlined.

    A function that is called from more places stays one, and is lowered itself.

    Args:
        function: The function as traced.
        pack: Vectorise sine and cosine of several angles in the lanes of one "pack" node; for scalar code.
        first: Number of leading outputs whose angles are packed among themselves.
        inline: Most calls of a function that is inlined.
        elementary: What becomes of sin, cos, exp, log and rounding, in place of their expansion.
    """
    graph = Graph(function.graph.depth)
    inputs = [graph.input(str(node.args[0])) for node in function.inputs]
    known: dict[Expr, tuple[Any, Any]] = {}
    lowered: dict[Function, Function] = {}

    def sine_and_cosine(x: Any) -> tuple[Any, Any]:
        if not isinstance(x, Expr):
            return sincos(x)
        if x not in known:
            known[x] = sincos(x)
        return known[x]

    machine: dict[str, Callable[..., Any]] = {
        **OPERATIONS,
        "sin": lambda x: sine_and_cosine(x)[0],
        "cos": lambda x: sine_and_cosine(x)[1],
        "exp": exponential,
        "log": logarithm,
        "round": rounded_by_shift,
        **(elementary or {}),
    }

    def calls_of(outer: Function) -> Call:
        """The handler of the calls in a function, the root or one that is inlined."""
        times = Counter(node.args[0] for node in outer.live() if node.op == "call")

        def call(inner: Function, args: list[Any]) -> list[Any]:
            where = max([graph, *(arg.graph for arg in args if isinstance(arg, Expr))], key=lambda g: g.depth)
            if times[inner] <= inline:
                if pack:
                    known.update(_packed(where, inner, args, machine))
                return replay(inner, args, machine, calls_of)
            if inner not in lowered:
                lowered[inner] = lower(inner, pack, inline=inline, elementary=elementary)
            node = where.node("call", lowered[inner], *args)
            outs = enumerate(lowered[inner].outputs)
            return [where.node("out", node, i) if isinstance(out, Expr) else out for i, out in outs]

        return call

    if pack:
        urgent = Function(function.name, function.graph, function.outputs[:first])
        for part in (urgent, function):
            known.update(_packed(graph, part, inputs, machine, known))
    return Function(function.name, graph, replay(function, inputs, machine, calls_of))


def _packed(
    graph: Graph,
    function: Function,
    args: Sequence[Any],
    machine: Mapping[str, Callable[..., Any]],
    known: dict[Expr, Any] | None = None,
) -> dict[Expr, tuple[Any, Any]]:
    """Packed sines and cosines of those angles of a function that depend on its arguments by +, - and * alone.

    Args:
        graph: Graph of the pack nodes.
        function: The function.
        args: Its arguments, in that graph.
        machine: Machine operations, for the angles' subexpressions.
        known: Angles that are packed already.
    """
    plain: set[Expr] = set()
    angles: dict[Expr, None] = {}
    for node in function.live():
        if node.op in TRIGONOMETRIC and node.args[0] in plain:
            angles[node.args[0]] = None
        if node.op == "input" or node.op in ("add", "sub", "mul", "neg"):
            plain.update([node] if all(arg in plain for arg in node.args if isinstance(arg, Expr)) else [])
    found = replay(Function("angles", function.graph, list(angles)), args, machine)
    angles_found = dict.fromkeys(x for x in found if isinstance(x, Expr))
    fresh = [x for x in angles_found if x not in (known or {})]
    pairs: dict[Expr, tuple[Any, Any]] = {}
    for i in range(0, len(fresh), PACK):
        group = fresh[i : i + PACK]
        if len(group) == 1:
            continue
        node = graph.node("pack", sincos_function(), *group)
        for lane, x in enumerate(group):
            pairs[x] = (graph.node("lane", node, 0, lane), graph.node("lane", node, 1, lane))
    return pairs


@lru_cache(maxsize=1)
def sincos_function() -> Function:
    """`sincos` as a traced function."""
    return trace(sincos, ["x"], "sincos")
