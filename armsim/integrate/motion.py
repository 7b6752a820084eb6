"""The state that integrators advance."""

from __future__ import annotations

from typing import NamedTuple

from armsim.expr import Scalar, fma


class Motion(NamedTuple):
    """Positions, velocities, and whatever else is integrated; or the time rates of the three.

    Attributes:
        q: Positions.
        v: Velocities, as many.
        z: Further states of first order, such as controller integrals.
    """

    q: list[Scalar]
    v: list[Scalar]
    z: list[Scalar]

    def plus(self, h: Scalar, rates: Motion) -> Motion:
        """self + h rates"""
        q, v, z = (
            [fma(h, k, x) for x, k in zip(mine, rate, strict=True)] for mine, rate in zip(self, rates, strict=True)
        )
        return Motion(q, v, z)
