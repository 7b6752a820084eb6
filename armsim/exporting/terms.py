"""Terms: texts of expressions, with how tightly they bind."""

from __future__ import annotations

import math

from armsim.expr.scalar import SHIFT
from armsim.records import record

# how tightly an expression binds, calls and names last: a term of a lower level than its place asks for is bracketed
CHOICE, AND, NOT, COMPARISON, NEGATION, SUM, PRODUCT, ATOM, NAME = range(9)


@record
class Term:
    """The text of an expression.

    Attributes:
        text: In some language.
        level: How tightly its outermost operation binds.
    """

    text: str
    level: int


@record
class Operation:
    """How a language writes an operation.

    Attributes:
        template: With {} for every operand.
        level: How tightly it binds.
        operands: The lowest level at which each operand needs no brackets; 0 for all unless given.
    """

    template: str
    level: int = ATOM
    operands: tuple[int, ...] = ()


def bracketed(term: Term, level: int) -> str:
    """A term where one of a level is needed."""
    return term.text if term.level >= level else f"({term.text})"


def signed(text: str, value: float) -> Term:
    """The magnitude of a number with its sign; of -0.0, too."""
    return Term(text, NAME) if math.copysign(1.0, value) > 0 else Term(f"-{text}", NEGATION)


# as most languages write them; sums and products associate to the left
ARITHMETIC = {
    "add": Operation("{} + {}", SUM, (SUM, PRODUCT)),
    "sub": Operation("{} - {}", SUM, (SUM, PRODUCT)),
    "mul": Operation("{} * {}", PRODUCT, (PRODUCT, ATOM)),
    "div": Operation("{} / {}", PRODUCT, (PRODUCT, ATOM)),
    "neg": Operation("-{}", NEGATION, (PRODUCT,)),
    "lt": Operation("{} < {}", COMPARISON, (NEGATION, NEGATION)),
    "le": Operation("{} <= {}", COMPARISON, (NEGATION, NEGATION)),
}
UNFUSED = Operation("{} * {} + {}", SUM, (PRODUCT, ATOM, PRODUCT))
SHIFTED = Operation(f"{{}} + {SHIFT!r} - {SHIFT!r}", SUM, (SUM,))  # rounding, where the text is computed as it stands

C_LOGIC = {
    "and": Operation("{} && {}", AND, (AND, NOT)),
    "not": Operation("!{}", NOT, (NAME,)),
    "where": Operation("{} ? {} : {}", CHOICE, (AND, NEGATION, NEGATION)),
}
# functions of the language's own helpers
HELPED = {name: Operation(f"{name}({{}})") for name in ("exponent", "mantissa")}
HELPED |= {"bit": Operation("bit({}, {})"), "exp2": Operation("power_of_two({})")}
