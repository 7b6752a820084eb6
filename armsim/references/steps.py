"""Steps: from point to point at once."""

from __future__ import annotations

from armsim.expr import Scalars
from armsim.references.piecewise import Piece, PiecewisePolynomial
from armsim.references.point_to_point import Points


def steps(points: Points, times: Scalars) -> PiecewisePolynomial:
    """Points that are held, each from its time [s] on; the first before, too."""
    held = (Piece(t, t, tuple((q,) for q in point)) for t, point in zip(times, points, strict=True))
    return PiecewisePolynomial(tuple(held))
