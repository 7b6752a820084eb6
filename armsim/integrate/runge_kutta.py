"""Explicit Runge-Kutta methods by their Butcher tableau."""

from __future__ import annotations

from collections.abc import Sequence

from armsim.expr import Scalar
from armsim.integrate.motion import Motion
from armsim.integrate.system import System
from armsim.records import record


@record
class Tableau:
    """The Butcher tableau of an explicit Runge-Kutta method.

    Attributes:
        A: Lower triangle: row i has i entries, the first row none.
        b: Weights of the stages.
    """

    A: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]

    @property
    def c(self) -> tuple[float, ...]:
        """Nodes: times of the stages within the step."""
        return tuple(sum(row) for row in self.A)


def rk_stages(tableau: Tableau, smooth: System, t: Scalar, y: Motion, h: Scalar) -> list[Motion]:
    """The rates at the stages of a step from (t, y)."""
    stages: list[Motion] = []
    for row, c in zip(tableau.A, tableau.c, strict=True):
        stages.append(smooth.rates(t + c * h, weighted(y, h, row, stages)))
    return stages


def weighted(y: Motion, h: Scalar, weights: Sequence[float], stages: Sequence[Motion]) -> Motion:
    """y + h Σ weights stages"""
    for weight, k in zip(weights, stages, strict=True):
        if weight:
            y = y.plus(weight * h, k)
    return y


def rk_step(tableau: Tableau, smooth: System, t: Scalar, y: Motion, h: Scalar) -> tuple[Motion, Motion]:
    """The state of a smooth system at t + h, and that of the last stage."""
    stages = rk_stages(tableau, smooth, t, y, h)
    return weighted(y, h, tableau.b, stages), weighted(y, h, tableau.A[-1], stages[:-1])
