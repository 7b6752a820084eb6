"""Feedback along a plan: the time-varying linear-quadratic regulator."""

from __future__ import annotations

import numpy as np

from armsim.arm.arrays import Array


def gains_along(S: Array, scales: tuple[Array, Array]) -> Array:
    """Gains K of u = u_plan + K (x_plan - x), (N, n, k), by the Riccati equation of the intervals, from the end backwards.

    The cost is the sum of the squares of all deviations, each in units of its scale.

    Args:
        S: Derivatives of the intervals by states and inputs, (N, k, k + n).
        scales: Of states (k,) and inputs (n,).
    """
    k = S.shape[1]
    Q, R = np.diag(scales[0] ** -2.0), np.diag(scales[1] ** -2.0)
    P, found = Q, []
    for A, B in zip(S[::-1, :, :k], S[::-1, :, k:], strict=True):
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K)
        P = (P + P.T) / 2.0
        found.append(K)
    return np.array(found[::-1])
