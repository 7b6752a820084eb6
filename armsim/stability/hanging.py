"""The stable equilibria of arms that nothing drives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from armsim.arrays import Array, Indices, Mask

ROUNDS = 40  # Newton iterations
LARGEST_MOVE = 0.5  # rad or m in an iteration
FAR = 20.0  # rad or m from the start: there is no equilibrium, as for a prismatic joint along gravity
AT_REST = 1e-9  # rad or m: convergence

# mass matrices, stiffnesses and accelerations of the arms of these indices at rest at these positions
Look = Callable[[Indices, Array], tuple[Array, Array, Array]]


def equilibria(look: Look, start: Array) -> tuple[Array, Mask, Mask]:
    """Local minima of potential energy of arms, found from a pose of each.

    Newton's method in modal coordinates of the stiffness K with respect to M. A mode's correction is f / |k|, with f and k its
    generalised force and stiffness: a descent direction also where K is indefinite (modified Newton).

    Args:
        look: The arms.
        start: Joint positions to begin at [rad or m], shape (arms, n).

    Returns:
        Joint positions, shape (arms, n); of which arms they are a minimum; and which have no positive definite mass matrix.
    """
    at, left = start.copy(), np.arange(len(start))
    found, failed = np.zeros(len(start), dtype=bool), np.zeros(len(start), dtype=bool)
    for _ in range(ROUNDS):
        M, K, qdd = look(left, at[left])
        fine = np.isfinite(np.concatenate([M, K, qdd[..., None]], axis=-1)).all(axis=(-2, -1))
        inertias, axes = np.linalg.eigh(np.where(fine[:, None, None], M, 0.0))
        fine &= inertias[:, 0] > 0.0
        failed[left[~fine]] = True
        left, M, K, qdd = left[fine], M[fine], K[fine], qdd[fine]
        up = axes[fine] / np.sqrt(inertias[fine])[:, None, :]
        back = np.swapaxes(up, -1, -2)
        stiffness, modes = np.linalg.eigh(back @ (K + np.swapaxes(K, -1, -2)) / 2 @ up)
        force = np.swapaxes(modes, -1, -2) @ back @ M @ qdd[..., None]
        least = 1e-6 * np.abs(stiffness).max(axis=-1, keepdims=True, initial=1e-12)
        move = (up @ modes @ (force / np.maximum(np.abs(stiffness), least)[..., None]))[..., 0]
        largest = np.abs(move).max(axis=-1, initial=0.0)
        found[left[largest <= AT_REST]] = True
        goes = largest > AT_REST
        left, move, largest = left[goes], move[goes], largest[goes]
        at[left] += move * np.minimum(1.0, LARGEST_MOVE / largest)[:, None]
        left = left[np.abs(at[left] - start[left]).max(axis=-1, initial=0.0) <= FAR]
        if not len(left):
            break
    return at, found, failed
