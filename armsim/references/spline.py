"""Cubic splines: through the points without a stop, with continuous accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from armsim.expr import Scalar, Scalars, absolute, clip, maximum, sqrt, where
from armsim.references.banded import solve_banded
from armsim.references.hermite import cubic_hermite
from armsim.references.piecewise import Piece, PiecewisePolynomial, polynomial
from armsim.references.point_to_point import Points
from armsim.references.scaling import LEAST, Limits, greatest_ratio

Ends = Literal["clamped", "natural"]


def cubic_spline(points: Points, times: Scalars, ends: Ends = "clamped") -> PiecewisePolynomial:
    """The cubic spline through points at given times.

    Its velocities v make the accelerations continuous: a tridiagonal system.

    Args:
        points: Joint positions [rad or m], m + 1 of n scalars.
        times: Of each point, increasing [s].
        ends: At the ends "clamped", at rest, or "natural", without acceleration.
    """
    h = [end - begin for begin, end in pairwise(times)]
    joints = list(zip(*points, strict=True))
    inverse = [0.0, *(1.0 / h_j for h_j in h), 0.0]
    slopes = [[0.0, *((b - a) / (h_j * h_j) for h_j, (a, b) in zip(h, pairwise(q), strict=True)), 0.0] for q in joints]
    A = [[2.0 * (before + after), after] for before, after in pairwise(inverse)]
    columns = [[3.0 * (before + after) for before, after in pairwise(of_joint)] for of_joint in slopes]
    if ends == "clamped":
        v: Sequence[Scalars] = [[0.0, *x, 0.0] for x in solve_banded(A[1:-1], [column[1:-1] for column in columns])]
    else:
        v = solve_banded(A, columns)
    legs = []
    for j, h_j in enumerate(h):
        ends_of = (cubic_hermite(h_j, (q[j], v_i[j]), (q[j + 1], v_i[j + 1])) for q, v_i in zip(joints, v, strict=True))
        legs.append(Piece(times[j], times[j], tuple(ends_of)))
    return held(points, times, legs)


def held(points: Points, times: Scalars, pieces: Sequence[Piece]) -> PiecewisePolynomial:
    """Pieces between holding the first point and holding the last."""
    first, last = (tuple((q,) for q in point) for point in (points[0], points[-1]))
    return PiecewisePolynomial((Piece(times[0], times[0], first), *pieces, Piece(times[-1], times[-1], last)))


def spline_within(points: Points, begin: Scalar, limits: Limits) -> PiecewisePolynomial:
    """The clamped spline whose times are in proportion to the legs' least durations at full speed, as short as limits allow.

    Args:
        points: Joint positions [rad or m], m + 1 of n scalars.
        begin: Time of the beginning [s].
        limits: Of speed and acceleration.
    """
    legs = [
        maximum(LEAST, greatest_ratio([y - x for x, y in zip(a, b, strict=True)], limits.speed))
        for a, b in pairwise(points)
    ]
    speeds, accelerations = _peaks(cubic_spline(points, _times(0.0, legs)), legs)
    slower = maximum(greatest_ratio(speeds, limits.speed), sqrt(greatest_ratio(accelerations, limits.acceleration)))
    slower = maximum(slower, LEAST)
    return cubic_spline(points, _times(begin, [leg * slower for leg in legs]))


def _times(begin: Scalar, legs: Scalars) -> Scalars:
    times = [begin]
    for leg in legs:
        times.append(times[-1] + leg)
    return times


def _peaks(spline: PiecewisePolynomial, legs: Scalars) -> tuple[Scalars, Scalars]:
    """Greatest speeds and accelerations of a clamped cubic spline, for each joint: at its knots, or where it turns."""
    n = len(spline.pieces[0].coefficients)
    speeds: list[Scalar] = [0.0] * n
    accelerations: list[Scalar] = [0.0] * n
    for piece, h in zip(spline.pieces[1:-1], legs, strict=True):
        for i, c in enumerate(piece.coefficients):
            curved = absolute(c[3]) > 0.0
            turn = clip(where(curved, -c[2] / where(curved, 3.0 * c[3], 1.0), 0.0), 0.0, h)
            for u in (0.0, turn, h):
                _, v, a = polynomial(c, u)
                speeds[i] = maximum(speeds[i], absolute(v))
                accelerations[i] = maximum(accelerations[i], absolute(a))
    return speeds, accelerations
