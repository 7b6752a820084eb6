"""`armsim.report`: a run on one page, to print or to mail."""

from __future__ import annotations

import os
from os import PathLike
from typing import Any

from armsim.arm.overview import overview
from armsim.errors import UsageError
from armsim.figures.drawn_run import plain_of
from armsim.files.yaml_reader import read_yaml
from armsim.reports.info import report as overview_text
from armsim.reports.info import turn
from armsim.reports.simulation import STATUS, method_notes, outcome, steps_by
from armsim.reports.table import wrapped
from armsim.viewing.view import view

NEEDED = (
    "armsim",
    "status",
    "method",
    "steps",
    "rows",
    "advice",
    "outside_limits",
    "scenario",
)  # of a simulation's run.yaml


def report(run: str | PathLike[str], path: str | PathLike[str], degrees: bool = False, force: bool = False) -> None:
    """Write a page of a run: what came of it and its figures of merit, its scenario and robot, below what `armsim.view` shows.

    Args:
        run: The folder of a run of `armsim.simulate`.
        path: The page, .html.
        degrees: Give angles in degrees.
        force: Replace a file that is there.

    Raises:
        UsageError: It is no such folder, or the page must not or cannot be written.
        FileFaults: A file of the run cannot be read; says where and why.
    """
    folder = os.fspath(run)
    about = os.path.join(folder, "run.yaml")
    record: Any = _whole(plain_of(read_yaml(about)[0])) if os.path.isfile(about) else None
    if not isinstance(record, dict) or not set(NEEDED) <= set(record):
        found = "no folder of this name" if not os.path.isdir(folder) else "a folder without a simulation's run.yaml"
        mend = "name a folder that `armsim simulate` has written; `armsim view` shows robots, scenarios and recordings"
        raise UsageError.of(folder, "the folder of a run", found, mend)
    facts = overview(about)
    if degrees:
        turn(facts)
    run_text = overview_text(facts, "deg" if degrees else "rad", 5)
    sections = [("What came of it", _outcome(record, degrees)), ("What was run", run_text)]
    view(folder, path, degrees, force, sections)


def _whole(data: Any) -> Any:
    """Plain data with whole numbers as integers, as they were written."""
    if isinstance(data, dict):
        return {key: _whole(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_whole(value) for value in data]
    return int(data) if isinstance(data, float) and data.is_integer() else data


def _outcome(record: dict[str, Any], degrees: bool) -> str:
    """The summary of a run.yaml as text."""
    scenario = record["scenario"]
    known = {"duration": scenario["duration"], "dt": scenario.get("integrator", {}).get("dt")}
    summary = {**known, **record}
    title = f"{scenario['name']}: {known['duration']:g} s of {scenario['robot']['name']}, {steps_by(summary)}"
    lines = [wrapped(title + STATUS[summary["status"]]), *method_notes(summary), *outcome(summary, degrees, True)]
    return "\n".join([*lines, f"by       armsim {record['armsim']}"])
