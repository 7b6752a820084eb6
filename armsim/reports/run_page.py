"""`armsim.report`: a run, a study or a tuning on one page, to print or to mail."""

from __future__ import annotations

import os
from os import PathLike
from typing import Any

from armsim.arm.overview import overview
from armsim.errors import UsageError, spelled
from armsim.files.run_record import run_record
from armsim.reports.html import html
from armsim.reports.info import in_unit
from armsim.reports.info import report as about
from armsim.reports.simulation import account
from armsim.reports.study_page import study_page
from armsim.reports.tuning_page import is_tuned, tuning_page
from armsim.simulation.run import summary_of
from armsim.studies.results import is_study_folder
from armsim.viewing.page import Section, page_text
from armsim.viewing.view import check_page, page_data, write_page


def report(
    run: str | PathLike[str],
    path: str | PathLike[str],
    degrees: bool = False,
    force: bool = False,
    by: str | None = None,
    largest: bool = False,
) -> None:
    """Write a page of a run, a study or a tuning, to print or to mail.

    Of a run: what came of it and its figures of merit, its scenario and robot, below what `armsim.view` shows. Of a study: what
    was asked, how many runs ended how and why, a measure over what was varied, the best runs, and the best one as a run.
    Of a tuning: what was found, where it holds, and a run of the tuned scenario.

    Args:
        run: The folder of a run of `armsim.simulate`, of a study of `armsim.sweep`, or of `armsim.tune`.
        path: The page, .html.
        degrees: Give angles in degrees.
        force: Replace a file that is there.
        by: Of a study, the measure by which runs are compared; the first one unless given.
        largest: Of a study, whether the largest value is best.

    Raises:
        UsageError: It is no such folder, or the page must not or cannot be written.
        FileFaults: A file of the run cannot be read; says where and why.
    """
    check_page(path, [run], force)
    if is_tuned(run):
        data, above, below = tuning_page(run, degrees)
    elif is_study_folder(run):
        data, above, below = study_page(run, degrees, by, largest)
    else:
        data, above, below = _run_page(os.fspath(run), degrees)
        if by is not None or largest:
            where = spelled("--by, --largest", "by, largest")
            raise UsageError.of(where, "a study, whose runs are compared", "a run", "leave it out")
    write_page(path, page_text(f"{data['name']} - armsim", data, above, below))


def _run_page(folder: str, degrees: bool) -> tuple[dict[str, Any], list[Section], list[Section]]:
    """A run as data of a page, with sections above and below."""
    record = run_record(folder)
    if "rows" not in record.data:
        found = "no folder of this name" if not os.path.isdir(folder) else "a folder without a simulation's run.yaml"
        mend = (
            "name a folder of `armsim simulate` or `armsim sweep`; `armsim view` shows robots, scenarios and recordings"
        )
        raise UsageError.of(folder, "the folder of a run or a study", found, mend)
    duration: float = record.value("scenario", "duration", kind=float)
    outcome = account(summary_of(record), duration, degrees, True)
    outcome.append(f"by       armsim {record.value('armsim')}")
    run = about(in_unit(overview(record.about), degrees), degrees, 5)
    below = [Section("What came of it", html(outcome)), Section("What was run", html(run))]
    return page_data([folder], degrees), [], below
