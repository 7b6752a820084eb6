"""How far saturated commands let joints chatter, where the step makes what lies within their bounds grow."""

from __future__ import annotations

import numpy as np

from armsim.stability.closed_loop import Array
from armsim.stability.coefficients import Coefficients


def chatter(given: Coefficients, h: float, cuts: bool = False) -> Array:
    """How far joints move while commands chatter between their bounds [rad or m], the farthest, shape (...).

    All bounds f that act for h seconds move the joints by |M⁻¹| f h². A step that is cut where a command meets its bound leaves
    |k e + d v| <= f while the command is within its bounds; since e' = v, e then stays within f / k, and moves by f / d h. The
    other joints follow by their inertia.

    Args:
        given: Coefficients of the linearised plants.
        h: How long a bound acts [s]: a step, or the sampling period.
        cuts: Whether steps are cut there.
    """
    n = given.M.shape[-1]
    per_force, gone = given.bounds[..., 0, :], given.bounds[..., 3, :]
    f = np.where(per_force > 0.0, 1.0 / np.where(per_force > 0.0, per_force, 1.0), 0.0)
    way = _times(np.abs(np.linalg.inv(given.M)), f) * h * h
    if not cuts or given.law is None or given.period is not None:
        return np.asarray(way.max(axis=-1))
    slopes = -(given.Fu @ given.law.K)
    k, d = (np.diagonal(slopes[..., i : i + n], axis1=-2, axis2=-1) for i in (0, n))
    band = np.full(way.shape, np.inf)
    for gain, time in ((k, 1.0), (d + gone, h)):
        restores = (f > 0.0) & (gain > 0.0)
        band = np.where(restores, np.minimum(band, time * f / np.where(restores, gain, 1.0)), band)
    within = band < way
    rows = np.where(within[..., None], np.eye(n), given.M)  # of a joint that follows: M a = 0
    followed = _times(np.abs(np.linalg.inv(rows)), np.where(within, band, 0.0))
    return np.asarray(np.minimum(way, followed).max(axis=-1))


def _times(matrix: Array, x: Array) -> Array:
    return np.asarray((matrix @ x[..., None])[..., 0])
