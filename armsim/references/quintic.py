"""Quintic time scaling: the least integral of squared jerk from rest to rest."""

from __future__ import annotations

import math

from armsim.expr import Scalar, maximum, sqrt
from armsim.references.piecewise import Piece
from armsim.references.scaling import LEAST, Scaling, ScalingBounds, cube_root

STEEPEST = 10.0 / math.sqrt(3.0)  # s'' T², at T (1 ± 1/sqrt(3)) / 2


def quintic(T: Scalar) -> Scaling:
    """s = 10 (t/T)³ - 15 (t/T)⁴ + 6 (t/T)⁵ (Lynch and Park, *Modern Robotics*, section 9.2)."""
    cube = T * T * T
    c = (0.0, 0.0, 0.0, 10.0 / cube, -15.0 / (cube * T), 6.0 / (cube * T * T))
    return Scaling(T, (Piece(0.0, 0.0, (c,)),))


def fastest_quintic(bounds: ScalingBounds) -> Scaling:
    """The shortest within bounds: s' is 15/8 / T at most, s'' 10/sqrt(3) / T², s''' 60 / T³ at the ends."""
    T = maximum(1.875 * bounds.speed, sqrt(STEEPEST * bounds.acceleration))
    return quintic(maximum(T, cube_root(maximum(60.0 * bounds.jerk, LEAST * LEAST * LEAST))))
