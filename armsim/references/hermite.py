"""Polynomials by the values at their two ends."""

from __future__ import annotations

from armsim.expr import Scalar, Scalars


def cubic_hermite(h: Scalar, begin: Scalars, end: Scalars) -> tuple[Scalar, ...]:
    """c₀ ... c₃ of the cubic on [0, h] with a position and velocity at its beginning and at its end."""
    (q0, v0), (q1, v1) = begin, end
    mean = (q1 - q0) / h
    return (q0, v0, (3.0 * mean - 2.0 * v0 - v1) / h, (v0 + v1 - 2.0 * mean) / (h * h))


def quintic_hermite(h: Scalar, begin: Scalars, end: Scalars) -> tuple[Scalar, ...]:
    """c₀ ... c₅ of the quintic on [0, h] with a position, velocity and acceleration at its beginning and at its end."""
    (q0, v0, a0), (q1, v1, a1) = begin, end
    way, square = q1 - q0, h * h
    c3 = 20.0 * way - (8.0 * v1 + 12.0 * v0) * h - (3.0 * a0 - a1) * square
    c4 = -30.0 * way + (14.0 * v1 + 16.0 * v0) * h + (3.0 * a0 - 2.0 * a1) * square
    c5 = 12.0 * way - 6.0 * (v1 + v0) * h - (a0 - a1) * square
    cube = 2.0 * square * h
    return (q0, v0, a0 / 2.0, c3 / cube, c4 / (cube * h), c5 / (cube * square))
