"""The functions of formulas in files: on floats, on expressions and on SymPy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

from armsim import expr

LARGEST_ANGLE = 1e9  # rad; beyond it sine and cosine have no accuracy left
NEARLY = 1 - 2.0**-50  # what rounding may have added to a sum of two times


def within_range(angle: Any) -> Any:
    """An angle; NaN beyond `LARGEST_ANGLE`. An exact one is not rounded, and has a sine wherever it is."""
    if not isinstance(angle, (float, int, expr.Expr)):
        return angle
    return angle + expr.sqrt(expr.where(abs(angle) > LARGEST_ANGLE, -1.0, 0.0))


def sign(x: Any) -> Any:
    """-1, 0 or 1."""
    return expr.where(x > 0.0, 1.0, expr.where(x < 0.0, -1.0, 0.0))


def step(x: Any) -> Any:
    """0 where x < 0, else 1."""
    return expr.where(x >= 0.0, 1.0, 0.0)


def pulse(t: Any, start: Any, length: Any) -> Any:
    """1 where start <= t < start + length, else 0; an end that is a decimal number on paper is one here."""
    return expr.where(t >= start, expr.where(t < (start + length) * NEARLY, 1.0, 0.0), 0.0)


class Form(NamedTuple):
    """A function and its arguments.

    Attributes:
        arguments: Their number; the least where there may be more.
        call: The function.
        more: Whether it takes more.
    """

    arguments: int
    call: Callable[..., Any]
    more: bool = False


def folded(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A function of two arguments as one of two or more."""
    return lambda *x: reduce(function, x)


WHERE = "where"  # its first argument is a comparison
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
FUNCTIONS: dict[str, Form] = {
    "sin": Form(1, lambda x: expr.sin(within_range(x))),
    "cos": Form(1, lambda x: expr.cos(within_range(x))),
    "tan": Form(1, lambda x: expr.tan(within_range(x))),
    "sqrt": Form(1, expr.sqrt),
    "exp": Form(1, expr.exp),
    "log": Form(1, expr.log),
    "abs": Form(1, expr.absolute),
    "min": Form(2, folded(expr.minimum), more=True),
    "max": Form(2, folded(expr.maximum), more=True),
    "sign": Form(1, sign),
    "step": Form(1, step),
    "pulse": Form(3, pulse),
    WHERE: Form(3, expr.where),
}
LATER = ("sign", "step", "pulse", WHERE)  # files of before may have parameters of these names
RESERVED = ("pi", "t", *(name for name in FUNCTIONS if name not in LATER))
