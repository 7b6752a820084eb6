"""Overviews of a robot or scenario file: its numbers and what follows from them, in SI units."""

from __future__ import annotations

import os
import re
from dataclasses import field
from os import PathLike
from typing import Any, Literal

from armsim import document
from armsim.arm.robot_overview import RobotOverview, arm_overview, robot_overview
from armsim.control import (
    ComputedTorque,
    Constant,
    Controller,
    Expressions,
    OpenLoop,
    OperationalSpace,
    Pid,
    StateFeedback,
)
from armsim.control.operational_space import AXES
from armsim.files.faults import Doubt, listed, refuse
from armsim.files.neighbours import nearest_file
from armsim.files.nodes import Place
from armsim.files.regular_file import read_regular
from armsim.files.shipped import looks_like_a_file, shipped_names, shipped_path
from armsim.files.yaml_reader import MOST_BYTES
from armsim.loading import Given, Overrides, build_scenario, load_scenario_file
from armsim.loading.check import scenario_doubts
from armsim.loading.reference import in_words
from armsim.model.angles import POSITION
from armsim.plant import Plant
from armsim.plant.statics import joint_damping, joint_stiffness, steady_droop
from armsim.records import optional, record
from armsim.stability.method_choice import with_method

FORMAT = re.compile(rb"^format:\s*[\"']?armsim/(robot|scenario|run)\b", re.MULTILINE)


@record
class InputFacts:
    """Inputs that are given over time.

    Attributes:
        output: "voltage", "current" or "torque".
        period: Sample time [s]; None for continuous.
        signals: In words, one per joint.
    """

    output: str
    period: float | None
    signals: list[str]


@record
class JointControl:
    """The control of a joint; what its law has of it is in subclasses, of a function nothing.

    Attributes:
        name: The joint's.
        target: [rad or m]; None where the reference moves.
        limit: Of the command; None for none.
    """

    name: str
    target: float | None = field(metadata=POSITION)
    limit: float | None


@record
class StateFeedbackJoint(JointControl):
    """The joint's row of K."""

    K: list[float]


@record
class ExpressionJoint(JointControl):
    """The joint's command as text."""

    command: str


@record
class ComputedTorqueJoint(JointControl):
    """Gains [1/s², 1/s]."""

    kp: float
    kd: float


@record
class PostureJoint(JointControl):
    """What the joint does besides control of a tool.

    Attributes:
        posture: The position that it holds as far as the tool leaves it [rad or m]; None for the target or the reference.
        kp: Gain of the error from there.
        kd: Gain of its derivative.
    """

    posture: float | None = field(metadata=POSITION)
    kp: float
    kd: float


@record
class AxisControl:
    """The control of a tool along or about an axis of the world.

    Attributes:
        name: The axis.
        kp: Gain of the error.
        kd: Gain of its derivative.
    """

    name: str
    kp: float
    kd: float


@record
class PidJoint(JointControl):
    """Gains of PD, PI or PID, and what they come to at the joint.

    Attributes:
        kp: Proportional gain.
        ki: Integral gain.
        kd: Derivative gain.
        stiffness: [N·m/rad or N/m]; None where the motor takes no voltage.
        damping: Back-EMF's included [N·m·s/rad or N·s/m].
        back_emf: Its part of the damping.
        droop: That gravity leaves at rest under pd [rad or m]; None under another law, or without stiffness.
    """

    kp: float
    ki: float
    kd: float
    stiffness: float | None
    damping: float
    back_emf: float
    droop: float | None = field(metadata=POSITION)


@record
class ControlFacts:
    """A controller.

    Attributes:
        law: Its name.
        output: "voltage", "current" or "torque".
        period: Sample time [s]; None for continuous.
        delay: From sample to command [s].
        reference: In words; None where it holds.
        feedforward: Its name, or "none".
        encoder: Whether encoders measure.
        inputs: That are added, in words; None for none.
        joints: One per joint.
        tool: The frame that is controlled in place of the joints; None for none.
        axes: Of that frame; none without.
    """

    law: str
    output: str
    period: float | None
    delay: float
    reference: str | None
    feedforward: str
    encoder: bool
    inputs: list[str] | None
    joints: list[JointControl]
    tool: str | None = optional(default=None)
    axes: list[AxisControl] | None = optional(default=None)


@record
class InitialState:
    """Joint positions [rad or m] and velocities [rad/s or m/s]."""

    q: list[float] = field(metadata=POSITION)
    qd: list[float] = field(metadata=POSITION)


@record
class ScenarioOverview:
    """A scenario's integration, command and log, and its robot.

    Attributes:
        kind: "scenario".
        scenario: Its name.
        file: None for plain data.
        method: Of integration.
        picked: Why, if armsim picked it.
        rtol: Of an adaptive method, else None.
        atol: Likewise.
        dt: Step, or time between landings [s].
        steps: None of an adaptive method, which has yet to choose them.
        landings: Of an adaptive method, else None.
        duration: [s].
        log_every: [s].
        rows: Of the log.
        command: None where nothing does.
        external: Number of wrenches.
        initial: The initial state.
        robot: With the scenario's payload, at the scenario's initial pose.
        doubts: What `armsim check` warns of, the robot's too.
    """

    kind: str = field(default="scenario", init=False)
    scenario: str
    file: str | None
    method: str
    picked: str | None
    rtol: float | None
    atol: float | None
    dt: float
    steps: int | None
    landings: int | None
    duration: float
    log_every: float
    rows: int
    command: InputFacts | ControlFacts | None
    external: int
    initial: InitialState
    robot: RobotOverview
    doubts: list[Doubt]


def overview(given: str | PathLike[str], overrides: Overrides | None = None) -> RobotOverview | ScenarioOverview:
    """`robot_overview` or `scenario_overview` of a file.

    Args:
        given: A file, or the name of a shipped robot or scenario.
        overrides: Values in place of the file's, by path.

    Raises:
        FileFaults: The file cannot be used; says where and why.
    """
    if kind_of(given) == "robot":
        return robot_overview(given, overrides)
    return scenario_overview(given, overrides)


def kind_of(given: str | PathLike[str]) -> Literal["robot", "scenario"]:
    """Whether a file, or a shipped name, is of a robot or of a scenario; a run.yaml counts as a scenario.

    Raises:
        FileFaults: It is neither a file nor a shipped name.
    """
    text = os.fspath(given)
    if looks_like_a_file(text) or os.path.isfile(text):
        try:
            found = FORMAT.search(read_regular(text, MOST_BYTES + 1))
        except (OSError, ValueError):
            return "robot"  # its reader says what is wrong
        return "scenario" if found and found[1] != b"robot" else "robot"
    if shipped_path("robots", text):
        return "robot"
    if shipped_path("configs", text):
        return "scenario"
    names = [*shipped_names("robots"), *shipped_names("configs")]
    expected = "a robot or scenario file, or the name of a shipped one"
    close = nearest_file(text, names)
    mend = f"did you mean `{close}`?" if close else f"`armsim list` names the shipped ones: {listed(names)}"
    raise refuse(Place(text), "", expected, "neither of them", mend)


def scenario_overview(given: Given, overrides: Overrides | None = None) -> ScenarioOverview:
    """A scenario's integration, command and log, and the overview of its robot.

    Args:
        given: A file, the name of a shipped scenario, or a file's content as plain data.
        overrides: Values in place of the file's, by path; the robot's with the prefix `robot.`.
    """
    file = load_scenario_file(given, overrides)
    scenario = with_method(build_scenario(file))
    arm, clock, adaptive = scenario.arm, scenario.clock, scenario.adaptive
    path = file.sources[0].path if file.sources else None
    robot = file.robot.sources[0].path if file.robot.sources else path
    return ScenarioOverview(
        scenario=scenario.name,
        file=path,
        method=scenario.method,
        picked=scenario.picked or None,
        rtol=scenario.tolerance.rtol if adaptive else None,
        atol=scenario.tolerance.atol if adaptive else None,
        dt=scenario.dt,
        steps=None if adaptive else clock.steps,
        landings=clock.steps // scenario.land_every if adaptive else None,
        duration=clock.end,
        log_every=clock.at(clock.log_every),
        rows=clock.rows,
        command=commanded(Plant(arm, scenario.command), file.document),
        external=len(scenario.external),
        initial=InitialState(list(scenario.initial_q), list(scenario.initial_qd)),
        robot=arm_overview(arm, robot, scenario.initial_q),
        doubts=[warning.doubt for warning in scenario_doubts(scenario)],
    )


def commanded(plant: Plant, scenario: document.Scenario) -> InputFacts | ControlFacts | None:
    """The command of a scenario; None where nothing does.

    Args:
        plant: The arm with its command.
        scenario: As its file has it.
    """
    command = plant.command
    signals = [] if scenario.inputs is None else [_in_words(signal) for signal in scenario.inputs.signals]
    if isinstance(command, OpenLoop):
        return InputFacts(command.output, command.period, signals)
    control = scenario.control
    if not isinstance(command, Controller) or control is None:
        return None
    law = command.law
    tool, axes = None, None
    if isinstance(law, OperationalSpace):
        tool = law.frame.name
        axes = [AxisControl(AXES[i], kp, kd) for i, kp, kd in zip(law.axes, law.kp, law.kd, strict=True)]
    return ControlFacts(
        tool=tool,
        axes=axes,
        law=law.name,
        output=command.output,
        period=command.period,
        delay=command.delay * command.period if command.period is not None else 0.0,
        reference=(None if control.reference is None else in_words(control.reference, command.reference)),
        feedforward=control.feedforward,
        encoder=command.encoder is not None,
        inputs=None if command.inputs is None else signals,
        joints=_joint_controls(plant, command, control),
    )


def _joint_controls(plant: Plant, command: Controller, control: document.Control) -> list[JointControl]:
    """The command of each joint, by the law.

    Args:
        plant: The arm with its command.
        command: The same command.
        control: What the scenario file says of it.
    """
    arm, law, found = plant.arm, command.law, list[JointControl]()
    held = isinstance(command.reference, Constant)
    targets = command.target if held else [None] * arm.n
    droops = steady_droop(plant) or [None] * arm.n
    for i, (joint, droop) in enumerate(zip(arm.joints, droops, strict=True)):
        own = joint.name, targets[i], command.limit[i]
        if isinstance(law, StateFeedback):
            found.append(StateFeedbackJoint(*own, list(law.K[i])))
        elif isinstance(law, Expressions):
            found.append(ExpressionJoint(*own, control.command[i].text))
        elif isinstance(law, OperationalSpace):
            hold = None if law.posture.hold is None else law.posture.hold.target[i]
            found.append(PostureJoint(*own, hold, law.posture.kp[i], law.posture.kd[i]))
        elif isinstance(law, ComputedTorque):
            found.append(ComputedTorqueJoint(*own, law.kp[i], law.kd[i]))
        elif isinstance(law, Pid):
            felt = joint_stiffness(plant, i), *joint_damping(plant, i)
            found.append(PidJoint(*own, law.kp[i], law.ki[i], law.kd[i], *felt, droop))
        else:  # a function has gains of its own
            found.append(JointControl(*own))
    return found


def _in_words(signal: Any) -> str:
    return f"column {signal.column} of {signal.file_name}" if isinstance(signal, document.CsvSignal) else signal.text
