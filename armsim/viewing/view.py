"""`armsim.view`: a robot, a scenario or a run as a page in HTML."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from os import PathLike
from pathlib import Path

from armsim.arm.overview import kind_of
from armsim.errors import UsageError, spelled
from armsim.figures.drawn_arm import DrawnArm
from armsim.figures.drawn_run import Drawable, DrawnRun, drawn, each
from armsim.files.new_file import check_output, output_file
from armsim.loading import read_robot, read_scenario
from armsim.notebook import counted
from armsim.records import Json
from armsim.viewing.arm_data import arm_data
from armsim.viewing.arrays import Arrays
from armsim.viewing.live import NONE, Sliders, live_data
from armsim.viewing.page import page_text
from armsim.viewing.programs import holding_program, motor_limits
from armsim.viewing.run_data import run_data
from armsim.viewing.server import PageServer

ENDINGS = (".html", ".htm")


def view(
    given: Drawable | Sequence[Drawable],
    path: str | PathLike[str] | None = None,
    degrees: bool = False,
    force: bool = False,
    port: int | None = None,
    ready: Callable[[str], object] | None = None,
    sliders: Sliders = NONE,
) -> None:
    """Write a page that shows an arm in three dimensions, in one file that asks the network for nothing; or serve it.

    Of a run it plays what happened, beside its curves over time; of two runs the second is pale. Of a robot it has sliders for
    the joints, with the tool's place and what the motors need to hold the arm. Of a scenario it simulates, with sliders for its
    numbers.

    Args:
        given: `armsim.Run`, or the folder of a run or a recording; two of these; or a robot or scenario file, or the name of a
            shipped one.
        path: The page, .html; None, with a port, for no file.
        degrees: Show angles in degrees.
        force: Replace a file that is there.
        port: Serve the page to this machine alone until Ctrl-C, at this port of 127.0.0.1; 0 takes one that is free.
        ready: Called with the page's address once it is there: of the server, or else of the file.
        sliders: Of a scenario, numbers by path that have sliders besides, each with the ends in the file's unit, or None.

    Raises:
        UsageError: A run has no rows or no robot, runs and files are mixed, the page must not or cannot be written, or the port
            is taken.
        FileFaults: A file cannot be read; says where and why.
    """
    all_given = each(given)
    if path is None and port is None:
        raise UsageError.of(
            "view", "a file to write, or a port to serve at", "neither", 'write for example "page.html"'
        )
    if path is not None:
        check_page(path, all_given, force)
    data = page_data(all_given, degrees, sliders)
    text = page_text(f"{data['name']} - armsim", data)
    with nullcontext() if port is None else PageServer(text.encode(), port) as server:
        if path is not None:
            write_page(path, text)
        if ready is not None:
            ready(Path(path or "").resolve().as_uri() if server is None else server.address)
        if server is not None:
            with suppress(KeyboardInterrupt):
                server.serve_forever()


def check_page(path: str | PathLike[str], given: Sequence[Drawable], force: bool) -> None:
    """Refuse a page that must not or cannot be written.

    Raises:
        UsageError: It is refused; says why.
    """
    name = os.fspath(path)
    if not name.lower().endswith(ENDINGS):
        mend = f"write for example {spelled('-o page.html', 'page.html')}"
        raise UsageError.of(spelled(f"-o {name}", name), "a file that ends in .html", name, mend)
    check_output(name, [one for one in map(str, given) if os.path.isfile(one)], force)


def write_page(path: str | PathLike[str], text: str) -> None:
    """Write a page, whole or not at all.

    Raises:
        UsageError: It cannot be written.
    """
    with output_file(path) as file:
        file.write(text.encode())


def page_data(given: Sequence[Drawable], degrees: bool = False, sliders: Sliders = NONE) -> Json:
    """What a page shows, as plain data: kind ("run", "robot" or "scenario"), name, subtitle, described, and what the kind takes.

    Raises:
        As `view`.
    """
    if not 1 <= len(given) <= 2:
        raise UsageError.of("view", "a robot, a scenario, a run or two runs", f"{len(given)}", "view them two by two")
    one = given[0]
    if len(given) == 1 and isinstance(one, (str, PathLike)) and not is_run(one) and kind_of(one) == "scenario":
        return _scenario(one, degrees, sliders)
    if sliders:
        where, mend = spelled("--slider", "sliders"), "name a scenario, or leave it out"
        raise UsageError.of(where, "a scenario, which the page simulates", f"{one}", mend)
    if all(map(is_run, given)):
        return _runs([drawn(one) for one in given], degrees)
    if len(given) == 2:
        found = next(str(one) for one in given if not is_run(one))
        mend = "simulate the scenario, and name the folders of both runs"
        raise UsageError.of(f"view {given[0]} {given[1]}", "two runs", f"{found}, which is none", mend)
    assert isinstance(one, (str, PathLike))  # or it is a run
    return _robot(one, degrees)


def is_run(given: Drawable) -> bool:
    """Whether something is a run: one in memory, a folder, a run.yaml, or a table."""
    if not isinstance(given, (str, PathLike)):
        return True
    name = os.fspath(given)
    return os.path.isdir(name) or os.path.basename(name) == "run.yaml" or name.lower().endswith((".csv", ".parquet"))


def _runs(runs: Sequence[DrawnRun], degrees: bool) -> Json:
    arms, arrays = [run.known_arm() for run in runs], Arrays()
    shown = [run_data(run, own.arm, arrays, degrees) for run, own in zip(runs, arms, strict=True)]
    return {
        "kind": "run",
        "name": " and ".join(run.name for run in runs),
        "subtitle": runs[0].title,
        "described": f"The arm {arms[0].arm.name} as it moved; the table below has its numbers.",
        "arms": [arm_data(own) for own in arms],
        "runs": shown,
        "arrays": arrays.packed,
    }


def _robot(given: str | PathLike[str], degrees: bool) -> Json:
    arm, robot = read_robot(given)
    return {
        "kind": "robot",
        "name": arm.name,
        "subtitle": f"{counted(len(arm.links), 'joint')}: {', '.join(arm.link_names)}",
        "described": f"The arm {arm.name}; sliders beside it turn its joints.",
        "arms": [arm_data(DrawnArm.of(robot))],
        "q": list(arm.initial),
        "degrees": degrees,
        "motors": motor_limits(arm),
        "program": holding_program(arm),
    }


def _scenario(given: str | PathLike[str], degrees: bool, sliders: Sliders) -> Json:
    scenario = read_scenario(given)
    return {
        "kind": "scenario",
        "name": scenario.name,
        "subtitle": f"{scenario.arm.name}, simulated as you look: take a slider, or push the arm",
        "described": f"The arm {scenario.arm.name} in motion, simulated in this page; the table has its numbers.",
        **live_data(given, degrees, sliders),
    }
