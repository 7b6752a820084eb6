"""`armsim.view`: a robot, a scenario or a run as a page in HTML."""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike
from typing import Any

from armsim.arm.overview import kind_of
from armsim.errors import UsageError, spelled
from armsim.figures.drawn_run import Drawable, DrawnArm, DrawnRun, drawn
from armsim.files.new_file import refuse_to_overwrite, unwritable, whole_file
from armsim.loading import read_robot, read_scenario
from armsim.notebook import counted
from armsim.simulation.result import Result
from armsim.viewing.arm_data import arm_data
from armsim.viewing.arrays import Arrays
from armsim.viewing.live import live_data
from armsim.viewing.page import page_text
from armsim.viewing.programs import holding_program, motor_limits
from armsim.viewing.run_data import arm_of, run_data

ENDINGS = (".html", ".htm")


def view(
    given: Drawable | Sequence[Drawable],
    path: str | PathLike[str],
    degrees: bool = False,
    force: bool = False,
    sections: Sequence[tuple[str, str]] = (),
) -> None:
    """Write a page that shows an arm in three dimensions, in one file that asks the network for nothing.

    Of a run it plays what happened, beside its curves over time; of two runs the second is pale. Of a robot it has sliders for
    the joints, with the tool's place and what the motors need to hold the arm. Of a scenario it simulates, with sliders for its
    numbers.

    Args:
        given: `armsim.Run`, or the folder of a run or a recording; two of these; or a robot or scenario file, or the name of a
            shipped one.
        path: The page, .html.
        degrees: Show angles in degrees.
        force: Replace a file that is there.
        sections: Texts below, each with its title.

    Raises:
        UsageError: A run has no rows or no robot, runs and files are mixed, or the page must not or cannot be written.
        FileFaults: A file cannot be read; says where and why.
    """
    name = os.fspath(path)
    all_given = [given] if isinstance(given, (str, PathLike, Result, DrawnRun)) else list(given)
    if not name.lower().endswith(ENDINGS):
        mend = f"write for example {spelled('-o page.html', 'page.html')}"
        raise UsageError.of(spelled(f"-o {name}", name), "a file that ends in .html", name, mend)
    refuse_to_overwrite(name, [one for one in map(str, all_given) if os.path.isfile(one)], force)
    data = page_data(all_given, degrees)
    text = page_text(f"{data['name']} - armsim", data, sections)
    try:
        with whole_file(name) as file:
            file.write(text.encode())
    except OSError as error:
        raise unwritable(name, error) from None


def page_data(given: Sequence[Drawable], degrees: bool = False) -> dict[str, Any]:
    """What a page shows, as plain data: kind ("run", "robot" or "scenario"), name, subtitle, described, and what the kind takes.

    Raises:
        As `view`.
    """
    if not 1 <= len(given) <= 2:
        raise UsageError.of("view", "a robot, a scenario, a run or two runs", f"{len(given)}", "view them two by two")
    if all(map(is_run, given)):
        return _runs([drawn(one) for one in given], degrees)
    if len(given) == 2:
        found = next(str(one) for one in given if not is_run(one))
        mend = "simulate the scenario, and name the folders of both runs"
        raise UsageError.of(f"view {given[0]} {given[1]}", "two runs", f"{found}, which is none", mend)
    (one,) = given
    assert isinstance(one, (str, PathLike))  # or it is a run
    return _robot(one, degrees) if kind_of(one) == "robot" else _scenario(one, degrees)


def is_run(given: Drawable) -> bool:
    """Whether something is a run: one in memory, a folder, a run.yaml, or a table."""
    if not isinstance(given, (str, PathLike)):
        return True
    name = os.fspath(given)
    return os.path.isdir(name) or os.path.basename(name) == "run.yaml" or name.lower().endswith((".csv", ".parquet"))


def _runs(runs: Sequence[DrawnRun], degrees: bool) -> dict[str, Any]:
    arms, arrays = [arm_of(run) for run in runs], Arrays()
    shown = [run_data(run, own.arm, arrays, degrees) for run, own in zip(runs, arms, strict=True)]
    poses = [arm_data(own) for own in arms]
    return {
        "kind": "run",
        "name": " and ".join(run.name for run in runs),
        "subtitle": runs[0].title,
        "described": f"The arm {arms[0].arm.name} as it moved; the table below has its numbers.",
        "arm": poses[0],
        "arms": poses,
        "runs": shown,
        "arrays": arrays.packed,
    }


def _robot(given: str | PathLike[str], degrees: bool) -> dict[str, Any]:
    arm, data = read_robot(given)
    return {
        "kind": "robot",
        "name": arm.name,
        "subtitle": f"{counted(arm.n, 'joint')}: {', '.join(joint.name for joint in arm.joints)}",
        "described": f"The arm {arm.name}; sliders beside it turn its joints.",
        "arm": arm_data(DrawnArm.of(data)),
        "q": [float(x) for x in arm.initial],
        "degrees": degrees,
        "motors": motor_limits(arm),
        "program": holding_program(arm),
    }


def _scenario(given: str | PathLike[str], degrees: bool) -> dict[str, Any]:
    scenario = read_scenario(given)
    return {
        "kind": "scenario",
        "name": scenario.name,
        "subtitle": f"{scenario.arm.name}, simulated as you look: take a slider, or push the arm",
        "described": f"The arm {scenario.arm.name} in motion, simulated in this page; the table has its numbers.",
        **live_data(given, degrees),
    }
