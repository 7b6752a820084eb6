"""The scenario file: every key, with unit, default and meaning. This listing is the authority on the format."""

from __future__ import annotations

from typing import Any

from armsim.actuation import OUTPUTS, Output
from armsim.document import other_words as words
from armsim.document.bodies import FrameName, JointName, Payloads, TimedPayload, TimeSpan, WrenchName
from armsim.document.composite import (
    Choice,
    Document,
    Kind,
    List,
    Number,
    Parameters,
    PerJoint,
    Rule,
    Subdocument,
    Text,
)
from armsim.document.control import Control, RobotReference
from armsim.document.joint import NO_VECTOR
from armsim.document.kinds import Format
from armsim.document.parameters import read_parameters
from armsim.document.plan import Plan
from armsim.document.recorded import CsvSignal
from armsim.document.robot import refuse_names
from armsim.document.run_expression import ForceExpression
from armsim.document.tolerance import LARGEST, LEAST
from armsim.document.world import Contacts, World, check_contacts
from armsim.files.nodes import Map, Node
from armsim.formulas.quantity import Context, plain_number
from armsim.integrate import METHODS, Tolerance

FORMAT = "armsim/scenario/1"
LOG_FORMATS = ("csv", "parquet")
AUTO = "auto"  # leaves the method to armsim
ADAPTIVE = tuple(name for name, method in METHODS.items() if method.adaptive is not None)
FIXED = tuple(name for name in METHODS if name not in ADAPTIVE)


class ScenarioUnits(Document):
    """The unit of a scenario's angles; it says nothing about the robot's file."""

    angle = Choice(
        "rad",
        "deg",
        default="rad",
        doc="unit of target, reference, initial.q, initial.qd and a payload's rpy; never of gains",
    )


class Integrator(Document):
    """How time advances: by steps of a given length, or by those that an adaptive method chooses to keep an error small.

    An adaptive method takes as many steps as the error asks for: rtol |x| + atol in a step for every joint position, velocity
    and further state x. It lands on samples, changes of external forces and the end, and on every multiple of a dt that is
    given; rows in between are interpolated, to about the error of the steps.
    """

    other_words = words.INTEGRATOR

    method = Choice(AUTO, *METHODS, default=AUTO, doc="integration method; `auto` picks one and says which and why")
    dt = Number(
        "s",
        structure=True,
        above=0,
        doc="length of a step; of an adaptive method a time of which it lands on every multiple",
        note="the longest step that all times are whole multiples of; steps of a given length need it",
        example="1e-4",
    )
    rtol = Number(
        minimum=LEAST,
        largest=LARGEST,
        doc="relative error in a step, of adaptive methods",
        note=plain_number(Tolerance.rtol),
        example="1e-6",
    )
    atol = Number(
        above=0,
        doc="absolute error in a step, in the state's own unit, of adaptive methods",
        note="a thousandth of rtol",
        example="1e-9",
    )

    rules = (
        Rule("method", FIXED, needs=("dt",), without=("rtol", "atol")),
        Rule("method", (AUTO,), given=("dt",), without=("rtol", "atol")),
    )

    def lacks(self, key: str, context: Context) -> None:
        step = self.fields["dt"]
        found = f"nothing, and {self.method} takes steps of a given length"
        mend = f"add `dt: {step.example}`, or take a method that chooses its steps: {', '.join(ADAPTIVE)}"
        context.below(key).add(self.place, step.expected(context), found, mend)

    def unwanted(self, key: str, rule: Rule) -> tuple[str, str, str]:
        by = f"{AUTO} and `dt`, which ask for steps of a given length" if self.method == AUTO else self.method
        return f"no tolerance with {by}", f"`{key}`", f"take it out, or write `method: {ADAPTIVE[0]}`"


class Initial(Document):
    """Where the motion starts."""

    q = PerJoint(
        Number("rad or m", angle=True),
        doc="joint positions, one per joint",
        note="the robot's initial pose",
    )
    qd = PerJoint(Number("rad/s or m/s", angle=True), doc="joint velocities, one per joint", note="at rest")


class Signal(Kind[Any]):
    """A number, an expression of the time `t` [s], or a column of a CSV file."""

    def __init__(self, unit: str, **common: Any) -> None:
        super().__init__(**common)
        self.csv = Subdocument(CsvSignal)
        self.number = Number(unit, of_time=True, example="5*sin(5*t)")

    def expected(self, context: Context) -> str:
        return "a number, an expression of the time t, or {csv: file, column: name}"

    def read(self, node: Node, context: Context) -> Any:
        if isinstance(node, Map):
            signal = CsvSignal.read(node, context, self)
            return None if signal is None else signal.within_bounds(self.number, context)
        return self.number.read(node, context)


class Inputs(Document):
    """Joint torques, motor voltages or motor currents as functions of time; beside `control`, added to what it commands."""

    torque = PerJoint(Signal("N·m or N"), doc="joint torques [N·m or N], one per joint", note="or voltage")
    voltage = PerJoint(Signal("V"), doc="motor voltages [V], one per joint", note="or torque")
    current = PerJoint(Signal("A"), doc="motor currents [A], one per joint", note="or torque")
    period = Number(
        "s",
        structure=True,
        above=0,
        doc="time between samples, a whole multiple of dt; held in between",
        note="continuous",
    )

    exactly_one = ("torque", "voltage", "current")

    @property
    def output(self) -> Output:
        """Which of them is given."""
        return next(key for key in OUTPUTS if self.entries[key] is not None)

    @property
    def signals(self) -> tuple[Any, ...]:
        """The inputs, one per joint."""
        signals: tuple[Any, ...] = self.entries[self.output]
        return signals

    def check(self, context: Context) -> None:
        mend = "add `torque: [...]` or `voltage: [...]`, one value per joint"
        self.check_one(context, "one of torque, voltage and current", mend)


class External(TimeSpan):
    """A force and a moment on a link or at a frame, during a time.

    A component may be an expression of t [s], of joint positions and velocities (`q_R2`, `qd_R2`), and of the frames' positions
    [m], velocities [m/s] and angular velocities [rad/s] along the world's axes (`x_tool`, `vx_tool`, `wx_tool`, ...).
    """

    link = JointName(doc="name of the joint that moves the link", note="give `frame`", example="R5")
    point = List(Number("m"), length=3, default=NO_VECTOR, given_by="frame", doc="where the force acts, in the link's frame",
                 example="[0, 0, 0]")  # fmt: skip
    frame = FrameName(doc="the frame at whose origin it acts, in place of `link` and `point`",
                 note="give `link`", example="tool")  # fmt: skip
    force = List(ForceExpression("N"), length=3, default=NO_VECTOR, doc="force", example="[0, 0, -5]")
    moment = List(ForceExpression("N·m"), length=3, default=NO_VECTOR, doc="moment", example="[0, 0, 0]")
    axes = Choice("world", "local", default="world", doc="along whose axes: the world's, or those of the link or frame")

    rules = (Rule(given=("frame",), without=("link", "point")), Rule(absent=("frame",), needs=("link",)))

    def lacks(self, key: str, context: Context) -> None:
        expected, mend = "a `frame`, or a `link`, on which it acts", "add `frame: tool`, or `link: R5`"
        context.add(self.place, expected, "neither", mend)


class Log(Document):
    """What is written down."""

    every = Number(
        "s",
        structure=True,
        above=0,
        doc="time between rows, a whole multiple of dt",
        note="a multiple of dt near a thousandth of the duration",
        example="1e-2",
    )
    format = Choice(*LOG_FORMATS, default=LOG_FORMATS[0], doc="format of the tables", example="parquet")
    frames = List(
        FrameName(),
        default=(),
        doc="frames of the robot whose poses and velocities rows have, too; they always have those of the tool",
        example="[left_tip]",
    )
    wrenches = List(
        WrenchName(),
        default=(),
        doc="what rows have the wrenches of: joints, frames with a force-torque sensor, or the base",
        example="[R2, base, tool]",
    )
    distances = List(
        Text(),
        default=(),
        doc="pairs whose distances rows have: two links, or a link and a name of `world`; or `[all]`",
        example="[R5_floor]",
    )


class Scenario(Document):
    """What happens to a robot."""

    other_words = words.SCENARIO

    format = Format(FORMAT, doc="format and version of this file", example=FORMAT)
    name = Text(name=True, doc="names the run's folder", note="the file's name, with `_` for other characters")
    robot = RobotReference(
        of_file=True,
        doc="robot file relative to this one, name of a shipped robot, or a robot's keys",
        example="../robots/arm5.yaml",
    )
    units = Subdocument(ScenarioUnits, default={}, doc="units of this file")
    parameters = Parameters(
        default={}, doc="named numbers, for use in expressions of this file", example="{stiffness: 40}"
    )
    duration = Number("s", structure=True, above=0, doc="how long, a whole multiple of dt", example="5")
    integrator = Subdocument(
        Integrator, default={}, doc="how time advances", example="{method: semi_implicit_euler, dt: 1e-4}"
    )
    initial = Subdocument(Initial, default={}, doc="where the motion starts")
    control = Subdocument(Control, doc="feedback", note="none")
    inputs = Subdocument(Inputs, doc="torques, voltages or currents as functions of time", note="none")
    external = List(
        Subdocument(External), default=(), doc="forces and moments on links", example="[{link: R5, force: [0, 0, -5]}]"
    )
    payload = Payloads(TimedPayload, doc="in place of the robot's", note="the robot's")
    world = World("what stands fixed around the arm, by name; beside what the robot's file says, or in its place")
    contacts = Contacts()
    log = Subdocument(Log, default={}, doc="what is written down")
    plan = Subdocument(
        Plan,
        structure=True,
        doc="a motion for `armsim plan` to find; other commands leave it alone",
        note="none",
    )

    @property
    def degrees(self) -> bool:
        """Whether its angles are degrees."""
        return bool(self.units.angle == "deg")

    def check(self, context: Context) -> None:
        refuse_names(self, "world", [*(context.links or ()), *(context.frames or ())], context)
        check_contacts(self.contacts, {**context.world, **(self.world or {})}, context)
        control, inputs = self.control, self.inputs
        if control is None or inputs is None or not control.on or not self.given("inputs"):
            return
        here = context.below("inputs")
        for key in Inputs.exactly_one:
            if control.output is not None and inputs.entries[key] is not None and key != control.output:
                expected = f"`{control.output}`, as the output of `control`, to which inputs are added"
                mend = f"write `{control.output}: [...]`, or `output: {key}` under `control`"
                here.below(key).add(inputs.place_of(key), expected, f"`{key}`", mend)
        if inputs.period is not None:
            place = inputs.place_of("period")
            mend = "take it out, and write `period` under `control`"
            here.below("period").add(place, "the period of `control`, for both", "another one", mend)


ROOT = Subdocument(Scenario)


def read_scenario_node(node: Map, context: Context) -> Scenario | None:
    """A scenario, from the root node of its file.

    Args:
        node: The root.
        context: Knows the joints; its unit and parameters are set here.
    """
    units = node.get("units")
    angle = units.get("angle") if isinstance(units, Map) else None
    context.degrees = getattr(angle, "value", None) == "deg"
    context.named = True
    context.parameters = read_parameters(node.get("parameters"), context)
    return ROOT.read(node, context)
