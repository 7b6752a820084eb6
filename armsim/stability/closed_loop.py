"""A linear system under linear feedback, continuous or sampled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armsim.arrays import Array
from armsim.plant import LinearFeedback


class Gains(NamedTuple):
    """A controller u = K x + Kz z; dz/dt, or z at the next sample, is Z x + Zz z. See `armsim.plant.LinearFeedback`."""

    K: Array
    Kz: Array
    Z: Array
    Zz: Array


def gains(law: LinearFeedback, inputs: int, states: int) -> Gains:
    """The matrices of a feedback law, for that many inputs u and states x."""
    z = len(law.Z)
    shapes = ((law.K, inputs, states), (law.Kz, inputs, z), (law.Z, z, states), (law.Zz, z, z))
    return Gains(*(np.array(rows, dtype=float).reshape(height, width) for rows, height, width in shapes))


def with_feedback(A: Array, B: Array, law: Gains) -> Array:
    """The closed-loop system matrix, its states those of the plant and then those of the feedback, z.

    Args:
        A: System matrix of the plant, shape (..., states, states): dx/dt = A x + B u; or x at the next sample, if the law's
            is z at the next sample.
        B: Input matrix, shape (..., states, inputs).
        law: The feedback, of the same leading axes.
    """
    rates = np.concatenate([law.Z, law.Zz], axis=-1)
    moved = np.concatenate([A + B @ law.K, B @ law.Kz], axis=-1)
    return np.concatenate([moved, rates], axis=-2)


def as_continuous(law: Gains, period: float) -> Gains:
    """A sampled feedback as a continuous one: what explicit Euler makes of it with the period [s] as its step."""
    return law._replace(Z=law.Z / period, Zz=(law.Zz - np.eye(law.Zz.shape[-1])) / period)
