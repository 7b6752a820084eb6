"""The state that integrators advance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armsim.expr import Scalar, fma


class Motion(NamedTuple):
    """Positions, velocities, and whatever else is integrated; or the time rates of the four.

    Attributes:
        q: Positions.
        v: Velocities, as many.
        z: Further states of first order, such as controller integrals.
        w: Quadratures: integrals that nothing depends on, such as the work that has been done.
    """

    q: list[Scalar]
    v: list[Scalar]
    z: list[Scalar]
    w: list[Scalar]

    def plus(self, h: Scalar, rates: Motion) -> Motion:
        """self + h rates"""
        return Motion(*(advanced(x, h, k) for x, k in zip(self, rates, strict=True)))


def advanced(x: Sequence[Scalar], h: Scalar, rate: Sequence[Scalar]) -> list[Scalar]:
    """x + h rate"""
    return [fma(h, k, x_i) for x_i, k in zip(x, rate, strict=True)]
