"""Principal moments of inertia."""

from __future__ import annotations

import math

from armsim.spatial import Symmetric


def principal_moments(tensor: Symmetric) -> tuple[float, float, float]:
    """The eigenvalues of a symmetric tensor, smallest first.

    By Jacobi's rotations, which keep small eigenvalues accurate beside large ones (Golub and Van Loan, *Matrix
    Computations*, section 8.5).
    """
    A = [list(row) for row in tensor.rows()]
    for _ in range(30):
        p, q = max(((0, 1), (0, 2), (1, 2)), key=lambda pair: abs(A[pair[0]][pair[1]]))
        if abs(A[p][q]) <= 1e-300 or abs(A[p][q]) <= 1e-17 * (abs(A[p][p]) + abs(A[q][q])):
            break
        theta = 0.5 * math.atan2(2 * A[p][q], A[q][q] - A[p][p])
        c, s = math.cos(theta), math.sin(theta)
        for k in range(3):
            A[k][p], A[k][q] = c * A[k][p] - s * A[k][q], s * A[k][p] + c * A[k][q]
        for k in range(3):
            A[p][k], A[q][k] = c * A[p][k] - s * A[q][k], s * A[p][k] + c * A[q][k]
    least, middle, most = sorted(A[k][k] for k in range(3))
    return least, middle, most
