"""Expression graphs: what the operations on scalars become while a function is traced.

Only rewrites that change no rounding are made: constant folding in IEEE arithmetic, identities of 0, 1 and signs, and
sharing of common subexpressions (additions and multiplications commute). So a number that is left open gives the same bits
as the same number written in. `0 * x` is taken as 0, which is exact for finite x; a state that is no longer finite stops
the simulation anyway.
"""

from __future__ import annotations

import math
from typing import Any

NUMBERS = (float, int)
CONDITIONS = frozenset(("lt", "le", "and", "not", "bit"))  # operations with a boolean result
COMMUTATIVE = frozenset(("add", "mul", "fma"))  # in their first two operands


class Expr:
    """A symbolic scalar: one node of a `Graph`.

    It takes part in arithmetic and comparison with numbers and with other nodes of its graph. It has no truth value and no
    equality, so physics cannot branch on it; `armsim.expr.where` selects one of two values instead. It is hashed by identity.

    Attributes:
        graph: The graph it belongs to.
        index: Its place in the graph's topological order.
        op: Its operation, for example "add".
        args: Operands: nodes of the same graph, or floats. A call has its `Function` first, a loop its `Loop`, a lookup its
            `Table`.
    """

    __slots__ = ("args", "graph", "index", "op")

    def __init__(self, graph: Graph, index: int, op: str, args: tuple[Any, ...]) -> None:
        self.graph = graph
        self.index = index
        self.op = op
        self.args = args

    def __repr__(self) -> str:
        shown = ", ".join(f"%{a.index}" if isinstance(a, Expr) else str(a) for a in self.args)
        return f"%{self.index} = {self.op}({shown})"

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value: use armsim.expr.where, not if, and, or, min, max")

    def __eq__(self, other: object) -> bool:
        raise TypeError("whether an expression is equal to something is not known yet: compare with <, <= and where")

    __hash__ = object.__hash__

    def __float__(self) -> float:
        raise TypeError("an expression is not a number yet: use the functions of armsim.expr, not math or float()")

    def __add__(self, other):
        return add(self, other) if isinstance(other, SCALARS) else NotImplemented

    def __radd__(self, other):
        return add(other, self) if isinstance(other, SCALARS) else NotImplemented

    def __sub__(self, other):
        return subtract(self, other) if isinstance(other, SCALARS) else NotImplemented

    def __rsub__(self, other):
        return subtract(other, self) if isinstance(other, SCALARS) else NotImplemented

    def __mul__(self, other):
        return multiply(self, other) if isinstance(other, SCALARS) else NotImplemented

    def __rmul__(self, other):
        return multiply(other, self) if isinstance(other, SCALARS) else NotImplemented

    def __truediv__(self, other):
        return divide(self, other) if isinstance(other, SCALARS) else NotImplemented

    def __rtruediv__(self, other):
        return divide(other, self) if isinstance(other, SCALARS) else NotImplemented

    def __neg__(self):
        return self.args[0] if self.op == "neg" else self.graph.node("neg", self)

    def __pos__(self):
        return self

    def __abs__(self):
        inner = self.args[0] if self.op == "neg" else self
        return inner if inner.op == "abs" else inner.graph.node("abs", inner)

    def __lt__(self, other):
        return graph_of(self, other).node("lt", self, other)

    def __le__(self, other):
        return graph_of(self, other).node("le", self, other)

    def __gt__(self, other):
        return graph_of(self, other).node("lt", other, self)

    def __ge__(self, other):
        return graph_of(self, other).node("le", other, self)


SCALARS = (Expr, float, int)


class Graph:
    """The expression graph of one traced function, common subexpressions shared.

    Attributes:
        nodes: All nodes, in topological order.
        inputs: Input nodes in the order of the arguments, then those of captured values.
        captured: Nodes of outer graphs that the function captures, in the order of their inputs.
        depth: Level of nesting: 0 for an outermost graph, 1 for a function called in one, and so on.
        around: Of the body of a scan or loop, the graph that it is in, whose arrays it may capture.
    """

    def __init__(self, depth: int = 0, around: Graph | None = None) -> None:
        self.nodes: list[Expr] = []
        self.inputs: list[Expr] = []
        self.captured: list[Expr] = []
        self.depth = depth
        self.around = around
        self._shared: dict[tuple[Any, ...], Expr] = {}  # by operation and the keys of its operands
        self._constants: dict[float, int] = {}
        self._imported: dict[Expr, Expr] = {}

    def input(self, name: str, columns: int = 0) -> Expr:
        """A new input of the function: a scalar, or an array of that many columns."""
        node = Expr(self, len(self.nodes), "input", (name, columns) if columns else (name,))
        self.nodes.append(node)
        self.inputs.append(node)
        return node

    def node(self, op: str, *args: Any) -> Expr:
        """The node that applies `op` to `args`: the one already there, or a new one."""
        key = self._key(op, args)
        found = self._shared.get(key)
        if found is None:
            own = tuple([arg if type(arg) is Expr and arg.graph is self else self._own(arg) for arg in args])
            found = self._shared[key] = Expr(self, len(self.nodes), op, own)
            self.nodes.append(found)
        return found

    def existing(self, op: str, *args: Any) -> Expr | None:
        """The node that applies `op` to `args`, if there is one."""
        return self._shared.get(self._key(op, args))

    def _key(self, op: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The hash key of an operation on operands, which compares no nodes; operands of outer graphs are captured.

        A node's part of the key is its index, a constant's its number among the constants, counted below zero.
        """
        key: list[Any] = [op]
        for arg in args:
            if type(arg) is Expr:
                key.append(arg.index if arg.graph is self else self._capture(arg).index)
            elif isinstance(arg, NUMBERS):
                place = self._constants.get(arg)
                if place is None:
                    place = self._constants[constant(arg)] = ~len(self._constants)
                key.append(place)
            else:
                key.append(arg)
        if op in COMMUTATIVE and key[1] > key[2]:
            key[1], key[2] = key[2], key[1]
        return tuple(key)

    def _own(self, arg: Any) -> Any:
        if isinstance(arg, Expr):
            return arg if arg.graph is self else self._capture(arg)
        return constant(arg) if isinstance(arg, (float, int)) else arg

    def _capture(self, outer: Expr) -> Expr:
        """The input that brings a value of an outer graph into this one."""
        if outer.graph.depth >= self.depth:
            raise ValueError(f"{outer!r} belongs to another function that is not around this one")
        inner = self._imported.get(outer)
        if inner is None and outer.op in CONDITIONS:  # inputs are numbers
            inner = self._imported[outer] = self._capture(select(outer, 1.0, 0.0)) > 0.5
        if inner is None:
            inner = self._imported[outer] = self.input(f"captured{len(self.captured)}", array_columns(outer))
            self.captured.append(outer)
        return inner


def array_columns(node: Any) -> int:
    """Columns of an array: a series of values, the results of a scan, or a captured one; 0 of what is a scalar."""
    if not isinstance(node, Expr) or node.op not in ("series", "input", "out"):
        return 0
    if node.op == "series":
        return int(node.args[0])
    if node.op == "input":
        return node.args[1] if len(node.args) > 1 else 0
    of, place = node.args
    return of.args[0].results if of.op == "scan" and int(place) == of.args[0].size else 0


def graph_of(a, b) -> Graph:
    """The graph in which an operation on a and b belongs: the inner one, if a traced function uses an outer value."""
    if not isinstance(a, Expr):
        return b.graph
    if not isinstance(b, Expr) or a.graph.depth >= b.graph.depth:
        return a.graph
    return b.graph


def _negative(a) -> bool:
    return isinstance(a, Expr) and a.op == "neg"


def add(a, b):
    """a + b, at least one of them a node."""
    if _negative(b):
        return subtract(a, b.args[0])
    if _negative(a):
        return subtract(b, a.args[0])
    if not isinstance(a, Expr) and a == 0:
        return b
    if not isinstance(b, Expr) and b == 0:
        return a
    if not isinstance(a, Expr):
        a, b = b, a
    return graph_of(a, b).node("add", a, b)


def subtract(a, b):
    """a - b, at least one of them a node."""
    if _negative(b):
        return add(a, b.args[0])
    if not isinstance(b, Expr) and b == 0:
        return a
    if not isinstance(a, Expr) and a == 0:
        return -b
    if _negative(a):
        return -add(a.args[0], b)
    graph = graph_of(a, b)
    mirrored = graph.existing("sub", b, a)
    return graph.node("sub", a, b) if mirrored is None else -mirrored


def multiply(a, b):
    """a * b, at least one of them a node."""
    a, b, sign = _peeled(a, b)
    if not isinstance(a, Expr):
        a, b = b, a
    if not isinstance(b, Expr) and b == 0:
        return 0.0
    if not isinstance(b, Expr) and b == 1:
        product = a
    else:
        product = graph_of(a, b).node("mul", a, b)
    return product if sign > 0 else -product


def divide(a, b):
    """a / b, at least one of them a node. Not strength-reduced: a product with the constant 1/b rounds otherwise."""
    a, b, sign = _peeled(a, b)
    if not isinstance(b, Expr):
        if b == 0:
            raise ZeroDivisionError("an expression is divided by the constant 0")
        if b == 1:
            return a if sign > 0 else -a
    elif not isinstance(a, Expr) and a == 0:
        return 0.0
    quotient = graph_of(a, b).node("div", a, b)
    return quotient if sign > 0 else -quotient


def _peeled(a, b):
    """The factors of a product or quotient without their signs, and the sign of the whole."""
    sign = 1
    if a.op == "neg" if isinstance(a, Expr) else a < 0:
        a, sign = -a, -sign
    if b.op == "neg" if isinstance(b, Expr) else b < 0:
        b, sign = -b, -sign
    return a, b, sign


def fused(a, b, c):
    """a b + c with one rounding, at least one of them a node. A plain sum or product where that is as exact."""
    if not isinstance(c, Expr) and c == 0:
        return a * b
    if not isinstance(a, Expr):
        a, b = b, a
    if not isinstance(a, Expr):  # both factors are constants
        if a == 0 or b == 0:
            return c
        return c.graph.node("fma", a, b, c)
    if not isinstance(b, Expr):
        if b == 0:
            return c
        if b == 1:
            return a + c
        if b == -1:
            return c - a
    if _negative(a) and _negative(b):
        a, b = a.args[0], b.args[0]
    elif _negative(b):
        a, b = -a, b.args[0]
    graph = graph_of(a, b)
    if isinstance(c, Expr) and c.graph.depth > graph.depth:
        graph = c.graph
    return graph.node("fma", a, b, c)


def select(condition, a, b):
    """a where the condition node holds, b elsewhere."""
    if a is b or (not isinstance(a, Expr) and not isinstance(b, Expr) and a == b):
        return a
    if condition.op == "not":
        return select(condition.args[0], b, a)
    graph = condition.graph
    for x in (a, b):
        if isinstance(x, Expr) and x.graph.depth > graph.depth:
            graph = x.graph
    return graph.node("where", condition, a, b)


def constant(value) -> float:
    """A number as a constant of a graph; -0.0 becomes 0.0, so that equal constants are one."""
    value = float(value)
    if math.isnan(value):
        raise ValueError("NaN has no place in a graph")
    return value + 0.0
