"""How a language writes operations and statements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from armsim.exporting.terms import Operation, Term
from armsim.expr import Expr
from armsim.records import record


@record
class Iteration:
    """A loop as statements.

    Attributes:
        name: Of the array of its state.
        counter: Of its iterations.
        begin: The state at the start.
        captured: Values from outside.
        at_most: Bound on the number of iterations.
        test: Statements before every iteration.
        done: The condition that ends it, after them.
        work: Statements of an iteration; they assign the next state.
    """

    name: str
    counter: str
    begin: list[str]
    captured: list[str]
    at_most: int
    test: list[str]
    done: str
    work: list[str]


class Syntax(ABC):
    """Operations and statements of a language.

    Attributes:
        name: As users name it.
        operations: Text of every operation.
        index: Template of a number as the place of an item.
        end: Of a statement.
    """

    name: ClassVar[str]
    end: ClassVar[str] = ""
    index: ClassVar[str] = "int({})"
    operations: Mapping[str, Operation]

    def operation(self, node: Expr) -> Operation | None:
        """How an operation is written; None for one that the language lacks."""
        return self.operations.get(node.op)

    @abstractmethod
    def literal(self, value: float) -> Term:
        """A number."""

    @abstractmethod
    def local(self, name: str, text: str, truth: bool) -> list[str]:
        """Statements that name a value, a condition or a number."""

    @abstractmethod
    def call(self, name: str, function: str, args: Sequence[str], results: int) -> list[str]:
        """Statements that call a function and name the array of its results."""

    @abstractmethod
    def loop(self, loop: Iteration) -> list[str]:
        """Statements that iterate."""

    @abstractmethod
    def series(self, name: str, items: Sequence[str], size: int) -> list[str]:
        """Statements that make an array: of items, or of none yet, of a size."""

    def table_of(self, name: str, items: Sequence[str]) -> list[str]:
        """Statements that make an array of constants."""
        return self.series(name, items, 0)

    @abstractmethod
    def sweep(self, counter: str, count: int, backward: bool, work: Sequence[str]) -> list[str]:
        """Statements that work once for each value of a counter, from 0 up or down to it."""

    def place(self, array: str, row: str, width: int, column: int) -> str:
        """An item of an array that has rows, in the row of a counter."""
        return f"{array}[{width} * {row} + {column}]"

    def captured(self, loop: str, i: int, term: Term) -> Term:
        """A captured value within a loop: as it is called outside, unless the language closes loops off."""
        return term

    def assign(self, place: str, text: str) -> str:
        """A statement that assigns a value to an item of an array."""
        return f"{place} = {text}{self.end}"

    def item(self, array: str, i: int) -> str:
        """An item of an array of results."""
        return f"{array}[{i}]"

    def lookup(self, table: str, at: str) -> str:
        """The value of a table."""
        return f"{table}({at})"
