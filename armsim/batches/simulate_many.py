"""Many runs of a scenario at once: one kernel for all values of the open numbers, in vector lanes, on threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.arrays import Array, ArrayLike, Indices
from armsim.batches.block import final_states
from armsim.batches.runs import REFUSED, ROWS, STEPS, Runs
from armsim.batches.table_text import REASON, STATUS
from armsim.batches.variants import ENDS, OpenScenario, Variants
from armsim.clock import NEVER, Clock
from armsim.compile.threads import check_threads
from armsim.errors import UsageError
from armsim.loading import Given, Overrides
from armsim.loading.open_numbers import open_numbers
from armsim.progress import Progress
from armsim.simulation.engine import NativeEngine
from armsim.simulation.row_log import LARGEST_LOG
from armsim.stability.advice import Advice
from armsim.stability.step_advice import heed

Columns = Mapping[str, NDArray[Any]]
Part = tuple[Indices, Columns | None, float]  # runs whose step is not refused, their ends, s of advice
Waiting = dict[Future[Part], Indices]  # by what comes of them, runs that are asked for
WAIT = 0.05  # s between looks at Ctrl-C
UNIT = 32  # blocks that a thread carries out at a time, at most
TOLD = 3  # runs of a family whose advice is put into words, which takes as long as thousands of steps
JUDGED = 256  # runs of a family whose step is judged for warnings, not only for a refusal: that takes ten times as long


def simulate_many(
    scenario: Given,
    values: Mapping[str, ArrayLike],
    overrides: Overrides | None = None,
    measure: Sequence[str] | str = (),
    rows: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    force_step: bool = False,
) -> Runs:
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
        A table with an entry for each run in every column.

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
    kernels = OpenScenario(opened, measure, replace(ENDS, rows=rows))
    batch = Batch(kernels, matrix, check_threads(threads), progress, force_step)
    shaped = {path: _shaped(values[path], len(matrix)) for path in opened.asked}
    runs = _blank(batch.template, len(matrix), shaped)
    whole = batch.run(runs)
    seconds = {**batch.seconds, "total_s": time.perf_counter() - began}
    return replace(runs, whole=whole, warnings=batch.warnings, families=tuple(batch.families), seconds=seconds)


def _shaped(values: ArrayLike, runs: int) -> Array:
    array = np.array(values, dtype=float)
    if array.ndim == 0:
        return np.full(runs, float(array))
    return array[:, 0] if array.shape[1:] == (1,) else array


def _blank(variants: Variants, count: int, values: Mapping[str, Array]) -> Runs:
    """The table of a batch, with final states, and with rows where they are asked for.

    Raises:
        UsageError: Rows would take more than `LARGEST_LOG`.
    """
    scenario, plant, clock = variants.scenario, variants.plan.plant, clock_of(variants)
    texts = tuple(heading.text for heading in plant.layout.headings())
    columns = texts if variants.plan.rows else ()
    kinds = [column.quantity for column in plant.layout.columns]
    final = [text for wanted in ("q", "qd") for text, kind in zip(texts, kinds, strict=True) if kind == wanted]
    if count * clock.rows * len(columns) * 8 > LARGEST_LOG:
        raise UsageError.of(
            "rows",
            f"rows that take at most {LARGEST_LOG // 2**30} GiB",
            f"{count} runs of {clock.rows} rows of {len(columns)} numbers",
            "log less often, or ask for measures instead",
        )
    runs = Runs.blank(
        scenario.name,
        count,
        values,
        variants.plan.results,
        final=tuple(final),
        joints=tuple(joint.name for joint in plant.arm.joints),
        t=np.array([clock.at(k * clock.log_every) for k in range(clock.rows)]),
        columns=columns,
    )
    more = {STEPS: np.zeros(count, dtype=np.int64), ROWS: np.full((count, clock.rows, len(columns)), np.nan)}
    return replace(runs, table={**runs.table, **more})


def clock_of(variants: Variants) -> Clock:
    """When things happen in runs of variants."""
    clock = variants.scenario.clock
    return clock if variants.plan.rows else replace(clock, log_every=NEVER)


class Batch:
    """Runs that are carried out together.

    Args:
        kernels: The scenario, and its kernels.
        matrix: The open numbers, shape (runs, places).
        threads: How many.
        progress: See `simulate_many`.
        force_step: See `simulate_many`.
        alone: Whether what is said of a run depends on no other one: no warnings, and refused steps in a line. Threads then judge
            the runs that they carry out, so that some judge while others are in machine code.

    Attributes:
        warnings: Of the advice on the step, by run.
        families: The groups that one kernel each has served: the numbers that were written in, and how many runs there are.
        seconds: Wall time by part [s].
    """

    def __init__(
        self,
        kernels: OpenScenario,
        matrix: Array,
        threads: int,
        progress: Progress | None = None,
        force_step: bool = False,
        alone: bool = False,
    ) -> None:
        self.kernels, self.opened, self.matrix = kernels, kernels.opened, matrix
        self.threads, self.progress, self.force_step, self.alone = threads, progress, force_step, alone
        self.warnings: dict[int, list[str]] = {}
        self.families: list[tuple[Mapping[str, float], int]] = []
        self.seconds = {"prepare_s": 0.0, "advice_s": 0.0, "loop_s": 0.0}
        self.stop = threading.Event()
        self.refused = self.opened.refused(matrix)
        valid = np.setdiff1d(np.arange(len(matrix)), [*self.refused])
        groups = self.opened.groups(matrix[valid]) if len(valid) else []
        self.groups = [(written, valid[members]) for written, members in groups]

    @cached_property
    def template(self) -> Variants:
        """The variants of the first run that is not refused; of the file's values if there is none."""
        began = time.perf_counter()
        if self.groups:
            written, members = self.groups[0]
            variants = self.kernels.variants(written, self.matrix[members[0]].tolist())
        else:
            sound = [self.opened.number(place) for place in self.opened.places]
            variants = self.kernels.variants({}, sound)
        self.seconds["prepare_s"] += time.perf_counter() - began
        return variants

    def run(self, runs: Runs, members: Indices | None = None, before: int = 0) -> bool:
        """Carry the runs out.

        Args:
            runs: The table that they fill.
            members: Their places in it; all of them unless given.
            before: How many of its runs are done, for the progress.

        Returns:
            Whether all were carried out, and Ctrl-C did not come.
        """
        self.table, self.total, self.done = runs.table, runs.done, before
        self.members = np.arange(len(self.matrix)) if members is None else members
        self.clock, self.final = clock_of(self.template), runs.final
        for run, why in self.refused.items():
            self.refuse(run, why)
        if not self.groups:
            self._count(len(self.matrix))
            return True
        self.done += len(self.refused)
        try:
            for written, places in self.groups:
                self._family(written, places)
        except KeyboardInterrupt:
            return False
        return True

    def refuse(self, run: int, why: str) -> None:
        """Refuse a run."""
        self.table[STATUS][self.members[run]], self.table[REASON][self.members[run]] = REFUSED, why

    def _family(self, written: Mapping[str, float], members: Indices) -> None:
        began = time.perf_counter()
        first = self.matrix[members[0]].tolist()
        variants = self.kernels.variants(written, first)
        self.families.append((dict(written), len(members)))
        engine = variants.engine(lanes=1 if len(members) == 1 else None)
        if not (self.alone and self.force_step):
            variants.judge(first)
        ready = time.perf_counter()
        stable = members if self.alone else self._advised(variants, members)
        advised = time.perf_counter()
        self.seconds["prepare_s"] += ready - began
        self.seconds["advice_s"] += advised - ready
        try:
            self._count(len(members) - len(stable))
            self._simulate(variants, engine, stable)
        finally:
            self.seconds["loop_s"] += time.perf_counter() - advised

    def _advised(self, variants: Variants, members: Indices) -> Indices:
        """The members whose step is not refused; what is said of the others, and of steps that are doubtful, is kept."""
        rows, adviser = self.matrix[members], variants.adviser
        refused = adviser.refuses(rows, threads=self.threads)
        sound = np.flatnonzero(~refused)
        judged = sound[:: -(-len(sound) // JUDGED) or 1]
        _, speaks = adviser.verdicts(rows[judged], self.threads)
        doubtful = judged[speaks]
        for spoken_of in (members[refused], members[doubtful]):
            for run in spoken_of[:TOLD].tolist():
                self._say(run, variants, adviser.one(self.matrix[run]))
            for run in spoken_of[TOLD:].tolist():
                self._say_as(run, variants, int(spoken_of[0]))
        kept: Indices = members[self._status(members) != REFUSED]
        return kept

    def _status(self, runs: int | Indices) -> Any:
        return self.table[STATUS][self.members[runs]]

    def _say_as(self, run: int, variants: Variants, other: int) -> None:
        """Refuse a run for its step as another, or keep that something is said of it as of the other."""
        if self._status(other) == REFUSED:
            self.refuse(run, f"integrator.dt: {variants.scenario.dt:g} s is too long a step, as it is for run {other}")
        else:
            self.warnings[run] = [f"there is something to say of the step, as of that of run {other}"]

    def _say(self, run: int, variants: Variants, advice: Advice) -> None:
        """Refuse a run for its step, or keep what is said of it."""
        try:
            said = heed(advice, self.force_step).said(variants.scenario.method, variants.scenario.dt)
        except UsageError as error:
            self.refuse(run, str(error))
        else:
            if said:
                self.warnings[run] = said

    def _simulate(self, variants: Variants, engine: NativeEngine, members: Indices) -> None:
        """Run variants on threads; a single one at once."""
        width = engine.width
        blocks = -(-len(members) // width)
        unit = max(1, min(UNIT, blocks // (4 * self.threads))) * width
        parts = [members[first : first + unit] for first in range(0, len(members), unit)]
        clock = replace(self.clock, sample_every=variants.scenario.clock.sample_every)

        def simulate(part: Indices) -> Part:
            began = time.perf_counter()
            if self.alone and not self.force_step and not self.stop.is_set():
                part = part[~variants.adviser.refuses(self.matrix[part])]
            judged = time.perf_counter() - began
            if not len(part):
                return part, None, judged
            return part, final_states(engine, clock, self.matrix[part], self.final, self.stop.is_set), judged

        if len(members) == 1:  # which a thread would take longer to begin than to do
            self._keep(variants, members, simulate(members), threads=1)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            waiting: Waiting = {}
            left = iter(parts)
            try:
                for part in left:
                    waiting[pool.submit(simulate, part)] = part
                    while len(waiting) >= 2 * self.threads:
                        self._collect(variants, waiting)
                while waiting:
                    self._collect(variants, waiting)
            except BaseException:  # Ctrl-C, or an error of the progress
                self.stop.set()
                self.progress = None
                while waiting:
                    self._collect(variants, waiting)
                raise

    def _collect(self, variants: Variants, waiting: Waiting) -> None:
        """Take over what is done; wait for it a little."""
        finished, _ = wait(waiting, timeout=WAIT, return_when=FIRST_COMPLETED)
        for future in finished:
            part = waiting.pop(future)
            self._keep(variants, part, future.result(), self.threads)

    def _keep(self, variants: Variants, part: Indices, done: Part, threads: int) -> None:
        """Keep what came of runs that were asked for, of which so many threads each had a share."""
        kept, final, judged = done
        self.seconds["advice_s"] += judged / threads
        self.seconds["loop_s"] -= judged / threads
        if final is not None:
            self._fill(variants, kept, final)
        for run in np.setdiff1d(part, kept, assume_unique=True).tolist() if len(kept) < len(part) else ():
            self.refuse(run, f"integrator.dt: {variants.scenario.dt:g} s is too long a step")
        self._count(len(part))

    def _count(self, runs: int) -> None:
        """Runs that are done, for the progress."""
        self.done += runs
        if runs and self.progress is not None:
            self.progress(self.done, self.total)

    def _fill(self, variants: Variants, part: Indices, found: Columns) -> None:
        """Enter where runs have ended."""
        for name, values in found.items():
            if name in self.table:
                self.table[name][self.members[part]] = values
        for i in np.flatnonzero(found[STATUS] == REFUSED).tolist():
            self.refuse(int(part[i]), variants.undetermined(self.matrix[part[i]].tolist()))
