"""Linear systems in state space, in the shapes of scipy.signal and python-control."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from armsim.errors import UsageError
from armsim.linear.modes import Mode, modes_of

Array = NDArray[np.float64]
EPSILON = 2.0**-52
ROUNDING = 10 * EPSILON  # of the matrix's norm: how far off rounding leaves a well-conditioned eigenvalue


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """dx/dt = A x + B u, y = C x + D u; or x at the next sample = A x + B u, where dt is given.

    `scipy.signal.StateSpace(*system.abcd)` and `control.ss(*system.abcd)` take it, with `dt=system.dt` if it is sampled.

    Attributes:
        A: Shape (states, states).
        B: Shape (states, inputs).
        C: Shape (outputs, states).
        D: Shape (outputs, inputs).
        states: Names, with units of SI: q_R1 in rad or m, qd_R1, current_R1 in A, integral_R1.
        inputs: Names: voltage_R1 in V, or torque_R1 in N·m or N.
        outputs: Names.
        dt: Time between samples [s]; None for continuous time.
        free: Which states can change; those of a joint that friction holds cannot, shape (states,).
        weight: What turns a state into the square root of an energy up to a common factor, zero for all but
            positions: the square root of the joint's inertia, shape (states,).
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    dt: float | None
    free: NDArray[np.bool_]
    weight: Array

    @property
    def abcd(self) -> tuple[Array, Array, Array, Array]:
        """(A, B, C, D)"""
        return self.A, self.B, self.C, self.D

    @property
    def moving(self) -> tuple[Array, Array]:
        """A and B of the states that can change."""
        return self.A[np.ix_(self.free, self.free)], self.B[self.free]

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """Of A for the states that can change, shape (moving states,), the largest real part first [1/s, or 1 if sampled]."""
        values = np.linalg.eigvals(self.moving[0]).astype(complex)
        return values[np.lexsort((-values.imag, -values.real))]

    def modes(self) -> list[Mode]:
        """How it moves by itself, the fastest growing first and the fastest decaying last."""
        A, _ = self.moving
        values = np.linalg.eigvals(A)
        errors, shares = [], []
        for value in values:
            left, strength, right = np.linalg.svd(A - value * np.eye(len(A)))
            still = strength <= max(strength[-1], ROUNDING * strength[0])  # what A less the eigenvalue takes to zero
            modes = right[still].conj().T
            # by first-order perturbation (Golub and Van Loan, section 7.2.2); of a defective eigenvalue, by the square root
            cosine = np.linalg.svd(left[:, still].conj().T @ modes, compute_uv=False)[-1]
            errors.append(float(np.linalg.norm(A)) * min(ROUNDING / max(cosine, EPSILON), math.sqrt(ROUNDING)))
            shares.append(self._shares(modes))
        return modes_of(values.tolist(), errors, shares, self.dt)

    def _shares(self, modes: NDArray) -> dict[str, float]:
        """Where the modes of an eigenvalue show: by energy in the joints, or if they do not move in the other states.

        Args:
            modes: An orthonormal basis of them, shape (moving states, multiplicity).
        """
        names = [name for name, moves in zip(self.states, self.free, strict=True) if moves]
        moving = modes * self.weight[self.free, None]
        if np.linalg.norm(moving) > 1e-6 * np.linalg.norm(modes) * self.weight.max():
            names, modes = [name.removeprefix("q_") for name in names], np.linalg.qr(moving)[0]
        share = (np.abs(modes) ** 2).sum(axis=1) / modes.shape[1]
        return {names[i]: float(share[i]) for i in np.argsort(-share, kind="stable") if share[i] > 1e-6}

    @property
    def stable(self) -> bool:
        """Whether every mode decays."""
        return all(mode.rate.real < 0 for mode in self.modes())

    def uncontrollable(self) -> list[Mode]:
        """The modes that no input can change."""
        values = self._out_of_reach
        error = 1e3 * ROUNDING * float(np.linalg.norm(self.A))
        return modes_of(values.tolist(), [error] * len(values), [{}] * len(values), self.dt)

    @property
    def controllable(self) -> int:
        """How many of the states that can change are within the inputs' reach."""
        return int(self.free.sum()) - len(self._out_of_reach)

    @cached_property
    def _out_of_reach(self) -> NDArray[np.complex128]:
        """Eigenvalues of the uncontrollable part.

        Staircase form by orthogonal transformations (Paige 1981, *IEEE Trans. Automatic Control* 26(1)), states scaled so
        that A is balanced, and inputs so that each counts whatever its unit.
        """
        A, B = self.moving
        nothing = np.empty(0, dtype=complex)
        if not A.size:
            return nothing
        A, scale = _balanced(A)
        size = max(float(np.linalg.norm(A)), 1.0)
        reach = B / scale[:, None]
        lengths = np.linalg.norm(reach, axis=0)
        reach = reach[:, lengths > 0] / lengths[lengths > 0] * size
        while A.size and reach.size:
            turn, strength, _ = np.linalg.svd(reach)
            rank = int((strength > 1e3 * len(A) * EPSILON * size).sum())
            if rank == 0:
                break
            A = turn.T @ A @ turn
            A, reach = A[rank:, rank:], A[rank:, :rank]
        return np.linalg.eigvals(A).astype(complex) if A.size else nothing

    def sampled(self, period: float) -> LinearSystem:
        """The system from sample to sample, its inputs held in between (zero-order hold).

        Args:
            period: Time between samples [s].

        Raises:
            UsageError: The period is not positive, or the system is sampled already.
        """
        if self.dt is not None:
            raise UsageError.of(
                "period", "a system in continuous time", f"one sampled every {self.dt:g} s", "sample the continuous one"
            )
        if not 0 < period < math.inf:
            raise UsageError.of("period", "a time in s, above 0", repr(period), "give for example 1e-3")
        from scipy.linalg import expm

        n, m = self.B.shape
        block = np.zeros((n + m, n + m))
        block[:n, :n], block[:n, n:] = self.A, self.B
        over = expm(block * period)
        A, B = over[:n, :n], over[:n, n:]
        names = (self.states, self.inputs, self.outputs)
        return LinearSystem(A, B, self.C, self.D, *names, float(period), self.free, self.weight)


def _balanced(A: Array) -> tuple[Array, Array]:
    """A in units of its states in which its rows and columns are about equally long, and those units: powers of two.

    Parlett and Reinsch 1969, *Numerische Mathematik* 13.
    """
    A, units = A.copy(), np.ones(len(A))
    settled = False
    while not settled:
        settled = True
        for i in range(len(A)):
            column, row = (float(np.abs(np.delete(line, i)).sum()) for line in (A[:, i], A[i]))
            if column == 0.0 or row == 0.0:
                continue
            unit = 2.0 ** round(math.log2(row / column) / 2)
            if column * unit + row / unit < 0.95 * (column + row):
                A[:, i] *= unit
                A[i] /= unit
                units[i] *= unit
                settled = False
    return A, units
