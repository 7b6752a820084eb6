"""Runs in blocks of vector lanes, carried to their end in machine code."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.batches.runs import COMPLETE, DIVERGED, INTERRUPTED, REFUSED
from armsim.compile import SteppingLoop
from armsim.integrate.method import no_step, stall_of
from armsim.simulation.driver import NEVER
from armsim.simulation.loop_plan import LoopPlan, bounds
from armsim.spec.timing import time_at

Array = NDArray[np.float64]
CHUNK = 0.05  # s between looks at Ctrl-C and at the progress
FIRST, LEAST = 128, 16  # steps before the first look, and at least between looks
ROOM = 2**25  # bytes of rows between looks
LINE = 64  # bytes of a cache line, on which vectors begin


@dataclass(frozen=True)
class Clock:
    """When things happen.

    Attributes:
        steps: Number of steps.
        sample_every: Steps between samples; None where nothing is sampled.
        time_ratio: (num, den): step k begins at time k num / den [s].
        log_every: Steps between rows; None without rows.
    """

    steps: int
    sample_every: int | None
    time_ratio: tuple[int, int]
    log_every: int | None = None

    @property
    def rows(self) -> int:
        """Number of rows of a whole run."""
        return 0 if self.log_every is None else self.steps // self.log_every + 1


@dataclass
class FinalStates:
    """Where runs have ended, one entry each.

    Attributes:
        state: The state reached; of a diverged run the last one within bounds, shape (runs, states).
        steps: Number of steps carried out.
        results: Of the measures; NaN of a run that did not complete, shape (runs, results).
        status: How they ended; those that could not begin are refused.
        reason: Where a run diverged; empty for others.
        rows: Shape (runs, rows, columns); NaN where a run has none.
    """

    state: Array
    steps: NDArray[np.int64]
    results: Array
    status: NDArray[np.str_]
    reason: NDArray[np.object_]
    rows: Array


class Lanes:
    """Carries out runs in blocks of vector lanes.

    Args:
        loop: The compiled loop.
        plan: What it computes.
        clock: When things happen.
        stopped: Whether to stop, asked about twenty times a second.
    """

    def __init__(self, loop: SteppingLoop, plan: LoopPlan, clock: Clock, stopped: Callable[[], bool]) -> None:
        self.loop, self.plan, self.clock, self.stopped = loop, plan, clock, stopped
        self.states, self.columns = len(plan.plant.slots), len(plan.plant.columns) if plan.rows else 0
        self._bounds = np.array(bounds(plan.plant))[:, None]
        self._checked = np.isfinite(self._bounds)

    def run(self, values: Array) -> FinalStates:
        """The runs with these open numbers, shape (runs, open), from their start to their end."""
        runs, width, native = len(values), self.loop.lanes, self.loop.blocks
        blocks = -(-runs // width)
        padded = np.empty((blocks * width, values.shape[1]))
        padded[:runs], padded[runs:] = values, values[-1:]
        self.open = _aligned((blocks, max(values.shape[1], 1), width))
        self.open[:, : values.shape[1]] = padded.reshape(blocks, width, -1).transpose(0, 2, 1)
        self.state = _aligned((blocks, self.states, width))
        self.after = _aligned((blocks, self.states, width))
        self.kept = _aligned((blocks, max(len(self.plan.kept), 1), width))
        self.kept[:, : len(self.plan.kept)] = np.array(self.plan.kept)[None, :, None]
        checks, self.reached = _aligned((blocks, 1, width)), np.zeros(blocks, dtype=np.int64)
        native.begin(blocks, 0, 0, self.open.ctypes.data, self.state.ctypes.data, checks.ctypes.data)
        self.live = checks[:, 0, :] > 0.0
        self.final = FinalStates(
            state=np.full((blocks * width, self.states), np.nan),
            steps=np.zeros(blocks * width, dtype=np.int64),
            results=np.full((blocks * width, len(self.plan.results)), np.nan),
            status=np.where(self.live.reshape(-1), INTERRUPTED, REFUSED),
            reason=np.full(blocks * width, "", dtype=object),
            rows=np.full((blocks * width, self.clock.rows, self.columns), np.nan),
        )
        self.live.reshape(-1)[runs:] = False
        for block in range(blocks):
            self._replace_dead(block)
        self._advance(blocks)
        rows = self.final.rows
        rows[~np.isfinite(rows).all(axis=-1)] = np.nan  # the row of a step that diverges may not be finite
        return FinalStates(**{name: values[:runs] for name, values in vars(self.final).items()})

    def _advance(self, blocks: int) -> None:
        """Carry out all steps, stretch by stretch, and measure those that came to the end."""
        clock, done, chunk = self.clock, 0, FIRST
        row = blocks * self.columns * self.loop.lanes * 8
        longest = max(1, ROOM // row) * clock.log_every if clock.log_every and row else clock.steps
        while done < clock.steps and self.live.any() and not self.stopped():
            self.seconds = 0.0
            last = min(done + min(chunk, longest), clock.steps)
            for first, count in _spans(np.any(self.live, axis=1)):
                self._stretch(first, count, done, last)
            done = last
            chunk = max(LEAST, min(10 * chunk, int(chunk * CHUNK / max(self.seconds, 1e-9))))
        state = self.state.transpose(0, 2, 1).reshape(-1, self.states)
        live = self.live.reshape(-1)
        self.final.state[live], self.final.steps[live] = state[live], done
        if done < clock.steps:
            return
        self.final.status[live] = COMPLETE
        due = clock.sample_every is not None and done % clock.sample_every == 0
        self._last_row(blocks)
        if self.plan.results:
            results = _aligned((blocks, len(self.plan.results), self.loop.lanes))
            addresses = (x.ctypes.data for x in (self.state, self.kept, self.open, results))
            self.loop.blocks.finish(blocks, 0, 0, *addresses, time_at(done, clock.time_ratio), due)
            found = results.transpose(0, 2, 1).reshape(len(live), -1)
            self.final.results[live] = found[live] + 0.0  # no signed zeros, as in rows

    def _stretch(self, first_block: int, blocks: int, first: int, last: int) -> None:
        """Carry out the steps first <= k < last of some blocks; runs that diverge end there."""
        clock = self.clock
        every = NEVER if clock.log_every is None else clock.log_every
        begun = -(-first // every)  # rows before
        count = -(-last // every) - begun
        rows = _aligned((blocks, max(count, 1) if self.columns else 0, self.columns, self.loop.lanes))
        some = slice(first_block, first_block + blocks)
        numbers = (self.state[some], self.after[some], rows, self.kept[some], self.open[some])
        num, den = clock.time_ratio
        began = time.perf_counter()
        self.loop.blocks.run(
            blocks,
            self.reached[some].ctypes.data,
            rows.shape[1] * rows.shape[2],
            *(x.ctypes.data for x in numbers),
            first,
            last,
            every,
            clock.sample_every or 1,
            1,
            num,
            float(den),
            0.0,
        )
        self.seconds += time.perf_counter() - began
        if self.columns and count:
            self._keep_rows(first_block, rows[:, :count], begun, every)
        for block in np.flatnonzero(self.reached[some] < last) + first_block:
            self._leave(int(block), last)

    def _keep_rows(self, first_block: int, rows: Array, begun: int, every: int) -> None:
        """Put rows in their places: of runs that are alive, and only those before a run that stopped."""
        width = self.loop.lanes
        for i, block in enumerate(range(first_block, first_block + len(rows))):
            count = min(rows.shape[1], self.reached[block] // every + 1 - begun)
            lanes = np.flatnonzero(self.live[block])
            if count > 0 and len(lanes):
                into = self.final.rows[block * width : (block + 1) * width, begun : begun + count]
                into[lanes] = rows[i, :count].transpose(2, 0, 1)[lanes]

    def _leave(self, block: int, last: int) -> None:
        """End the runs of a block that a step led out of bounds, and go on with the others."""
        step, width = int(self.reached[block]), self.loop.lanes
        out = (self._checked & ~(np.abs(self.after[block]) <= self._bounds)).any(axis=0)
        for lane in np.flatnonzero(out & self.live[block]):
            run = block * width + lane
            self.final.state[run], self.final.steps[run] = self.state[block, :, lane], step
            self.final.status[run] = DIVERGED
            self.final.reason[run] = self._divergence(self.state[block, :, lane], self.after[block, :, lane], step)
        self.live[block] &= ~out
        self.state[block] = self.after[block]
        if self._replace_dead(block):
            self._stretch(block, 1, step + 1, last)

    def _divergence(self, state: Array, after: Array, step: int) -> str:
        """Where a step led a run out of its bounds, in a line."""
        t, plant = time_at(step, self.clock.time_ratio), self.plan.plant
        stalled = stall_of(after.tolist())
        if stalled is not None:
            return f"{no_step(plant.method, stalled)} at {t:g} s"
        limits = self._bounds[:, 0]
        shares = np.where(np.isfinite(limits), np.abs(state) / limits, 0.0)
        return f"{plant.slots[int(np.argmax(shares))]} left all bounds at {t:g} s"

    def _replace_dead(self, block: int) -> bool:
        """Let lanes without a run repeat one that has, so that they hold up no other; False if there is none."""
        alive = np.flatnonzero(self.live[block])
        if not len(alive):
            self.state[block] = 0.0
            return False
        dead = ~self.live[block]
        for numbers in (self.state, self.kept, self.open):
            numbers[block][:, dead] = numbers[block][:, alive[:1]]
        return True

    def _last_row(self, blocks: int) -> None:
        """The row of the end, if one is due, by one more step from a copy of the states."""
        clock = self.clock
        if clock.log_every is None or clock.steps % clock.log_every:
            return
        rows = _aligned((blocks, 1, self.columns, self.loop.lanes))
        numbers = (self.state.copy(), self.after, rows, self.kept.copy(), self.open)
        num, den = clock.time_ratio
        addresses = (x.ctypes.data for x in numbers)
        every = (1, clock.sample_every or 1, 1, num, float(den), 0.0)
        self.loop.blocks.run(
            blocks, self.reached.ctypes.data, self.columns, *addresses, clock.steps, clock.steps + 1, *every
        )
        last = rows.transpose(0, 3, 1, 2).reshape(-1, self.columns)
        live = self.live.reshape(-1)
        self.final.rows[live, -1] = last[live]


def _spans(which: NDArray[Any]) -> list[tuple[int, int]]:
    """The stretches of true entries: first, and how many."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], which, [False]])))
    return [(int(a), int(b - a)) for a, b in edges.reshape(-1, 2)]


def _aligned(shape: tuple[int, ...]) -> Array:
    """An array of zeros that begins on a cache line."""
    count = int(np.prod(shape))
    room = np.zeros(count + LINE // 8)
    begin = -(room.ctypes.data // 8) % (LINE // 8)
    return room[begin : begin + count].reshape(shape)
