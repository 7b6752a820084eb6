"""Tables: zero-order hold or linear interpolation between breakpoints."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise


class Table:
    """Values y at increasing abscissae x, for `armsim.expr.lookup`.

    Extrapolation is constant.

    Attributes:
        x: Abscissae, strictly increasing.
        y: Values.
        hold: "zero" for a zero-order hold, "linear" for linear interpolation.
    """

    def __init__(self, x: Sequence[float], y: Sequence[float], hold: str) -> None:
        if len(x) != len(y) or not x:
            raise ValueError(f"a table needs as many values as abscissae, at least one: got {len(x)} and {len(y)}")
        if any(b <= a for a, b in pairwise(x)):
            raise ValueError("the abscissae of a table must increase")
        if hold not in ("zero", "linear"):
            raise ValueError(f"hold must be 'zero' or 'linear', not {hold!r}")
        self.x = tuple(float(v) for v in x)
        self.y = tuple(float(v) for v in y)
        self.hold = hold

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
        points = zip(self.x, self.y, strict=True)
        slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(points)]
        return Table([-math.inf, *self.x], [0.0, *slopes, 0.0], "zero")
