"""The motion that integrators advance."""

from __future__ import annotations

from typing import Any, NamedTuple

from armsim.expr import Scalar, Scalars, fma, mapped

NOTHING = 2.0**-270  # rad, m and per s; cubes of the magnitudes that it leaves are no denormals


class Motion(NamedTuple):
    """Positions, velocities, further states and quadratures; or their time derivatives.

    Attributes:
        q: Positions.
        v: Velocities, as many.
        z: Further states of first order, such as controller integrals: a list, or any tree of scalars.
        w: Quadratures, a tree likewise: integrals on which no rate depends, such as work.
    """

    q: Scalars
    v: Scalars
    z: Any
    w: Any

    @property
    def states(self) -> Motion:
        """Without quadratures."""
        return self._replace(w=None)

    def minus(self, other: Motion) -> Motion:
        """self - other"""
        return mapped(lambda a, b: a - b, self, other)

    def plus(self, h: Scalar, rates: Motion) -> Motion:
        """self + h rates"""
        return Motion(*(advanced(x, h, k) for x, k in zip(self, rates, strict=True)))


def advanced(x: Any, h: Scalar, rate: Any) -> Any:
    """x + h rate, of trees of one structure."""
    return mapped(lambda x_i, k: fma(h, k, x_i), x, rate)


def calmed(x: Scalars) -> Scalars:
    """Positions or velocities flushed to zero: exactly zero below 1e-97; above 1e-65 none changes by a bit.

    A motion that decays for ever would end in denormals, for which processors take a hundred times as long.
    """
    return [(x_i + NOTHING) - NOTHING for x_i in x]
