"""The Jacobian of a system's rates, for implicit methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from armsim.expr import Scalar, Scalars, leaves
from armsim.integrate.motion import Motion
from armsim.records import mutable_record

Matrix = Sequence[Scalars]  # by rows
Slopes = tuple[Scalar, Motion]  # partial derivatives of a scalar by the time, and by the motion


@mutable_record
class RateJacobian:
    """The Jacobian of the rates of a system with n velocities and k further states z.

    M da = Fq dq + Fv dv + Fz dz + Ft dt for accelerations a, and d(dz/dt) = Zq dq + Zv dv + Zz dz + Zt dt.

    Attributes:
        M: Lower triangle of the mass matrix, positive definite.
        Fq: Forces by positions, n rows of n.
        Fv: Forces by velocities, n rows of n.
        Fz: Forces by further states, n rows of k.
        Ft: Forces by time, n.
        Zq: Rates of z by positions, k rows of n.
        Zv: Rates of z by velocities, k rows of n.
        Zz: Rates of z by z, k rows of k.
        Zt: Rates of z by time, k.
        held: For each velocity the condition that it is held at zero; none where all are free.
    """

    M: Matrix
    Fq: Matrix
    Fv: Matrix
    Fz: Matrix
    Ft: Scalars
    Zq: Matrix
    Zv: Matrix
    Zz: Matrix
    Zt: Scalars
    held: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, M: Matrix, forces: Sequence[Slopes], further: Sequence[Slopes]) -> RateJacobian:
        """From the derivatives of n forces and of k rates of further states, each by time and by motion."""
        return cls(
            M=M,
            Fq=[by.q for _, by in forces],
            Fv=[by.v for _, by in forces],
            Fz=[leaves(by.z) for _, by in forces],
            Ft=[by_t for by_t, _ in forces],
            Zq=[by.q for _, by in further],
            Zv=[by.v for _, by in further],
            Zz=[leaves(by.z) for _, by in further],
            Zt=[by_t for by_t, _ in further],
        )

    @cached_property
    def mass(self) -> Matrix:
        """M, both triangles."""
        n = len(self.M)
        return [[self.M[i][j] if j <= i else self.M[j][i] for j in range(n)] for i in range(n)]
