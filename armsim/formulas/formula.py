"""Formulas in files: arithmetic of numbers, `pi`, parameters and, in inputs, the time `t`; in measures aggregates, too.

A recursive-descent parser makes a syntax tree, which is evaluated on floats, on expressions (an open parameter, the time of a
simulation) or on SymPy. Nothing is evaluated as Python.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from armsim import expr
from armsim.errors import ArmsimError
from armsim.files.faults import refuse
from armsim.files.nodes import Place, clipped
from armsim.formulas.functions import COMPARISONS, FUNCTIONS, RESERVED, WHERE
from armsim.records import record

LONGEST = 1000  # characters
DEEPEST = 50  # levels of brackets and signs
LARGEST_POWER = 64
COMPARED = "in a where: where(t < 1, 5, 0)"
NO_UNITS = "leave units out; write * for products"

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)|(?P<name>[^\W\d]\w*)|(?P<sign>\*\*|[<>]=?(?!=)|[-+*/(),]))"
)

# ("number", text), ("name", name), ("negative", term), ("chain", first, [(sign, term)]), ("power", base, k),
# ("call", function, [terms]), ("where", sign of comparison, left, right, term, term)
Term = tuple[Any, ...]


class FormulaError(ArmsimError):
    """A syntax error, or a formula that has no value.

    Attributes:
        problem: What is wrong, in a few words.
        mend: What to do, where there is something special to say.
    """

    def __init__(self, problem: str, mend: str = "") -> None:
        self.problem = problem
        self.mend = mend
        super().__init__(problem, mend)

    def __str__(self) -> str:
        return self.problem


@record
class Formula:
    """A parsed formula.

    Attributes:
        text: As it was written.
        names: The names in it: parameters, `pi`, `t`; an aggregate counts as a name, see `Aggregate.name`.
        term: Its syntax tree.
        aggregates: Those in it, each once.
    """

    text: str
    names: frozenset[str]
    term: Term
    aggregates: tuple[Aggregate, ...] = ()

    def evaluate(
        self,
        values: Mapping[str, Any],
        number: Callable[[str], Any] = float,
        divide: Callable[[Any, Any], Any] = operator.truediv,
        multiply: Callable[[Any, Any], Any] = operator.mul,
    ) -> Any:
        """Its value.

        Args:
            values: A scalar for each of `names`; `pi` may be left out.
            number: Makes a scalar of a literal; `sympy.Rational` keeps it exact.
            divide: The quotient of two scalars.
            multiply: Their product.

        Raises:
            FormulaError: Division by zero, overflow, or an argument outside a function's domain.
        """
        try:
            return _value(self.term, values, _Arithmetic(number, divide, multiply))
        except ZeroDivisionError:
            raise FormulaError("it divides by zero") from None
        except (OverflowError, ValueError):
            raise FormulaError("it has no value") from None


@record
class Aggregate:
    """A function of how a formula's value varies, as `max(abs(x))` over time; what it is worth is for others to say.

    Attributes:
        function: Its name.
        argument: The formula.
    """

    function: str
    argument: Formula

    @property
    def name(self) -> str:
        """What it is called among a formula's names: as written, without blanks."""
        return f"{self.function}({''.join(self.argument.text.split())})"


def parse_formula(text: str, aggregates: Collection[str] = (), words: Collection[str] = ()) -> Formula:
    """Parse a formula.

    Args:
        text: The formula.
        aggregates: Names that on one argument are aggregates. They may be functions, too: max and min on two or more.
        words: Names with signs in them, as `q_left-arm`.

    Raises:
        FormulaError: A syntax error.
    """
    if len(text) > LONGEST:
        raise FormulaError(f"longer than {LONGEST} characters", "compute the number, or name parts of it as parameters")
    parser = _Parser(text, aggregates, words)
    term = parser.sum(0)
    if parser.kind != "end":
        raise parser.unexpected()
    return Formula(text, frozenset(parser.names), term, tuple(parser.found.values()))


def constant_value(text: str, source: str) -> float:
    """The value of a formula of numbers and pi.

    Args:
        text: The formula.
        source: What holds it, for the message: an option of the command line.

    Raises:
        FileFaults: It is no such formula, or its value is not finite.
    """
    mend = ""
    try:
        formula = parse_formula(text)
        unknown = sorted(formula.names - {"pi"})
        if unknown:
            raise FormulaError(f"there is no `{unknown[0]}`")
        value = formula.evaluate({})
        if math.isfinite(value):
            return value
        problem = "not a finite number"
    except FormulaError as error:
        problem, mend = error.problem, error.mend
    found = f'"{clipped(text)}" ({problem})'
    raise refuse(Place(source), "", "a number, or a formula such as -pi/2", found, mend or "correct the number")


class _Parser:
    """Recursive descent over the tokens of one formula."""

    def __init__(self, text: str, aggregates: Collection[str] = (), words: Collection[str] = ()) -> None:
        self.text = text
        self.aggregates = aggregates
        self.words = _pattern(words)
        self.at = 0
        self.names: set[str] = set()
        self.found: dict[str, Aggregate] = {}
        self.kind = ""
        self.token = ""
        self.advance()

    def advance(self) -> str:
        """Go to the next token; return the one left behind."""
        left = self.token
        match = (self.words and self.words.match(self.text, self.at)) or TOKEN.match(self.text, self.at)
        if match is None:
            rest = self.text[self.at :].strip()
            if rest:
                mend = "write ** for powers" if rest[0] == "^" else ""
                if rest[0] in "=!<>":
                    mend = f"compare by <, <=, > or >=, {COMPARED}"
                raise FormulaError(f"`{rest[0]}` has no meaning in a formula", mend)
            self.kind, self.token = "end", ""
        else:
            self.kind = str(match.lastgroup)
            self.token = match[self.kind]
            self.at = match.end()
        return left

    def unexpected(self) -> FormulaError:
        """The error of an unexpected token."""
        if self.kind == "end":
            return FormulaError("it ends too early")
        mend = "write * for products" if self.kind in ("name", "number") or self.token == "(" else ""
        if self.token in COMPARISONS:
            mend = f"a comparison stands {COMPARED}"
        if self.kind == "name":
            mend = NO_UNITS
        if self.token == ",":
            mend = "write a point in a number, as in 0.38, and a list in square brackets"
        return FormulaError(f"unexpected `{self.token}`", mend)

    def sum(self, depth: int) -> Term:
        return self._chain(self.product, ("+", "-"), depth)

    def product(self, depth: int) -> Term:
        return self._chain(self.signed, ("*", "/"), depth)

    def _chain(self, part: Callable[[int], Term], signs: tuple[str, str], depth: int) -> Term:
        first = part(depth)
        others = []
        while self.token in signs and self.kind == "sign":
            sign = self.advance()
            others.append((sign, part(depth)))
        return ("chain", first, others) if others else first

    def signed(self, depth: int) -> Term:
        if depth > DEEPEST:
            raise FormulaError(f"more than {DEEPEST} levels of brackets and signs", "name parts of it as parameters")
        if self.kind == "sign" and self.token in "+-":
            sign = self.advance()
            term = self.signed(depth + 1)
            return term if sign == "+" else ("negative", term)
        base = self.atom(depth)
        if self.token == "**":
            self.advance()
            return ("power", base, self.exponent())
        return base

    def exponent(self) -> int:
        sign = -1 if self.token == "-" else 1
        if self.token in ("-", "+"):
            self.advance()
        if self.kind != "number" or not self.token.isdigit():
            raise FormulaError("a power that is not a whole number", "write sqrt(x) for a square root")
        k = int(self.advance()[:10])
        if k > LARGEST_POWER:
            raise FormulaError(f"a power above {LARGEST_POWER}")
        if self.token == "**":
            raise FormulaError("a power of a power", "put brackets: (a**2)**3")
        return sign * k

    def atom(self, depth: int) -> Term:
        if self.kind == "number":
            return ("number", self.advance())
        if self.kind == "name":
            name = self.advance()
            if self.token == "(":
                return self.call(name, depth)
            if name in FUNCTIONS and name in RESERVED:
                raise FormulaError(f"`{name}` without its argument", f"write {name}(...)")
            self.names.add(name)
            return ("name", name)
        if self.token == "(":
            self.advance()
            term = self.sum(depth + 1)
            self.close()
            return term
        raise self.unexpected()

    def call(self, name: str, depth: int) -> Term:
        if name not in FUNCTIONS and name not in self.aggregates:
            known = ", ".join(dict.fromkeys((*FUNCTIONS, *self.aggregates)))
            raise FormulaError(f"there is no function `{name}`", f"functions are {known}")
        began, outer, found = self.at, self.names, self.found
        self.names, self.found = set(), {}
        self.advance()
        compared = self.comparison(depth + 1) if name == WHERE else ()
        arguments = [] if compared else [self.sum(depth + 1)]
        while self.token == ",":
            self.advance()
            arguments.append(self.sum(depth + 1))
        ended = self.at - len(self.token)
        self.close()
        aggregate = None
        if name in self.aggregates and len(arguments) == 1:
            aggregate = self.aggregate(name, self.text[began:ended].strip(), arguments[0])
            self.names, self.found = {aggregate.name}, {aggregate.name: aggregate}
        self.names, self.found = outer | self.names, found | self.found
        if aggregate is not None:
            return ("name", aggregate.name)
        least, _, more = FUNCTIONS.get(name, (1, None, False))
        count = len(arguments) + bool(compared)
        if count < least or (count > least and not more):
            wanted = f"{least} argument{'s' if least > 1 else ''}{' or more' if more else ''}"
            raise FormulaError(f"`{name}` with {count}, it takes {wanted}")
        if compared:
            return (WHERE, *compared, *arguments)
        return ("call", name, arguments)

    def comparison(self, depth: int) -> Term:
        """Sign, left and right of the comparison that a `where` begins with."""
        left = self.sum(depth)
        if self.token not in COMPARISONS:
            raise FormulaError(f"`{WHERE}` without a comparison", f"write it {COMPARED}")
        sign = self.advance()
        right = self.sum(depth)
        if self.token in COMPARISONS:
            raise FormulaError("two comparisons in a row", "nest them: where(1 <= t, where(t < 2, a, b), b)")
        return (sign, left, right)

    def aggregate(self, name: str, text: str, term: Term) -> Aggregate:
        """The aggregate of a term, whose names and aggregates are those last found."""
        if self.found:
            inner, *_ = self.found
            raise FormulaError(f"`{name}` of `{inner}`, which is one number for the whole", "leave out one of the two")
        return Aggregate(name, Formula(text, frozenset(self.names), term))

    def close(self) -> None:
        if self.token != ")":
            raise FormulaError("a bracket is left open") if self.kind == "end" else self.unexpected()
        self.advance()


def _pattern(words: Collection[str]) -> re.Pattern[str] | None:
    """A token that is one of these words, the longest that fits; None where there are none."""
    longest = sorted(words, key=len, reverse=True)
    return re.compile(rf"\s*(?P<name>{'|'.join(map(re.escape, longest))})(?!\w)") if longest else None


class _Arithmetic(NamedTuple):
    """What of evaluation a caller may choose: see `Formula.evaluate`."""

    number: Callable[[str], Any]
    divide: Callable[[Any, Any], Any]
    multiply: Callable[[Any, Any], Any]


def _value(term: Term, values: Mapping[str, Any], by: _Arithmetic) -> Any:
    kind = term[0]
    if kind == "number":
        return by.number(term[1])
    if kind == "name":
        return math.pi if term[1] == "pi" and "pi" not in values else values[term[1]]
    if kind == "negative":
        return -_value(term[1], values, by)
    if kind == "chain":
        total = _value(term[1], values, by)
        for sign, other in term[2]:
            x = _value(other, values, by)
            total = (
                total + x
                if sign == "+"
                else total - x
                if sign == "-"
                else by.multiply(total, x)
                if sign == "*"
                else by.divide(total, x)
            )
        return total
    if kind == "power":
        return _power(_value(term[1], values, by), term[2], by)
    if kind == WHERE:
        holds = COMPARISONS[term[1]](*(_value(side, values, by) for side in term[2:4]))
        if isinstance(holds, bool):  # of numbers: the other branch may have no value
            return _value(term[4 if holds else 5], values, by)
        return expr.where(holds, *(_value(branch, values, by) for branch in term[4:]))
    return FUNCTIONS[term[1]].call(*(_value(argument, values, by) for argument in term[2]))


def _power(base: Any, k: int, by: _Arithmetic) -> Any:
    """base ** k by repeated squaring: the same products on every kind of scalar."""
    result = None
    square, left = base, abs(k)
    while left:
        if left & 1:
            result = square if result is None else by.multiply(result, square)
        left >>= 1
        if left:
            square = by.multiply(square, square)
    if result is None:
        return 1.0
    return result if k > 0 else by.divide(1.0, result)
