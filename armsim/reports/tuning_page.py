"""A tuning on one page: what was found, where it holds, and the tuned scenario in three dimensions."""

from __future__ import annotations

import os
from os import PathLike
from typing import Any

from armsim.errors import UsageError
from armsim.figures.tuning import tuning_figure
from armsim.files.study_folder import RECORD, SUMMARY, check_files, read_record
from armsim.notebook import counted
from armsim.reports.drawn_section import drawn
from armsim.reports.html import html
from armsim.reports.tuning import report
from armsim.simulation.simulate import simulate
from armsim.studies.results import folder_of
from armsim.tuning.result import TuningResult
from armsim.tuning.tune import run_tuning
from armsim.tuning.tuning import tuning_of
from armsim.viewing.page import Section
from armsim.viewing.view import page_data


def is_tuned(path: str | PathLike[str]) -> bool:
    """Whether a path is the folder of a tuning, or its study.yaml."""
    return "tune" in (read_record(folder_of(path)) or {})


def tuning_page(
    path: str | PathLike[str], degrees: bool = False
) -> tuple[dict[str, Any], list[Section], list[Section]]:
    """A tuning as data of a page, see `armsim.viewing.view.page_data`, with sections above and below; the tuned scenario is run.

    Raises:
        UsageError: It is not at its end.
        FileFaults: Its files cannot be read, or have changed since.
    """
    folder = folder_of(path)
    record = os.path.join(folder, RECORD)
    check_files(folder, tuned=True)
    if not os.path.isfile(os.path.join(folder, SUMMARY)):
        raise UsageError.of(
            folder, "a tuning that is at its end", "one that is not", f"run `armsim tune {record} -o {folder}`"
        )
    tuning = tuning_of(record)
    found = run_tuning(tuning, folder)
    run = simulate(found.scenario, force_step=tuning.study.force_step)
    above = [
        Section("What was found, and where it holds", html(report(found))),
        _drawn(found),
        Section("It in motion", ""),
    ]
    about = {
        "name": os.path.basename(os.path.abspath(folder)),
        "subtitle": f"{found.name}, tuned in {counted(found.trials.done, 'trial')}",
    }
    return {**page_data([run], degrees), **about}, above, []


def _drawn(found: TuningResult) -> Section:
    """Its picture, where matplotlib is there."""
    tested = "" if found.test is None else f"; {int(found.holds.sum())} of {len(found.holds)} cases hold"
    described = f"The least {found.minimise} so far over the trials{tested}; margins are in the tables above."
    return drawn("Search, test and margins", lambda: tuning_figure(found), described)
