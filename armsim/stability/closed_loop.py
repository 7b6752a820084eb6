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


def gains(law: LinearFeedback, inputs: int, states: int, dtype: type = float) -> Gains:
    """The matrices of a feedback law, for that many inputs u and states x; of expressions as arrays of objects."""
    z = len(law.Z)
    shapes = ((law.K, inputs, states), (law.Kz, inputs, z), (law.Z, z, states), (law.Zz, z, z))
    return Gains(*(np.array(rows, dtype=dtype).reshape(height, width) for rows, height, width in shapes))


def with_feedback(A: Array, B: Array, law: Gains, period: float | None = None) -> Array:
    """The closed-loop system matrix, its states those of the plant and then the integrals z of the feedback.

    Args:
        A: System matrix of the plant, shape (..., states, states): dx/dt = A x + B u, or x at the next sample if there
            is a period.
        B: Input matrix, shape (..., states, inputs).
        law: The feedback, of the same leading axes.
        period: Sampling period [s], with which explicit Euler advances the integrals; None if continuous.
    """
    rates = np.concatenate([law.Z, law.Zz], axis=-1)
    if period is not None:
        rates = period * rates
        rates[..., A.shape[-1] :] += np.eye(rates.shape[-2])
    moved = np.concatenate([A + B @ law.K, B @ law.Kz], axis=-1)
    return np.concatenate([moved, rates], axis=-2)
