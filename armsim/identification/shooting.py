"""All windows of logs simulated at once, in lanes: for the unknowns as they are, and for each a little changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np

from armsim.arrays import Array, Indices
from armsim.compile.threads import check_threads
from armsim.identification.unknowns import Unknowns
from armsim.identification.windows import Windows
from armsim.recording.forward_model import ForwardModel

AT_ONCE = 1e6  # numbers of a motion that are in memory at once
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
        return self.candidates(windows, values, starts[None])[0]

    def candidates(self, windows: Windows, values: Array, starts: Array, only: Indices | None = None) -> Array:
        """The same from r starts of each window, shape (r, w, 2n): shape (r, rows, n); NaN for windows that are not in `only`.

        The unknowns may have other values in each of them, shape (r, p).
        """
        runs = len(starts)
        each = np.broadcast_to(values, (runs, values.shape[-1]))
        made = np.full((runs, len(windows.q), self.n), np.nan)
        for which, rows in self._groups(windows, runs, only):
            made[:, rows] = self._run(windows, which, rows, each, starts[:, which])
        return made

    def slopes(
        self,
        windows: Windows,
        values: Array,
        starts: Array,
        both: bool,
        use: Callable[[Indices, list[Array]], Array],
    ) -> Array:
        """What `use` makes of derivatives of the positions at rows, some windows at a time, in threads.

        Changes are so small that hardly a joint stops or sets out in another step because of one. Where it does, the motion
        jumps; so of the differences to both sides that of the smaller change over the window counts, if both are asked for.

        Args:
            windows: The windows.
            values: Of the unknowns.
            starts: Positions and velocities at the windows' beginnings, shape (w, 2n).
            both: Whether to both sides.
            use: Takes indices of rows, and derivatives by the unknowns and then by the start of the row's window, in parts of
                shape (..., rows, n); gives an array for each window.

        Returns:
            What it gives, for all windows.
        """
        p, size, k = len(values), 2 * self.n, min([*self.unknowns.offsets, len(values)])
        changes = CHANGE * np.concatenate([self.unknowns.column("scale"), np.ones(size)])
        aside = np.concatenate([self._aside(values, changes), np.zeros(size)])
        first = np.where(aside < 0.0, -changes, changes)
        second = np.where(aside == 0.0, -changes, 2.0 * first)
        moved = np.delete(np.arange(p + size), self.unknowns.offsets)  # a sensor's offset moves no joint
        sides = [side[moved] for side in ((first, second) if both else (first,))]
        moves = np.concatenate([np.zeros((1, p + size)), *(side[:, None] * np.eye(p + size)[moved] for side in sides)])

        def used(group: tuple[Indices, Indices]) -> Array:
            which, rows = group
            found = self._run(windows, which, rows, values + moves[:, :p], starts[which] + moves[:, None, p:])
            with np.errstate(invalid="ignore"):
                found[1:] -= found[0]
                found[1:] /= np.concatenate(sides)[:, None, None]
            slope = found[1:]
            if both:
                begins = np.flatnonzero(np.diff(windows.of[rows], prepend=-1))
                sizes = np.add.reduceat(np.einsum("krj,krj->kr", slope, slope), begins, axis=1)
                one, other = np.split(np.where(np.isfinite(sizes), sizes, np.inf), 2)
                better = (one <= other)[:, np.searchsorted(which, windows.of[rows]), None]
                slope = np.where(better, *np.split(slope, 2))
            own = np.broadcast_to(np.eye(self.n)[:, None], (self.n, len(rows), self.n))
            return use(rows, [slope[:k], own[: p - k], slope[k:]])

        with ThreadPoolExecutor(check_threads(None)) as pool:
            return np.concatenate([*pool.map(used, self._groups(windows, len(moves)))])

    def _aside(self, values: Array, changes: Array) -> Array:
        """1 for unknowns that cannot be less, -1 for those that cannot be more, and 0."""
        aside = np.zeros(len(values))
        for i, side in product(range(len(values)), (1.0, -1.0)):
            if not self.unknowns.admits(values - side * changes[i] * np.eye(len(values))[i]):
                aside[i] = side
        return aside

    def _groups(self, windows: Windows, runs: int, only: Indices | None = None) -> Iterator[tuple[Indices, Indices]]:
        """Windows and their rows, as many at a time as find room."""
        every = np.arange(len(windows.log)) if only is None else only
        most = max(1, int(AT_ONCE / ((windows.steps + 1) * runs * len(self.model.slots))))
        for first in range(0, len(every), most):
            which = every[first : first + most]
            yield which, np.flatnonzero(np.isin(windows.of, which))

    def _run(self, windows: Windows, which: Indices, rows: Indices, values: Array, starts: Array) -> Array:
        """Positions at rows for each of r vectors of unknowns, from starts of shape (r, windows, 2n): shape (r, rows, n)."""
        n, known = self.n, self.unknowns
        motion = self._motions(windows, which, values, starts)
        at, of, s = windows.at[rows], np.searchsorted(which, windows.of[rows]), windows.share[rows]
        found = motion.reshape(len(values), -1, motion.shape[-1]).take(of * (windows.steps + 1) + at, axis=1)[..., :n]
        between = np.flatnonzero(s)
        if len(between):
            first, last = (motion[:, of[between], at[between] + k, : 2 * n] for k in (0, 1))
            found[:, between] = _hermite(first, last, s[between, None], windows.h, n)
        if known.offsets:
            found += values[:, None, known.offsets]
        return found

    def arrivals(self, windows: Windows, values: Array, starts: Array, only: Indices) -> Array:
        """Where some windows' motions are as the next ones begin, shape (w, 2n); else the next one's start."""
        after = np.diff(windows.begin, append=math.inf) / windows.h + 1e-6
        after[np.diff(windows.log, append=-1) != 0] = math.inf
        found = np.roll(starts, -1, axis=0)
        for which, _ in self._groups(windows, 1, only[after[only] < windows.steps + 1]):
            motion = self._motions(windows, which, values[None], starts[None, which])[0]
            found[which] = motion[np.arange(len(which)), after[which].astype(int), : 2 * self.n]
        return found

    def _motions(self, windows: Windows, which: Indices, values: Array, starts: Array) -> Array:
        """States of windows at all steps, as `_run` takes them, shape (r, windows, steps + 1, len(slots))."""
        n, (runs, count) = self.n, starts.shape[:2]
        delays = np.zeros(runs) if self.unknowns.delay is None else values[:, self.unknowns.delay]
        inputs = np.empty((runs, count, windows.steps, n))
        for delay in set(delays.tolist()):
            inputs[delays == delay] = windows.inputs(which, delay)
        held, flat = inputs.reshape(-1, windows.steps, n), starts.reshape(-1, 2 * n)
        opened = np.repeat(values[:, : self.unknowns.opened], count, axis=0)
        state = self.model.state(flat[:, :n], flat[:, n:], held[:, 0], opened)
        return np.asarray(self.model.rollout(state, held, opened)).reshape(runs, count, windows.steps + 1, -1)


def _hermite(first: Array, last: Array, s: Array, h: float, n: int) -> Array:
    """Positions between two instants of a motion, by the cubic through both with their velocities."""
    (q0, v0), (q1, v1) = ((x[..., :n], x[..., n:]) for x in (first, last))
    return np.asarray(
        (1 + 2 * s) * (1 - s) ** 2 * q0 + s * s * (3 - 2 * s) * q1 + h * s * (1 - s) * ((1 - s) * v0 - s * v1)
    )
