"""What is exported of a robot: questions about one state, and its forward model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from armsim.actuation import drive_torques, limit_torques
from armsim.dynamics import (
    bias,
    frame_jacobian,
    frame_pose,
    gravity_torque,
    kinetic_energy,
    mass_matrix,
    potential_energy,
)
from armsim.errors import UsageError, spelled
from armsim.exporting.interface import SLOPES, Argument, Entry, Kind, Named, Stepping, slopes
from armsim.expr import Scalar, Scalars, leaves, trace
from armsim.loading import read_robot
from armsim.loading.open_robot import OpenRobot
from armsim.model import Arm
from armsim.plant import accelerations
from armsim.plant.columns import read_heading
from armsim.recording.forward_model import ForwardModel
from armsim.records import record

RATES = {"q": "", "qd": "/s", "qdd": "/s²"}
GIVEN = {
    "q": "joint positions",
    "qd": "joint velocities",
    "qdd": "joint accelerations",
    "tau": "torques of the drives",
}
POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")


@record
class Question:
    """A question about one state.

    Attributes:
        what: In words.
        given: Names of its arguments, of `GIVEN`.
        result: Name and words of the result.
        body: (arm, *arguments) to a tree of the result's numbers.
        items: Their names; one for each joint unless given.
    """

    what: str
    given: tuple[str, ...]
    result: tuple[str, str]
    body: Callable[..., Any]
    items: Callable[[Arm], list[Named]] | None = None


def _pairs(rows: Callable[[Arm], Sequence[str]]) -> Callable[[Arm], list[Named]]:
    return lambda arm: [Named(f"{row}_{joint.name}") for row in rows(arm) for joint in arm.joints]


QUESTIONS: dict[str, Question] = {
    "fd": Question(
        "Forward dynamics: joint accelerations under torques of the drives.",
        ("q", "qd", "tau"),
        ("qdd", "joint accelerations"),
        accelerations,
    ),
    "id": Question(
        "Inverse dynamics: torques of the drives for a motion.",
        ("q", "qd", "qdd"),
        ("tau", "torques of the drives"),
        drive_torques,
    ),
    "fk": Question(
        "Forward kinematics: the tool in the world.",
        ("q",),
        ("pose", "position, and orientation as a unit quaternion"),
        lambda arm, q: frame_pose(arm, q, arm.tool).coordinates,
        lambda arm: [Named(name, "m" if len(name) == 1 else "") for name in POSE],
    ),
    "mass": Question(
        "Mass matrix, with the rotors' reflected inertia.",
        ("q",),
        ("M", "mass matrix, row by row"),
        mass_matrix,
        _pairs(lambda arm: [joint.name for joint in arm.joints]),
    ),
    "bias": Question(
        "Coriolis, centrifugal and gravity torques.",
        ("q", "qd"),
        ("tau", "torques that hold the velocities"),
        bias,
    ),
    "gravity": Question(
        "Torques that hold the arm against gravity.",
        ("q",),
        ("tau", "holding torques"),
        gravity_torque,
    ),
    "limits": Question(
        "Torques of the joints' stops.",
        ("q", "qd"),
        ("tau", "torques of the stops"),
        limit_torques,
    ),
    "jacobian": Question(
        "Geometric Jacobian of the tool in world axes, angular velocity first.",
        ("q",),
        ("J", "Jacobian, row by row"),
        lambda arm, q: frame_jacobian(arm, q, arm.tool),
        _pairs(lambda arm: [f"{kind}{axis}" for kind in "wv" for axis in "xyz"]),
    ),
    "energy": Question(
        "Kinetic and potential energy.",
        ("q", "qd"),
        ("energy", "energies"),
        lambda arm, q, qd: [kinetic_energy(arm, q, qd), potential_energy(arm, q)],
        lambda arm: [Named("kinetic", "J"), Named("potential", "J")],
    ),
}
STEP = ("begin", "step")  # of the forward model
WHAT = (*QUESTIONS, *STEP, SLOPES)


def entries_of_robot(
    robot: Any, what: Sequence[str], open: Sequence[str], stepping: Stepping | None
) -> tuple[Arm, tuple[Named, ...], list[Entry]]:
    """The functions that are exported of a robot.

    Args:
        robot: A file, the name of a shipped robot, or a file's content.
        what: Names of functions, of `WHAT`; the forward model is both of `STEP`, which `SLOPES` takes too.
        open: Paths of numbers that are left open.
        stepping: How the forward model steps; None without it.

    Returns:
        The arm, the open numbers, and the functions.

    Raises:
        FileFaults: The robot cannot be used; says where and why.
        UsageError: There is no number at a path, or the forward model lacks its step.
    """
    opened = OpenRobot(robot, open) if open else None
    arm = read_robot(robot)[0] if opened is None else opened.arm
    numbers = () if opened is None else numbers_of(opened)
    more = (Argument("numbers", "the open numbers", numbers, "numbers"),) if numbers else ()
    found = []
    for name in what:
        if name in QUESTIONS:
            found.append(_question(name, arm, opened, more))
        elif name in ("step", SLOPES):
            if stepping is None:
                where = spelled(f"--what {name}", name)
                mend = f"add {spelled('--dt 1e-3', 'dt=1e-3')}, or export a scenario"
                raise UsageError.of(where, "the length of a step, as a robot has none", "none", mend)
            model = ForwardModel(robot, stepping.dt, stepping.method, stepping.inputs, open=open, creep=stepping.creep)
            if not any(entry.name == "step" for entry in found):
                found += _forward_model(model, more)
            if name == SLOPES:
                found.append(_derivatives(model, next(entry for entry in found if entry.name == "step")))
    return arm, numbers, found


def numbers_of(opened: OpenRobot) -> tuple[Named, ...]:
    """The open numbers of a robot, with the values of the file.

    Raises:
        UsageError: The file has no number there, or one that means that something is absent.
    """
    for path, value in zip(opened.paths, opened.written, strict=True):
        if math.isnan(value):
            where = spelled(f"--open {path}", f"open {path}")
            raise UsageError.of(where, "a number that the file has", "none", "write it into the file, as the default")
    opened.refuse(opened.written)
    units = opened.units
    return tuple(Named(*given) for given in zip(opened.paths, units, opened.written, strict=True))


def _question(name: str, arm: Arm, opened: OpenRobot | None, more: tuple[Argument, ...]) -> Entry:
    question, n = QUESTIONS[name], arm.n
    arguments = tuple(joint_argument(arm, given, GIVEN[given]) for given in question.given)
    size = n * len(arguments)

    def body(*x: Scalar) -> Scalars:
        own = arm if opened is None else opened.of(x[size:])
        return leaves(question.body(own, *(x[i : i + n] for i in range(0, size, n))))

    names = [item.name for argument in (*arguments, *more) for item in argument.items]
    result = joint_argument(arm, *question.result)
    if question.items is not None:
        result = Argument(*question.result, tuple(question.items(arm)))
    return Entry(name, question.what, trace(body, names, name), (*arguments, *more), result)


def joint_argument(arm: Arm, name: str, what: str, kind: Kind = "array") -> Argument:
    """An array with a number for every joint."""
    force = name not in RATES
    units = [joint.kind.force if force else f"{joint.kind.length}{RATES[name]}" for joint in arm.joints]
    items = [Named(f"{name}_{joint.name}", unit) for joint, unit in zip(arm.joints, units, strict=True)]
    return Argument(name, what, tuple(items), kind)


def _forward_model(model: ForwardModel, more: tuple[Argument, ...]) -> list[Entry]:
    """The forward model: the state at a pose, and the step."""
    items = tuple(_item(heading) for heading in model.headings)
    inputs = Argument("inputs", f"{model.output}s, held during the step", tuple(map(_item, model.input_headings)))
    before, after = Argument("state", "the state", items), Argument("next", "the state a step later", items)
    begun = Argument("state", "the state", items)
    pose = (joint_argument(model.arm, "q", GIVEN["q"]), joint_argument(model.arm, "qd", GIVEN["qd"]))
    step = f"One step of {model.dt!r} s by {model.method}, the inputs held."
    begin = "The state at joint positions and velocities; its accelerations are those under the inputs."
    return [
        Entry("begin", begin, model.traced("begin"), (*pose, inputs, *more), begun),
        Entry("step", step, model.traced("step"), (before, inputs, *more), after),
    ]


def _derivatives(model: ForwardModel, step: Entry) -> Entry:
    """The step with its derivatives, by the open numbers too where there are any."""
    name = "derivatives by values" if model.open else "derivatives"
    return slopes(step, model.traced(name), tuple(map(_item, model.state_headings)))


def _item(heading: str) -> Named:
    """A number by its heading: q_R1_rad as q_R1 [rad]."""
    read = read_heading(heading)
    if read is None:
        return Named(heading)
    prefix, of, unit = read
    return Named(f"{prefix}_{of}" if prefix != "tool" else of, unit)
