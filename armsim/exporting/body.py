"""The statements of a function: operations nested to expressions, and locals for what is used again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from armsim.errors import CompileError
from armsim.exporting.syntax import Iteration, Syntax
from armsim.exporting.terms import ATOM, NAME, Term, bracketed
from armsim.expr import Expr, Function, Loop, Scan, Table
from armsim.expr.graph import CONDITIONS, array_columns

WIDTH = 88  # characters of an expression, beyond which parts of it become locals


class Body:
    """The statements that compute nodes, in a language.

    What is computed, and in which order of operands, is the graph's; only the names are new. A value that is used once stands
    where it is used, as long as the expression is short; any other is a local.

    Args:
        language: Of the text.
        names: Of the functions and tables that are called.
        inputs: Terms of the input nodes; names that are in use.

    Attributes:
        lines: The statements.
        locals: Those declared, with whether each is a condition, for languages that declare them first.
        arrays: Names and sizes of arrays, likewise.
        counters: Names of loop counters, likewise.
    """

    def __init__(self, language: Syntax, names: Mapping[Any, str], inputs: Mapping[Expr, str]) -> None:
        self.language = language
        self.names = names
        self.lines: list[str] = []
        self.locals: list[tuple[str, bool]] = []
        self.arrays: list[tuple[str, int]] = []
        self.counters: list[str] = []
        self.terms = {node: Term(text, NAME) for node, text in inputs.items()}
        self._taken = {text.lower() for text in [*inputs.values(), *names.values()]}
        self._uses: Counter[Expr] = Counter()
        self._results: dict[Expr, Term] = {}  # of scans
        self._count = 0

    def compute(self, function: Function, results: Sequence[Expr | float] | None = None) -> list[str]:
        """Add the statements for results of a function, all unless given.

        Returns:
            The expression of each result.
        """
        wanted = list(function.outputs if results is None else results)
        live = function.live(wanted)
        self.count(live, wanted)
        self.add(live)
        return [self.term(out).text for out in wanted]

    def name(self, function: Function, node: Expr, value: Expr | float) -> None:
        """Add the statements for a value, and name it as this input of the function is called."""
        (text,), name = self.compute(function, [value]), self.terms[node].text
        self.locals.append((name, False))
        self.lines += self.language.local(name, text, False)

    def count(self, nodes: Iterable[Expr], results: Iterable[Any] = ()) -> None:
        """Note how often values are used by nodes and as results."""
        for node in nodes:
            self._uses.update(arg for arg in node.args if isinstance(arg, Expr))
        self._uses.update(out for out in results if isinstance(out, Expr))

    def add(self, nodes: Iterable[Expr]) -> None:
        """Add the statements that compute nodes, given in topological order."""
        for node in nodes:
            if node in self.terms or node.op == "input":
                continue
            if array_columns(node) and node.op == "out":
                self.terms[node] = self._results[node.args[0]]
            elif node.op == "out":
                array, i = node.args
                self.terms[node] = Term(self.language.item(self.terms[array].text, int(i)), NAME)
            elif node.op == "call":
                self._call(node)
            elif node.op == "loop":
                self._loop(node)
            elif node.op == "scan":
                self._scan(node)
            elif node.op == "series":
                self.terms[node] = self._series([self.term(arg).text for arg in node.args[1:]])
            elif node.op == "item":
                array, row, column = node.args
                place = int(row) * array_columns(array) + int(column)
                self.terms[node] = Term(self.language.item(self.terms[array].text, place), NAME)
            else:
                self._operation(node)

    def term(self, arg: Any) -> Term:
        """A node or number as a term."""
        return self.terms[arg] if isinstance(arg, Expr) else self.language.literal(arg)

    def fresh(self, letter: str) -> str:
        """A name that is not in use."""
        while True:
            self._count += 1
            name = f"{letter}{self._count}"
            if name not in self._taken:
                self._taken.add(name)
                return name

    def local(self, term: Term, truth: bool = False) -> Term:
        """A local with the value of a term; the term itself where it is but a name or a number."""
        return term if term.level >= NAME else self._new_local(term, truth)

    def _new_local(self, term: Term, truth: bool = False) -> Term:
        name = self.fresh("c" if truth else "t")
        self.locals.append((name, truth))
        self.lines += self.language.local(name, term.text, truth)
        return Term(name, NAME)

    def _operation(self, node: Expr) -> None:
        table = isinstance(node.args[0], Table)
        operation = self.language.operation(node)
        if operation is None and not table:
            raise CompileError(f"no text for {node!r} in {self.language.name}: the graph was not lowered")
        given = node.args[1:] if table else node.args
        numbers = node.op == "bit"  # whose second operand is a whole number
        terms = [self.term(arg) for arg in given[:1]] if numbers else [self.term(arg) for arg in given]

        def composed() -> Term:
            if operation is None:
                return Term(self.language.lookup(self.names[node.args[0]], terms[0].text), ATOM)
            levels = operation.operands or (0,) * len(terms)
            texts = [bracketed(term, level) for term, level in zip(terms, levels, strict=False)]
            more = [str(int(given[1]))] if numbers else []
            return Term(operation.template.format(*texts, *more), operation.level)

        while len((found := composed()).text) > WIDTH and (longest := _longest(terms)) is not None:
            terms[longest] = self.local(terms[longest], _is_condition(given[longest]))
        if self._uses[node] > 1 and node.op != "neg":
            found = self.local(found, node.op in CONDITIONS)
        self.terms[node] = found

    def _call(self, node: Expr) -> None:
        function, *given = node.args
        args = [self.term(arg).text for arg in given]
        name = self.fresh("r")
        self.arrays.append((name, len(function.outputs)))
        self.lines += self.language.call(name, self.names[function], args, len(function.outputs))
        self.terms[node] = Term(name, NAME)

    def _loop(self, node: Expr) -> None:
        """A loop in place: an array for its state, and a block for its body."""
        repeated: Loop = node.args[0]
        given = [self.local(self.term(arg)) if isinstance(arg, Expr) else self.term(arg) for arg in node.args[1:]]
        name, counter = self.fresh("s"), self.fresh("i")
        self.arrays.append((name, repeated.size))
        self.counters += [counter] if repeated.at_most > 1 else []
        inner = repeated.body
        for i, source in enumerate(inner.inputs):
            state = i < repeated.size
            outside = i - repeated.size
            item = Term(self.language.item(name, i), NAME)
            self.terms[source] = item if state else self.language.captured(name, outside, given[i])
        outer, self.lines = self.lines, []
        done, *after = inner.outputs
        live = inner.live()
        self.count(live, inner.outputs)
        test = inner.live([done])
        self.add(test)
        condition, testing = self.term(done).text, self.lines
        self.lines = []
        self.add(inner.live(after))
        ends = {
            i: self._new_local(self.term(value)) if isinstance(value, Expr) else self.term(value)
            for i, value in enumerate(after)
            if value is not inner.inputs[i]
        }
        assignments = [self.language.assign(self.language.item(name, i), end.text) for i, end in ends.items()]
        working, self.lines = [*self.lines, *assignments], outer
        texts = [term.text for term in given]
        begin, captured = texts[: repeated.size], texts[repeated.size :]
        loop = Iteration(name, counter, begin, captured, repeated.at_most, testing, condition, working)
        self.lines += self.language.loop(loop)
        self.terms[node] = Term(name, NAME)

    def _series(self, items: Sequence[str], size: int = 0) -> Term:
        """A new array."""
        name = self.fresh("s")
        self.arrays.append((name, len(items) or size))
        self.lines += self.language.series(name, items, size)
        return Term(name, NAME)

    def _numbers(self, scan: Scan) -> str:
        """The name of an array of the table of a scan; none without."""
        items = [self.language.literal(x).text for row in scan.table for x in row]
        if not items:
            return ""
        name = self.fresh("n")
        self.arrays.append((name, len(items)))
        self.lines += self.language.table_of(name, items)
        return name

    def _scan(self, node: Expr) -> None:
        """A scan in place: arrays for its state and its results, and a block for its body."""
        traced: Scan = node.args[0]
        widths = [width for width in traced.widths if width]
        given = [self.local(self.term(arg)) if isinstance(arg, Expr) else self.term(arg) for arg in node.args[1:]]
        sources, begin, before, captured = traced.split(given)
        arrays = [array.text for array in sources]
        state = self._series([term.text for term in begin]).text if traced.size else ""
        results = self._series([], traced.memory).text if traced.results else ""
        table, all_columns = self._numbers(traced), traced.links + traced.columns
        for i, term in enumerate(before):
            item = self.language.item(results, traced.count * traced.results + i)
            self.lines.append(self.language.assign(item, term.text))
        counter = self.fresh("i")
        self.counters.append(counter)
        inner = traced.body
        texts = [self.language.item(state, i) for i in range(traced.size)]
        read = [self.language.place(a, counter, w, i) for a, w in zip(arrays, widths, strict=True) for i in range(w)]
        read += [self.language.place(table, counter, all_columns, i) for i in range(traced.links, all_columns)]
        for k in range(traced.links):
            row = self.language.index.format(self.language.place(table, counter, all_columns, k))
            read += [self.language.place(results, row, traced.results, i) for i in range(traced.linked)]
        outer, self.lines = self.lines, []
        live = inner.live()
        self.count(live, inner.outputs)
        terms = [Term(text, NAME) for text in (*texts, *read)]
        for i in range(len(texts) + len(read) - traced.links * traced.linked, len(terms)):
            if self._uses[inner.inputs[i]]:
                terms[i] = self._new_local(terms[i])
        self.terms |= zip(inner.inputs, [*terms, *captured], strict=True)
        self.add(live)
        made = [self._new_local(self.term(out)) if isinstance(out, Expr) else self.term(out) for out in inner.outputs]
        places = texts[: traced.size]
        places += [self.language.place(results, counter, traced.results, i) for i in range(traced.results)]
        work = [*self.lines, *(self.language.assign(a, b.text) for a, b in zip(places, made, strict=True))]
        self.lines = [*outer, *self.language.sweep(counter, traced.count, traced.backward, work)]
        self.terms[node] = Term(state, NAME)
        self._results[node] = Term(results, NAME)


def _is_condition(arg: Any) -> bool:
    return isinstance(arg, Expr) and arg.op in CONDITIONS


def _longest(terms: Sequence[Term]) -> int | None:
    """The longest term that is more than a name or a number; None if there is none."""
    candidates = [(len(term.text), i) for i, term in enumerate(terms) if term.level < NAME]
    return max(candidates)[1] if candidates else None
