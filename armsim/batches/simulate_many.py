"""Many runs of a scenario at once: one kernel for all values of the open numbers, in vector lanes, on threads."""

from __future__ import annotations

import math
import operator
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armsim.batches.block import Clock, Ended, Lanes
from armsim.batches.many import Many
from armsim.batches.variants import Families, Family
from armsim.compile import SteppingLoop
from armsim.errors import UsageError
from armsim.integrate.method import no_step, stall_of
from armsim.loading.open_numbers import open_numbers
from armsim.simulation.loop_plan import bounds
from armsim.simulation.row_log import LARGEST_LOG
from armsim.spec.timing import time_at
from armsim.stability.advice import Advice
from armsim.stability.step_advice import heed

Array = NDArray[np.float64]
Progress = Callable[[int, int], None]
CarriedOut = tuple[
    NDArray[np.int64], Ended | None, float
]  # runs whose step is not refused, their ends, s that judging took
Waiting = dict[Future[CarriedOut], NDArray[np.int64]]  # by what comes of them, runs that are asked for
WAIT = 0.05  # s between looks at Ctrl-C
UNIT = 32  # blocks that a thread carries out at a time, at most
TOLD = 3  # runs of a family whose advice is put into words, which takes as long as thousands of steps
JUDGED = (
    1000  # runs of a family whose step is judged for warnings, not only for a refusal: that takes ten times as long
)


def simulate_many(
    scenario: str | PathLike[str] | Mapping[str, Any],
    values: Mapping[str, ArrayLike],
    overrides: Mapping[str, Any] | None = None,
    measure: Sequence[str] | str = (),
    rows: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    force_step: bool = False,
) -> Many:
    """Run a scenario many times, with other numbers each time; every run has the bits of `armsim.simulate` with these written in.

    A run that cannot be made is refused, one that diverges stops alone; Ctrl-C keeps the runs that are done.

    Args:
        scenario: A scenario file, the name of a shipped one, or a file's content.
        values: For each number by its path, as `--set` names it, the values of m runs: {"control.kp[0]": kp, "payload.mass":
            mass}, in the file's unit. A path that stands for k numbers (`control.kp`, `robot.joints[*].motor.Kp`) has (m, k)
            values, or m for all alike. One value alone is that of all runs.
        overrides: Values in place of the file's for all runs, by path.
        measure: Names of what is measured, see docs/measures.md.
        rows: Whether rows are kept, at the scenario's `log.every`.
        threads: How many threads; as many as there are processors unless given.
        progress: Called with runs done and runs in all, from this thread; an exception that it raises ends the call.
        force_step: Run even with a step that is refused.

    Returns:
        Arrays with an entry for each run.

    Raises:
        FileFaults: The scenario or its robot cannot be run; says where and why.
        UsageError: There is no number at a path, an array has another shape, or a measure is unknown.
    """
    began = time.perf_counter()
    if not isinstance(values, Mapping):  # a data frame, say
        values = dict(values.items()) if hasattr(values, "items") else {}
    if not values or not all(isinstance(path, str) for path in values):
        raise UsageError.of(
            "values", "a path with its values", "none", 'write for example {"control.kp[0]": [40, 60, 80]}'
        )
    opened = open_numbers(scenario, values, overrides)
    matrix = opened.matrix(values)
    batch = Batch(Families(opened, measure, rows), matrix, check_threads(threads), progress, force_step)
    batch.run()
    shaped = {path: _given(values[path], len(matrix)) for path in opened.asked}
    return batch.result(shaped, time.perf_counter() - began)


def check_threads(threads: int | None) -> int:
    """A number of threads; as many as there are processors for this process unless given.

    Raises:
        UsageError: It is less than 1.
    """
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        count = 0 if isinstance(threads, bool) else operator.index(threads)
    except TypeError:
        count = 0
    if count < 1:
        raise UsageError.of("threads", "how many, 1 or more", repr(threads), "leave it out to take all processors")
    return count


def _given(values: ArrayLike, runs: int) -> Array:
    array = np.array(values, dtype=float)
    if array.ndim == 0:
        return np.full(runs, float(array))
    return array[:, 0] if array.shape[1:] == (1,) else array


class Batch:
    """Runs that are carried out together.

    Args:
        families: The scenario, and its kernels.
        matrix: The open numbers, shape (runs, places).
        threads: How many.
        progress: See `simulate_many`.
        force_step: See `simulate_many`.
        alone: Whether what is said of a run depends on no other one: no warnings, and refused steps in a line. Threads then judge
            the runs that they carry out, so that some judge while others are in machine code.
    """

    def __init__(
        self,
        families: Families,
        matrix: Array,
        threads: int,
        progress: Progress | None = None,
        force_step: bool = False,
        alone: bool = False,
    ) -> None:
        self.kernels, self.opened, self.matrix, self.with_rows = families, families.opened, matrix, families.rows
        self.threads, self.progress, self.force_step, self.alone = threads, progress, force_step, alone
        self.status = np.full(len(matrix), "interrupted", dtype="<U11")
        self.reason = np.full(len(matrix), "", dtype=object)
        self.warnings: dict[int, list[str]] = {}
        self.families: list[tuple[Mapping[str, float], int]] = []
        self.seconds = {"prepare_s": 0.0, "advice_s": 0.0, "loop_s": 0.0}
        self.stop = threading.Event()
        self.interrupted = False
        self.done = 0
        self.template: Family | None = None

    def run(self) -> None:
        """Check, group and run."""
        for run, why in self.opened.refused(self.matrix).items():
            self.refuse(run, why)
        valid = np.flatnonzero(self.status != "refused")
        if not len(valid):
            self._room(Family(self.opened, {}, self._sound_values(), self.kernels.measure, self.with_rows))
            self._count(len(self.matrix))
            return
        self.done = len(self.matrix) - len(valid)
        groups = self.opened.groups(self.matrix[valid])
        try:
            for written, members in groups:
                self._family(written, valid[members])
        except KeyboardInterrupt:
            if self.template is None:
                raise
            self.interrupted = True

    def _sound_values(self) -> list[float]:
        """Values that the files take."""
        return [self.opened.number(place) for place in self.opened.places]

    def refuse(self, run: int, why: str) -> None:
        """Refuse a run."""
        self.status[run], self.reason[run] = "refused", why

    def _family(self, written: Mapping[str, float], members: NDArray[np.int64]) -> None:
        began = time.perf_counter()
        first = self.matrix[members[0]].tolist()
        family, loop = self.kernels.of(written, first, one=len(members) == 1)
        self.families.append((dict(written), len(members)))
        if self.template is None:
            self._room(family)
        self.kernels.make_ready(family, loop, first, judged=not (self.alone and self.force_step))
        ready = time.perf_counter()
        stable = members if self.alone else self._advised(family, members)
        advised = time.perf_counter()
        self.seconds["prepare_s"] += ready - began
        self.seconds["advice_s"] += advised - ready
        try:
            self._count(len(members) - len(stable))
            self._carry_out(family, loop, stable)
        finally:
            self.seconds["loop_s"] += time.perf_counter() - advised

    def _advised(self, family: Family, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """The members whose step is not refused; what is said of the others, and of steps that are doubtful, is kept."""
        rows, adviser = self.matrix[members], family.adviser
        refused = adviser.refuses(rows, threads=self.threads)
        judged = np.flatnonzero(~refused)[:JUDGED]
        doubtful = judged[adviser.advice(rows[judged], self.threads).speaks]
        for spoken_of in (members[refused], members[doubtful]):
            for run in spoken_of[:TOLD].tolist():
                self._say(run, family, adviser.one(self.matrix[run]))
            for run in spoken_of[TOLD:].tolist():
                self._say_as(run, family, int(spoken_of[0]))
        kept: NDArray[np.int64] = members[self.status[members] != "refused"]
        return kept

    def _say_as(self, run: int, family: Family, other: int) -> None:
        """Refuse a run for its step as another, or keep that something is said of it as of the other."""
        if self.status[other] == "refused":
            self.refuse(run, f"integrator.dt: {family.scenario.dt:g} s is too long a step, as it is for run {other}")
        else:
            self.warnings[run] = [f"there is something to say of the step, as of that of run {other}"]

    def _say(self, run: int, family: Family, advice: Advice) -> None:
        """Refuse a run for its step, or keep what is said of it."""
        try:
            said = heed(advice, self.force_step).said(family.scenario.method, family.scenario.dt)
        except UsageError as error:
            self.refuse(run, str(error))
        else:
            if said:
                self.warnings[run] = said

    def _room(self, family: Family) -> None:
        """Arrays for the results."""
        runs, n = len(self.matrix), family.plan.plant.arm.n
        self.template = family
        self.clock = Clock(
            family.scenario.steps,
            family.scenario.sample_every,
            family.scenario.time_ratio,
            family.scenario.log_every if self.with_rows else None,
        )
        columns = len(family.plan.plant.columns) if self.with_rows else 0
        if runs * self.clock.rows * columns * 8 > LARGEST_LOG:
            raise UsageError.of(
                "rows",
                f"rows that take at most {LARGEST_LOG // 2**30} GiB",
                f"{runs} runs of {self.clock.rows} rows of {columns} numbers",
                "log less often, or ask for measures instead",
            )
        self.q, self.qd = np.full((runs, n), np.nan), np.full((runs, n), np.nan)
        self.steps = np.zeros(runs, dtype=np.int64)
        self.results = np.full((runs, len(family.plan.results)), np.nan)
        self.rows = np.full((runs, self.clock.rows, columns), np.nan)

    def _carry_out(self, family: Family, loop: SteppingLoop, members: NDArray[np.int64]) -> None:
        """Run the members of a family on threads; a single one at once."""
        width = loop.lanes
        blocks = -(-len(members) // width)
        unit = max(1, min(UNIT, blocks // (4 * self.threads))) * width
        parts = [members[first : first + unit] for first in range(0, len(members), unit)]
        clock = Clock(self.clock.steps, family.scenario.sample_every, self.clock.time_ratio, self.clock.log_every)

        def carry_out(part: NDArray[np.int64]) -> CarriedOut:
            began = time.perf_counter()
            if self.alone and not self.force_step and not self.stop.is_set():
                part = part[~family.adviser.refuses(self.matrix[part])]
            judged = time.perf_counter() - began
            if not len(part):
                return part, None, judged
            return part, Lanes(loop, family.plan, clock, self.stop.is_set).run(self.matrix[part]), judged

        if len(members) == 1:  # which a thread would take longer to begin than to do
            self._keep(family, members, carry_out(members), threads=1)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            waiting: Waiting = {}
            left = iter(parts)
            try:
                for part in left:
                    waiting[pool.submit(carry_out, part)] = part
                    while len(waiting) >= 2 * self.threads:
                        self._collect(family, waiting)
                while waiting:
                    self._collect(family, waiting)
            except BaseException:  # Ctrl-C, or an error of the progress
                self.stop.set()
                self.progress = None
                while waiting:
                    self._collect(family, waiting)
                raise

    def _collect(self, family: Family, waiting: Waiting) -> None:
        """Take over what is done; wait for it a little."""
        finished, _ = wait(waiting, timeout=WAIT, return_when=FIRST_COMPLETED)
        for future in finished:
            part = waiting.pop(future)
            self._keep(family, part, future.result(), self.threads)

    def _keep(self, family: Family, part: NDArray[np.int64], done: CarriedOut, threads: int) -> None:
        """Keep what came of runs that were asked for, of which so many threads each had a share."""
        kept, ended, judged = done
        self.seconds["advice_s"] += judged / threads
        self.seconds["loop_s"] -= judged / threads
        if ended is not None:
            self._take(family, kept, ended)
        for run in np.setdiff1d(part, kept, assume_unique=True).tolist() if len(kept) < len(part) else ():
            self.refuse(run, f"integrator.dt: {family.scenario.dt:g} s is too long a step")
        self._count(len(part))

    def _count(self, runs: int) -> None:
        """Runs that are done, for the progress."""
        self.done += runs
        if runs and self.progress is not None:
            self.progress(self.done, len(self.matrix))

    def _take(self, family: Family, part: NDArray[np.int64], ended: Ended) -> None:
        n = family.plan.plant.arm.n
        self.q[part], self.qd[part] = ended.state[:, :n] + 0.0, ended.state[:, n : 2 * n] + 0.0
        self.steps[part], self.results[part], self.rows[part] = ended.steps, ended.results, ended.rows
        self.status[part[ended.complete]] = "complete"
        self.status[part[ended.diverged]] = "diverged"
        for i in np.flatnonzero(ended.diverged):
            self.reason[part[i]] = _divergence(family, ended.state[i], ended.after[i], int(ended.steps[i]))
        for i in np.flatnonzero(~ended.sound):
            self.refuse(int(part[i]), family.undetermined(self.matrix[part[i]].tolist()))
        unfinished = ~(ended.complete | ended.diverged)
        self.q[part[unfinished]], self.qd[part[unfinished]] = math.nan, math.nan
        self.rows[part[unfinished]] = math.nan

    def result(self, values: Mapping[str, Array], seconds: float) -> Many:
        """The arrays."""
        family = self.template
        assert family is not None
        plant = family.plan.plant
        texts = [heading.text for heading in plant.headings()]
        kinds = [column.quantity for column in plant.columns]
        q, qd = (
            tuple(text for text, kind in zip(texts, kinds, strict=True) if kind == wanted) for wanted in ("q", "qd")
        )
        num, den = self.clock.time_ratio
        every = self.clock.log_every or 0
        return Many(
            scenario=family.scenario.name,
            joints=tuple(joint.name for joint in plant.arm.joints),
            given=values,
            q=self.q,
            qd=self.qd,
            steps=self.steps,
            status=self.status,
            reason=self.reason,
            warnings=self.warnings,
            measures=dict(zip(family.plan.results, self.results.T, strict=True)),
            t=np.array([k * every * num / den for k in range(self.clock.rows)]),
            rows=self.rows,
            columns=tuple(texts) if self.with_rows else (),
            headings=(q, qd),
            families=tuple(self.families),
            seconds={**self.seconds, "total_s": seconds},
        )


def _divergence(family: Family, state: Array, after: Array, steps: int) -> str:
    """Where a run left its bounds, in a line."""
    plant, scenario = family.plan.plant, family.scenario
    t = time_at(steps, scenario.time_ratio)
    stalled = stall_of(after.tolist())
    if stalled is not None:
        return f"{no_step(plant.method, stalled)} at {t:g} s"
    limits = np.array(bounds(plant))
    shares = np.where(np.isfinite(limits), np.abs(state) / limits, 0.0)
    return f"{plant.slots[int(np.argmax(shares))]} left all bounds at {t:g} s"
