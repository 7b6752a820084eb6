"""Symmetric positive definite systems of small bandwidth."""

from __future__ import annotations

from collections.abc import Sequence

from armsim.expr import Scalars


def solve_banded(A: Sequence[Scalars], columns: Sequence[Scalars]) -> Sequence[Scalars]:
    """x with A x = b for several b, by A = L D Lᵀ (Golub and Van Loan, *Matrix Computations*, section 4.3).

    Args:
        A: Upper triangle by rows: row i is A[i][i], A[i][i+1], ... up to the bandwidth; what is beyond the last column is
            not looked at.
        columns: Right-hand sides b, n scalars each.
    """
    n = len(A)
    rows = [list(row[: n - i]) for i, row in enumerate(A)]
    xs = [list(b) for b in columns]
    for k in range(n):
        pivot, *beyond = rows[k]
        for j, entry in enumerate(beyond, start=1):
            share = entry / pivot
            for m in range(j, len(rows[k])):
                rows[k + j][m - j] = rows[k + j][m - j] - share * rows[k][m]
            for x in xs:
                x[k + j] = x[k + j] - share * x[k]
    for x in xs:
        for k in reversed(range(n)):
            pivot, *beyond = rows[k]
            for j, entry in enumerate(beyond, start=1):
                x[k] = x[k] - entry * x[k + j]
            x[k] = x[k] / pivot
    return xs
