"""Explicit Runge-Kutta methods from their coefficients."""

from __future__ import annotations

from dataclasses import dataclass

from armsim.expr import Scalar
from armsim.integrate.motion import Motion
from armsim.integrate.system import System


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


def rk_step(tableau: Tableau, system: System, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h.

    Joints that slide when the step begins are integrated as sliding, those at rest as held or set free; one that comes to
    rest within the step is stopped at its end, which is of first order.
    """
    smooth = system.within(t, y)
    stages: list[Motion] = []
    for row, c in zip(tableau.A, tableau.c, strict=True):
        at = y
        for a, k in zip(row, stages, strict=True):
            if a:
                at = at.plus(a * h, k)
        stages.append(smooth.rates(t + c * h, at))
    end = y
    for b, k in zip(tableau.b, stages, strict=True):
        if b:
            end = end.plus(b * h, k)
    return smooth.arrest(y, end, h)
