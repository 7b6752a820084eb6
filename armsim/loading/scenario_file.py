"""Reading scenario files."""

from __future__ import annotations

import os
from typing import Any

from armsim import document
from armsim.document.control import task_of
from armsim.document.kinds import as_name
from armsim.document.overrides import JointLists, Overrides, apply_overrides, split_overrides
from armsim.document.robot import ROOT as ROBOT
from armsim.document.scenario import ADAPTIVE, AUTO, FORMAT, read_scenario_node
from armsim.document.scenario import ROOT as SCENARIO
from armsim.document.timing import ROWS, logged_step, shared_step, steps_of
from armsim.errors import UsageError
from armsim.files.faults import Report, join, listed
from armsim.files.folder_kind import RUN_FORMAT
from armsim.files.nodes import Map, Node, Scalar, Seq, clipped, shown
from armsim.files.shipped import looks_like_a_file
from armsim.files.source import Source, beside, find_file
from armsim.formulas.quantity import Context, Quantity
from armsim.loading.checked import RobotFile, ScenarioFile, WholeSteps
from armsim.loading.frames import RADIANS
from armsim.loading.robot_file import Given, check_robot, load_root, read_content, refuse_undetermined
from armsim.loading.scenario import Scenario, build_scenario
from armsim.loading.voltage import NoVoltage, refusal
from armsim.loading.wrong_kind import wrong_kind
from armsim.model import JOINT_TYPES

MOST_DELAY = 40  # periods: each is a state of every joint, and eigenvalues of all of them are looked at


def read_scenario(path_or_name: Given, overrides: Overrides | None = None) -> Scenario:
    """What a scenario file asks to simulate.

    Args:
        path_or_name: A file (a scenario, or the run.yaml of a finished run), the name of a shipped scenario, or a
            file's content as plain data.
        overrides: Values to set before the check, by path: `{"control.kp[R2]": 80, "robot.joints[R2].motor.Kp": 12}`; None
            takes a key out, or an item of a list.

    Raises:
        FileFaults: All that is wrong with the scenario and its robot, at once.
    """
    file = load_scenario_file(path_or_name, overrides)
    scenario = build_scenario(file)
    refuse_undetermined(scenario.arm, file.robot.document, "" if file.robot.sources else "robot")
    return scenario


def scenario_of(given: Given | Scenario, overrides: Overrides | None = None) -> Scenario:
    """A scenario, read if it has not been read before; see `read_scenario`.

    Raises:
        FileFaults: It cannot be run; says where and why.
        UsageError: There are overrides for one that has been read before.
    """
    if not isinstance(given, Scenario):
        return read_scenario(given, overrides)
    if overrides:
        raise UsageError("overrides go with a scenario's path or name, not with one that has been read already")
    return given


def load_scenario_file(path_or_name: Given, overrides: Overrides | None = None) -> ScenarioFile:
    """A scenario file, checked together with its robot; arguments and errors as for `read_scenario`."""
    report = Report()
    root, sources = load_root("configs", path_or_name, report)
    file = sources[0].path if sources else ""
    own, of_robot = split_overrides(overrides)
    path = ""
    if isinstance(root, Map) and getattr(root.get("format"), "value", None) == RUN_FORMAT:
        path = "scenario"
        root = root.get("scenario") or Map({}, root.place)
    before = ("robot", "units", "units.angle", "control.space", "control.axes")  # the rest depends on them
    first = {key: own.pop(key) for key in before if key in own}
    root = apply_overrides(root, first, report, kind=SCENARIO)
    if not isinstance(root, Map):
        mend = f"begin the file with `format: {FORMAT}`"
        report.add(root.place, path, "a mapping of keys and values", shown(root), mend)
        report.raise_if_any()
    assert isinstance(root, Map)  # or it has been refused
    context = Context(report, path, folder=os.path.dirname(file))
    robot, robot_sources = _robot(root.get("robot"), of_robot, context.at("robot"))
    if robot is not None:
        context.joints, context.links, context.frames = robot.joint_names, robot.link_names, robot.frame_names
        context.world = robot.world or {}
        context.contacts = tuple(name for it in robot.contacts or () if it for name in it.names)
    root = apply_overrides(root, own, report, kind=SCENARIO, joints=_joint_lists(root, robot, context))
    assert isinstance(root, Map)  # as before
    sound = not report.faults  # with faults, a motor that is given may count as missing
    scenario = read_scenario_node(root, context)
    steps = None if scenario is None else _steps(scenario, context)
    model = None if scenario is None else _model(scenario, robot, context)
    if scenario is not None and robot is not None and sound:
        document.world.check_contacts(
            robot.contacts, {**context.world, **(scenario.world or {})}, Context(report, "robot")
        )
        _check_motors(scenario, robot, model, context)
        _check_fit(scenario, robot, 0 if steps is None else steps.delay_in_periods, context)
    report.raise_if_any()
    assert scenario is not None  # or there was a fault
    assert robot is not None
    assert steps is not None
    tables = [Source(name, csv.sha256) for name, csv in context.tables.items() if csv is not None]
    name = scenario.name or name_of_file(file) or "scenario"
    all_sources = (*sources, *robot_sources, *(() if model is None else model.sources), *tables)
    return ScenarioFile(name, scenario, RobotFile(robot, robot_sources), steps, all_sources, model)


def name_of_file(path: str) -> str:
    """A name after a file, without its ending: `2nd run.yaml` is `_2nd_run`."""
    return as_name(os.path.splitext(os.path.basename(path))[0])


def _robot(
    node: Node | None, overrides: Overrides, context: Context
) -> tuple[document.Robot | None, tuple[Source, ...]]:
    """The robot that a scenario names or has inline, and its sources; None if it cannot be read."""
    if isinstance(node, Map):
        inner = apply_overrides(node, overrides, context.report, f"{context.path}.", ROBOT)
        return check_robot(inner, Context(context.report, context.path)), ()
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        return None, ()  # reported with the scenario's own keys
    from armsim.errors import FileFaults

    sources: tuple[Source, ...] = ()
    try:
        path = _robot_path(node, context.folder)
        robot_root, sources = read_content(path, context.report, streams=not node.place.line)
        if (refused := wrong_kind("robots", robot_root, path)) is not None:
            raise refused
    except FileFaults as error:
        fault = error.faults[0]
        if fault.where.line:
            context.report.faults.extend(error.faults)
        else:  # no file: report it at the key that names it
            mend = fault.mend.replace(os.path.dirname(beside(context.folder, node.text)), os.path.dirname(node.text))
            context.add(node.place, fault.expected, _not_there(fault, node), mend)
        return None, ()
    inner = apply_overrides(robot_root, overrides, context.report, f"{context.path}.", ROBOT)
    return check_robot(inner, Context(context.report)), sources


def _model(scenario: document.Scenario, robot: document.Robot | None, context: Context) -> RobotFile | None:
    """The arm as the controller knows it; None for the arm itself. It has to have the arm's joints."""
    control = scenario.control
    if control is None or robot is None or control.law == "none" or not control.given("model"):
        return None
    node = control.value_node("model")
    here = context.at("control.model")
    model, sources = _robot(node, {}, here)
    mine, its = robot.joint_names, None if model is None else model.joint_names
    if model is None or mine is None or its is None:
        return None
    if [type for _, type in its] != [type for _, type in mine]:
        own, theirs = (", ".join(f"{name} {type}" for name, type in names) for names in (mine, its))
        expected, found = f"an arm with the joints {own}", clipped(theirs, 200)
        here.add(node.place, expected, found, "name another robot, or copy the robot's file")
    if control.frame is not None and control.frame not in model.frame_names:
        expected, found = f"a robot with the frame {control.frame}, which is controlled", listed(model.frame_names)
        here.add(node.place, expected, found, "add the frame to it")
    return RobotFile(model, sources)


def _joint_lists(root: Map, robot: document.Robot | None, context: Context) -> JointLists | None:
    """What sets items of lists with one item per joint; None where the joints are not known."""
    if robot is None or context.joints is None:
        return None
    units = root.get("units")
    degrees = getattr(units.get("angle") if isinstance(units, Map) else None, "value", None) == "deg"
    defaults = {} if context.report.faults else default_lists(robot, degrees)
    return JointLists(
        [name for name, _ in context.joints], defaults, [axis for axis, _ in task_of(root.get("control"))]
    )


def default_lists(robot: document.Robot, degrees: bool) -> dict[str, list[float]]:
    """What a scenario's `initial.q`, `initial.qd` and `control.target` default to, by path.

    Args:
        robot: Its robot.
        degrees: Whether the scenario's angles are degrees.
    """
    pose = [float(joint.initial.value) for joint in robot.free]
    if degrees != robot.degrees:
        turns = [RADIANS if JOINT_TYPES[joint.type].turns else 1.0 for joint in robot.free]
        pose = [x / turn if degrees else x * turn for x, turn in zip(pose, turns, strict=True)]
    return {"initial.q": pose, "control.target": pose, "initial.qd": [0.0] * len(pose)}


def _robot_path(node: Scalar, folder: str) -> str:
    """The robot's file: relative to the scenario's, that of an option perhaps to the working folder, or shipped under a name."""
    text, relative = node.text, beside(folder, node.text)
    if not node.place.line and os.path.isfile(text) and not os.path.isfile(relative):
        return text
    return relative if looks_like_a_file(text) or os.path.isfile(relative) else find_file("robots", text)


def _not_there(fault: Any, node: Scalar) -> str:
    """`found` of a robot file that cannot be read, with its path where that is not what was written."""
    if not looks_like_a_file(node.text):
        return shown(node)
    path = "" if str(fault.where) == node.text else f", {fault.where}"
    return f"{shown(node)}{path}: {fault.found}"


def _steps(scenario: document.Scenario, context: Context) -> WholeSteps | None:
    """The step, and all times as numbers of steps; reports those that are not whole multiples. None with faults."""
    control, inputs = scenario.control, scenario.inputs
    external = scenario.external or ()
    times = {
        "log.every": None if scenario.log is None else scenario.log.every,
        "control.period": None if control is None else control.period,
        "inputs.period": None if inputs is None else inputs.period,
        "control.delay": None if control is None else control.delay,
    }
    carried = scenario.payload if isinstance(scenario.payload, tuple) else ()
    for of, items in (("external", external), ("payload", carried)):
        for i, item in enumerate(items):
            times |= {f"{of}[{i}].{key}": None if item is None else item.entries[key] for key in ("from", "to")}
    times |= {"duration": scenario.duration}
    given = {where: time for where, time in times.items() if time is not None}
    dt = _step(scenario, given, context)
    if dt is None:
        return None

    def steps(where: str, least: int = 1) -> int | None:
        time = times[where]
        return None if time is None else steps_of(time, dt, context.below(where), least)

    duration, every = steps("duration"), steps("log.every")
    delay = None if control is None else control.delay
    if every is None and duration is not None:
        every = max(1, round(duration / ROWS))
    periods = [steps("control.period"), steps("inputs.period")]
    spans = [
        tuple((steps(f"{of}[{i}].from", 0), steps(f"{of}[{i}].to", 0)) for i in range(len(items)))
        for of, items in (("external", external), ("payload", carried))
    ]
    period = next((count for count in periods if count is not None), None)
    later = None if delay is None else steps("control.delay", 0)
    if delay is not None and later and period:
        here = context.below("control.delay")
        if later % period:
            near = sorted({period * (later // period), period * (later // period + 1)})
            mend = f"take {' or '.join(f'{count * dt:g}' for count in near)}{' s' if delay.unit else ''}"
            expected = f"a whole multiple of control.period, {period * dt:g} s"
            here.add(delay.place, expected, delay.of("s"), mend)
        if later > MOST_DELAY * period:
            expected = f"at most {MOST_DELAY} periods, {MOST_DELAY * period * dt:g} s"
            mend = "make it shorter, or the period longer"
            here.add(delay.place, expected, delay.of("s"), mend)
    return None if duration is None or every is None else WholeSteps(dt, duration, every, period, later, *spans)


def _step(scenario: document.Scenario, times: dict[str, Quantity], context: Context) -> float | None:
    """The step [s]: dt if given, else, for an adaptive method or `auto`, the longest that divides all times."""
    integrator = scenario.integrator
    if integrator is None or integrator.method is None:
        return None
    if integrator.dt is not None:
        return float(integrator.dt.value)
    if integrator.method not in (AUTO, *ADAPTIVE) or scenario.duration is None:
        return None
    step = shared_step({join(context.path, where): time for where, time in times.items() if time.value > 0}, context)
    if step is not None and "log.every" not in times:
        step = logged_step(step, scenario.duration.value)
    return None if step is None else step.numerator / step.denominator


def _check_motors(
    scenario: document.Scenario, robot: document.Robot, model: RobotFile | None, context: Context
) -> None:
    """Report joints that no voltage or current can drive, where these are asked for."""
    control, inputs = scenario.control, scenario.inputs
    refused = _no_voltage(robot)
    if control is not None and control.law != "none" and control.output in ("voltage", "current"):
        if refused is not None:
            mend = f"{refused.mend} in the robot file, or write `output: torque`"
            place = control.value_node("output").place
            context.below("control.output").add(place, refused.expected, refused.found, mend)
        if model is not None and (missing := _no_voltage(model.document)) is not None:
            mend = f"{missing.mend} in the model's file, or write `output: torque`"
            place = control.value_node("model").place
            context.below("control.model").add(place, missing.expected, missing.found, mend)
    for key in ("voltage", "current"):
        if refused is not None and inputs is not None and key in inputs.keys_in_file:
            mend = f"{refused.mend} in the robot file, or write `torque` for `{key}`"
            context.below(f"inputs.{key}").add(inputs.place_of(key), refused.expected, refused.found, mend)


def _check_fit(scenario: document.Scenario, robot: document.Robot, delay: int, context: Context) -> None:
    """Report gains of states that the arm has not, and encoders on motors that it has not."""
    control = scenario.control
    if control is None or control.law == "none":
        return
    motors = [motor for _, motor in robot.motors if motor is not None]
    inductive = sum(motor.inductance.value != document.Motor.inductance.absent for motor in motors)
    currents, n = inductive if control.output == "voltage" else 0, len(robot.motors)
    K = control.value_node("K") if control.given("K") else None
    for i, row in enumerate(K.items if isinstance(K, Seq) else ()):
        width = len(row.items) if isinstance(row, Seq) else 2 * n
        states = 2 * n + currents
        if width not in (2 * n, states, states + n * delay):
            more = f", or {states} with those of currents" if currents else ""
            more += f", or {states + n * delay} with those of commands on their way" if delay else ""
            expected = f"{2 * n} numbers: gains of positions and velocities{more}"
            why = "a current is a state where a motor with an `inductance` takes a voltage"
            context.below(f"control.K[{i}]").add(row.place, expected, f"{width}", f"give as many; {why}")
    bare = [name for name, motor in robot.motors if motor is None]
    if bare and control.encoder is not None and control.encoder.on == "motor":
        mend = "write `on: joint`, or give every joint a `motor` in the robot file"
        place, found = control.encoder.value_node("on").place, f"no motor on {', '.join(map(str, bare))}"
        context.below("control.encoder.on").add(place, "a motor on every joint", found, mend)


def _no_voltage(robot: document.Robot) -> NoVoltage | None:
    """Why voltages cannot drive an arm; None if they can, or if faults leave that open."""
    bare = [name for name, motor in robot.motors if motor is None]
    unknown = [name for name, motor in robot.motors if motor is not None and motor.Kp is None]
    return None if None in bare + unknown else refusal(bare, unknown)
