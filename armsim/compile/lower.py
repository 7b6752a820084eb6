"""From graphs as traced to graphs of machine operations."""

from __future__ import annotations

from collections import Counter
from typing import Any

from armsim.expr import Expr, Function, Graph, replay
from armsim.expr.elementary import exponential, logarithm, sincos
from armsim.expr.replay import OPERATIONS

MACHINE = {
    **OPERATIONS,
    "sin": lambda x: sincos(x)[0],
    "cos": lambda x: sincos(x)[1],
    "exp": exponential,
    "log": logarithm,
}


def lower(function: Function) -> Function:
    """The same function in machine operations: sin, cos, exp and log as their own texts, single calls opened up.

    What is called from several places stays a function of its own and is called with the `Function` that replaced it.
    """
    graph = Graph(function.graph.depth)
    inputs = [graph.input(str(node.args[0])) for node in function.inputs]
    called = Counter(node.args[0] for node in function.live() if node.op == "call")
    lowered: dict[Function, Function] = {}

    def call(inner: Function, args: list[Any]) -> list[Any]:
        if called[inner] == 1 and not any(node.op == "call" for node in inner.live()):
            return replay(inner, args, MACHINE)
        if inner not in lowered:
            lowered[inner] = lower(inner)
        node = graph.node("call", lowered[inner], *args)
        outs = enumerate(lowered[inner].outputs)
        return [graph.node("out", node, i) if isinstance(out, Expr) else out for i, out in outs]

    return Function(function.name, graph, replay(function, inputs, MACHINE, call))
