"""Hessians of the Lagrangian, a block for each interval, updated and made convex."""

from __future__ import annotations

import numpy as np

from armsim.arrays import Array
from armsim.planning.rows import definite, products, semidefinite

STEEPEST = 10.0  # curvature that an update may bring, in units of the scales
LEAST = 1e-24  # of a curvature


def updated(B: Array, s: Array, y: Array) -> Array:
    """Blocks (N, w, w) after steps s that change gradients by y, (N, w), by damped BFGS (Powell 1978)."""
    Bs = products(B, s)
    sBs, sy = (s * Bs).sum(1), (s * y).sum(1)
    short = sy < 0.2 * sBs
    damping = np.where(short, 0.8 * sBs / np.where(short & (sBs > 0.0), sBs - sy, 1.0), 1.0)[:, None]
    r = damping * y + (1.0 - damping) * Bs
    sr = (s * r).sum(1)
    some = (np.minimum(sBs, sr) > LEAST) & ((r * r).sum(1) < STEEPEST * sr)
    with_y = r[:, :, None] * r[:, None, :] / np.where(some, sr, 1.0)[:, None, None]
    without = Bs[:, :, None] * Bs[:, None, :] / np.where(some, sBs, 1.0)[:, None, None]
    return B + np.where(some[:, None, None], with_y - without, 0.0)


def convex(H: Array, S: Array, d: Array, least: float) -> tuple[Array, Array, Array]:
    """Blocks that are positive semidefinite, of a program with the same solution where that is a strict minimum.

    What the state at the end of an interval, S z + d, has of curvature is given to the interval before it (Verschueren, Zanon,
    Quirynen and Diehl, A sparsity preserving convexification procedure, SIAM J. Optim. 2017). Inputs whose curvature is not
    positive then get the least one.

    Args:
        H: Blocks (N, k + n, k + n).
        S: Derivatives of the intervals' ends, (N, k, k + n).
        d: Their defects, (N, k).
        least: Curvature.

    Returns:
        The blocks, what the gradients change by (N, k + n), and what the ends gave, (N, k, k).
    """
    k = S.shape[1]
    blocks, shift, given = (H + H.transpose(0, 2, 1)) / 2.0, np.zeros(H.shape[:2]), np.zeros((len(H), k, k))
    if definite(blocks):
        return blocks, shift, given
    Q = np.zeros((k, k))
    for i in reversed(range(len(H))):
        given[i], back = Q, S[i].T @ Q
        M, shift[i] = blocks[i] + back @ S[i], back @ d[i]
        found, axes = np.linalg.eigh(M[k:, k:])
        size = np.maximum(found, least)
        cross = axes.T @ M[k:, :k]
        own = cross.T @ (cross / size[:, None]) + least * np.eye(k)
        Q = M[:k, :k] - own
        if found[0] < least:
            Q = semidefinite(Q[None])[0]
        M[:k, :k], M[k:, k:] = own, (axes * size) @ axes.T
        blocks[i] = M
    return blocks, shift, given
