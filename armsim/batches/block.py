"""Runs in vector lanes, carried to their end, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.arrays import Array, Mask
from armsim.batches.runs import COMPLETE, DIVERGED, INTERRUPTED, REFUSED, ROWS, STEPS
from armsim.batches.table_text import REASON, STATUS
from armsim.clock import Clock
from armsim.integrate.method import no_step, stall_of
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan, nearest_to_bound
from armsim.simulation.runner import DOUBLE, Departure, Job, Numbers, RowSpace, Runner

ROOM = 2**25  # bytes of rows on their way


def final_states(
    engine: NativeEngine, clock: Clock, values: Array, final: Sequence[str], stopped: Callable[[], bool]
) -> dict[str, NDArray[Any]]:
    """Carry out runs; where they have ended, as columns of a table of runs, with an entry for each run.

    Those that could not begin are refused. Of a diverged run the states are the last within bounds; where a run has none they
    are NaN, as are measures of a run that did not complete, and rows that a run has not.

    Args:
        engine: Of their variants.
        clock: When things happen.
        values: The open numbers, shape (runs, open).
        final: Names of the first states.
        stopped: Whether to stop, asked about twenty times a second.
    """
    plan, runs = engine.plan, len(values)
    flat = np.ascontiguousarray(values, dtype=float).reshape(-1)
    job = Job(plan, clock, values=flat, count=runs)  # type: ignore[arg-type]  # a buffer of doubles
    runner = Runner(engine, job)
    lanes, log = runner.lanes, LaneRows(runner, runs) if plan.columns else None
    begun = _live(runner)[:runs].copy()
    for _ in runner.until(clock.steps, log):
        if stopped():
            break
    live = _live(runner)[:runs]
    done = runner.done == clock.steps
    rows = np.empty((runs, 0, 0)) if log is None else log.end(live)
    status = np.where(begun, INTERRUPTED if not done else COMPLETE, REFUSED)
    reason = np.full(runs, "", dtype=object)
    steps = np.where(live, runner.done, 0)
    state = np.full((runs, lanes.state.size), np.nan)
    results = np.full((runs, len(plan.results)), np.nan)
    if done:
        state[live] = by_run(lanes.state)[:runs][live] + 0.0  # no signed zeros, as in rows
        results[live] = by_run(runner.finish())[:runs][live] + 0.0
    else:
        rows[live] = np.nan
    for run, left in lanes.left.items():
        state[run], steps[run] = np.add(left.before, 0.0), left.step
        status[run], reason[run] = DIVERGED, divergence(plan, clock, left)
    found = {STATUS: status, REASON: reason, STEPS: steps, ROWS: rows}
    return {**found, **dict(zip(final, state.T, strict=False)), **dict(zip(plan.results, results.T, strict=True))}


def _live(runner: Runner) -> Mask:
    return np.frombuffer(runner.lanes.live, dtype=bool)


def by_run(numbers: Numbers) -> Array:
    """Numbers as an array, shape (runs, size)."""
    blocks = len(numbers.view) // numbers.apart
    array = np.asarray(numbers.view).reshape(blocks, -1, numbers.width)[:, : numbers.size]
    return array.transpose(0, 2, 1).reshape(blocks * numbers.width, numbers.size)


def divergence(plan: LoopPlan, clock: Clock, left: Departure) -> str:
    """Where a step led a run out of its bounds, in a line."""
    t, plant = clock.at(left.step), plan.plant
    stalled = stall_of(left.after)
    if stalled is not None:
        return f"{no_step(plant.method, stalled)} at {t:g} s"
    return f"{nearest_to_bound(plant, left.before)} left all bounds at {t:g} s"


class LaneRows:
    """The rows of runs in vector lanes, as an array; see `armsim.simulation.runner.RowRoom`.

    Args:
        runner: Carries them out.
        runs: Their number.
    """

    failure = ""

    def __init__(self, runner: Runner, runs: int) -> None:
        self._runner, blocks, width = runner, runner.lanes.blocks, runner.lanes.width
        count, columns = runner.clock.rows, len(runner.plan.columns)
        self._rows = np.full((runs, count, columns), np.nan)
        self.at_once = max(1, min(count, ROOM // (blocks * width * columns * DOUBLE)))
        self._room, self._first = Numbers(blocks, self.at_once * columns, width), 0

    def space(self, first: int) -> RowSpace:
        """See `RowRoom`."""
        runs, _, columns = self._rows.shape
        begun = by_run(self._room)[:runs].reshape(runs, self.at_once, columns)
        self._rows[:, self._first : first] = begun[:, : first - self._first]
        self._first = first
        return RowSpace(self._room.address(), self._room.apart)

    def end(self, live: Mask) -> Array:
        """The rows, shape (runs, rows, columns), with those of the end; NaN where a run has none.

        Args:
            live: Which runs have come to the end, shape (runs,).
        """
        runner, clock, rows = self._runner, self._runner.clock, self._rows
        self.space(clock.rows_before(runner.done))
        if live.any() and runner.done == clock.steps and clock.steps % clock.log_every == 0:
            rows[:, -1] = by_run(runner.row())[: len(rows)]
        for run in np.flatnonzero(~live).tolist():
            left = runner.lanes.left.get(run)
            rows[run, 0 if left is None else clock.rows_before(left.step + 1) :] = np.nan
        rows[~np.isfinite(rows).all(axis=-1)] = np.nan  # the row of a step that diverges may not be finite
        return rows
