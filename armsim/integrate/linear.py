"""Derivatives of a system's rates, as implicit methods use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from armsim.expr import Scalar, fma, where

Matrix = list[list[Scalar]]  # by rows


@dataclass(slots=True)
class Linear:
    """How the rates of a system change with its state, n velocities and k further states.

    M da = Fq dq + Fv dv + Fz dz + Ft dt, and the rates of the further states change by Zq dq + Zv dv + Zz dz + Zt dt.

    Attributes:
        M: Lower triangle of a positive definite matrix.
        Fq: By positions, n rows of n.
        Fv: By velocities, n rows of n.
        Fz: By further states, n rows of k.
        Ft: By time, n.
        Zq: k rows of n.
        Zv: k rows of n.
        Zz: k rows of k.
        Zt: k.
        held: For each velocity the condition that it stays zero; none where all are free.
    """

    M: Matrix
    Fq: Matrix
    Fv: Matrix
    Fz: Matrix
    Ft: list[Scalar]
    Zq: Matrix
    Zv: Matrix
    Zz: Matrix
    Zt: list[Scalar]
    held: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, M: Matrix, rows: Matrix, n: int) -> Linear:
        """From the derivatives of n forces and k rates of further states by time, positions, velocities and further states."""
        blocks = [(row[0], row[1 : 1 + n], row[1 + n : 1 + 2 * n], row[1 + 2 * n :]) for row in rows]
        Ft, Fq, Fv, Fz = ([block[i] for block in blocks[:n]] for i in range(4))
        Zt, Zq, Zv, Zz = ([block[i] for block in blocks[n:]] for i in range(4))
        return cls(M, Fq, Fv, Fz, Ft, Zq, Zv, Zz, Zt)

    def mass_times(self, a: Sequence[Scalar]) -> list[Scalar]:
        """M a"""
        n = len(a)
        return [dot([self.M[i][j] if j <= i else self.M[j][i] for j in range(n)], a) for i in range(n)]


def dot(row: Sequence[Scalar], x: Sequence[Scalar], start: Scalar = 0.0) -> Scalar:
    """start + row x"""
    for a, b in zip(row, x, strict=True):
        start = fma(a, b, start)
    return start


class LU:
    """A factorised matrix, without pivoting: for those whose symmetric part is positive definite, or nearly.

    Golub and Van Loan, *Matrix Computations*, sections 3.2 and 4.1; with the pivots' inverses, so that solving needs no division.

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

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
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
    """A with the rows and columns of held velocities, the first ones, replaced by those of the unit matrix."""
    rows = [list(row) for row in A]
    for k, stuck in enumerate(held):
        for i in range(len(A)):
            if i != k:
                rows[i][k] = where(stuck, 0.0, rows[i][k])
                rows[k][i] = where(stuck, 0.0, rows[k][i])
        rows[k][k] = where(stuck, 1.0, rows[k][k])
    return rows
