"""Explicit Runge-Kutta methods from their coefficients."""

from __future__ import annotations

from dataclasses import dataclass

from armsim.expr import Scalar
from armsim.integrate.motion import Motion, Rates


@dataclass(frozen=True)
class Tableau:
    """The coefficients of an explicit Runge-Kutta method (Butcher's tableau).

    Attributes:
        A: Lower triangle: row i has i entries, the first row none.
        b: Weights of the stages.
    """

    A: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]

    @property
    def c(self) -> tuple[float, ...]:
        """Times of the stages within the step."""
        return tuple(sum(row) for row in self.A)


def rk_step(tableau: Tableau, rates: Rates, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h."""
    stages: list[Motion] = []
    for row, c in zip(tableau.A, tableau.c, strict=True):
        at = y
        for a, k in zip(row, stages, strict=True):
            if a:
                at = at.plus(a * h, k)
        stages.append(rates(t + c * h, at))
    for b, k in zip(tableau.b, stages, strict=True):
        if b:
            y = y.plus(b * h, k)
    return y
