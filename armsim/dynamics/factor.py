"""LᵀDL factorisation of the mass matrix, also with locked joints; of a large one by scans, whose text grows with its square."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from armsim.expr import Scalar, Scalars, fma, identity_where, is_long, leaves, parts, scan, zero_where
from armsim.expr.function import innermost


def ldl(A: Sequence[Scalars]) -> Sequence[Scalars]:
    """The factors of A = Lᵀ D L, symmetric positive definite: unit lower triangular L below the diagonal, on it 1 / D.

    Golub and Van Loan, *Matrix Computations*, section 4.1, worked from the last row to the first (RBDA section 6.5), which
    for a serial arm starts with the tip. It takes no square roots, and one division a row.

    Args:
        A: Lower triangle, row i with i + 1 entries.
    """
    if _is_rolled(A):
        return _rolled(A)
    L = [list(row) for row in A]
    for k in reversed(range(len(L))):
        _eliminate(L, k)
    return L


def _is_rolled(A: Sequence[Scalars]) -> bool:
    """Whether what is done with the rows of a matrix is a scan."""
    return is_long(len(A)) and innermost(leaves([*A])) is not None


def _rolled(A: Sequence[Scalars]) -> Sequence[Scalars]:
    """`ldl` by scans over the rows before each pivot's, as long as that: what is right of the diagonal does not matter."""
    left = A if len(A[0]) == len(A) else _squared(A)
    L: list[Scalars] = []
    for k in reversed(range(len(A))):
        *pivot, last = left[k][: k + 1]
        inverse = 1 / last
        found: Sequence[Any] = []
        if k:
            _, found = scan([], partial(_eliminated, pivot, inverse), pivot, left, count=k)
        L.insert(0, [*parts(found, lambda row: row[0]), inverse])
        left = parts(found, lambda row: row[1])
    return L


def _eliminated(
    pivot: Scalars, inverse: Scalar, none: Any, x: Scalar, row: Scalars
) -> tuple[Any, tuple[Scalar, Scalars]]:
    """A row's entry in L, from that in the pivot's row, and its Schur complement."""
    scaled = x * inverse
    return none, (scaled, [fma(-scaled, a, b) for a, b in zip(pivot, row, strict=False)])


def _squared(L: Sequence[Scalars]) -> list[Scalars]:
    """The rows of a lower triangle, filled up with zeros."""
    return [[*row, *[0.0] * (len(L) - len(row))] for row in L]


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
    if _is_rolled([*L, b]):
        return _solved(L, b)
    x = list(b)
    for k in reversed(range(n)):
        for i in range(k):
            x[i] = fma(-L[k][i], x[k], x[i])
    for k in range(n):
        x[k] = x[k] * L[k][k]
        for i in range(k):
            x[k] = fma(-L[k][i], x[i], x[k])
    return x


def _solved(L: Sequence[Scalars], b: Scalars) -> Scalars:
    """`ldl_solve` by two scans, whose state is what they have found, the last one first."""
    n, none = len(b), [0.0] * (len(b) - 1)

    def found(known: list[Scalar], row: Scalars, x: Scalar, factor: Scalar) -> tuple[list[Scalar], Scalar]:
        x = x * factor
        for a, y in zip(reversed(row), reversed(known), strict=True):
            x = fma(-a, y, x)
        return [x, *known[:-1]], x

    beyond = [[row[i] for row in L[i + 1 :]] + none[:i] for i in range(n)]
    before = [[*row[:k][::-1], *none[k:]] for k, row in enumerate(L)]
    _, y = scan(none, found, beyond, b, [1.0] * n, backward=True)
    return [*scan(none, found, before, y, [row[k] for k, row in enumerate(L)])[1]]


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
    rows = _squared(A) if is_long(len(A)) else A
    factors = ldl(identity_where(held, rows))
    return lambda b: zero_where(held, ldl_solve(factors, zero_where(held, b)))
