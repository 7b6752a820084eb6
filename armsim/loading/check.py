"""All that is wrong or doubtful about a robot, scenario or study file."""

from __future__ import annotations

import os

from armsim.control import Controller
from armsim.document.overrides import Overrides
from armsim.document.robot import FORMAT as ROBOT_FORMAT
from armsim.document.scenario import FORMAT as SCENARIO_FORMAT
from armsim.errors import FileFaults, UsageError
from armsim.files.faults import Fault, Report
from armsim.files.nodes import Map, Place, shown
from armsim.files.shipped import shipped_path
from armsim.loading.build import build_robot
from armsim.loading.control import task_doubts
from armsim.loading.definite import undetermined
from armsim.loading.frames import JointUnits
from armsim.loading.plausible import chattering, doubts, one_row, picked_up_late, sampled_seldom, too_short
from armsim.loading.robot_file import load_robot_file, read_content
from armsim.loading.scenario import Scenario, build_scenario
from armsim.loading.scenario_file import RUN_FORMAT, load_scenario_file
from armsim.loading.units import other_units_of_scenario
from armsim.model import Arm
from armsim.records import record


@record
class Checked:
    """A checked file.

    Attributes:
        file: As the user named it.
        kind: "robot", "scenario" or "study"; None where the file does not tell.
        faults: Errors: it cannot be run with them.
        warnings: What is valid, but probably a mistake.
        arm: The arm; None with faults.
        scenario: The scenario of a scenario file; None with faults.
    """

    file: str
    kind: str | None
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...]
    arm: Arm | None = None
    scenario: Scenario | None = None


def check(path_or_name: str | os.PathLike[str], overrides: Overrides | None = None) -> Checked:
    """Check a file, or what is shipped under a name (a robot before a scenario).

    Never raises for what a file contains; all faults are in the result.

    Args:
        path_or_name: The file.
        overrides: Values in place of its own, by path.

    Raises:
        UsageError: There are values for a study, which has its own.
    """
    name = os.fspath(path_or_name)
    path = name
    if not os.path.lexists(name):
        path = next(filter(None, (shipped_path(kind, name) for kind in ("robots", "configs", "studies"))), name)
    kind = scenario = None
    try:
        kind = kind_of(path)
        if kind == "study":  # `armsim.tuning.check` goes on
            if overrides:
                mend = "write them under `set` in the study"
                raise UsageError.of(name, "no values beside a study, which has its own", ", ".join(overrides), mend)
            return Checked(name, kind, (), ())
        if kind == "scenario":
            scenario = build_scenario(load_scenario_file(path, overrides))
            robot, arm, inline = scenario.file.robot, scenario.arm, _robot_path(scenario)
            warnings = scenario_doubts(scenario)
        else:
            robot, inline = load_robot_file(path, overrides), ""
            arm = build_robot(robot.document)
            warnings = [*robot.remarks, *doubts(arm, robot.document)]
    except FileFaults as error:
        return Checked(name, kind, error.faults, ())
    if any(joint.visual for joint in robot.document.joints):
        from armsim.loading.visuals import shapes  # which takes numpy

        warnings = [*warnings, *shapes(robot.document, inline)[1]]
    faults = tuple(undetermined(arm, robot.document, inline))  # the warnings may well say why
    return Checked(name, kind, faults, tuple(warnings), None if faults else arm, None if faults else scenario)


def scenario_doubts(scenario: Scenario) -> list[Fault]:
    """Warnings of a scenario and its robot: numbers that are valid, but improbable."""
    file, duration = scenario.file, scenario.clock.end
    command, control = scenario.command, file.document.control
    short: list[Fault] = []
    if isinstance(command, Controller) and control is not None:
        short += task_doubts(command, control, scenario.initial_q)
    if isinstance(command, Controller) and control is not None and control.reference is not None:
        from armsim.loading.reference import cut_short, starts_otherwise

        units = JointUnits(scenario.degrees, scenario.arm.joints)
        short += [*cut_short(control.reference, command.reference, duration)]
        short += [*starts_otherwise(control.reference, command.reference, scenario.initial_qd, units)]
    return [
        *file.robot.remarks,
        *short,
        *doubts(
            scenario.arm.heaviest, file.robot.document, _robot_path(scenario), file.document.payload, scenario.degrees
        ),
        *too_short(file.document, duration),
        *one_row(file.document, duration),
        *picked_up_late(file.document, duration),
        *chattering(scenario),
        *sampled_seldom(scenario),
        *other_units_of_scenario(scenario.arm, file.document),
    ]


def _robot_path(scenario: Scenario) -> str:
    """Path of the robot within the scenario's file; empty where it has a file of its own."""
    return "" if scenario.file.robot.sources else "robot"


def kind_of(path: str) -> str:
    """Whether a file is a "robot", a "scenario" or a "study", by its `format`.

    Raises:
        FileFaults: It cannot be read, or does not say; the message names the formats.
    """
    report = Report()
    root, _ = read_content(path, report)
    keys = set(root.entries) if isinstance(root, Map) else set()
    node = root.get("format") if isinstance(root, Map) else None
    written = getattr(node, "value", None)
    if written in (SCENARIO_FORMAT, RUN_FORMAT):
        return "scenario"
    if str(written).startswith("armsim/study/") or {"scenario", "vary"} <= keys:
        return "study"
    if written == ROBOT_FORMAT or "joints" in keys:  # whatever is wrong with the format is reported with the rest
        return "robot"
    if {"robot", "integrator"} & keys:
        return "scenario"
    mend = f"begin the file with `format: {ROBOT_FORMAT}` or `format: {SCENARIO_FORMAT}`"
    if not isinstance(root, Map):
        report.add(root.place, "", "a mapping of keys and values", shown(root), mend)
    else:
        place = Place(path, 1, 1) if node is None else node.place
        found = "no `format`" if node is None else shown(node)
        report.add(place, "format", f"{ROBOT_FORMAT} or {SCENARIO_FORMAT}", found, mend)
    report.raise_if_any()
    raise AssertionError("there was a fault")
