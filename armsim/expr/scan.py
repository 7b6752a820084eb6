"""Scans: a body iterated a fixed number of times over series, whose items and results are rows of arrays in memory.

As JAX's `lax.scan`. The text of a scan grows with its body alone, not with the number of iterations: a horizon of a predictive
controller, swept back by Riccati's recursion, is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from armsim.expr.function import Function, Repetition, innermost, nested
from armsim.expr.graph import Expr, Graph
from armsim.expr.tree import Structure, flatten, leaves, unflatten


class Series(Sequence[Any]):
    """Trees of scalars of one structure, in an array of a graph.

    Leaves that are the same number in every tree are not in the array.

    Attributes:
        array: The node of the array, a row for each tree; None if all leaves are numbers.
        length: Number of trees.
        structure: Of each tree.
        columns: Of each leaf its column in the array, an int, or its number, a float.
    """

    def __init__(
        self, array: Expr | None, length: int, structure: Structure | None, columns: Sequence[int | float]
    ) -> None:
        self.array = array
        self.length = length
        self.structure = structure
        self.columns = columns

    @classmethod
    def of(cls, graph: Graph, trees: Sequence[Any]) -> Series:
        """Trees in an array of a graph.

        Raises:
            ValueError: They differ in structure.
        """
        rows, forms = zip(*map(flatten, trees), strict=True)
        if any(form != forms[0] for form in forms):
            raise ValueError("the items of a series differ in structure")
        columns: list[int | float] = []
        stored: list[Sequence[Any]] = []
        for column in zip(*rows, strict=True):
            same = not any(isinstance(x, Expr) for x in column) and len(set(map(float, column))) == 1
            columns.append(float(column[0]) if same else len(stored))
            stored += [] if same else [column]
        items = [x for row in zip(*stored, strict=True) for x in row]
        array = graph.node("series", float(len(stored)), *items) if stored else None
        return cls(array, len(trees), forms[0], columns)

    @property
    def width(self) -> int:
        """Columns of the array."""
        return sum(isinstance(column, int) for column in self.columns)

    def tree(self, stored: Sequence[Any]) -> Any:
        """The tree whose leaves in the array are these."""
        found = [stored[column] if isinstance(column, int) else column for column in self.columns]
        return unflatten(self.structure, found)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, i: Any) -> Any:
        if not -self.length <= i < self.length:
            raise IndexError(i)
        array, row = self.array, i % self.length
        if array is None:
            return self.tree([])
        return self.tree([array.graph.node("item", array, row, column) for column in range(self.width)])

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self.length))


class Scan(Repetition):
    """A traced scan, the first argument of a "scan" node; its arrays are the next, then the state, then captured values.

    Attributes:
        body: From the state and the items to the next state and a row of results; captured values are further inputs.
        size: Number of state entries.
        widths: Columns of the array of each series.
        results: Columns of the array of results.
        count: Number of iterations.
        backward: Whether from the last items to the first.
    """

    def __init__(self, body: Function, size: int, widths: Sequence[int], count: int, backward: bool) -> None:
        super().__init__(body, size)
        self.widths = tuple(widths)
        self.results = len(body.outputs) - size
        self.count = count
        self.backward = backward

    @property
    def outputs(self) -> range:
        """One result per state entry, and the array of results."""
        return range(self.size + 1)

    def counts(self) -> dict[str, int]:
        """Operation counts of all iterations."""
        return {op: times * self.count for op, times in self.body.counts().items()}


def scan(
    state: Any,
    body: Callable[..., tuple[Any, Any]],
    *series: Sequence[Any],
    count: int | None = None,
    backward: bool = False,
) -> tuple[Any, Sequence[Any]]:
    """Iterate `body` over the items of series.

    Args:
        state: A tree of scalars to begin with.
        body: Takes the state and an item of each series, trees of scalars; returns the next state, of the same structure, and a
            tree of scalars.
        series: Of one length each; lists, or what another scan in the same graph returned.
        count: Number of iterations; without series.
        backward: Whether to begin with the last items.

    Returns:
        The state at the end, and the series of what `body` returned, in the order of the items.
    """
    times = len(series[0]) if series else count
    assert times is not None
    arrays = [given.array for given in series if isinstance(given, Series) and given.array is not None]
    graph = innermost(
        [*leaves(state), *arrays, *(x for s in series if not isinstance(s, Series) for x in leaves(list(s)))]
    )
    if graph is None:
        found = []
        for i in reversed(range(times)) if backward else range(times):
            state, result = body(state, *(given[i] for given in series))
            found.append(result)
        return state, found[::-1] if backward else found
    known = [given if isinstance(given, Series) else Series.of(graph, given) for given in series]
    if any(given.array is not None and given.array.graph is not graph for given in known):
        raise ValueError("a series belongs to the function that it was made in")
    begin, structure = flatten(state)
    inner = Graph(graph.depth + 1)
    with nested(inner):
        inputs = unflatten(structure, [inner.input(f"s{i}") for i in range(len(begin))])
        items = [given.tree([inner.input("item") for _ in range(given.width)]) for given in known]
        after, result = body(inputs, *items)
    ends, form = flatten(after)
    if form != structure:
        raise ValueError(f"the body of a scan changes the structure of its state: {structure} becomes {form}")
    made, shape = flatten(result)
    stored = [x for x in made if isinstance(x, Expr)]
    places = iter(range(len(stored)))
    columns = [next(places) if isinstance(x, Expr) else float(x) for x in made]
    function = Function("scan", inner, [*ends, *stored])
    traced = Scan(function, len(begin), [given.width for given in known], times, backward)
    rows = [given.array for given in known if given.array is not None]
    node = graph.node("scan", traced, *rows, *begin, *inner.captured)
    end = unflatten(structure, [graph.node("out", node, i) for i in range(len(begin))])
    array = graph.node("out", node, len(begin)) if stored else None
    return end, Series(array, times, shape, columns)


def is_array(arg: Any) -> bool:
    """Whether a node is an array: a series of values, or the results of a scan."""
    if not isinstance(arg, Expr) or arg.op not in ("series", "out"):
        return False
    of = arg.args[0]
    return arg.op == "series" or (isinstance(of, Expr) and of.op == "scan" and int(arg.args[1]) == of.args[0].size)


def array_columns(array: Expr) -> int:
    """Columns of an array node."""
    return int(array.args[0]) if array.op == "series" else array.args[0].args[0].results
