"""The loop over steps, stretch by stretch: for simulations, recordings and replays alike."""

from __future__ import annotations

import ctypes
import math
import time
from collections import deque
from collections.abc import Callable, Sequence

from armsim.integrate.adaptive import FAILED
from armsim.stability.divergence import LAST_STEPS

NEVER = 2**62  # steps between rows, or between samples, where there are none
LOOK = 0.05  # s between reports of progress

Progress = Callable[[int, int], None]  # done, and in all


class Driver:
    """Steps of a loop, with the way back where they lead out of bounds.

    Args:
        run: Carries out steps; see `armsim.compile.FixedStepLoop.run`.
        state: To begin with.
        width: Numbers in a row.
        peaks: Quantities whose largest magnitude is kept.
        log_every: Steps between rows.
        sample_every: Steps between samples.
        time_ratio: (num, den): step k begins at the time k num / den.
        progress: Called about twenty times a second, and at the end.
        total: What it is told there is to do in all.

    Attributes:
        state: The state reached.
        peaks: The largest magnitudes so far.
        done: Steps carried out.
        stalled: Of a loop that left all bounds, whether that was because a step could not be made.
    """

    def __init__(
        self,
        run: Callable[..., int],
        state: Sequence[float],
        width: int = 0,
        peaks: int = 0,
        log_every: int = NEVER,
        sample_every: int = NEVER,
        time_ratio: tuple[int, int] = (1, 1),
        progress: Progress | None = None,
        total: int = 0,
    ) -> None:
        self._run = run
        self.state = (ctypes.c_double * len(state))(*state)
        self.peaks = (ctypes.c_double * max(peaks, 1))()
        self._row = (ctypes.c_double * max(width, 1))()
        self._clock = (log_every, sample_every, time_ratio)
        self._progress = progress
        self._total = total
        self._looked = time.perf_counter()
        self._marks: deque[tuple[int, list[float]]] = deque()
        self.done = 0
        self.stalled = False

    def advance(self, last: int, rows: ctypes.Array | None = None) -> bool:
        """Carry out the steps before `last`; False where one led out of bounds, and `state` is then what it led to.

        Ctrl-C leaves the state at the stretch's beginning.

        Args:
            last: Step before which to stop.
            rows: Filled with the rows that are due, one after the other; needed where any but one at the first step is.
        """
        self._marks.append((self.done, list(self.state)))
        while len(self._marks) > 2 and self._marks[1][0] <= self.done - LAST_STEPS:
            self._marks.popleft()
        room = self._row if rows is None else rows
        try:
            self.done = self._run(self.state, room, self.peaks, self.done, last, *self._clock)
        except KeyboardInterrupt:  # go back to where the stretch began
            self.done, self.state[:] = self._marks[-1]  # type: ignore[assignment]  # ctypes takes floats
            raise
        if self.done < last:
            self.stalled = FAILED in self.state
            return False
        return True

    def look(self, done: int) -> None:
        """Report progress, if it is time."""
        now = time.perf_counter()
        if self._progress is not None and (now - self._looked > LOOK or done == self._total):
            self._looked = now
            self._progress(done, self._total)

    def row(self) -> list[float]:
        """The row of the state reached: by one more step from a copy of it, of which nothing else is kept."""
        one = (1, *self._clock[1:])
        again = (ctypes.c_double * len(self.state))(*self.state)
        self._row[:] = [math.nan] * len(self._row)
        self._run(again, self._row, self.peaks, self.done, self.done + 1, *one)
        return list(self._row)

    def approach(self) -> list[list[float]]:
        """The last states within bounds, one step apart, of a loop that has left them; `state` is then the last of them."""
        bad = self.done
        first = max(self._marks[0][0], bad - LAST_STEPS)
        step, state = max((mark for mark in self._marks if mark[0] <= first), key=lambda mark: mark[0])
        self.state[:] = state  # type: ignore[assignment]  # ctypes takes floats
        self._again(step, first)
        states = [list(self.state)]
        for k in range(first, bad):
            self._again(k, k + 1)
            states.append(list(self.state))
        return states

    def _again(self, first: int, last: int) -> None:
        self._run(self.state, self._row, self.peaks, first, last, NEVER, *self._clock[1:])
