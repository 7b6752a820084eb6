"""Linear systems in state space, in the shapes of scipy.signal and python-control."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from armsim.arm.integration import real_number
from armsim.arrays import Array, Mask
from armsim.display import Shown
from armsim.errors import UsageError
from armsim.formulas.bounds import BOUNDS
from armsim.linear.modes import Mode, modes_of
from armsim.notebook import counted

EPSILON = 2.0**-52
ROUNDING = 10 * EPSILON  # of the matrix's norm: rounding error of a well-conditioned eigenvalue


@dataclass(frozen=True, eq=False)
class LinearSystem(Shown):
    """dx/dt = A x + B u, y = C x + D u; or x[k+1] = A x[k] + B u[k], where dt is given.

    `scipy.signal.StateSpace(*system.abcd)` and `control.ss(*system.abcd)` take it, with `dt=system.dt` if it is sampled.

    Attributes:
        A: Shape (states, states).
        B: Shape (states, inputs).
        C: Shape (outputs, states).
        D: Shape (outputs, inputs).
        states: Names, in SI units: q_R1 in rad or m, qd_R1, current_R1 in A, integral_R1.
        inputs: Names: voltage_R1 in V, or torque_R1 in N·m or N.
        outputs: Names.
        dt: Sampling period [s]; None for continuous time.
        free: Which states can change, shape (states,); those of a sticking joint cannot.
        weight: Energy weights of the states, shape (states,): √M_ii of a joint's position, zero for all others, so that
            |weight · x|² is proportional to an oscillation's energy.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    dt: float | None
    free: Mask
    weight: Array

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sizes})"

    @property
    def _sizes(self) -> str:
        time = "" if self.dt is None else f", every {self.dt:g} s"
        sizes = [counted(len(x), noun) for x, noun in ((self.states, "state"), (self.inputs, "input"))]
        return f"{', '.join(sizes)}, {counted(len(self.outputs), 'output')}{time}"

    @property
    def abcd(self) -> tuple[Array, Array, Array, Array]:
        """(A, B, C, D)."""
        return self.A, self.B, self.C, self.D

    @property
    def moving(self) -> tuple[Array, Array]:
        """A and B of the states that can change."""
        return self.A[np.ix_(self.free, self.free)], self.B[self.free]

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """Eigenvalues of A on the states that can change, the largest real part first [1/s, or 1 if sampled]."""
        values = np.linalg.eigvals(self.moving[0]).astype(complex)
        return values[np.lexsort((-values.imag, -values.real))]

    def modes(self) -> list[Mode]:
        """Its modes, the fastest growing first and the fastest decaying last."""
        A, _ = self.moving
        values = np.linalg.eigvals(A)
        values = values[values.imag >= 0]  # of a complex pair one stands for both
        errors, shares = [], []
        for value in values:
            left, strength, right = np.linalg.svd(A - value * np.eye(len(A)))
            still = strength <= max(strength[-1], ROUNDING * strength[0])  # null space of A - λ: the eigenvectors
            modes = right[still].conj().T
            # condition of the eigenvalue (Golub and Van Loan, section 7.2.2); defective ones err by the square root of rounding
            cosine = np.linalg.svd(left[:, still].conj().T @ modes, compute_uv=False)[-1]
            errors.append(float(np.linalg.norm(A)) * min(ROUNDING / max(cosine, EPSILON), math.sqrt(ROUNDING)))
            shares.append(self._shares(modes))
        return modes_of(values.tolist(), errors, shares, self.dt)

    def _shares(self, modes: NDArray) -> dict[str, float]:
        """Participation in the modes of an eigenvalue: of the joints by energy, or of the other states where no joint moves.

        Args:
            modes: An orthonormal basis of its eigenspace, shape (moving states, multiplicity).
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
        """The uncontrollable modes."""
        values = self._uncontrollable_eigenvalues
        error = 1e3 * ROUNDING * float(np.linalg.norm(self.A))
        return modes_of(values.tolist(), [error] * len(values), [{}] * len(values), self.dt)

    @property
    def controllable(self) -> int:
        """Dimension of the controllable subspace."""
        return int(self.free.sum()) - len(self._uncontrollable_eigenvalues)

    @cached_property
    def _uncontrollable_eigenvalues(self) -> NDArray[np.complex128]:
        """Eigenvalues of the uncontrollable part, by the staircase form.

        Orthogonal transformations (Paige 1981, *IEEE Trans. Automatic Control* 26(1)), with A balanced and the columns of B
        normalised, so that no unit matters.
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
        """The system in discrete time, its inputs held between samples (zero-order hold).

        Args:
            period: Sampling period [s].

        Raises:
            UsageError: The period is not positive, or so long that a mode outgrows doubles; or the system is sampled already.
        """
        if self.dt is not None:
            raise UsageError.of(
                "period", "a system in continuous time", f"one sampled every {self.dt:g} s", "sample the continuous one"
            )
        if not 0 < real_number("period", period) <= BOUNDS["s"].largest:
            raise UsageError.of("period", "a time in s, above 0", repr(period), "give for example 1e-3")
        from scipy.linalg import expm

        n, m = self.B.shape
        block = np.zeros((n + m, n + m))
        block[:n, :n], block[:n, n:] = self.A, self.B
        with np.errstate(all="ignore"):
            over = expm(block * period)
        if not np.isfinite(over).all():
            found = f"{period:g} s, in which a mode grows beyond them"
            raise UsageError.of("period", "a time over which motions stay within doubles", found, "give a shorter one")
        A, B = over[:n, :n], over[:n, n:]
        names = (self.states, self.inputs, self.outputs)
        return LinearSystem(A, B, self.C, self.D, *names, float(period), self.free, self.weight)


def _balanced(A: Array) -> tuple[Array, Array]:
    """A balanced by a diagonal similarity, so that rows and columns have about equal norms, and its scale: powers of two.

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
