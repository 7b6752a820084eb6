"""What a language is to the printer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from armsim.exporting.body import Body
from armsim.exporting.interface import Argument, Entry, Model
from armsim.exporting.names import identifiers
from armsim.exporting.program import Printable, prepared
from armsim.exporting.syntax import Syntax
from armsim.expr import Expr, Function, Table

Fma = Literal["exact", "hardware", "none"]
INDENT = "    "
LARGEST, SMALLEST = 3.4028234e38, 1.4e-45  # of single precision


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Stated:
    """A function of the interface as statements.

    Attributes:
        loads: Pairs (name, where it is) of the inputs that are needed.
        unused: Parameters of which nothing is needed.
        body: The statements.
        results: Expressions of the results.
    """

    loads: list[tuple[str, str]]
    unused: list[str]
    body: Body
    results: list[str]


class Language(Syntax):
    """A language that functions are printed in: its operations, its statements, and the files of a model.

    Attributes:
        fused: Ways of a fused multiply-add that it has; the first is the default.
        singles: Whether it has single precision.
        reserved: Words that cannot be names, in lower case.
        tool: Takes the files, in words.
    """

    fused: ClassVar[tuple[Fma, ...]] = ("exact", "none")
    singles: ClassVar[bool] = False
    reserved: ClassVar[frozenset[str]] = frozenset()
    tool: ClassVar[str]

    def __init__(self, style: Style | None = None) -> None:
        self.style = Style(self.fused[0]) if style is None else style

    @abstractmethod
    def function(self, function: Function, name: str, names: Mapping[Function | Table, str]) -> str:
        """A function from its inputs to an array of its outputs."""

    @abstractmethod
    def table(self, table: Table, name: str) -> str:
        """A table as a function."""

    def text(self, function: Function, name: str) -> str:
        """A traced function as text that stands for itself, after all that it calls."""
        program = prepared([function], self.style.own)
        names = program.names()
        parts = [self.table(table, names[table]) for table in program.tables]
        parts += [self.function(callee, names[callee], names) for callee in program.callees]
        return "\n".join([*self.helpers(program), *parts, self.function(program.entries[0], name, names)])

    def helpers(self, program: Printable) -> list[str]:
        """Functions for operations that the language lacks."""
        return []

    @abstractmethod
    def places(self, argument: Argument, model: Model) -> list[str]:
        """Where the numbers of an argument are, within the function."""

    def stated(self, model: Model, entry: Entry, function: Function, names: Mapping[Function | Table, str]) -> Stated:
        """A function of the interface, lowered, as statements."""
        parameters = [argument.name for argument in (*entry.arguments, entry.result)]
        items = [item.name for argument in entry.arguments for item in argument.items]
        taken = {*self.reserved, *(name.lower() for name in parameters), *names.values(), model.name}
        texts = iter(zip(function.inputs, identifiers(items, taken), strict=True))
        live = set(function.live())
        inputs: dict[Expr, str] = {}
        loads, unused = [], []
        for argument in entry.arguments:
            own = [(*next(texts), place) for place in self.places(argument, model)]
            inputs |= {node: text for node, text, _ in own}
            loads += [(text, place) for node, text, place in own if node in live]
            unused += [] if any(node in live for node, *_ in own) else [argument.name]
        body = Body(self, {**names, **{name: name for name in parameters}}, inputs)
        return Stated(loads, unused, body, body.compute(function))

    @abstractmethod
    def test_commands(self, name: str) -> list[list[str]]:
        """Commands that build and run the test program of a model in its folder; none where the tool is not installed."""

    @abstractmethod
    def files(self, model: Model) -> dict[str, str]:
        """The files of a model by name."""


def indented(lines: Sequence[str], by: str = INDENT) -> list[str]:
    """Lines one level further in."""
    return [by + line if line else line for line in lines]
