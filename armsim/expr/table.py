"""Tables: zero-order hold or linear interpolation between breakpoints."""

from __future__ import annotations

import math
import operator
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from itertools import chain, islice


def increases(x: Sequence[float]) -> bool:
    """Whether numbers increase strictly."""
    return all(map(operator.lt, x, islice(x, 1, None)))


def _doubles(x: Sequence[float]) -> array[float]:
    return x if isinstance(x, array) and x.typecode == "d" else array("d", x)


class Table:
    """Values y at increasing abscissae x, for `armsim.expr.lookup`.

    Extrapolation is constant.

    Attributes:
        x: Abscissae, strictly increasing; an array that is given is shared, and must not be changed.
        y: Values, likewise.
        hold: "zero" for a zero-order hold, "linear" for linear interpolation.
    """

    def __init__(self, x: Sequence[float], y: Sequence[float], hold: str) -> None:
        if len(x) != len(y) or not x:
            raise ValueError(f"a table needs as many values as abscissae, at least one: got {len(x)} and {len(y)}")
        if not increases(x):
            raise ValueError("the abscissae of a table must increase")
        if hold not in ("zero", "linear"):
            raise ValueError(f"hold must be 'zero' or 'linear', not {hold!r}")
        self.x = _doubles(x)
        self.y = _doubles(y)
        self.hold = hold

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of its numbers, in hexadecimal digits."""
        numbers = sha256(self.x)
        numbers.update(self.y)
        return numbers.hexdigest()

    def at(self, x: float) -> float:
        """The value at x; compiled code does the same operations in the same order."""
        i = min(max(bisect_right(self.x, x) - 1, 0), len(self.x) - 1)
        if self.hold == "zero" or i == len(self.x) - 1 or x <= self.x[0]:
            return self.y[i]
        share = (x - self.x[i]) / (self.x[i + 1] - self.x[i])
        return self.y[i] + share * (self.y[i + 1] - self.y[i])

    @cached_property
    def slope(self) -> Table:
        """The derivative as a table: piecewise constant, at an abscissa the right-hand one; zero for a zero-order hold."""
        if self.hold == "zero":
            return Table(self.x[:1], [0.0], "zero")
        rises, runs = (map(operator.sub, islice(part, 1, None), part) for part in (self.y, self.x))
        slopes = map(operator.truediv, rises, runs)
        return Table(array("d", chain([-math.inf], self.x)), array("d", chain([0.0], slopes, [0.0])), "zero")
