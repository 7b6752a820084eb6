"""LᵀDL factorisation of the mass matrix, also with locked joints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from armsim.expr import Scalar, Scalars, either, fma, where, zero_where


def ldl(A: Sequence[Scalars]) -> Sequence[Scalars]:
    """The factors of A = Lᵀ D L, symmetric positive definite: unit lower triangular L below the diagonal, on it 1 / D.

    Golub and Van Loan, *Matrix Computations*, section 4.1, worked from the last row to the first (RBDA section 6.5), which
    for a serial arm starts with the tip. It takes no square roots, and one division a row.

    Args:
        A: Lower triangle, row i with i + 1 entries.
    """
    L = [list(row) for row in A]
    for k in reversed(range(len(L))):
        _eliminate(L, k)
    return L


def pivots(A: Sequence[Sequence[float]]) -> Iterator[tuple[int, float]]:
    """Joint and pivot D of `ldl`, from the tip: the inertia at a joint with those before it locked and those beyond free.

    Args:
        A: Lower triangle of numbers, row i with i + 1 entries; a row whose pivot is zero is passed over.
    """
    L = [list(row) for row in A]
    for k in reversed(range(len(L))):
        yield k, L[k][k]
        if L[k][k]:
            _eliminate(L, k)


def _eliminate(L: list[list[Scalar]], k: int) -> None:
    """Eliminate row k: it becomes that of the factors, and the rows before it their Schur complement."""
    L[k][k] = 1 / L[k][k]
    scaled = [L[k][i] * L[k][k] for i in range(k)]
    for i in range(k):
        for j in range(i + 1):
            L[i][j] = fma(-scaled[i], L[k][j], L[i][j])
    L[k][:k] = scaled


def ldl_solve(L: Sequence[Scalars], b: Scalars) -> Scalars:
    """x with A x = b, from the factors of `ldl`.

    Args:
        L: Row i with i + 1 entries.
        b: Right-hand side.
    """
    n = len(b)
    x = list(b)
    for k in reversed(range(n)):
        for i in range(k):
            x[i] = fma(-L[k][i], x[k], x[i])
    for k in range(n):
        x[k] = x[k] * L[k][k]
        for i in range(k):
            x[k] = fma(-L[k][i], x[i], x[k])
    return x


def solve_ldl(A: Sequence[Scalars], b: Scalars) -> Scalars:
    """x with A x = b, A symmetric positive definite.

    Args:
        A: Lower triangle, row i with i + 1 entries.
        b: Right-hand side.
    """
    return ldl_solve(ldl(A), b)


def solve_held(A: Sequence[Scalars], b: Scalars, held: Sequence[Any]) -> Scalars:
    """x with A x = b in the free rows, and x exactly zero where held: forward dynamics with locked joints.

    Args:
        A: Lower triangle of a positive definite matrix, row i with i + 1 entries.
        b: Right-hand side; where held it does not matter.
        held: Conditions, one per row.
    """
    return held_solver(A, held)(b)


def held_solver(A: Sequence[Scalars], held: Sequence[Any]) -> Callable[[Scalars], Scalars]:
    """`solve_held` for any right-hand side; the matrix is factorised once."""
    factors = ldl(locked(A, held))
    return lambda b: zero_where(held, ldl_solve(factors, zero_where(held, b)))


def locked(A: Sequence[Scalars], held: Sequence[Any]) -> Sequence[Scalars]:
    """A with the rows and columns that are held replaced by those of the identity; lower triangles both."""
    return [
        [where(either(held[i], held[j]), 0.0, A[i][j]) for j in range(i)] + [where(held[i], 1.0, A[i][i])]
        for i in range(len(A))
    ]
