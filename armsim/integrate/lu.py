"""LU factorisation without pivoting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armsim.expr import Scalars, fma, where

Matrix = Sequence[Scalars]  # by rows


class LU:
    """LU factors without pivoting, for matrices whose symmetric part is positive definite, or nearly.

    Golub and Van Loan, *Matrix Computations*, sections 3.2 and 4.1; the pivots' inverses are kept, so that solving needs no
    division.

    Args:
        A: The matrix by rows.
    """

    def __init__(self, A: Matrix) -> None:
        n = len(A)
        self._rows = rows = [list(row) for row in A]
        for k in range(n):
            rows[k][k] = 1 / rows[k][k]
            for i in range(k + 1, n):
                rows[i][k] = rows[i][k] * rows[k][k]
                for j in range(k + 1, n):
                    rows[i][j] = fma(-rows[i][k], rows[k][j], rows[i][j])

    def solve(self, b: Scalars) -> Scalars:
        """x with A x = b."""
        x, n = list(b), len(b)
        for i in range(n):
            for j in range(i):
                x[i] = fma(-self._rows[i][j], x[j], x[i])
        for i in reversed(range(n)):
            for j in range(i + 1, n):
                x[i] = fma(-self._rows[i][j], x[j], x[i])
            x[i] = x[i] * self._rows[i][i]
        return x


def welded(held: Sequence[Any], A: Matrix) -> Matrix:
    """A with the rows and columns of held velocities, the first ones, replaced by those of the identity."""
    rows = [list(row) for row in A]
    for k, stuck in enumerate(held):
        for i in range(len(A)):
            if i != k:
                rows[i][k] = where(stuck, 0.0, rows[i][k])
                rows[k][i] = where(stuck, 0.0, rows[k][i])
        rows[k][k] = where(stuck, 1.0, rows[k][k])
    return rows
