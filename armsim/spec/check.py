"""All that is wrong or doubtful about a robot or scenario file."""

from __future__ import annotations

import os
from dataclasses import dataclass

from armsim.errors import FileFaults
from armsim.files.document import Map, Place
from armsim.files.shipped import shipped_path
from armsim.files.yaml_reader import read_yaml
from armsim.model import Arm
from armsim.spec.faults import Fault, Report
from armsim.spec.plausible import doubts
from armsim.spec.robot import FORMAT as ROBOT_FORMAT
from armsim.spec.robot_file import read_robot
from armsim.spec.scenario import FORMAT as SCENARIO_FORMAT
from armsim.spec.scenario_file import RUN_FORMAT, read_scenario


@dataclass(frozen=True)
class Checked:
    """A checked file.

    Attributes:
        file: As the user named it.
        kind: "robot" or "scenario"; None where the file does not tell.
        faults: Why it cannot be run.
        warnings: What is probably a slip.
        arm: The arm, where there are no faults.
    """

    file: str
    kind: str | None
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...]
    arm: Arm | None = None


def check(path_or_name: str | os.PathLike[str]) -> Checked:
    """Check a file, or what is shipped under a name (a robot before a scenario).

    Never raises for what a file contains; everything that is wrong with it is in the result.
    """
    name = os.fspath(path_or_name)
    path = name
    if not os.path.lexists(name):
        path = shipped_path("robots", name) or shipped_path("configs", name) or name
    kind = None
    try:
        kind = kind_of(path)
        if kind == "scenario":
            scenario = read_scenario(path)
            inline = not scenario.file.robot.sources
            found = doubts(scenario.arm, scenario.file.robot.data, "robot" if inline else "")
            return Checked(name, kind, (), tuple(found), scenario.arm)
        arm, data = read_robot(path)
        return Checked(name, kind, (), tuple(doubts(arm, data)), arm)
    except FileFaults as error:
        return Checked(name, kind, error.faults, ())


def kind_of(path: str) -> str:
    """Whether a file is a "robot" or a "scenario", by its `format`.

    Raises:
        FileFaults: It cannot be read, or does not say; the message names the formats.
    """
    report = Report()
    root, _ = read_yaml(path, report)
    node = root.get("format") if isinstance(root, Map) else None
    written = getattr(node, "value", None)
    if written == ROBOT_FORMAT:
        return "robot"
    if written in (SCENARIO_FORMAT, RUN_FORMAT):
        return "scenario"
    if not report.faults:
        place = node.place if node is not None else replace_line(root.place)
        found = "no `format`" if node is None else f"`{written}`"
        mend = f"begin the file with `format: {ROBOT_FORMAT}` or `format: {SCENARIO_FORMAT}`"
        report.add(place, "format", f"{ROBOT_FORMAT} or {SCENARIO_FORMAT}", found, mend)
    report.raise_if_any()
    raise AssertionError("there was a fault")


def replace_line(place: Place) -> Place:
    """The beginning of a file."""
    return place._replace(line=1, column=1)
