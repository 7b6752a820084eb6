"""`armsim.sweep`: a study carried out, its rows written as they come."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from armsim.files.interrupts import interrupts_later
from armsim.files.study_folder import StudyFolder, study_folder
from armsim.studies.results import COMPLETE, Sweep, check_measure
from armsim.studies.rows import heading, text_of
from armsim.studies.runs import Outcomes, StudyRuns
from armsim.studies.study import Study, study_of

Progress = Callable[[int, int], object]
LANES = 64  # runs of the first block, at least
AT_ONCE = 2.0  # s that a block should take
MOST = 2**16  # runs of a block
INTERRUPTED = "interrupted"


class Best:
    """The best run so far.

    Args:
        measures: Names of the measures.
        by: The one that is compared; the first one for None.
        largest: Whether its largest value is best, not its least.
    """

    def __init__(self, measures: Sequence[str], by: str | None, largest: bool) -> None:
        self.by = check_measure(by, measures)
        self._place, self._sign = tuple(measures).index(self.by), -1.0 if largest else 1.0
        self._value, self._index = np.inf, -1

    def take(self, first: int, found: Outcomes) -> None:
        """Look at runs from index `first` on."""
        values = self._sign * found.measures[:, self._place]
        values = np.where(np.isfinite(values), values, np.inf)
        k = int(np.argmin(values))
        if values[k] < self._value:
            self._value, self._index = float(values[k]), first + k

    def __str__(self) -> str:
        return "" if self._index < 0 else f"best: run {self._index}, {self.by} {self._sign * self._value:.5g}"


def sweep(
    scenario: str | PathLike[str] | Mapping[str, Any],
    vary: Mapping[str, Any] | None = None,
    overrides: Mapping[str, Any] | None = None,
    measure: Sequence[str] | str = (),
    folder: str | PathLike[str] | None = None,
    *,
    random: int | None = None,
    latin: int | None = None,
    sobol: int | None = None,
    seed: int | None = None,
    table: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    force_step: bool = False,
    force: bool = False,
) -> Sweep:
    """Run a scenario for many values of its numbers, and write what every run came to; the same call goes on after a kill.

    Every run has the bits of `armsim.simulate` with its values written in. Runs that fail are rows with a reason.

    Args:
        scenario: A scenario file, the name of a shipped one, or a file's content; or a study file, without `vary`.
        vary: Values by path: {"control.kp[0]": "20:400:20", "payload.mass": [0, 0.5, 1], "integrator.method": ["rk4", "rodas"]};
            texts as `armsim sweep --vary` has them. All combinations are run, the last path fastest.
        overrides: Values in place of the file's for all runs, by path.
        measure: Names of measures, see docs/measures.md; usual ones if there are none.
        folder: Of the study; `studies/<scenario>-001`, or the next free number, if None. A folder with this study is taken up.
        random: Draw so many runs independently, in place of all combinations; values may be distributions then.
        latin: Draw so many runs as a Latin hypercube.
        sobol: Draw so many runs as a scrambled Sobol' sequence.
        seed: Of the draws, 0 unless given.
        table: "csv" or "parquet".
        threads: How many; as many as there are processors unless given.
        progress: Called with runs done and runs in all, of those that were still to do.
        force_step: Run even with a step that is refused.
        force: Replace another study that the folder has.

    Returns:
        The results; after Ctrl-C those that there are.

    Raises:
        FileFaults: The scenario, its robot or the study file cannot be run; says where and why.
        UsageError: There is nothing at a path, values are none, a measure is unknown, or the folder has something else.
    """
    names = (measure,) if isinstance(measure, str) else tuple(measure)
    sample = {"random": random, "latin": latin, "sobol": sobol}
    study = study_of(scenario, vary, overrides, names, sample, seed, table, force_step)
    return carried_out(study, folder, threads, progress, force)


def carried_out(
    study: Study,
    folder: str | PathLike[str] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    force: bool = False,
    by: str | None = None,
    largest: bool = False,
    tell: Callable[[str], object] | None = None,
) -> Sweep:
    """Carry out a study; see `sweep`.

    Args:
        study: The study.
        folder: See `sweep`, also for those that follow.
        threads: How many.
        progress: Called with runs done and runs in all, of those that were still to do.
        force: Whether another study may be replaced.
        by: The measure by which runs are compared; the first one unless given.
        largest: Whether its largest value is best.
        tell: Called with the best run so far, in words.
    """
    count = study.design.count  # first: it may be refused
    runs = study.runs(threads)
    best = Best(runs.measures, by, largest)
    name = study.name or runs.files[0].name
    where = os.fspath(folder) if folder is not None else os.path.join("studies", "any")
    lines = heading(runs.paths, runs.measures)
    if study.table == "parquet":
        from armsim.files.parquet import check_parquet

        check_parquet("table: parquet")
    with study_folder(folder, name, study.definition(runs, where), lines, study.table, force) as made:
        if made.status != COMPLETE:
            try:
                if _filled(made, study, runs, progress, best, tell):
                    _finished(made, study, runs)
            except KeyboardInterrupt:  # the rows that are there go on being there
                pass
        status = COMPLETE if made.status == COMPLETE else INTERRUPTED
        return Sweep(made.path, status, made.rows, count, runs.paths, runs.measures, study.table, runs.notes())


def _filled(
    made: StudyFolder,
    study: Study,
    runs: StudyRuns,
    progress: Progress | None,
    best: Best,
    tell: Callable[[str], object] | None,
) -> bool:
    """Add the rows that are still lacking, block by block; whether all are there, or Ctrl-C came before."""
    before, count = made.rows, study.design.count
    size = max(LANES, 16 * runs.threads)
    while made.rows < count:
        first = made.rows
        last = min(first + size, count)
        values = study.design.rows(first, last)
        began = time.perf_counter()

        def told(done: int, _: int, first: int = first) -> None:
            if progress is not None:
                progress(first + done - before, count - before)

        found = runs(values, told)
        stopped = found.interrupted
        lacking = np.flatnonzero(found.status == "interrupted")
        whole = int(lacking[0]) if len(lacking) else len(values)
        with interrupts_later():
            if whole:
                made.append(text_of(first, values[:whole], found.first(whole)), whole)
        if stopped:
            return made.rows == count
        best.take(first, found)
        if tell is not None:
            tell(str(best))
        seconds = max(time.perf_counter() - began, 1e-6)
        size = int(min(MOST, 4 * size, max(LANES, size * AT_ONCE / seconds)))
    return True


def _finished(made: StudyFolder, study: Study, runs: StudyRuns) -> None:
    """Give the table its name."""
    convert = None
    if study.table == "parquet":
        from armsim.studies.parquet import parquet_writer

        convert = parquet_writer(study.axes, runs.measures)
    with interrupts_later():
        made.finish(convert)
