"""Spectra and exponentials of matrices, of many at once."""

from __future__ import annotations

import numpy as np

from armsim.stability.closed_loop import Array
from armsim.stability.growth import Modes

GROWING = 1e-6  # of the spectral radius: slower growth of a loop may be rounding, of zeros that coincide
TERMS = 10  # of the exponential series


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
