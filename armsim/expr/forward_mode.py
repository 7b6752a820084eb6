"""Sparse forward-mode automatic differentiation of a traced function, through its calls and loops.

Every node carries its partial derivatives with respect to the seeds it depends on and no others. Values come first, so that
subexpressions shared with them, such as the cosine in the derivative of a sine, are found again and computed once. A call
becomes a call of the callee with its Jacobian, differentiated once however often it is called; a loop or a scan becomes one that
has the tangents besides, in its state and its arrays; of an `implicit` value the derivatives are those of its defining equation,
and no iteration is differentiated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from armsim.expr.elementary import cos, sin
from armsim.expr.function import Function, Loop, innermost, loop
from armsim.expr.graph import CONDITIONS, Expr, Graph, array_columns
from armsim.expr.replay import OPERATIONS, Call, replay
from armsim.expr.scalar import either, fma, is_number, lookup, where
from armsim.expr.scan import Scan, Series, parts, scan
from armsim.expr.tree import leaves

# a sparse row of the Jacobian, by the index of the seed
Partials = dict[int, Any]
Sparsity = frozenset[int]
NONE: Sparsity = frozenset()
# of every node that moves its sparsity; of a loop or scan that of each entry of its state and column of its results, of an array
# that of each column
Pattern = tuple[dict[Expr, Sparsity], dict[Expr, list[Sparsity]]]


class ForwardMode:
    """The derivatives of a function whose arguments have derivatives.

    Args:
        function: Its calls and loops included.
        given: One scalar per input, in the graph of the results.
        seeds: The derivatives of each; of an array a series of its rows', a list of derivatives each.
        of: Indices of the outputs to be differentiated; all unless given.
        callees: The Jacobians of functions that are called, which are shared with those that call them too.
        pattern: Their `sparsity`, if it is known.

    Attributes:
        outputs: The function's values.
        rows: Derivatives of the outputs `of`; structural zeros are left out.
    """

    def __init__(
        self,
        function: Function,
        given: Sequence[Any],
        seeds: Sequence[Any],
        of: Sequence[int] | None = None,
        callees: dict[Any, Callee] | None = None,
        pattern: Pattern | None = None,
    ) -> None:
        self._callees: dict[Any, Callee] = {} if callees is None else callees
        wanted = function.outputs if of is None else [function.outputs[i] for i in of]
        self._sparsity, self._patterns = pattern or sparsity(function, [*map(_keys, seeds)], wanted)
        self._callee_of: dict[Expr, Callee] = {}
        self._slopes: dict[Expr, list[Any]] = {}
        graph = innermost([*given, *(x for seed in seeds if isinstance(seed, dict) for x in seed.values())])
        assert graph is not None
        self._graph = graph
        nodes = function.live()
        self._values = self._evaluated(function, nodes, given)
        self._known: dict[Expr, Any] = {}
        self._ends: dict[Expr, list[Any]] = {}
        for node, seed in zip(function.inputs, seeds, strict=True):
            self._keep(node, seed)
        for node in nodes:
            if node in self._sparsity and node.op != "input":
                self._keep(node, self._partials(node))
        self.outputs = [self._value(out) for out in function.outputs]
        self.rows = [self._of(out) for out in wanted]

    def _keep(self, node: Expr, found: Any) -> None:
        if isinstance(found, dict):
            found = {k: x for k, x in found.items() if not is_number(x, 0.0)}
        if found:
            self._known[node] = found

    def _value(self, arg: Any) -> Any:
        return self._values[arg] if isinstance(arg, Expr) else arg

    def _of(self, arg: Any) -> Any:
        return self._known.get(arg, {}) if isinstance(arg, Expr) else {}

    def _filled(self, arg: Any, keys: Sparsity) -> Partials:
        """The derivatives of a scalar by all seeds that its place in an array or a state may depend on."""
        known = self._of(arg)
        return {k: known.get(k, 0.0) for k in sorted(keys)}

    def _evaluated(self, function: Function, nodes: Sequence[Expr], given: Sequence[Any]) -> dict[Expr, Any]:
        """The value of every node; calls through which derivatives go are calls of the Jacobians."""
        calls = iter([node for node in nodes if node.op == "call"])
        own = all(a is b for a, b in zip(given, function.inputs, strict=True))
        if own and all(node.op != "call" for node in nodes):
            return {node: node for node in nodes}

        def outer(callee: Function, args: list[Any]) -> list[Any]:
            node = next(calls)
            moving = tuple(i for i, arg in enumerate(node.args[1:]) if arg in self._sparsity)
            of = tuple(out.args[1] for out in self._sparsity if out.op == "out" and out.args[0] is node)
            if node not in self._sparsity or not of:
                return plain(callee, args)
            key = (callee, moving, of)
            if key not in self._callees:
                self._callees[key] = Callee(callee, moving, [int(i) for i in of], self._callees)
            found = self._callee_of[node] = self._callees[key]
            results = self._called(found.function, args)
            self._slopes[node] = results[found.size :]
            return results[: found.size]

        def plain(callee: Function, args: list[Any]) -> list[Any]:
            key = (callee,)
            if key not in self._callees:
                self._callees[key] = Callee(callee, (), (), self._callees)
            return self._called(self._callees[key].function, args)

        def calls_of(caller: Function) -> Call:
            return outer if caller is scalars else plain

        places = [node for node in nodes if node.op not in ("call", "loop", "scan")]
        scalars = Function("values", function.graph, places)
        return dict(zip(places, replay(scalars, given, OPERATIONS, calls_of), strict=True))

    def _called(self, function: Function, args: Sequence[Any]) -> list[Any]:
        graph = innermost([*args]) or self._graph
        node = graph.node("call", function, *args)
        return [graph.node("out", node, i) if isinstance(x, Expr) else x for i, x in enumerate(function.outputs)]

    def _partials(self, node: Expr) -> Any:
        """The derivatives of a node by those of its operands; of an array by rows and columns."""
        if node.op == "where":
            condition, a, b = node.args
            return _selected(self._value(condition), self._of(a), self._of(b))
        if node.op == "implicit":
            return self._of(node.args[1])
        if node.op == "call":
            return {}
        if node.op in ("loop", "scan"):
            self._ends[node] = self._through(node) if node.op == "loop" else self._along(node)
            return {}
        if node.op == "series":
            width, pattern = array_columns(node), self._patterns[node]
            rows = [node.args[i : i + width] for i in range(1, len(node.args), width)]
            tangents = [[*map(self._filled, row, pattern)] for row in rows]
            return Series.of(self._graph, tangents)
        if node.op == "item":
            array, row, column = node.args
            return self._of(array)[int(row)][int(column)]
        if node.op == "out":
            source, i = node.args
            if source in self._ends:
                return self._ends[source][int(i)]
            slopes = self._callee_of[source].slopes(int(i), self._slopes[source])
            return self._combined((source.args[1 + j], slope) for j, slope in slopes)
        operands = [self._value(arg) for arg in node.args]
        return self._combined((node.args[i], slope) for i, slope in local_partials(node, operands, self._value(node)))

    def _combined(self, terms: Iterator[tuple[Any, Any]]) -> Partials:
        """The chain rule: the sum over the operands of local partial derivative times the operand's derivatives."""
        total: Partials = {}
        for arg, slope in terms:
            for k, x in self._of(arg).items():
                total[k] = _product_plus(slope, x, total[k]) if k in total else slope * x
        return total

    def _through(self, node: Expr) -> list[Partials]:
        """The derivatives of a loop's results, by a loop that has the tangents of its state besides."""
        repeated, *args = node.args
        begin, captured = args[: repeated.size], args[repeated.size :]
        constants = [self._value(arg) for arg in captured]
        rates = [self._of(arg) for arg in captured]
        pattern = self._patterns[node]
        tangents = [*map(self._filled, begin, pattern)]
        last: list[Any] = [None, None]  # condition and next state are asked for in turn

        def run(x: list[Any], dx: list[Partials]) -> ForwardMode:
            now = [*x, *(t for row in dx for t in row.values())]
            if last[0] is None or any(a is not b for a, b in zip(last[0], now, strict=True)):
                inputs, seeds = [*x, *constants], [*dx, *rates]
                last[:] = now, ForwardMode(repeated.body, inputs, seeds, range(1, len(x) + 1), self._callees)
            found: ForwardMode = last[1]
            return found

        def body(x: list[Any], dx: list[Partials]) -> list[Any]:
            found = run(x, dx)
            return [
                found.outputs[1:],
                [{k: row.get(k, 0.0) for k in now} for row, now in zip(found.rows, dx, strict=True)],
            ]

        first = [self._value(arg) for arg in begin]
        _, ends = loop([first, tangents], body, lambda x, dx: run(x, dx).outputs[0], repeated.at_most)
        found: list[Partials] = ends
        return found

    def _along(self, node: Expr) -> list[Any]:
        """The derivatives of a scan's results, and of its array of results, by a scan that has the tangents besides."""
        swept: Scan = node.args[0]
        arrays, begin, before, captured = swept.split(node.args[1:])
        pattern, size, linked, count = self._patterns[node], swept.size, swept.linked, len(arrays)
        constants, rates = [self._value(arg) for arg in captured], [self._of(arg) for arg in captured]
        still: list[Any] = [[[{}] * array_columns(array)] * swept.count for array in arrays]
        tangents = [self._known.get(array, rows) for array, rows in zip(arrays, still, strict=True)]
        patterns: list[Pattern] = []

        def body(state: Any, *items: Any) -> Any:
            (x, dx), links = state, items[len(items) - swept.links :]
            values = [*items[:count], *items[2 * count : len(items) - swept.links], *(link for link, _ in links)]
            slopes = [*items[count : 2 * count], [{}] * swept.columns, *(link for _, link in links)]
            inputs, seeds = ([y for row in rows for y in row] for rows in (values, slopes))
            seeds = [*dx, *seeds, *rates]
            if not patterns:
                patterns.append(sparsity(swept.body, [*map(_keys, seeds)], swept.body.outputs))
            found = ForwardMode(swept.body, [*x, *inputs, *constants], seeds, None, self._callees, patterns[0])
            made = found.outputs[size:]
            rows = [{k: row.get(k, 0.0) for k in sorted(own)} for row, own in zip(found.rows, pattern, strict=True)]
            first, rest = (made[:linked], rows[size : size + linked]), (made[linked:], rows[size + linked :])
            return (found.outputs[:size], rows[:size]), (first, rest)

        state = [self._value(arg) for arg in begin], [*map(self._filled, begin, pattern)]
        none = [self._value(arg) for arg in before], [*map(self._filled, before, pattern[size:])]
        (_, ends), found = scan(
            state,
            body,
            *map(self._value, arrays),
            *tangents,
            *swept.numbers,
            count=swept.count,
            backward=swept.backward,
            links=swept.led,
            before=none,
            uses=[*constants, *leaves(rates)],
        )

        def rows(made: Any) -> list[Partials]:
            (_, first), (_, rest) = made
            return [*first, *rest]

        return [*ends, parts(found, rows)]


class Callee:
    """A function that is called, with its Jacobian by some of its arguments.

    Args:
        callee: The function.
        moving: The arguments, by their places; none for the function itself, without its `implicit` operations.
        of: The outputs that are differentiated.
        callees: See `ForwardMode`.

    Attributes:
        function: Its outputs are the callee's, followed by those derivatives that are no structural zeros.
        size: Number of the callee's outputs.
    """

    def __init__(self, callee: Function, moving: Sequence[int], of: Sequence[int], callees: dict[Any, Callee]) -> None:
        graph = Graph(callee.graph.depth)
        inputs = [graph.input(str(node.args[0])) for node in callee.inputs]
        seeds: list[Partials] = [{i: 1.0} if i in moving else {} for i in range(len(inputs))]
        found = ForwardMode(callee, inputs, seeds, of, callees)
        self._entries = [(o, i, x) for o, row in zip(of, found.rows, strict=True) for i, x in row.items()]
        name = f"{callee.name}_jacobian" if moving else callee.name
        self.function = Function(name, graph, [*found.outputs, *(x for *_, x in self._entries)])
        self.size = len(callee.outputs)

    def slopes(self, output: int, results: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """The derivatives of an output, each with the place of the argument, from the results of a call past the callee's own."""
        return ((i, x) for (o, i, _), x in zip(self._entries, results, strict=True) if o == output)


def _keys(seed: Any) -> Any:
    """The seeds of an input with derivatives; of an array those of each column."""
    if isinstance(seed, dict):
        return frozenset(seed)
    row = seed.shape if isinstance(seed, Series) else seed[0]
    return [frozenset(column) for column in row]


def sparsity(function: Function, seeds: Sequence[Any], outputs: Sequence[Any]) -> Pattern:
    """By which seeds a node's derivatives need not be zero, of those that the outputs' derivatives depend on.

    Args:
        function: The function.
        seeds: Those of each input; of an array of each column.
        outputs: The nodes whose derivatives are wanted.
    """
    needed = {out for out in outputs if isinstance(out, Expr)}
    nodes = function.live(outputs)
    for node in reversed(nodes):
        if node in needed and node.op not in CONDITIONS:
            needed.update(arg for arg in _differentiated(node) if isinstance(arg, Expr))
    found: dict[Expr, Sparsity] = {}
    patterns: dict[Expr, list[Sparsity]] = {}
    for node, seed in zip(function.inputs, seeds, strict=True):
        if array_columns(node):
            patterns[node] = list(seed) or [NONE] * array_columns(node)
            seed = NONE.union(*seed)
        found |= {node: seed} if seed else {}
    for node in nodes:
        if node not in needed or node.op == "input" or node.op in CONDITIONS:
            continue
        if node.op in ("loop", "scan"):
            through = _pattern if node.op == "loop" else _swept_pattern
            given = [patterns[arg] if array_columns(arg) else _found(found, arg) for arg in node.args[1:]]
            patterns[node] = through(node.args[0], given)
            keys = NONE.union(*patterns[node])
        elif node.op == "series":
            width = array_columns(node)
            patterns[node] = [NONE.union(*(_found(found, x) for x in node.args[1 + i :: width])) for i in range(width)]
            keys = NONE.union(*patterns[node])
        elif node.op == "item":
            keys = patterns[node.args[0]][int(node.args[2])]
        elif array_columns(node):
            patterns[node] = patterns[node.args[0]][node.args[0].args[0].size :]
            keys = NONE.union(*patterns[node])
        elif node.op == "out" and node.args[0] in patterns:
            keys = patterns[node.args[0]][int(node.args[1])]
        else:
            keys = NONE.union(*(_found(found, arg) for arg in _differentiated(node)))
        if keys:
            found[node] = keys
    return found, patterns


def _differentiated(node: Expr) -> tuple[Any, ...]:
    """The operands whose derivatives those of a node depend on."""
    return node.args[1:] if node.op in ("where", "implicit") else node.args


def _found(found: dict[Expr, Sparsity], arg: Any) -> Sparsity:
    return found.get(arg, NONE) if isinstance(arg, Expr) else NONE


def _pattern(repeated: Loop, given: Sequence[Any]) -> list[Sparsity]:
    """The sparsity of a loop's state, from that of its beginning and of what is captured."""
    state, captured = list(given[: repeated.size]), given[repeated.size :]
    after = repeated.body.outputs[1:]
    while True:
        found, _ = sparsity(repeated.body, [*state, *captured], after)
        grown = [keys | _found(found, out) for keys, out in zip(state, after, strict=True)]
        if grown == state:
            return state
        state = grown


def _swept_pattern(swept: Scan, given: Sequence[Any]) -> list[Sparsity]:
    """The sparsity of a scan's state and results, from that of its arrays, its beginning and of what is captured."""
    arrays, state, linked, captured = map(list, swept.split(given))
    items = [*(keys for columns in arrays for keys in columns), *[NONE] * swept.columns]
    outputs = swept.body.outputs
    while True:
        found, _ = sparsity(swept.body, [*state, *items, *linked * swept.links, *captured], outputs)
        before = [*state, *linked]
        after = [_found(found, out) for out in outputs]
        grown = [a | b for a, b in zip(before, after, strict=False)]
        if grown == before:
            return [*grown, *after[len(grown) :]]
        state, linked = grown[: swept.size], grown[swept.size :]


def _selected(condition: Any, a: Partials, b: Partials) -> Partials:
    """The derivatives of the branch taken."""
    return {k: where(condition, a.get(k, 0.0), b.get(k, 0.0)) for k in {**a, **b}}


def local_partials(node: Expr, args: Sequence[Any], value: Any) -> Iterator[tuple[int, Any]]:
    """The places of the operands of an operation, each with the local partial derivative by it.

    Args:
        node: The operation.
        args: The values of its operands.
        value: Its value.
    """
    op = node.op
    if op in ("add", "sub"):
        yield 0, 1.0
        yield 1, 1.0 if op == "add" else -1.0
    elif op == "neg":
        yield 0, -1.0
    elif op == "round":
        yield 0, 1.0
    elif op in ("mul", "fma"):
        if op == "fma":
            yield 2, 1.0
        if node.args[0] is node.args[1]:
            yield 0, args[0] + args[0]
        else:
            yield 0, args[1]
            yield 1, args[0]
    elif op == "div":
        inverse = 1.0 / args[1]
        yield 0, inverse
        yield 1, -value * inverse
    elif op == "sin":
        yield 0, cos(args[0])
    elif op == "cos":
        yield 0, -sin(args[0])
    elif op == "exp":
        yield 0, value
    elif op == "log":
        yield 0, _over(1.0, args[0])
    elif op == "sqrt":
        yield 0, _over(0.5, value)
    elif op == "abs":
        (x,) = args
        yield 0, where(x > 0.0, 1.0, where(x < 0.0, -1.0, 0.0))
    elif op == "lookup":
        table, x = args
        yield 1, lookup(table.slope, x) if table.hold == "linear" else 0.0
    else:
        raise NotImplementedError(f"no derivative of {node!r}: graphs that are lowered have none")


def _over(number: float, x: Any) -> Any:
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
