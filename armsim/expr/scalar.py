"""Selection, minimum and maximum, and exact floating-point operations on numbers, expressions and SymPy symbols alike."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from armsim.expr.graph import NUMBERS, Expr, fused, graph_of, select
from armsim.expr.table import Table

Scalar = Any  # a float, an `Expr` or a SymPy expression
Scalars = Sequence[Scalar]  # one per joint, state, column ..., as the function says

ROOT_HALF = math.sqrt(0.5)
SHIFT = 1.5 * 2.0**52  # x + SHIFT is x rounded to an integer, which is in the low bits of the mantissa
SPLITTER = 2.0**27 + 1.0  # Dekker's: it splits a double into two halves of 26 bits


def symbolic(name: str, *args):
    """The SymPy function of that name: for scalars that are neither numbers nor expressions."""
    import sympy

    return getattr(sympy, name)(*args)


def is_number(x, value: float) -> bool:
    """Whether a scalar is this number; an expression never is."""
    return isinstance(x, NUMBERS) and x == value


def sqrt(x):
    """Square root, correctly rounded; NaN below 0."""
    if isinstance(x, Expr):
        return x.graph.node("sqrt", x)
    if isinstance(x, NUMBERS):
        return math.sqrt(x) if x >= 0 else math.nan
    return symbolic("sqrt", x)


def absolute(x):
    """|x|"""
    return abs(x)


def where(condition, a, b):
    """a where the condition holds, else b: a select, both operands of which are evaluated."""
    if isinstance(condition, Expr):
        return select(condition, a, b)
    if isinstance(condition, bool):
        return a if condition else b
    return symbolic("Piecewise", (a, condition), (b, True))


def both(a, b):
    """Logical and of two conditions."""
    if isinstance(a, Expr) and isinstance(b, Expr):
        return graph_of(a, b).node("and", a, b)
    if isinstance(a, bool) or isinstance(b, bool):
        return (b if a else False) if isinstance(a, bool) else (a if b else False)
    return symbolic("And", a, b)


def either(a, b):
    """Logical or of two conditions."""
    return negated(both(negated(a), negated(b)))


def negated(a):
    """Logical not of a condition."""
    if isinstance(a, Expr):
        return a.args[0] if a.op == "not" else a.graph.node("not", a)
    return (not a) if isinstance(a, bool) else symbolic("Not", a)


def minimum(a, b):
    """The smaller of two scalars."""
    return where(a < b, a, b)


def maximum(a, b):
    """The larger of two scalars."""
    return where(a > b, a, b)


def clip(x, lower, upper):
    """x clamped to [lower, upper]; NaN stays NaN."""
    below = where(x > upper, upper, x)
    return where(below < lower, lower, below)


def finite_or_nan(results, given):
    """Results, or NaN for all of them where one of the scalars given is NaN or infinite; selections may have dropped it."""
    size = 0.0
    for x in given:
        size = size + absolute(x)
    nothing = size - size  # 0, or NaN of infinity and NaN
    return [where(size < math.inf, y, nothing) for y in results]


def snapped(x):
    """x, or exactly 0 or ±1 where it is within 1e-15 of them: the sine or cosine of a right angle as a double."""
    for exact in (0.0, 1.0, -1.0):
        x = where(abs(x - exact) <= 1e-15, exact, x) if exact else where(abs(x) <= 1e-15, exact, x)
    return x


def rounded(x):
    """x rounded to an integer, half-way cases to the even one, for |x| up to 2**51; its derivative counts as 1."""
    return x.graph.node("round", x) if isinstance(x, Expr) else rounded_by_shift(x)


def rounded_by_shift(x):
    """`rounded` in machine operations: the sum has no places behind the point left."""
    return (x + SHIFT) - SHIFT


def divided(a, b):
    """a / b by IEEE 754: infinite or NaN where the number b is 0."""
    if isinstance(a, NUMBERS) and isinstance(b, NUMBERS) and b == 0:
        return math.copysign(math.inf, a) * math.copysign(1.0, b) if abs(a) > 0 else math.nan
    return a / b


def fma(a, b, c):
    """a b + c with one rounding."""
    if type(a) is type(b) is type(c) is float:  # most of what physics on floats takes
        return _fma(a, b, c) if a and b else c
    if isinstance(a, Expr) or isinstance(b, Expr) or isinstance(c, Expr):
        return fused(a, b, c)
    if isinstance(a, NUMBERS) and isinstance(b, NUMBERS) and isinstance(c, NUMBERS):
        return _fma(a, b, c) if a and b else c
    return a * b + c


def _fma_in_python(a: float, b: float, c: float) -> float:
    """The product in two parts (Dekker 1971), summed with one rounding; by fractions where a part might over- or underflow."""
    product = a * b
    if 1e-250 < product < 1e250 or -1e250 < product < -1e-250:
        a_split, b_split = a * SPLITTER, b * SPLITTER
        a_high = a_split - (a_split - a)
        b_high = b_split - (b_split - b)
        a_low, b_low = a - a_high, b - b_high
        error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
        total = math.fsum((product, error, c))
        if total == total:  # no part is NaN, as where one overflows
            return total
    if not (math.isfinite(a) and math.isfinite(b)):
        return product + c
    if not math.isfinite(c):
        return c  # where the product overflows, too
    from fractions import Fraction  # which is seldom reached

    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def dot(row: Sequence[Scalar], x: Sequence[Scalar], start: Scalar = 0.0) -> Scalar:
    """start + row x, each product fused with the sum so far."""
    for a, b in zip(row, x, strict=True):
        start = fma(a, b, start)
    return start


def plus(a: Iterable[Scalar], b: Iterable[Scalar]) -> list[Scalar]:
    """a + b, item by item."""
    return [x + y for x, y in zip(a, b, strict=True)]


def minus(a: Iterable[Scalar], b: Iterable[Scalar]) -> list[Scalar]:
    """a - b, item by item."""
    return [x - y for x, y in zip(a, b, strict=True)]


def zero_where(conditions: Iterable[Any], x: Iterable[Scalar]) -> list[Scalar]:
    """x, item by item, with 0 where a condition holds."""
    return [where(holds, 0.0, a) for holds, a in zip(conditions, x, strict=True)]


_fma = getattr(math, "fma", _fma_in_python)  # Python 3.13 has it


def bit(shifted, i: int):
    """Whether bit i of the integer k is set, given as k + `elementary.SHIFT`."""
    if isinstance(shifted, Expr):
        return shifted.graph.node("bit", shifted, i)
    return math.isfinite(shifted) and bool(int(shifted) >> i & 1)


def scale2(x, k):
    """x 2**k, k an integer from -1022 to 1023."""
    if isinstance(x, Expr) or isinstance(k, Expr):
        graph = (k if isinstance(k, Expr) else x).graph
        return x * graph.node("exp2", k) if isinstance(k, Expr) else x * math.ldexp(1.0, int(k))
    return x * math.ldexp(1.0, int(k))


def split2(x):
    """(m, e) with x = m 2**e and m from 1/sqrt(2) to sqrt(2), for a positive normal x."""
    if isinstance(x, Expr):
        return x.graph.node("mantissa", x), x.graph.node("exponent", x)
    m, e = math.frexp(x)
    return (2 * m, float(e - 1)) if m < ROOT_HALF else (m, float(e))


def lookup(table: Table, x):
    """The value of a table at x."""
    if isinstance(x, Expr):
        return x.graph.node("lookup", table, x)
    return table.at(float(x))
