"""Piecewise polynomials of time."""

from __future__ import annotations

from typing import ClassVar

from armsim.control.reference import Desired
from armsim.expr import Scalar, Scalars, Table, fma, where
from armsim.records import record


@record
class Piece:
    """Polynomials Σ cₖ (t - origin)ᵏ, from `begin` until the next piece begins.

    Attributes:
        begin: Time of its beginning [s].
        origin: Time about which it is expanded [s].
        coefficients: c₀, c₁, ... of each joint, n tuples.
    """

    begin: Scalar
    origin: Scalar
    coefficients: tuple[tuple[Scalar, ...], ...]

    def after(self, t: Scalar) -> Piece:
        """The same, t seconds later."""
        return Piece(t + self.begin, t + self.origin, self.coefficients)


@record
class PiecewisePolynomial:
    """A motion that is a polynomial of time between its knots.

    Attributes:
        pieces: In their order; the first holds before its beginning, too, the last for ever.
    """

    timed: ClassVar[bool] = False
    ends: ClassVar[bool] = True
    corners: ClassVar[Table | None] = None

    pieces: tuple[Piece, ...]

    @property
    def knots(self) -> Scalars:
        """The times at which pieces begin, but the first [s]; it holds from the last on."""
        return [piece.begin for piece in self.pieces[1:]]

    def at(self, t: Scalar, since: Scalar | None = None, middle: Scalar | None = None) -> Desired:
        """The motion at time t [s]; since and middle are not looked at: the comparisons with knots are located."""
        u = t - chosen(t, self.knots, [piece.origin for piece in self.pieces])
        desired = Desired([], [], [])
        for joint in zip(*(piece.coefficients for piece in self.pieces), strict=True):
            powers = range(max(map(len, joint)))
            columns = [[c[k] if k < len(c) else 0.0 for c in joint] for k in powers]
            q, qd, qdd = polynomial([chosen(t, self.knots, column) for column in columns], u)
            desired.q.append(q)
            desired.qd.append(qd)
            desired.qdd.append(qdd)
        return desired


def chosen(t: Scalar, knots: Scalars, values: Scalars) -> Scalar:
    """The value between whose knots t lies, a knot belonging to what follows it: one value more than knots."""
    value = values[-1]
    for knot, before in zip(reversed(knots), reversed(values[:-1]), strict=True):
        value = where(t < knot, before, value)
    return value


def polynomial(c: Scalars, u: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Σ cₖ uᵏ, and its first and second derivative by u, by Horner's rule."""
    p, slope, half = c[-1], 0.0, 0.0
    for c_k in reversed(c[:-1]):
        half = fma(u, half, slope)
        slope = fma(u, slope, p)
        p = fma(u, p, c_k)
    return p, slope, 2.0 * half
