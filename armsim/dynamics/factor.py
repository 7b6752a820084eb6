"""Solving with the mass matrix."""

from __future__ import annotations

from armsim.expr import Scalar, fma


def solve_ldl(A: list[list[Scalar]], b: list[Scalar]) -> list[Scalar]:
    """x with A x = b, by the factorisation A = L D Lᵀ of a symmetric positive definite matrix, without square roots.

    Golub and Van Loan, *Matrix Computations*, section 4.1, worked from the last row to the first (RBDA section 6.5), which
    for a serial arm starts with the tip.

    Args:
        A: Lower triangle, row i with i + 1 entries.
        b: Right-hand side.
    """
    n = len(b)
    L = [list(row) for row in A]
    x = list(b)
    for k in reversed(range(n)):
        scaled = [L[k][i] / L[k][k] for i in range(k)]
        for i in range(k):
            for j in range(i + 1):
                L[i][j] = fma(-scaled[i], L[k][j], L[i][j])
            x[i] = fma(-scaled[i], x[k], x[i])
        L[k][:k] = scaled
    for k in range(n):
        x[k] = x[k] / L[k][k]
        for i in range(k):
            x[k] = fma(-L[k][i], x[i], x[k])
    return x
