"""A linear system under linear feedback, continuous or sampled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armsim.plant import LinearFeedback

Array = NDArray[np.float64]


class Gains(NamedTuple):
    """A feedback law u = K x + Kz z, dz/dt = Z x + Zz z in matrices; see `armsim.plant.LinearFeedback`."""

    K: Array
    Kz: Array
    Z: Array
    Zz: Array


def gains(law: LinearFeedback, inputs: int, states: int) -> Gains:
    """The matrices of a law for a number of inputs u and of states x."""
    z = len(law.Z)
    shapes = ((law.K, inputs, states), (law.Kz, inputs, z), (law.Z, z, states), (law.Zz, z, z))
    return Gains(*(np.array(rows, dtype=float).reshape(height, width) for rows, height, width in shapes))


def with_feedback(A: Array, B: Array, law: Gains, period: float | None = None) -> Array:
    """The matrix of a system's states and the integrals of its feedback.

    Args:
        A: Rates of the states by the states; or the states at the next sample, if there is a period.
        B: The same by the inputs.
        law: The feedback.
        period: Time between samples [s], at each of which the integrals advance by their rates times it; None if continuous.
    """
    rates = np.hstack([law.Z, law.Zz])
    if period is not None:
        rates = period * rates
        rates[:, len(A) :] += np.eye(len(rates))
    return np.vstack([np.hstack([A + B @ law.K, B @ law.Kz]), rates])
