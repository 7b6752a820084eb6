"""The stable equilibrium of an arm that nothing drives."""

from __future__ import annotations

import numpy as np

from armsim.plant import Linearization, Linearizer

ROUNDS = 40  # Newton iterations
LARGEST_MOVE = 0.5  # rad or m in an iteration
FAR = 20.0  # rad or m from the start: there is no equilibrium, as for a prismatic joint along gravity
AT_REST = 1e-9  # rad or m: convergence


def hanging(linearizer: Linearizer, q: list[float]) -> Linearization | None:
    """The linearisation at a local minimum of potential energy, found from a pose; None if there is none.

    Newton's method in modal coordinates of the stiffness K with respect to M. A mode's correction is f / |k|, with f and k its
    generalised force and stiffness: a descent direction also where K is indefinite (modified Newton).

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
