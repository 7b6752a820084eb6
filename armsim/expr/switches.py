"""Switches: the comparisons and absolute values at which the smooth branches of a function meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from armsim.expr.derivative import inlined
from armsim.expr.function import Function, innermost, trace
from armsim.expr.graph import Expr, Graph
from armsim.expr.replay import applied
from armsim.expr.scalar import absolute, both, either, fma, negated, where
from armsim.expr.tree import flatten, unflatten

COMPARISONS = frozenset(("lt", "le"))
NOISE = 1e-13  # relative to its operands: by how much a comparison that rounding decides may seem to turn


class Traced(NamedTuple):
    """A traced function and its switches.

    Attributes:
        function: Without calls.
        form: Structure of its result.
        nodes: Those that its outputs depend on, in topological order.
        switches: Those of them that are switches.
    """

    function: Function
    form: Any
    nodes: list[Expr]
    switches: list[Expr]


class Switches:
    """A function whose branches can be fixed.

    Every comparison and absolute value on which the result depends is a switch, with a side: 1 where the comparison holds, or
    the number is not negative, else 0. With the sides fixed the function is smooth, and continues smoothly beyond the place
    where a switch would turn; the switch's margin is negative there. So integrators locate the kinks and jumps of whatever was
    written with `where`, `minimum`, `clip` and the like.

    Args:
        body: Takes trees of scalars, returns one (see `armsim.expr.tree`). It may capture expressions of the graph it is
            called in.
        moving: Indices of the arguments that change while sides are fixed; what the others decide is no switch.
    """

    def __init__(self, body: Callable[..., Any], moving: Sequence[int]) -> None:
        self._body = body
        self._moving = frozenset(moving)
        self._known: dict[Any, Traced] = {}

    def sides(self, *args: Any) -> list[Any]:
        """The sides of the switches at given arguments."""
        traced, values = self._evaluated(args)
        sides = []
        for node in traced.switches:
            is_abs = node.op == "abs"
            holds = values[node.args[0]] >= 0.0 if is_abs else values[node]
            sides.append(where(holds, 1.0, 0.0))
        return sides

    def within(self, sides: Sequence[Any], *args: Any) -> Any:
        """The function's result on the branch of given sides."""
        traced, values = self._evaluated(args, sides)
        return unflatten(traced.form, [_value(values, out) for out in traced.function.outputs])

    def spares(self, sides: Sequence[Any], *args: Any) -> list[Any]:
        """As `margins`, quicker, and never greater: rounding and whether a switch matters are left out."""
        traced, values = self._evaluated(args, sides)
        return [_ahead(node, values, side) for node, side in zip(traced.switches, sides, strict=True)]

    def margins(self, sides: Sequence[Any], *args: Any, unsure: Any = 0.0) -> list[Any]:
        """How far each switch is from turning, negative beyond; 1 where it does not matter on this branch.

        Args:
            sides: Of the switches.
            args: Those of the function.
            unsure: By how much a switch may have turned and not count, relative to its operands or 1, whichever is larger.
        """
        traced, values = self._evaluated(args, sides)
        relevant = _relevance(traced, values)
        margins = []
        for node, side in zip(traced.switches, sides, strict=True):
            size: Any = 0.0
            for arg in node.args:
                size = size + absolute(_value(values, arg))
            margin = fma(NOISE + unsure, size, _ahead(node, values, side)) + unsure
            margins.append(where(relevant[node], margin, 1.0))
        return margins

    def _evaluated(self, args: Sequence[Any], sides: Sequence[Any] | None = None) -> tuple[Traced, dict[Any, Any]]:
        """The traced function, and the value of each of its nodes, on the branch of given sides if there are any."""
        traced = self._traced(args)
        function = traced.function
        given = [*flatten(tuple(args))[0], *function.graph.captured]
        values: dict[Any, Any] = dict(zip(function.inputs, given, strict=True))
        fixed = {} if sides is None else dict(zip(traced.switches, sides, strict=True))
        for node in traced.nodes:
            if node.op == "input":
                continue
            operands = [values[arg] if isinstance(arg, Expr) else arg for arg in node.args]
            if node not in fixed:
                values[node] = applied(node.op, operands)
            elif node.op == "abs":
                values[node] = where(fixed[node] > 0.5, operands[0], -operands[0])
            else:
                values[node] = fixed[node] > 0.5
        return traced, values

    def _traced(self, args: Sequence[Any]) -> Traced:
        given, structure = flatten(tuple(args))
        key = (innermost(given), structure)
        if key not in self._known:
            moving = [i in self._moving for i, arg in enumerate(args) for _ in flatten(arg)[0]]
            self._known[key] = self._trace(structure, moving)
        return self._known[key]

    def _trace(self, structure: Any, moving: Sequence[bool]) -> Traced:
        forms: list[Any] = []

        def flat(*x: Any) -> list[Any]:
            results, form = flatten(self._body(*unflatten(structure, x)))
            forms.append(form)
            graph = innermost(x)
            return results if graph is None else _without_calls(results, graph)

        function = trace(flat, [f"x{i}" for i in range(len(moving))], "switched")
        nodes = function.live()
        changes = {node for node, moves in zip(function.inputs, moving, strict=False) if moves}
        for node in nodes:
            if any(isinstance(arg, Expr) and arg in changes for arg in node.args):
                changes.add(node)
        switches = [node for node in nodes if node in changes and (node.op in COMPARISONS or node.op == "abs")]
        return Traced(function, forms[0], nodes, switches)


def _without_calls(results: Sequence[Any], graph: Graph) -> list[Any]:
    return inlined(results, graph) if any(node.op == "call" for node in graph.nodes) else list(results)


def _ahead(node: Expr, values: dict[Any, Any], side: Any) -> Any:
    """How far a switch is from turning."""
    a, *rest = (_value(values, arg) for arg in node.args)
    return where(side > 0.5, rest[0] - a, a - rest[0]) if rest else where(side > 0.5, a, -a)


def _value(values: dict[Any, Any], arg: Any) -> Any:
    return values[arg] if isinstance(arg, Expr) else arg


def _relevance(traced: Traced, values: dict[Any, Any]) -> dict[Any, Any]:
    """For every node the condition that an output depends on it on the branch that is taken."""
    relevant: dict[Any, Any] = {out: True for out in traced.function.outputs if isinstance(out, Expr)}

    def matters(arg: Any, condition: Any) -> None:
        if isinstance(arg, Expr):
            relevant[arg] = either(relevant.get(arg, False), condition)

    for node in reversed(traced.nodes):
        own = relevant.get(node, False)
        if node.op == "where":
            condition, a, b = node.args
            chosen = values[condition]
            matters(condition, own)
            matters(a, both(own, chosen))
            matters(b, both(own, negated(chosen)))
        elif node.op == "and":  # where neither holds, the first must turn before the second matters
            a, b = node.args
            matters(a, both(own, either(values[b], negated(values[a]))))
            matters(b, both(own, values[a]))
        else:
            for arg in node.args:
                matters(arg, own)
    return relevant
