"""Trapezoid of speed: constant acceleration, constant speed, constant deceleration."""

from __future__ import annotations

from armsim.expr import Scalar, maximum, sqrt
from armsim.references.piecewise import Piece
from armsim.references.scaling import LEAST, Scaling, ScalingBounds

RAMP = 1.0 / 3.0  # of the duration, where it is given: the speed is 3/2 of the mean


def trapezoid(T: Scalar) -> Scaling:
    """The trapezoid of a duration [s], a third of which is each of its parts."""
    return _trapezoid(T * (1.0 - RAMP), T * RAMP)


def fastest_trapezoid(bounds: ScalingBounds) -> Scaling:
    """The shortest scaling of all within bounds of speed and acceleration; a triangle where it does not reach the speed."""
    cruise = maximum(LEAST, maximum(bounds.speed, sqrt(bounds.acceleration)))
    return _trapezoid(cruise, maximum(LEAST, bounds.acceleration / cruise))


def _trapezoid(cruise: Scalar, ramp: Scalar) -> Scaling:
    """The trapezoid of speed 1 / cruise, which it reaches in a time ramp <= cruise [s]."""
    T = cruise + ramp
    v = 1.0 / cruise
    half = v / ramp / 2
    pieces = (
        Piece(0.0, 0.0, ((0.0, 0.0, half),)),
        Piece(ramp, ramp, ((v * ramp / 2, v),)),
        Piece(cruise, T, ((1.0, 0.0, -half),)),
    )
    return Scaling(T, pieces)
