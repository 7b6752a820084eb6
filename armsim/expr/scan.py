"""Scans: a body iterated a fixed number of times over series, whose items and results are rows of arrays in memory.

As JAX's `lax.scan`. The text of a scan grows with its body alone, not with the number of iterations: a horizon of a predictive
controller, swept back by Riccati's recursion, is one. A recursion along a tree is one, too: iterations are given what earlier
ones have found, by links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from armsim.expr.function import Function, Repetition, innermost, nested
from armsim.expr.graph import Expr, Graph, array_columns
from armsim.expr.scalar import either, where
from armsim.expr.tree import Structure, flatten, leaves, unflatten

Column = int | float | tuple[float, ...]
FEW = 5  # rows that are unrolled even in what is evaluated a few times
_longest_unrolled = ContextVar("longest_unrolled", default=16)  # rows of matrices, links of arms


def is_long(count: int) -> bool:
    """Whether what is done with so many rows or links is a scan where it is traced, so that its text does not grow with them."""
    return count > _longest_unrolled.get()


@contextmanager
def unrolled_up_to(count: int) -> Iterator[None]:
    """Within it, what has more rows or links than `count` is traced as a scan.

    `FEW` is for what is evaluated a few times: there, less text to compile matters more than quick code.
    """
    before = _longest_unrolled.set(count)
    try:
        yield
    finally:
        _longest_unrolled.reset(before)


class Series(Sequence[Any]):
    """Trees of scalars of one structure, in an array of a graph.

    Leaves that are numbers in every tree are not in the array.

    Attributes:
        array: The node of the array, a row for each tree; None if all leaves are numbers.
        length: Number of trees.
        structure: Of each tree.
        columns: Of each leaf its column in the array, an int, or its number, a float; where that differs a number for each tree.
    """

    def __init__(self, array: Expr | None, length: int, structure: Structure | None, columns: Sequence[Column]) -> None:
        self.array = array
        self.length = length
        self.structure = structure
        self.columns = columns
        self._known: dict[int, Any] = {}

    @classmethod
    def of(cls, graph: Graph, trees: Sequence[Any]) -> Series:
        """Trees in an array of a graph, or of one around it that all their leaves are of.

        Raises:
            ValueError: They differ in structure.
        """
        rows, forms = zip(*map(flatten, trees), strict=True)
        own = innermost([x for row in rows for x in row])
        while graph is not own and graph.around is not None:
            graph = graph.around
        if any(form != forms[0] for form in forms):
            raise ValueError("the items of a series differ in structure")
        columns: list[Column] = []
        stored: list[Sequence[Any]] = []
        for column in zip(*rows, strict=True):
            if any(isinstance(x, Expr) for x in column):
                columns.append(len(stored))
                stored.append(column)
            else:
                numbers = tuple(map(float, column))
                columns.append(numbers[0] if len(set(numbers)) == 1 else numbers)
        items = [x for row in zip(*stored, strict=True) for x in row]
        array = graph.node("series", float(len(stored)), *items) if stored else None
        return cls(array, len(trees), forms[0], columns)

    @classmethod
    def over(cls, array: Expr, length: int) -> Series:
        """The rows of an array, lists of numbers."""
        width = array_columns(array)
        return cls(array, length, flatten([0.0] * width)[1], range(width))

    @property
    def width(self) -> int:
        """Columns of the array."""
        return array_columns(self.array)

    @property
    def tables(self) -> list[tuple[float, ...]]:
        """The numbers that differ from tree to tree, by columns."""
        return [column for column in self.columns if isinstance(column, tuple)]

    @property
    def flat(self) -> Series:
        """The same as lists of leaves."""
        return Series(self.array, self.length, flatten([0.0] * len(self.columns))[1], self.columns)

    @property
    def shape(self) -> Any:
        """A tree of that structure, whose leaves are the numbers of their columns."""
        return unflatten(self.structure, range(len(self.columns)))

    def tree(self, stored: Sequence[Any], numbers: Sequence[Any]) -> Any:
        """The tree whose leaves in the array and in tables are these."""
        of_tables = iter(numbers)
        found = [
            stored[column] if isinstance(column, int) else next(of_tables) if isinstance(column, tuple) else column
            for column in self.columns
        ]
        return unflatten(self.structure, found)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, i: Any) -> Any:
        if not -self.length <= i < self.length:
            raise IndexError(i)
        array, row = self.array, i % self.length
        if row not in self._known:
            numbers = [column[row] if isinstance(column, tuple) else column for column in self.columns]
            leaves = [
                array.graph.node("item", array, row, k) if array is not None and isinstance(k, int) else k
                for k in numbers
            ]
            self._known[row] = unflatten(self.structure, leaves)
        return self._known[row]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self.length))


class Scan(Repetition):
    """A traced scan, the first argument of a "scan" node.

    The node's further arguments: arrays, the state, what links to no iteration give, captured values.

    Attributes:
        body: From the state, the items of arrays and of `table` and what each link gives to the next state and a row of results;
            captured values are further inputs.
        size: Number of state entries.
        widths: Columns of each array.
        table: Numbers, a row for each iteration; the first columns are links: rows of results, `count` for none.
        links: How many of these there are.
        linked: Number of leading columns of results that a link gives.
        results: Columns of the array of results. With links it has a further row, of what links to no iteration give.
        count: Number of iterations.
        backward: Whether from the last items to the first.
    """

    def __init__(
        self,
        body: Function,
        size: int,
        series: Sequence[Series],
        links: Sequence[Sequence[int]],
        linked: int,
        order: range,
    ) -> None:
        super().__init__(body, size)
        self.count, self.backward = len(order), order.step < 0
        self.widths = tuple(given.width for given in series)
        columns = [tuple(float(self.count if k < 0 else k) for k in link) for link in links]
        columns += [column[: self.count] for given in series for column in given.tables]
        self.table = [*zip(*columns, strict=True)]
        self.links = len(links)
        self.linked = linked
        self.results = len(body.outputs) - size

    @property
    def outputs(self) -> range:
        """One result per state entry, and the array of results."""
        return range(self.size + 1)

    @property
    def memory(self) -> int:
        """Numbers in the array of results."""
        return self.results * (self.count + bool(self.links))

    @property
    def columns(self) -> int:
        """Columns of the table that the body takes."""
        return len(self.table[0]) - self.links if self.table else 0

    @property
    def numbers(self) -> list[list[Sequence[float]]]:
        """Those of the table that the body takes, as series: one, or none."""
        return [[row[self.links :] for row in self.table]] if self.columns else []

    @property
    def led(self) -> list[list[int]]:
        """The links, as `scan` takes them."""
        return [[-1 if k == self.count else int(k) for k in link] for link in [*zip(*self.table)][: self.links]]

    def split(self, args: Sequence[Any]) -> tuple[Sequence[Any], ...]:
        """Of the node's further arguments: arrays, the state, what links to no iteration give, captured values."""
        a = sum(width > 0 for width in self.widths)
        b = a + self.size
        return args[:a], args[a:b], args[b : b + self.linked], args[b + self.linked :]

    def counts(self) -> dict[str, int]:
        """Operation counts of all iterations."""
        return {op: times * self.count for op, times in self.body.counts().items()}


def scan(
    state: Any,
    body: Callable[..., tuple[Any, Any]],
    *series: Sequence[Any],
    count: int | None = None,
    backward: bool = False,
    links: Sequence[Sequence[int]] = (),
    before: Any = None,
    uses: Sequence[Any] = (),
) -> tuple[Any, Sequence[Any]]:
    """Iterate `body` over the items of series.

    Args:
        state: A tree of scalars to begin with.
        body: Takes the state, an item of each series and what each link leads to, trees of scalars; returns the next state, of
            the same structure, and a tree of scalars. With links that is a pair, whose first part is what links lead to.
        series: Lists, or what another scan in the same graph, or one around it, returned.
        count: Number of iterations, over the first items; as many as there are unless given.
        backward: Whether to begin with the last items.
        links: Each says for every iteration to which one, carried out before it, it is linked; -1 for none.
        before: A tree of the structure of what links lead to, which they give where they lead to none.
        uses: Scalars and series that the body captures, where nothing else that is given tells that it is to be traced.

    Returns:
        The state at the end, and the series of what `body` returned, in the order of the items.
    """
    times = len(series[0]) if count is None else count
    order = range(times)[::-1] if backward else range(times)
    series = tuple([Series.over(given, times) if isinstance(given, Expr) else given for given in series])
    arrays = [given.array for given in (*series, *uses) if isinstance(given, Series)]
    lists = [x for s in series if not isinstance(s, Series) for x in leaves(list(s))]
    first, form_before = flatten(before if links else ())
    graph = innermost([*leaves(state), *arrays, *lists, *first, *uses])
    if graph is None:
        found: list[Any] = [None] * times
        for i in order:
            led = [before if places[i] < 0 else found[places[i]][0] for places in links]
            state, found[i] = body(state, *(given[i] for given in series), *led)
        return state, found
    known = [given if isinstance(given, Series) else Series.of(graph, given) for given in series]
    begin, structure = flatten(state)
    inner = Graph(graph.depth + 1, graph)

    def inputs(of: str, number: int) -> list[Expr]:
        return [inner.input(of) for _ in range(number)]

    with nested(inner):
        entries = unflatten(structure, inputs("state", len(begin)))
        stored = [inputs("item", given.width) for given in known]
        numbers = [inputs("number", len(given.tables)) for given in known]
        items = [given.tree(*own) for given, *own in zip(known, stored, numbers, strict=True)]
        led = [unflatten(form_before, inputs("linked", len(first))) for _ in links]
        after, result = body(entries, *items, *led)
    ends, form = flatten(after)
    if form != structure:
        raise ValueError(f"the body of a scan changes the structure of its state: {structure} becomes {form}")
    if links and flatten(result[0])[1] != form_before:
        raise ValueError("what links of a scan lead to has another structure than what they give before")
    made, shape = flatten(result)
    kept = [x for i, x in enumerate(made) if isinstance(x, Expr) or i < len(first)]
    places = iter(range(len(kept)))
    columns = [next(places) if isinstance(x, Expr) or i < len(first) else float(x) for i, x in enumerate(made)]
    function = Function("scan", inner, [*ends, *kept])
    traced = Scan(function, len(begin), known, links, len(first), order)
    rows = [given.array for given in known if given.array is not None]
    node = graph.node("scan", traced, *rows, *begin, *first, *inner.captured)
    end = unflatten(structure, [graph.node("out", node, i) for i in range(len(begin))])
    array = graph.node("out", node, len(begin)) if kept else None
    return end, Series(array, times, shape, columns)


def parts(series: Sequence[Any], select: Callable[[Any], Any]) -> Sequence[Any]:
    """A part of each tree of a series, as `select` takes it of one."""
    if not isinstance(series, Series):
        return [*map(select, series)]
    places, structure = flatten(select(series.shape))
    return Series(series.array, series.length, structure, [series.columns[k] for k in places])


def each(body: Callable[..., Any], *series: Sequence[Any], uses: Sequence[Any] = ()) -> Sequence[Any]:
    """What `body` makes of the items of series, one by one; of many by a scan, for `uses` see there."""
    if is_long(len(series[0])):
        return scan([], lambda none, *items: (none, body(*items)), *series, uses=uses)[1]
    return [body(*items) for items in zip(*series, strict=True)]


def identity_where(conditions: Sequence[Any], A: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """A matrix by rows, with rows and columns of the identity where conditions hold, one for each of the first rows."""
    if not conditions:
        return A
    held = [*conditions, *[False] * (len(A) - len(conditions))]
    units = [[float(i == j) for j in range(len(A))] for i in range(len(A))]

    def replaced(own: Any, row: Sequence[Any], unit: Sequence[float]) -> list[Any]:
        return [where(either(own, other), u, x) for other, u, x in zip(held, unit, row, strict=False)]

    if is_long(len(A)):
        return each(lambda own, *given: replaced(own > 0.5, *given), [where(x, 1.0, 0.0) for x in held], A, units)
    return [replaced(*given) for given in zip(held, A, units, strict=True)]
