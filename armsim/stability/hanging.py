"""Where an arm that nothing drives comes to rest."""

from __future__ import annotations

import numpy as np

from armsim.plant import Linearization, Linearizer

ROUNDS = 40
LARGEST_MOVE = 0.5  # rad or m in a round
FAR = 20.0  # rad or m from the start: it falls for ever
AT_REST = 1e-9  # rad or m in a round


def hanging(linearizer: Linearizer, q: list[float]) -> Linearization | None:
    """The small motions about the pose of least potential energy that an arm falls to; None if there is none.

    Newton's method along the modes of M and K, the stiffness there; down the slope also where K is not positive. The step of
    a mode is f / |k|, with f and k its force and its stiffness.

    Args:
        linearizer: Of a plant without a command.
        q: Joint positions to begin at [rad or m], n of them.
    """
    plant, start = linearizer.plant, np.array(q)
    at = start
    for _ in range(ROUNDS):
        about = linearizer.at(0.0, plant.initial_state(at.tolist(), [0.0] * plant.arm.n))
        M, K = np.array(about.M), -np.array(about.Fq)
        back = np.linalg.inv(np.linalg.cholesky(M))
        stiffness, modes = np.linalg.eigh(back @ (K + K.T) / 2 @ back.T)
        force = modes.T @ back @ M @ np.array(about.qdd)
        least = 1e-6 * np.abs(stiffness).max(initial=1e-12)
        move = back.T @ modes @ (force / np.maximum(np.abs(stiffness), least))
        largest = float(np.abs(move).max(initial=0.0))
        if largest <= AT_REST:
            return about
        at = at + move * min(1.0, LARGEST_MOVE / largest)
        if not np.abs(at - start).max() <= FAR:
            return None
    return None
