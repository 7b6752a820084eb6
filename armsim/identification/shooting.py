"""All windows of logs simulated at once, in lanes: for the unknowns as they are, and for each a little changed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from armsim.identification.unknowns import Unknowns
from armsim.identification.windows import Ints, Windows
from armsim.recording.forward_model import ForwardModel

Array = NDArray[np.float64]
AT_ONCE = 8e6  # numbers of a motion that are in memory at once
CHANGE = 1e-7  # of an unknown, as a share of its scale, and of a start [rad, m, ...], for derivatives; see `slopes`


class Shooting:
    """Simulates windows.

    Args:
        model: The forward model; its open numbers are the first of the unknowns.
        unknowns: What is sought.
    """

    def __init__(self, model: ForwardModel, unknowns: Unknowns) -> None:
        self.model, self.unknowns = model, unknowns
        self.n = model.arm.n

    def positions(self, windows: Windows, values: Array, starts: Array) -> Array:
        """Positions at the rows of windows, as they would be measured, shape (rows, n); NaN where a motion diverges.

        Args:
            windows: The windows.
            values: Of the unknowns.
            starts: Positions and velocities at the beginnings, shape (w, 2n).
        """
        return self.candidates(windows, values, starts[:, None])[:, 0]

    def candidates(self, windows: Windows, values: Array, starts: Array) -> Array:
        """The same from r starts of each window, shape (w, r, 2n): shape (rows, r, n)."""
        runs = starts.shape[1]
        made = np.full((len(windows.q), runs, self.n), np.nan)
        for which, rows in self._groups(windows, runs):
            made[rows] = self._run(windows, which, rows, np.tile(values, (runs, 1)), starts[which])
        return made

    def slopes(self, windows: Windows, values: Array, starts: Array, both: bool) -> Iterator[tuple[Ints, Array, Array]]:
        """Derivatives of the positions at rows, some windows at a time.

        Changes are so small that hardly a joint stops or sets out in another step because of one. Where it does, the motion
        jumps; so of the differences to both sides that of the smaller change over the window counts, if both are asked for.

        Returns:
            Indices of the rows; derivatives by the unknowns, shape (rows, n, p), and by the start of the row's window,
            (rows, n, 2n).
        """
        p, size = len(values), 2 * self.n
        changes = CHANGE * np.concatenate([self.unknowns.column("scale"), np.ones(size)])
        aside = np.concatenate([self._aside(values, changes), np.zeros(size)])
        first = np.where(aside < 0.0, -changes, changes)
        second = np.where(aside == 0.0, -changes, 2.0 * first)
        far = np.concatenate([first, second]) if both else first
        moves = np.concatenate([np.zeros((1, p + size)), np.diag(first), *([np.diag(second)] if both else [])])
        for which, rows in self._groups(windows, len(moves)):
            found = self._run(windows, which, rows, values + moves[:, :p], starts[which, None] + moves[:, p:])
            with np.errstate(invalid="ignore"):
                slope = (found[:, 1:] - found[:, :1]) / far[:, None]
            if both:
                begins = np.flatnonzero(np.diff(windows.of[rows], prepend=-1))
                sizes = np.add.reduceat(np.sum(slope**2, axis=2), begins)
                one, other = np.split(np.where(np.isfinite(sizes), sizes, np.inf), 2, axis=1)
                better = (one <= other)[np.searchsorted(which, windows.of[rows])][..., None]
                slope = np.where(better, *np.split(slope, 2, axis=1))
            slope = np.moveaxis(slope, 1, 2)
            yield rows, slope[..., :p], slope[..., p:]

    def _aside(self, values: Array, changes: Array) -> Array:
        """1 for unknowns that cannot be less, -1 for those that cannot be more, and 0."""
        aside = np.zeros(len(values))
        for i, item in enumerate(self.unknowns.items):
            for side in (1.0, -1.0):
                moved = values.copy()
                moved[i] -= side * changes[i]
                if not item.lower <= moved[i] <= item.upper or not self.unknowns.admits(moved):
                    aside[i] = side
        return aside

    def _groups(self, windows: Windows, runs: int) -> Iterator[tuple[Ints, Ints]]:
        """Windows and their rows, as many at a time as find room."""
        most = max(1, int(AT_ONCE / ((windows.steps + 2) * runs * self.n)))
        for first in range(0, len(windows.log), most):
            which = np.arange(first, min(first + most, len(windows.log)))
            yield which, np.flatnonzero((windows.of >= which[0]) & (windows.of <= which[-1]))

    def _run(self, windows: Windows, which: Ints, rows: Ints, values: Array, starts: Array) -> Array:
        """Positions at rows for each of r vectors of unknowns, from starts of shape (windows, r, 2n): shape (rows, r, n)."""
        n, (count, runs), known = self.n, starts.shape[:2], self.unknowns
        delays = np.zeros(runs) if known.delay is None else values[:, known.delay]
        offsets = values[:, known.offsets] if known.offsets else np.zeros((runs, n))
        by_delay = {delay: windows.inputs(which, delay) for delay in set(delays.tolist())}
        shared = by_delay[delays[0]]
        others = {r: by_delay[delay] for r, delay in enumerate(delays.tolist()) if delay != delays[0]}
        opened = np.tile(values[:, : known.opened], (count, 1))
        inputs = np.empty((count, runs, n))

        def at(k: int) -> Array:
            inputs[:] = shared[:, k, None]
            for r, own in others.items():
                inputs[:, r] = own[:, k]
            return inputs.reshape(-1, n)

        width = 2 * n if windows.share.any() else n  # velocities are wanted between steps alone
        motion = np.empty((windows.steps + 1, count, runs, width))
        motion[0] = starts[..., :width]
        flat = starts.reshape(-1, 2 * n)
        state = self.model.state(flat[:, :n], flat[:, n:], at(0), opened)
        for k in range(windows.steps):
            state = self.model.step(state, at(k), opened)
            motion[k + 1] = state[:, :width].reshape(count, runs, width)
        here, of, s = windows.at[rows], windows.of[rows] - which[0], windows.share[rows]
        found = motion[here, of, :, :n]
        between = np.flatnonzero(s)
        if len(between):
            found[between] = _hermite(motion, here[between], of[between], s[between], windows.h, n)
        found += offsets
        return found


def _hermite(motion: Array, at: Ints, of: Ints, share: Array, h: float, n: int) -> Array:
    """Positions between two instants of a motion, by the cubic through both with their velocities."""
    s = share[:, None, None]
    (q0, v0), (q1, v1) = ((x[..., :n], x[..., n:]) for x in (motion[at, of], motion[at + 1, of]))
    return (1 + 2 * s) * (1 - s) ** 2 * q0 + s * s * (3 - 2 * s) * q1 + h * s * (1 - s) * ((1 - s) * v0 - s * v1)
