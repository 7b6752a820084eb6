"""Factorisations without pivoting, of matrices whose symmetric part is positive definite, or nearly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from armsim.expr import Scalar, Scalars, fma, is_long, parts, scan

Matrix = Sequence[Scalars]  # by rows


def solver(A: Matrix) -> Callable[[Scalars], Scalars]:
    """From b to x with A x = b; the matrix is factorised once."""
    return (RolledUL if is_long(len(A)) else LU)(A).solve


class LU:
    """LU factors.

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


class RolledUL:
    """UL factors of a large matrix, by scans, whose text grows with its rows alone.

    Rows are eliminated from the last to the first, so that those that are left are the first ones.

    Args:
        A: The matrix by rows.
    """

    def __init__(self, A: Matrix) -> None:
        n, left = len(A), A
        self._shares: list[list[Scalar]] = [[] for _ in range(n)]  # of the rows after each, in their order
        self._rows: list[list[Scalar]] = []
        for k in reversed(range(n)):
            *pivot, last = left[k]
            inverse = 1 / last
            self._rows.insert(0, [inverse, *[0.0] * (n - 1 - k), *pivot])
            if k:
                _, found = scan([], partial(_eliminated, pivot, inverse), left, count=k)
                for i, share in enumerate(parts(found, lambda row: row[0])):
                    self._shares[i].insert(0, share)
                left = parts(found, lambda row: row[1:])
        self._shares = [[*shares, *[0.0] * (n - 1 - len(shares))] for shares in self._shares]

    def solve(self, b: Scalars) -> list[Scalar]:
        """x with A x = b."""
        none = [0.0] * (len(b) - 1)

        def back(later: list[Scalar], shares: Scalars, y: Scalar) -> tuple[list[Scalar], Scalar]:
            for share, known in zip(shares, later, strict=True):
                y = fma(-share, known, y)
            return [y, *later[:-1]], y

        def forth(before: list[Scalar], row: Scalars, x: Scalar) -> tuple[list[Scalar], Scalar]:
            inverse, *pivot = row
            for a, known in zip(pivot, before, strict=True):
                x = fma(-a, known, x)
            x = x * inverse
            return [*before[1:], x], x

        _, y = scan(none, back, self._shares, b, backward=True)
        return [*scan(none, forth, self._rows, y)[1]]


def _eliminated(pivot: Scalars, inverse: Scalar, none: Any, row: Scalars) -> tuple[Any, list[Scalar]]:
    """The share of a pivot's row in another, by the pivot's inverse, and what is left of that."""
    share = row[-1] * inverse
    return none, [share, *(fma(-share, a, x) for a, x in zip(pivot, row, strict=False))]
