"""Velocities and accelerations from measured positions: least-squares splines."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse
from scipy.interpolate import BSpline
from scipy.sparse.linalg import splu

from armsim.arrays import Array
from armsim.errors import UsageError
from armsim.records import record

DEGREE = 5  # continuous fourth derivatives
ROWS_A_PIECE = 4  # at least
PIECES = 4  # of a motion, at least
FINER = (
    1.5  # than cross-validation finds, which has positions in mind: errors of accelerations fall by the fourth power
)
LADDER = 1.25  # between spacings that are tried
ENDS = 2  # pieces at both ends in which accelerations are poor
RIDGE = 1e-12  # of the mean weight of a coefficient, where rows are missing


class SplineFit:
    """The spline of degree 5 with equal pieces that is nearest to values at times, by least squares.

    Args:
        t: Times [s], shape (m,), increasing.
        pieces: How many.
    """

    def __init__(self, t: Array, pieces: int) -> None:
        inner = np.linspace(t[0], t[-1], pieces + 1)
        knots = np.concatenate([[t[0]] * DEGREE, inner, [t[-1]] * DEGREE])
        count, change = pieces + DEGREE, sparse.identity(pieces + DEGREE, format="csr")
        self.bases = []  # of values, first and second derivatives
        for order in range(3):
            degree = DEGREE - order
            self.bases.append((BSpline.design_matrix(t, knots, degree) @ change).tocsr())
            factors = degree / (knots[degree + 1 : -1] - knots[1 : -degree - 1])
            count, knots = count - 1, knots[1:-1]
            change = sparse.diags([-factors, factors], [0, 1], (count, count + 1)) @ change
        normal = (self.bases[0].T @ self.bases[0]).tocsc()
        self._solve = splu(normal + RIDGE * normal.diagonal().mean() * sparse.identity(pieces + DEGREE, format="csc"))

    def derivatives(self, values: Array) -> tuple[Array, Array, Array]:
        """The spline, its first and its second derivative at the times, each of the shape of the values, (m, n)."""
        coefficients = self._solve.solve(self.bases[0].T @ values)
        q, qd, qdd = (basis @ coefficients for basis in self.bases)
        return q, qd, qdd


@record
class SmoothMotion:
    """A measured motion and its derivatives.

    Attributes:
        q: Joint positions [rad or m], shape (m, n).
        qd: Joint velocities [rad/s or m/s], likewise.
        qdd: Joint accelerations [rad/s² or m/s²], likewise.
        spacing: Length of the spline's pieces [s].
        weights: 1; 0 near ends and gaps, where accelerations are poor; shape (m,).
    """

    q: Array
    qd: Array
    qdd: Array
    spacing: float
    weights: Array


def smooth(t: Array, q: Array) -> SmoothMotion:
    """Velocities and accelerations from measured positions, by splines between gaps.

    The length of their pieces is that of generalised cross-validation (Craven and Wahba 1979, *Numerische Mathematik* 31), and
    finer by `FINER`.

    Args:
        t: Times [s], shape (m,), increasing, with any spacing.
        q: Measured joint positions [rad or m], shape (m, n).

    Raises:
        UsageError: There are too few rows.
    """
    steps = np.diff(t)
    if len(t) < 2 * PIECES * ROWS_A_PIECE + DEGREE or not (steps > 0.0).all():
        expected = f"{2 * PIECES * ROWS_A_PIECE + DEGREE} rows or more, whose times increase"
        raise UsageError.of("t", expected, f"{len(t)} rows", "give a longer motion, or sort its rows")
    spacing = _validated(t, q) / FINER
    cuts = np.flatnonzero(steps > max(spacing, ROWS_A_PIECE * float(np.median(steps)))) + 1
    found = [_part(*part, spacing) for part in zip(np.split(t, cuts), np.split(q, cuts), strict=True)]
    smoothed, rates, accelerations, inner = (np.concatenate(x) for x in zip(*found, strict=True))
    return SmoothMotion(smoothed, rates, accelerations, spacing, inner)


def _part(t: Array, q: Array, spacing: float) -> tuple[Array, Array, Array, Array]:
    """A part of a motion without gaps; one too short is left out by weight."""
    pieces = min(max(round((t[-1] - t[0]) / spacing), 1), (len(t) - DEGREE) // ROWS_A_PIECE)
    if pieces < PIECES:
        return q, np.zeros_like(q), np.zeros_like(q), np.zeros(len(t))
    away = np.minimum(t - t[0], t[-1] - t) / (t[-1] - t[0]) * pieces
    return *SplineFit(t, pieces).derivatives(q), (away >= ENDS).astype(float)


def _validated(t: Array, q: Array) -> float:
    """The length of pieces that predicts rows best from the others, of all joints together."""
    span, many = t[-1] - t[0], len(t)
    finest = (many - DEGREE) // ROWS_A_PIECE
    counts = np.unique(
        np.geomspace(PIECES, finest, 2 + round(math.log(finest / PIECES) / math.log(LADDER))).astype(int)
    )
    scores = []
    for count in counts.tolist():
        left = q - SplineFit(t, count).derivatives(q)[0]
        size = np.maximum((left**2).sum(axis=0), np.finfo(float).tiny)
        scores.append(float(np.log(size).sum()) - 2 * q.shape[1] * math.log(many - count - DEGREE))
    return float(span / counts[int(np.argmin(scores))])
