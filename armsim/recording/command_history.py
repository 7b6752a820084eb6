"""What drives an arm, over time: commands of a log or of a controller, held or on straight lines between their instants."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from armsim.arrays import Array, Indices
from armsim.records import record


@record
class CommandHistory:
    """Commands of n drives. Before the first instant and after the last one they are those there.

    Attributes:
        t: Instants [s], shape (m,), increasing.
        u: Voltages [V], currents [A] or torques [N·m or N] then, shape (m, n).
        lines: Whether they change on straight lines in between (first-order hold); else each is held until the next instant.
    """

    t: Array
    u: Array
    lines: bool = False

    def at(self, t: Array) -> Array:
        """The commands from instants [s] on, of shape (..., n) for instants of shape (...)."""
        k, s, slope = self._places(t)
        return np.asarray(self.u[k] + s * slope)

    def means(self, edges: Array) -> Array:
        """Means between neighbouring instants [s], shape (..., k, n) for instants of shape (..., k + 1)."""
        k, s, slope = self._places(edges)
        whole = self._sums[k] + s * (self.u[k] + 0.5 * s * slope)
        return np.asarray(np.diff(whole, axis=-2) / np.diff(edges)[..., None])

    def held(self, t: Array) -> bool:
        """Whether they are constant from each of some instants [s] to the next."""
        within = np.searchsorted(self.t, t[1:], "left") > np.searchsorted(self.t, t[:-1], "right")
        return not self.lines and not bool(within.any())

    def _places(self, t: Array) -> tuple[Indices, Array, Array]:
        """The last instant before each of others, how long ago it was [s], and how commands change from then on [1/s]."""
        k = np.clip(np.searchsorted(self.t, t, "right") - 1, 0, None)
        s = (t - self.t[k])[..., None]
        return k, s, np.where(s > 0.0, self._slopes[k], 0.0)

    @cached_property
    def _slopes(self) -> Array:
        """How they change from each instant on [1/s]."""
        found = np.zeros(self.u.shape)
        if self.lines:
            found[:-1] = np.diff(self.u, axis=0) / np.diff(self.t)[:, None]
        return found

    @cached_property
    def _sums(self) -> Array:
        """Their integrals up to each instant."""
        steps = np.diff(self.t)[:, None]
        pieces = steps * (self.u[:-1] + 0.5 * steps * self._slopes[:-1])
        return np.concatenate([np.zeros((1, self.u.shape[1])), np.cumsum(pieces, axis=0)])
