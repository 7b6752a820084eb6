"""Piecewise smooth laws with their pieces held fast: what an event-driven integration evaluates between two events."""

from __future__ import annotations

from collections.abc import Hashable
from math import log, log2

from scipy.optimize import brentq


class Branches:
    """Sides of conditions by name. A condition seen for the first time takes the side that its value is on.

    Attributes:
        sides: Whether each condition is taken to hold.
        guards: Of the conditions asked for, how far each is on its side; below 0 it has changed.
    """

    def __init__(self, sides: dict[Hashable, bool] | None = None) -> None:
        self.sides = {} if sides is None else sides
        self.guards: dict[Hashable, float] = {}

    def positive(self, key: Hashable, x: float) -> bool:
        """Whether x > 0, as long as no event says otherwise."""
        side = self.sides.setdefault(key, x > 0)
        self.guards[key] = x if side else -x
        return side

    def least(self, key: Hashable, a: float, b: float) -> float:
        """min(a, b)."""
        return b if self.positive(key, a - b) else a

    def most(self, key: Hashable, a: float, b: float) -> float:
        """max(a, b)."""
        return a if self.positive(key, a - b) else b

    def size(self, key: Hashable, x: float) -> float:
        """|x|."""
        return x if self.positive(key, x) else -x

    def clip(self, name: str, of: Hashable, x: float, lower: float, upper: float) -> float:
        """x between bounds."""
        if self.positive((name, of, "upper"), x - upper):
            return upper
        return lower if self.positive((name, of, "lower"), lower - x) else x

    def behind_brushes(self, of: Hashable, V: float, drop: dict[str, float] | None) -> float:
        """What brushes leave of a voltage: V less max (1 - 2^(-|V|/half)), at most all of it, against its sign."""
        if drop is None:
            return V
        most, half = drop["max"], drop["half"]
        knee = 0.0  # below it the brushes take all
        if most * log(2) > half:
            knee = brentq(
                lambda size: size - most * (1.0 - 2.0 ** (-size / half)), half * log2(most * log(2) / half), most
            )
        if self.positive(("brushes", of, "forwards"), V - knee):
            sign = 1.0
        elif not knee or self.positive(("brushes", of, "backwards"), -V - knee):
            sign = -1.0
        else:
            return 0.0
        size = sign * V  # below the knee in trial steps alone, where the law goes on smoothly
        return sign * (size - most * (1.0 - 2.0 ** -max(size / half, -3.0)))
