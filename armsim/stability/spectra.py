"""Spectra of matrices, a bound on them, and exponentials, of many at once."""

from __future__ import annotations

import math

import numpy as np

from armsim.arrays import Array, Mask
from armsim.stability.growth import Modes

GROWING = 1e-6  # of the spectral radius: slower growth of a loop may be rounding, of zeros that coincide
TERMS = 10  # of the exponential series
LARGEST_LOG = 40.0  # of a bound, ln ‖X^k‖: powers beyond it are not computed


def spectrum(matrices: Array) -> Modes:
    """The eigenvalues of matrices, shape (..., size); of one that is not finite NaN."""
    finite = np.asarray(np.isfinite(matrices).all(axis=(-2, -1)))
    if finite.all():
        return np.linalg.eigvals(matrices).astype(complex)
    found = np.full(matrices.shape[:-1], np.nan, dtype=complex)
    found[finite] = np.linalg.eigvals(matrices[finite])
    return found


def fastest_growth(rates: Modes) -> Array:
    """The largest real part among the eigenvalues of loops [1/s], shape (...); 0 if none is above rounding."""
    most = rates.real.max(axis=-1, initial=0.0)
    return np.where(most > GROWING * np.abs(rates).max(axis=-1, initial=0.0), most, 0.0)


def exponential(matrix: Array, t: float) -> Array:
    """exp(matrix t), by scaling and squaring of its Taylor series (Golub and Van Loan, *Matrix Computations*, section 9.3)."""
    one = np.eye(matrix.shape[-1])
    norm = np.abs(matrix).sum(axis=-1).max(axis=-1, initial=0.0)
    halvings = np.maximum(np.ceil(np.log2(np.maximum(norm * t, 1e-9))) + 2.0, 0.0)[..., None, None]
    part = matrix * (t / 2.0**halvings)
    total = np.broadcast_to(one, matrix.shape)
    for k in reversed(range(1, TERMS + 1)):
        total = one + part @ total / k
    for i in range(int(halvings.max(initial=0.0))):
        total = np.where(i < halvings, total @ total, total)
    return total


def is_bounded(matrices: Array, log_radius: float) -> Mask:
    """Which matrices X are shown to have ln ρ(X) <= `log_radius`, shape (...), at a fraction of the cost of eigenvalues.

    Of the others it is open. ρ(X)^k <= ‖X^k‖ (Frobenius norm) for k = 1, 2, 4, ...; the bound converges to ρ(X) by Gelfand's
    formula.

    Args:
        matrices: Shape (..., size, size).
        log_radius: Positive.
    """
    power = matrices.reshape(-1, *matrices.shape[-2:])
    bounded: Mask = np.zeros(len(power), dtype=bool)
    left, exponent = np.arange(len(power)), log_radius
    while len(left) and exponent <= LARGEST_LOG:
        square = np.einsum("kij,kij->k", power, power)
        bounded[left[square <= math.exp(2 * exponent)]] = True
        goes = (square > math.exp(2 * exponent)) & (square <= math.exp(2 * LARGEST_LOG))
        if not goes.all():
            left, power = left[goes], power[goes]
        power, exponent = power @ power, 2 * exponent
    return bounded.reshape(matrices.shape[:-2])
