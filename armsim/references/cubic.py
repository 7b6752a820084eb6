"""Cubic time scaling: steady speed, accelerations that jump at both ends."""

from __future__ import annotations

from armsim.expr import Scalar, maximum, sqrt
from armsim.references.piecewise import Piece
from armsim.references.scaling import LEAST, Scaling, ScalingBounds


def cubic(T: Scalar) -> Scaling:
    """s = 3 (t/T)² - 2 (t/T)³ (Lynch and Park, *Modern Robotics*, section 9.2)."""
    return Scaling(T, (Piece(0.0, 0.0, ((0.0, 0.0, 3.0 / (T * T), -2.0 / (T * T * T)),)),))


def fastest_cubic(bounds: ScalingBounds) -> Scaling:
    """The shortest within bounds of speed and acceleration: s' is 3/2 / T at most, s'' 6 / T²."""
    return cubic(maximum(LEAST, maximum(1.5 * bounds.speed, sqrt(6.0 * bounds.acceleration))))
