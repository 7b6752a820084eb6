"""Solving with the mass matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armsim.expr import Scalar, either, fma, where


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


def solve_held(A: Sequence[Sequence[Scalar]], b: Sequence[Scalar], held: Sequence[Any]) -> list[Scalar]:
    """x with A x = b in the rows that are not held, and x exactly zero where held: the motion with some joints locked.

    Args:
        A: Lower triangle of a positive definite matrix, row i with i + 1 entries.
        b: Right-hand side; where held it does not matter.
        held: Conditions, one per row.
    """
    n = len(b)
    rest = [
        [where(either(held[i], held[j]), 0.0, A[i][j]) for j in range(i)] + [where(held[i], 1.0, A[i][i])]
        for i in range(n)
    ]
    x = solve_ldl(rest, [where(stuck, 0.0, b_i) for stuck, b_i in zip(held, b, strict=True)])
    return [where(stuck, 0.0, x_i) for stuck, x_i in zip(held, x, strict=True)]
