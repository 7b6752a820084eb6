"""A study on one page: what it asks, what came of it, and its best run in three dimensions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from os import PathLike
from typing import Any

from armsim.batches.runs import Runs, check_measure
from armsim.batches.table_text import INDEX
from armsim.document.study import GRID
from armsim.figures.study import study_figure
from armsim.notebook import counted
from armsim.reports.drawn_section import drawn
from armsim.reports.html import html
from armsim.reports.simulation import account
from armsim.reports.study import failures_of, leading, report, worded
from armsim.reports.table import Report, ReportTable, wrapped
from armsim.simulation.run import Run
from armsim.simulation.simulate import simulate
from armsim.studies.results import load_study
from armsim.studies.runs import StudyRuns
from armsim.studies.study import Study
from armsim.viewing.page import Section
from armsim.viewing.view import page_data

LEADING = 10  # runs in the table of the best
REASONS = 12  # for failures, the most frequent ones
NAMED = 5  # runs that failed for a reason
CHOSEN = {
    GRID: "all combinations",
    "random": "drawn independently",
    "latin": "drawn as a Latin hypercube",
    "sobol": "drawn as a scrambled Sobol' sequence",
}


def study_page(
    path: str | PathLike[str], degrees: bool = False, by: str | None = None, largest: bool = False
) -> tuple[dict[str, Any], list[Section], list[Section]]:
    """A study as data of a page, see `armsim.viewing.view.page_data`, with sections above and below.

    The best run is simulated again for it.

    Args:
        path: The folder of a study, or its study.yaml.
        degrees: Give angles of the best run in degrees.
        by: The measure by which runs are compared; the first one unless given.
        largest: Whether its largest value is best.

    Raises:
        UsageError: It is no study, or has no such measure.
        FileFaults: Its files cannot be read, or have changed since.
    """
    study, found = load_study(path)
    name = check_measure(by, found.measures)
    title = os.path.basename(os.path.abspath(found.folder))
    best = found.top(LEADING, name, largest)
    above = [
        Section("What was asked", html(_asked(study, found))),
        Section("What came of it", html([*report(found), *_reasons(found)])),
        _drawn(study, found, name),
        Section("The best runs", html(leading(found, best, name, largest))),
    ]
    about = {"name": title, "subtitle": f"a study of {counted(found.count, 'run')}"}
    if not best:
        return {"kind": "text", **about, "described": "No run that could be shown."}, above, []
    index = best[0][INDEX]
    run = _repeated(study, found, index)
    values = ", ".join(f"{path} {worded(value)}" for path, value in study.values(index).items())
    above.append(Section(f"Run {index} in motion", html([wrapped(f"{values}: {name} {worded(best[0][name])}")])))
    outcome = account(run.facts, run.facts.duration, degrees, True)
    below = [Section(f"What came of run {index}", html(outcome))]
    return {**page_data([run], degrees), **about}, above, below


def _asked(study: Study, found: Runs) -> Report:
    """What a study asks, in lines."""
    scenario = study.scenario if isinstance(study.scenario, (str, PathLike)) else study.scenario.get("name", "in full")
    count = f"{counted(found.count, 'run')}, {CHOSEN[study.design.method]}"
    lines: Report = [f"scenario {os.fspath(scenario)}"]
    lines += [wrapped(f"set      {path} = {value}") for path, value in study.overrides.items()]
    lines.append(f"runs     {count}" + ("" if study.design.method == GRID else f", seed {study.design.seed}"))
    lines += [wrapped(f"measure  {', '.join(found.measures)}"), ""]
    return [*lines, ReportTable(["varied", "values"], [[path, str(of)] for path, of in study.design.axes.items()])]


def _reasons(found: Runs) -> Iterator[str]:
    """Why runs failed: the most frequent reasons, each with the first of its runs."""
    failed: dict[tuple[str, str], list[str]] = {}
    for index, status, reason in failures_of(found):
        failed.setdefault((status, reason), []).append(str(index))
    most = sorted(failed.items(), key=lambda pair: -len(pair[1]))
    for (status, reason), runs in most[:REASONS]:
        which = ", ".join(runs[:NAMED]) + (", ..." if len(runs) > NAMED else "")
        yield wrapped(f"! {counted(len(runs), 'run')} {status}: {reason} (run {which})")
    if len(most) > REASONS:
        left = sum(len(runs) for _, runs in most[REASONS:])
        yield f"! and {counted(left, 'run')} for {counted(len(most) - REASONS, 'other reason')}"


def _drawn(study: Study, found: Runs, by: str) -> Section:
    """A measure over what is varied, as a picture where matplotlib is there."""
    title = f"{by} over what is varied"
    if not found.done:
        return Section(title, html(["no run is done"]))
    described = (
        f"{by} of {counted(found.done, 'run')} over {', '.join(found.paths)}; the table below has the best runs."
    )
    return drawn(title, lambda: study_figure(found, study.design.axes, by, study.units(by)), described)


def _repeated(study: Study, found: Runs, index: int) -> Run:
    """A run of the study, simulated again.

    Raises:
        FileFaults: The scenario is not what it was.
    """
    runs = StudyRuns(study, 1)
    study.sources(runs.files)  # which refuses files that have changed
    return simulate(runs.scenario(list(study.values(index).values())), force_step=study.force_step)
