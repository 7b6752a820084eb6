"""What a language is to the printer."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from armsim.clock import Clock
from armsim.exporting.body import Body
from armsim.exporting.interface import Argument, Case, Entry, Model, Named
from armsim.exporting.names import identifiers
from armsim.exporting.program import Printable, prepared
from armsim.exporting.syntax import Iteration, Syntax
from armsim.expr import Expr, Function, Table
from armsim.records import record

Names = Mapping[Function | Table, str]
Fma = Literal["exact", "hardware", "none"]
INDENT = "    "
LARGEST, SMALLEST = 3.4028234e38, 1.4e-45  # of single precision


@record
class Style:
    """How numbers are computed.

    Attributes:
        fma: How a fused multiply-add is: "exact", correctly rounded on every machine; "hardware", by the machine's own
            instruction, which must be there; "none", by a product and a sum, each rounded.
        single: Whether in single precision.
    """

    fma: Fma = "exact"
    single: bool = False

    @property
    def own(self) -> bool:
        """Whether sine, cosine, exponential and logarithm are armsim's, with the same bits everywhere; else the language's."""
        return self.fma != "none" and not self.single

    @property
    def tolerance(self) -> float:
        """How much results may differ from armsim's, relative to 1 and their size; 0 where their bits are the same."""
        return 0.0 if self.own else 2e-4 if self.single else 1e-9


@record
class Stated:
    """A function of the interface as statements.

    Attributes:
        names: Of the inputs.
        loads: Pairs (name, where it is) of those that are needed, and are no parameters.
        unused: Parameters of which nothing is needed.
        body: The statements.
        results: Expressions of the results.
    """

    names: list[str]
    loads: list[tuple[str, str]]
    unused: list[str]
    body: Body
    results: list[str]


class Language(Syntax):
    """A language that functions are printed in: its operations, its statements, and the files of a model.

    Attributes:
        few: Most inputs that a called function takes one by one.
        fused: Ways of a fused multiply-add that it has; the first is the default.
        singles: Whether it has single precision.
        reserved: Words that cannot be names, in lower case.
        tool: Takes the files, in words.
        suffix: Of the names of files.
        field: Where an open number is, with {} for its name.
        opened: The open numbers as a test program has them, with {} for the name of the model.
        whole: A whole number as an argument, with {} for it.
        counting: The type of a counter, where one is declared.
        unless: A block that is entered unless the condition {} holds: its first line, and its last if it has one.
        repeat: Likewise one that is entered up to {1} times, by a counter {0}.
        leave: Lines that leave it if {} holds.
    """

    few: ClassVar[float] = math.inf
    fused: ClassVar[tuple[Fma, ...]] = ("exact", "none")
    singles: ClassVar[bool] = False
    reserved: ClassVar[frozenset[str]] = frozenset()
    tool: ClassVar[str]
    suffix: ClassVar[str]
    field: ClassVar[str] = "numbers.{}"
    opened: ClassVar[str] = "numbers"
    whole: ClassVar[str] = "{}"
    counting: ClassVar[str] = "int"
    unless: ClassVar[tuple[str, ...]] = ("if (!({})) {{", "}")
    repeat: ClassVar[tuple[str, ...]] = ("for ({2} {0} = 0; {0} < {1}; {0}++) {{", "}")
    leave: ClassVar[tuple[str, ...]] = ("if ({})", "    break;")

    def __init__(self, style: Style | None = None) -> None:
        self.style = Style(self.fused[0]) if style is None else style

    def local(self, name: str, text: str, truth: bool) -> list[str]:
        return [f"{name} = {text}"]

    def loop(self, loop: Iteration) -> list[str]:
        state = self.series(loop.name, loop.begin, len(loop.begin))
        if loop.at_most == 1:
            head, *end = self.unless
            return [*state, *loop.test, head.format(loop.done), *indented(loop.work), *end]
        head, *end = self.repeat
        work = [*loop.test, *(line.format(loop.done) for line in self.leave), *loop.work]
        return [*state, head.format(loop.counter, loop.at_most, self.counting), *indented(work), *end]

    def sweep(self, counter: str, count: int, backward: bool, work: Sequence[str]) -> list[str]:
        start, go_on, step = (count - 1, ">= 0", "--") if backward else (0, f"< {count}", "++")
        return [
            f"for ({self.counting} {counter} = {start}; {counter} {go_on}; {counter}{step}) {{",
            *indented(work),
            "}",
        ]

    @abstractmethod
    def function(self, name: str, stated: Stated) -> str:
        """A function from its inputs to an array of its outputs."""

    @abstractmethod
    def table(self, table: Table, name: str) -> str:
        """A table as a function."""

    def text(self, function: Function, name: str) -> str:
        """A traced function as text that stands for itself, after all that it calls."""
        program = prepared([function], self.style.own)
        own = self.function(name, self.callee(program.entries[0], program.names()))
        return "\n".join([*self.helpers(program), *self.called(program), own])

    def called(self, program: Printable) -> list[str]:
        """The tables and functions that are called."""
        names = program.names()
        tables = [self.table(table, names[table]) for table in program.tables]
        return tables + [self.function(names[callee], self.callee(callee, names)) for callee in program.callees]

    def entries(self, model: Model, program: Printable) -> list[str]:
        """The functions of the interface."""
        names = program.names()
        pairs = zip(model.entries, program.entries, strict=True)
        return [self.entry(model, entry, self.stated(model, entry, lowered, names)) for entry, lowered in pairs]

    @abstractmethod
    def entry(self, model: Model, entry: Entry, stated: Stated) -> str:
        """A function of the interface."""

    @abstractmethod
    def source(self, model: Model, program: Printable) -> str:
        """All functions of a model, as one text."""

    @abstractmethod
    def helpers(self, program: Printable) -> list[str]:
        """Functions for operations that the language lacks."""

    def needed(self, program: Printable, texts: Mapping[str, str]) -> list[str]:
        """The texts of operations in a program, of fused multiply-adds where they are computed."""
        skipped = "fma" if self.style.fma == "none" else ""
        return [text for name, text in texts.items() if name in program.operations and name != skipped]

    def fields(self, items: Sequence[Named]) -> list[str]:
        """Names of open numbers."""
        return identifiers([item.name for item in items], self.reserved)

    def places(self, argument: Argument, model: Model) -> list[str]:
        """Where the numbers of an argument are, within the function."""
        if argument.kind == "numbers":
            return [self.field.format(name) for name in self.fields(argument.items)]
        if argument.kind == "clock":
            assert model.clock is not None  # an argument is one only then
            return self.clock(model.clock)
        return [self.item(argument.name, i) for i in range(len(argument.items))]

    @abstractmethod
    def clock(self, clock: Clock) -> list[str]:
        """The time of step k, and whether a sample is due then, 1 or 0."""

    def callee(self, function: Function, names: Names) -> Stated:
        """A function that is called, as statements; its inputs are parameters, or more than `few` of them items of `given`."""
        array = "given" if len(function.inputs) > self.few else ""
        texts = identifiers([str(node.args[0]) for node in function.inputs], self.reserved)
        live = set(function.live())
        inputs = dict(zip(function.inputs, texts, strict=True))
        loads = [(text, self.item(array, i)) for i, (node, text) in enumerate(inputs.items()) if array and node in live]
        unused = [text for node, text in inputs.items() if not array and node not in live]
        body = Body(self, names, inputs)
        return Stated(texts, loads, unused, body, body.compute(function))

    def stated(self, model: Model, entry: Entry, function: Function, names: Names) -> Stated:
        """A function of the interface, lowered, as statements."""
        parameters = [argument.name for argument in (*entry.arguments, entry.result)]
        items = [item.name for argument in entry.arguments for item in argument.items]
        items += [str(node.args[0]) for node, _ in entry.locals]
        taken = {*self.reserved, *(name.lower() for name in parameters), *names.values(), model.name}
        texts = iter(zip(function.inputs, identifiers(items, taken), strict=True))
        live = set(function.live([*function.outputs, *(value for _, value in entry.locals)]))
        inputs: dict[Expr, str] = {}
        loads, unused = [], []
        for argument in entry.arguments:
            own = [(*next(texts), place) for place in self.places(argument, model)]
            inputs |= {node: text for node, text, _ in own}
            loads += [(text, place) for node, text, place in own if node in live]
            unused += [] if any(node in live for node, *_ in own) else [argument.name]
        body = Body(self, {**names, **{name: name for name in parameters}}, inputs | dict(texts))
        for node, value in entry.locals:
            body.name(function, node, value)
        return Stated(list(inputs.values()), loads, unused, body, body.compute(function))

    @abstractmethod
    def test_commands(self, name: str) -> list[list[str]]:
        """Commands that build and run the test program of a model in its folder; none where the tool is not installed."""

    def listed(self, values: Sequence[float]) -> str:
        """Numbers, separated by commas."""
        return ", ".join(self.literal(value).text for value in values)

    def array(self, values: Sequence[float]) -> str:
        """An array of numbers, as an argument."""
        return f"[{self.listed(values)}]"

    def given(self, model: Model, case: Case) -> str:
        """The arguments of a call."""
        texts = {"numbers": lambda _: self.opened.format(model.name), "clock": lambda k: self.whole.format(int(k[0]))}
        pairs = zip(case.entry.arguments, case.given, strict=True)
        return ", ".join(texts.get(argument.kind, self.array)(values) for argument, values in pairs)

    @abstractmethod
    def test(self, model: Model) -> str:
        """A program that compares every function with reference values."""

    def files(self, model: Model) -> dict[str, str]:
        """The files of a model by name."""
        program = prepared([entry.function for entry in model.entries], self.style.own)
        names = f"{model.name}.{self.suffix}", f"test_{model.name}.{self.suffix}"
        return dict(zip(names, (self.source(model, program), self.test(model)), strict=True))


def indented(lines: Sequence[str], by: str = INDENT) -> list[str]:
    """Lines one level further in."""
    return [by + line if line else line for line in lines]
