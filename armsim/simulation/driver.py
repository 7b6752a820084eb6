"""The loop over steps, chunk by chunk: for simulations, recordings and replays alike."""

from __future__ import annotations

import ctypes
import math
import time
from collections import deque
from collections.abc import Callable, Sequence

from armsim.integrate.method import Stall, stall_of
from armsim.stability.divergence import LAST_STEPS

NEVER = 2**62  # steps between rows or samples where there are none
LOOK = 0.05  # s between reports of progress
CHUNK = 0.05  # s between looks at Ctrl-C and at the progress bar
FIRST_STRETCH = 256  # steps until it is known how long they take

Progress = Callable[[int, int], None]  # done, total


def next_stretch(steps: int, seconds: float) -> int:
    """The number of steps that takes about `CHUNK` seconds, at most ten times as many as took so long [s]."""
    return max(1, min(steps * 10, int(steps * CHUNK / max(seconds, 1e-9))))


class Driver:
    """The loop over steps, with checkpoints from which the last states before a divergence are recomputed.

    Args:
        run: Carries out steps; see `armsim.compile.SteppingLoop.run`.
        state: Initial state.
        width: Numbers in a row.
        kept: Accumulators at the start.
        log_every: Steps between rows.
        sample_every: Steps between samples.
        time_ratio: (num, den): step k begins at time k num / den [s].
        progress: Called with done and total, about twenty times a second and at the end.
        total: The total for `progress`.

    Attributes:
        state: The state reached.
        kept: The accumulators so far.
        done: Number of steps carried out.
        stalled: After a divergence, why a step could not be made; see `Result.stalled`.
    """

    def __init__(
        self,
        run: Callable[..., int],
        state: Sequence[float],
        width: int = 0,
        kept: Sequence[float] = (),
        log_every: int = NEVER,
        sample_every: int = NEVER,
        time_ratio: tuple[int, int] = (1, 1),
        progress: Progress | None = None,
        total: int = 0,
    ) -> None:
        self._run = run
        self.state = (ctypes.c_double * len(state))(*state)
        self.kept = (ctypes.c_double * max(len(kept), 1))(*kept)
        self._row = (ctypes.c_double * max(width, 1))()
        self._clock = (log_every, sample_every, time_ratio)
        self._progress = progress
        self._total = total
        self._reported = time.perf_counter()
        self._stretch = FIRST_STRETCH
        self._checkpoints: deque[tuple[int, list[float], list[float]]] = deque()  # done, state, kept
        self.done = 0
        self.stalled: Stall | None = None

    def advance(self, last: int, rows: ctypes.Array | None = None) -> bool:
        """Carry out the steps before `last`; False where one left the bounds, and `state` is then the state out of bounds.

        Ctrl-C restores state and accumulators at the beginning of this call.

        Args:
            last: Step before which to stop.
            rows: Filled with the rows that are due, one after the other; may be left out if at most the first step has one.
        """
        self._checkpoints.append((self.done, list(self.state), list(self.kept)))
        while len(self._checkpoints) > 2 and self._checkpoints[1][0] <= self.done - LAST_STEPS:
            self._checkpoints.popleft()
        room = self._row if rows is None else rows
        try:
            self.done = self._run(self.state, room, self.kept, self.done, last, *self._clock)
        except KeyboardInterrupt:  # back to the last checkpoint
            self.done, self.state[:], self.kept[:] = self._checkpoints[-1]  # type: ignore[assignment]  # ctypes takes floats
            raise
        if self.done < last:
            self.stalled = stall_of(list(self.state))
            return False
        return True

    def reach(self, last: int, rows: ctypes.Array | None = None, told: bool = False) -> bool:
        """As `advance`, over steps of which at most the first has a row, and however many: Ctrl-C is heard every `CHUNK` seconds.

        Ctrl-C restores state and accumulators at the beginning of one of these stretches.

        Args:
            last: Step before which to stop.
            rows: See `advance`.
            told: Whether the progress is that of steps, and told meanwhile.
        """
        while last - self.done > self._stretch:
            began, ahead = time.perf_counter(), self._stretch
            if not self.advance(self.done + ahead, rows):
                return False
            self._stretch = next_stretch(ahead, time.perf_counter() - began)
            rows = None
            if told:
                self.report(self.done)
        return self.advance(last, rows)

    def report(self, done: int) -> None:
        """Report progress, if it is time."""
        now = time.perf_counter()
        if self._progress is not None and (now - self._reported > LOOK or done == self._total):
            self._reported = now
            self._progress(done, self._total)

    def row(self) -> list[float]:
        """The row of the state reached, by one more step from a copy of it."""
        one = (1, *self._clock[1:])
        again = (ctypes.c_double * len(self.state))(*self.state)
        spare = (ctypes.c_double * len(self.kept))(*self.kept)
        self._row[:] = [math.nan] * len(self._row)
        self._run(again, self._row, spare, self.done, self.done + 1, *one)
        return list(self._row)

    def approach(self) -> list[list[float]]:
        """After a divergence, the last states within bounds, one step apart, recomputed; `state` becomes the last of them."""
        bad = self.done
        first = max(self._checkpoints[0][0], bad - LAST_STEPS)
        step, state, _ = max((point for point in self._checkpoints if point[0] <= first), key=lambda point: point[0])
        kept = list(self.kept)
        self.state[:] = state  # type: ignore[assignment]  # ctypes takes floats
        self._again(step, first)
        states = [list(self.state)]
        for k in range(first, bad):
            self._again(k, k + 1)
            states.append(list(self.state))
        self.kept[:] = kept
        return states

    def _again(self, first: int, last: int) -> None:
        """Carry out steps once more, with their samples but without rows."""
        self._run(self.state, self._row, self.kept, first, last, NEVER, *self._clock[1:])
