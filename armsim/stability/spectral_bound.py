"""A bound on spectral radii from powers of matrices, at a fraction of the cost of eigenvalues."""

from __future__ import annotations

import math

import numpy as np

from armsim.stability.closed_loop import Array
from armsim.stability.growth import Mask

LARGEST_LOG = 40.0  # of a bound, ln ‖X^k‖: powers beyond it are not computed


def is_bounded(matrices: Array, log_radius: float) -> Mask:
    """Which matrices X are shown to have ln ρ(X) <= `log_radius`, shape (...); of the others it is open.

    ρ(X)^k <= ‖X^k‖ (Frobenius norm) for k = 1, 2, 4, ...; the bound converges to ρ(X) by Gelfand's formula.

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
