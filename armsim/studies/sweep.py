"""`armsim.sweep`: a study carried out, its rows written as they come."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any

from armsim.batches.runs import COMPLETE, Runs, check_measure
from armsim.batches.table_text import INDEX, heading
from armsim.document.base import written
from armsim.files.destination import Destination
from armsim.files.interrupts import interrupts_later
from armsim.files.study_folder import StudyFolder, study_folder
from armsim.loading import Given, Overrides
from armsim.progress import Progress
from armsim.records import Json, record
from armsim.simulation.execution import Execution
from armsim.simulation.run import Run
from armsim.simulation.simulate import simulate_into
from armsim.studies.blocks import Blocks, local_blocks
from armsim.studies.design import GRID
from armsim.studies.request import StudyRequest, Workers
from armsim.studies.results import stored_runs
from armsim.studies.runs import StudyRuns
from armsim.studies.study import Study, study_of


def sweep(
    scenario: Given,
    vary: Mapping[str, Any] | None = None,
    overrides: Overrides | None = None,
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
    cluster: str | None = None,
) -> Runs:
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
        cluster: Address of a dask scheduler whose workers carry the runs out, "tcp://10.0.0.5:8786"; "local" starts one on this
            machine. docs/cluster.md

    Returns:
        The table of the runs, read when it is asked for; after Ctrl-C of those that there are.

    Raises:
        FileFaults: The scenario, its robot or the study file cannot be run; says where and why.
        UsageError: There is nothing at a path, values are none, a measure is unknown, or the folder has something else.
    """
    names = (measure,) if isinstance(measure, str) else tuple(measure)
    request = StudyRequest(vary or None, names, seed, force_step, random, latin, sobol, overrides or {}, table)
    return run_study(
        study_of(scenario, request), Destination(folder, force), Workers(threads, cluster), StudyWatch(progress)
    )


@record
class StudyWatch:
    """Who is told how far a study is.

    Attributes:
        progress: Called with runs done and runs in all, of those that were still to do.
        tell: Called with the best run so far, or with what is waited for, in words.
        by: The measure by which runs are compared; the first one unless given.
        largest: Whether its largest value is best.
    """

    progress: Progress | None = None
    tell: Callable[[str], object] | None = None
    by: str | None = None
    largest: bool = False


def run_study(study: Study, destination: Destination, workers: Workers, watch: StudyWatch) -> Runs:
    """Carry out a study; see `sweep`.

    Args:
        study: The study.
        destination: Its folder; one with this study is taken up.
        workers: What carries it out.
        watch: Who is told how far it is.
    """
    if workers.cluster is not None:
        from armsim.studies.cluster import check_cluster

        check_cluster(workers.cluster, workers.threads)
    count = study.design.count  # first: it may be refused
    runs = StudyRuns(study, workers.threads)
    by, largest, tell = check_measure(watch.by, runs.measures), watch.largest, watch.tell
    name = study.name or runs.files[0].name
    folder = destination.folder
    where = os.fspath(folder) if folder is not None else os.path.join("studies", "any")
    lines = heading(runs.paths, runs.measures)
    if study.table == "parquet":
        from armsim.files.parquet import check_parquet

        check_parquet("table: parquet")
    table, drawn = study.table if study.table != "csv" else None, study.design.method != GRID
    asked = study.definition(runs.files, where, drawn, **study.design.definition, measure=runs.asked, table=table)
    definition = written(asked)
    with study_folder(folder, name, definition, lines, study.table, destination.force) as made:
        if made.status != COMPLETE:
            try:
                with (
                    _runner(workers.cluster, runs, tell) as runner,
                    closing(runner(runs, study.design, made.rows, watch.progress)) as blocks,
                ):
                    best: list[Json] = []
                    for block in blocks:
                        with interrupts_later():
                            if block.done:
                                made.append(block.text, block.done)
                        if tell is not None:
                            best = sorted([*best, *block.top(1, by, largest)], key=itemgetter(by), reverse=largest)[:1]
                            tell("".join(f"best: run {run[INDEX]}, {by} {run[by]:.5g}" for run in best))
                if made.rows == count:
                    _finish(made, study, runs)
            except KeyboardInterrupt:  # the rows that are there go on being there
                pass
        about = {"count": count, "notes": runs.notes(), "results": runs.results}
        return stored_runs(made, runs.paths, runs.measures, **about)


@contextmanager
def _runner(
    cluster: str | None, runs: StudyRuns, tell: Callable[[str], object] | None
) -> Iterator[Callable[..., Blocks]]:
    """What carries out blocks: this process, or a cluster's workers."""
    if cluster is None:
        yield local_blocks
        return
    from armsim.studies.cluster import connected

    with connected(cluster, runs.threads, tell) as found:
        yield found.blocks


def _finish(made: StudyFolder, study: Study, runs: StudyRuns) -> None:
    """Give the table its name."""
    convert = None
    if study.table == "parquet":
        from armsim.studies.parquet import parquet_writer

        convert = parquet_writer(study.design.axes, runs.measures)
    made.finish(convert)


def simulate_row(
    study: Study, index: int, destination: Destination, progress: Progress | None = None
) -> tuple[Run, Path]:
    """Run one row of a study into a run folder; its measures are the row's, to the bit.

    Args:
        study: The study.
        index: Of the row.
        destination: See `armsim.simulation.simulate.simulate_into`.
        progress: Likewise.

    Raises:
        UsageError: There is no such run, or it is refused.
    """
    values = study.values(index)
    runs = StudyRuns(study, 1)
    scenario = runs.scenario([*values.values()])
    return simulate_into(
        destination, scenario, Execution(force_step=study.force_step, measure=runs.asked), progress=progress
    )
