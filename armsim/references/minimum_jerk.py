"""Minimum jerk: through the points without a stop, with the least integral of squared jerk."""

from __future__ import annotations

from itertools import pairwise

from armsim.expr import Scalar, Scalars
from armsim.references.banded import solve_banded
from armsim.references.hermite import quintic_hermite
from armsim.references.piecewise import Piece, PiecewisePolynomial
from armsim.references.point_to_point import Points
from armsim.references.spline import held


def minimum_jerk(points: Points, times: Scalars) -> PiecewisePolynomial:
    """The motion through points at given times, at rest at both ends, that minimises the integral of squared jerk.

    A quintic spline: velocities and accelerations at the inner points make jerk and snap continuous there. Between two points
    it is 10 x³ - 15 x⁴ + 6 x⁵ (Flash and Hogan 1985).

    Args:
        points: Joint positions [rad or m], m + 1 of n scalars.
        times: Of each point, increasing [s].
    """
    h = [end - begin for begin, end in pairwise(times)]
    joints = list(zip(*points, strict=True))
    inner = [_rates(h, joint) for joint in joints] if len(h) > 1 else [[] for _ in joints]
    rates = [[0.0, 0.0, *found, 0.0, 0.0] for found in inner]
    pieces = []
    for j, h_j in enumerate(h):
        c = []
        for q, x in zip(joints, rates, strict=True):
            v0, a0, v1, a1 = x[2 * j : 2 * j + 4]
            c.append(quintic_hermite(h_j, (q[j], v0, a0), (q[j + 1], v1, a1)))
        pieces.append(Piece(times[j], times[j], tuple(c)))
    return held(points, times, pieces)


def _rates(h: Scalars, q: Scalars) -> Scalars:
    """Velocity and acceleration at each inner point, in turn: the stationary point of the integral of squared jerk."""
    A: list[Scalars] = []
    b: list[Scalar] = []
    for j, (g, k) in enumerate(pairwise(h)):  # the durations before and after a point
        g2, k2 = g * g, k * k
        before, after = (q[j + 1] - q[j]) / (g2 * g), (q[j + 2] - q[j + 1]) / (k2 * k)
        of_snap = [192.0 / (g2 * g) + 192.0 / (k2 * k), 36.0 / k2 - 36.0 / g2, 168.0 / (k2 * k), -24.0 / k2]
        of_jerk = [9.0 / g + 9.0 / k, 24.0 / k2, -3.0 / k]
        A += [of_snap, of_jerk]
        b += [360.0 * (before / g + after / k), 60.0 * (after - before)]
    (x,) = solve_banded(A, [b])
    return x
