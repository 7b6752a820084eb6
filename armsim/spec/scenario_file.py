"""Reading scenario files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from armsim.files.document import Map, Node, Scalar, shown
from armsim.files.faults import Report
from armsim.files.run_folder import RUN_FORMAT
from armsim.files.shipped import looks_like_a_file
from armsim.files.yaml_reader import read_yaml
from armsim.spec.overrides import apply_overrides, split_overrides
from armsim.spec.quantity import Context, Quantity
from armsim.spec.robot import joint_names
from armsim.spec.robot_file import RobotFile, Source, check_robot, digest, find_file, load_root, refuse_undetermined
from armsim.spec.run_scenario import Scenario, build_scenario
from armsim.spec.scenario import FORMAT, beside, read_scenario_node
from armsim.spec.schema import join
from armsim.spec.timing import steps_of
from armsim.spec.voltage import refusal

Given = str | os.PathLike[str] | Mapping[str, Any]


@dataclass(frozen=True)
class ScenarioFile:
    """A scenario file that has been checked, with its robot.

    Attributes:
        name: Of the scenario.
        data: Its content with defaults: dicts, lists, text and `armsim.spec.quantity.Quantity`.
        robot: Its robot.
        steps: Times as numbers of steps: "duration", "log", "period" (None for continuous), "external" (pairs).
        sources: The files that were read.
    """

    name: str
    data: dict[str, Any]
    robot: RobotFile
    steps: dict[str, Any]
    sources: tuple[Source, ...]


def read_scenario(path_or_name: Given, overrides: Mapping[str, Any] | None = None) -> Scenario:
    """What a scenario file asks to simulate.

    Args:
        path_or_name: A file (a scenario, or the run.yaml of a finished run), the name of a shipped scenario, or a
            file's content as plain data.
        overrides: Values to set before the check, by path: `{"control.kp[0]": 80, "robot.joints[R2].motor.Kp": 12}`.

    Raises:
        FileFaults: All that is wrong with the scenario and its robot, at once.
    """
    file = load_scenario_file(path_or_name, overrides)
    scenario = build_scenario(file)
    refuse_undetermined(scenario.arm, file.robot.data, "" if file.robot.sources else "robot")
    return scenario


def load_scenario_file(path_or_name: Given, overrides: Mapping[str, Any] | None = None) -> ScenarioFile:
    """A scenario file, checked together with its robot; arguments and errors as for `read_scenario`."""
    report = Report()
    root, sources = load_root("configs", path_or_name, report)
    file = sources[0].path if sources else ""
    own, of_robot = split_overrides(overrides)
    path = ""
    if isinstance(root, Map) and getattr(root.get("format"), "value", None) == RUN_FORMAT:
        path = "scenario"
        root = root.get("scenario") or Map({}, root.place)
    root = apply_overrides(root, own, report)
    if not isinstance(root, Map):
        mend = f"begin the file with `format: {FORMAT}`"
        report.add(root.place, path, "a mapping of keys and values", shown(root), mend)
        report.raise_if_any()
    assert isinstance(root, Map)  # or it has been refused
    context = Context(report, folder=os.path.dirname(file))
    robot, robot_sources = _robot(root, of_robot, context)
    sound = not report.faults  # or a motor that is given may count as missing
    context.joints = None if robot is None else joint_names(robot)
    data = read_scenario_node(root, context, path)
    steps = _check_times(data, path, context) if data is not None else {}
    if robot is not None and sound:
        _check_motors(root, robot, path, context)
    report.raise_if_any()
    assert data is not None  # or there was a fault
    assert robot is not None  # as above
    tables = [Source(name, digest(csv.raw)) for name, csv in context.tables.items() if csv is not None]
    name = data["name"] or os.path.splitext(os.path.basename(file))[0] or "scenario"
    all_sources = (*sources, *robot_sources, *tables)
    return ScenarioFile(name, data, RobotFile(robot, robot_sources), steps, all_sources)


def _robot(root: Map, overrides: dict[str, Any], context: Context) -> tuple[dict[str, Any] | None, tuple[Source, ...]]:
    """The data of a scenario's robot, from its own file or from within the scenario; None if there is no telling."""
    node = root.get("robot")
    robot_context = Context(context.report)
    if isinstance(node, Map):
        inner = apply_overrides(node, overrides, context.report, "robot.")
        return check_robot(inner, robot_context, "robot"), ()
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        return None, ()  # reported with the scenario's own keys
    from armsim.errors import FileFaults

    sources: tuple[Source, ...] = ()
    try:
        path = _robot_path(node.text, context.folder)
        robot_root: Node
        robot_root, raw = read_yaml(path, context.report)
        sources = (Source(path, digest(raw)),)
    except FileFaults as error:
        fault = error.faults[0]
        if fault.where.line:
            context.report.faults.extend(error.faults)
        else:  # the file itself: say who asks for it
            mend = fault.mend.replace(os.path.dirname(beside(context.folder, node.text)), os.path.dirname(node.text))
            context.report.add(node.place, "robot", fault.expected, _not_there(fault, node), mend)
        return None, ()
    return check_robot(apply_overrides(robot_root, overrides, context.report, "robot."), robot_context), sources


def _robot_path(text: str, folder: str) -> str:
    """The robot's file: relative to the scenario's, or shipped under a name."""
    relative = beside(folder, text)
    return relative if looks_like_a_file(text) or os.path.isfile(relative) else find_file("robots", text)


def _not_there(fault: Any, node: Scalar) -> str:
    """What was found in place of the robot's file, with its path where that is not what was written."""
    if not looks_like_a_file(node.text):
        return shown(node)
    path = "" if str(fault.where) == node.text else f", {fault.where}"
    return f"{shown(node)}{path}: {fault.found}"


def _check_times(data: dict[str, Any], path: str, context: Context) -> dict[str, Any]:
    """All times as numbers of steps; faults of those that are none."""
    integrator = data["integrator"]
    dt = integrator["dt"].value if integrator and integrator["dt"] else None
    if dt is None:
        return {}

    def steps(time: Quantity | None, where: str, least: int = 1) -> int | None:
        return None if time is None else steps_of(time, dt, join(path, where), context, least)

    duration = steps(data["duration"], "duration")
    every = steps((data["log"] or {}).get("every"), "log.every")
    if every is None and duration is not None:
        every = max(1, round(duration / 1000))
    period = None
    for key in ("control", "inputs"):
        if data[key] is not None:
            period = steps(data[key].get("period"), f"{key}.period")
    external = [
        (steps(item["from"], f"external[{i}].from", 0), steps(item["to"], f"external[{i}].to", 0))
        for i, item in enumerate(data["external"] or [])
        if item is not None
    ]
    return {"duration": duration, "log": every, "period": period, "external": external}


def _check_motors(root: Map, robot: dict[str, Any], path: str, context: Context) -> None:
    """Report joints that no voltage can drive, where voltages are asked for."""
    joints = [joint for joint in robot["joints"] or [] if joint is not None]
    bare = [joint["name"] for joint in joints if joint["motor"] is None]
    unknown = [joint["name"] for joint in joints if joint["motor"] is not None and joint["motor"]["Kp"] is None]
    refused = None if None in bare + unknown else refusal(bare, unknown)
    if refused is None:
        return
    expected, found, give = refused
    control, inputs = root.get("control"), root.get("inputs")
    output, law = (control.get(key) if isinstance(control, Map) else None for key in ("output", "law"))
    off = isinstance(law, Scalar) and law.value == "none"
    if isinstance(output, Scalar) and output.value == "voltage" and not off:
        mend = f"{give} in the robot file, or write `output: torque`"
        context.report.add(output.place, join(path, "control.output"), expected, found, mend)
    voltage = inputs.entries.get("voltage") if isinstance(inputs, Map) else None
    if voltage is not None:
        mend = f"{give} in the robot file, or write `torque` for `voltage`"
        context.report.add(voltage[0], join(path, "inputs.voltage"), expected, found, mend)
