"""What is sought: numbers of a robot file, and what a log adds to them: a delay, and offsets of its sensors."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from armsim import document
from armsim.arrays import Array
from armsim.document.base import Document, numbers
from armsim.errors import ArmsimError, UsageError
from armsim.formulas.units import units_of
from armsim.identification.base_numbers import BaseNumbers
from armsim.loading import Given, load_robot_file
from armsim.loading.open_data import SIDES
from armsim.loading.open_robot import OpenRobot
from armsim.plant.driven import Output
from armsim.recording.open_values import OpenValues
from armsim.records import record

ROBOT = "robot."
GUESS = 0.05  # share of a joint's torque that friction takes, where the file has none to begin with
NEARLY_NONE = 1e-6  # share of a scale: as good as absent, which as 0 would be structure
DELAY, OFFSET = "delay", "offset"
BASE = "base"  # the numbers that stand for base parameters
FRICTION = "friction"  # what is sought unless something else is
LONGEST_DELAY = 0.2  # s
SIGNS = {"[*]": r"\[\d+\]", "*": r"[^\[]+"}  # of patterns, as regular expressions


@record
class Unknown:
    """A number that is sought.

    Attributes:
        path: Of the robot file, with names of joints; of others "delay" and "offset[R1]".
        unit: Its unit; empty for a pure number.
        written: What the file has: NaN where nothing.
        start: Where the search begins.
        scale: A change that matters.
        lower: Least value.
        upper: Greatest value.
    """

    path: str
    unit: str
    written: float
    start: float
    scale: float
    lower: float = -math.inf
    upper: float = math.inf

    @property
    def before(self) -> float:
        """The file's number, or what is as good as none."""
        return min(max(self.written, self.lower), self.upper) if math.isfinite(self.written) else max(self.lower, 0.0)


@record
class JointScale:
    """How strongly and how fast a joint of the log moves.

    Attributes:
        torque: Root mean square of what drives it [N·m or N].
        speed: Of its velocity [rad/s or m/s].
    """

    torque: float
    speed: float


class Unknowns:
    """The unknowns of an identification; their values are one vector: numbers of the file, delay, offsets.

    Args:
        robot: The robot file.
        opened: Paths, patterns of paths, and names of sets; or one of them.
        output: What the logs' inputs are.
        scales: Of the arm's joints.
        delay: Whether the delay of the commands is sought.
        offsets: Whether offsets of the position sensors are.

    Raises:
        FileFaults: The file cannot be used.
        UsageError: There is no such number.
    """

    def __init__(
        self,
        robot: Given,
        opened: Sequence[str] | str,
        output: Output,
        scales: Sequence[JointScale],
        delay: bool,
        offsets: bool,
    ) -> None:
        opened = [opened] if isinstance(opened, str) else opened
        self.base = BaseNumbers(robot) if BASE in opened else None
        self.given = robot if self.base is None else self.base.data
        self.document = load_robot_file(self.given).document
        self.names = [joint.name for joint in self.document.joints]
        paths = [path for text in opened for path in self._expanded(text.removeprefix(ROBOT), output)]
        self.robot = OpenRobot(self.given, list(dict.fromkeys(paths)))
        self.places = self.robot.places
        self.opened = len(self.places)
        self.delay = self.opened if delay else None
        free = [joint.name for joint in self.robot.arm.joints]
        by_name = dict(zip(free, scales, strict=True))
        self.items = [self._number(i, by_name) for i in range(self.opened)]
        if delay:
            self.items.append(Unknown(DELAY, "s", math.nan, 1e-3, 1e-3, 0.0, LONGEST_DELAY))
        self.offsets = [*range(len(self.items), len(self.items) + len(free))] if offsets else []
        for joint in self.robot.arm.joints if offsets else ():
            unit, size = ("rad", 0.01) if joint.kind.turns else ("m", 0.001)
            self.items.append(Unknown(f"{OFFSET}[{joint.name}]", unit, 0.0, 0.0, size))

    def column(self, attribute: str) -> Array:
        """An attribute of all unknowns, shape (p,)."""
        return np.array([getattr(item, attribute) for item in self.items])

    @cached_property
    def _written(self) -> dict[str, float]:
        """The file's numbers by place."""
        return {path: float(x.value) for path, x in numbers(self.document) if x.given}

    @cached_property
    def _values(self) -> OpenValues:
        return OpenValues(self.robot, None)

    def admits(self, values: Array) -> bool:
        """Whether the file would take these numbers: what masses, inertias and friction of a body can be."""
        try:
            self._values.admit(values[: self.opened])
        except ArmsimError:
            return False
        return True

    def _expanded(self, text: str, output: Output) -> Iterator[str]:
        """The paths that a path, a pattern or a set stands for."""
        if text == BASE and self.base is not None:
            yield from self.base.paths
            return
        if text in SETS:
            found = SETS[text](self.document, output)
            if not found:
                raise UsageError.of(f"open {text}", f"a robot with {text}", "none in its file", "name the paths")
            yield from found
            return
        if text.isalpha() and text != "gravity":
            mend = f"write for example joints[*].motor.Kp, or {', '.join((*SETS, BASE))}"
            raise UsageError.of(f"open {text}", "a path, a pattern or a set", "none of these", mend)
        if "*" not in text.replace("[*]", ""):
            yield text
            return
        shape = "".join(SIGNS.get(part, re.escape(part)) for part in re.split(r"(\[\*\]|\*)", text))
        known = [path for path, quantity in numbers(self.document) if quantity.given]
        named = [path for path in known if re.fullmatch(shape, path) or re.fullmatch(shape, self._named(path))]
        if not named:
            mend = f"the file has for example {', '.join(known[-3:])}"
            raise UsageError.of(f"open {text}", "a pattern of paths of numbers that the file has", "none", mend)
        yield from named

    def _named(self, place: str) -> str:
        """A place with the name of its joint."""
        return re.sub(r"^joints\[(\d+)\]", lambda found: f"joints[{self.names[int(found[1])]}]", place)

    def _number(self, i: int, scales: dict[str, JointScale]) -> Unknown:
        """An open number of the file."""
        place, written, kind = self.places[i], self.robot.written[i], self.robot.quantities[i].kind
        path, key = self._named(place), re.sub(r"[.](positive|negative)$", "", place).rpartition(".")[2]
        size = abs(written) if math.isfinite(written) and written else 0.0
        name = path[path.find("[") + 1 : path.find("]")]
        scale = scales.get(name)
        guess = size
        if not size and ".friction." in place and scale is not None:
            guess = GUESS * scale.torque / (scale.speed if key == "viscous" else 1.0)
        elif not size:  # a product of inertia is no more than a moment
            moments = [abs(self._written.get(f"{place[:-2]}{axis}", 0.0)) for axis in ("xx", "yy", "zz")]
            guess = max(moments) or 0.1
        turns = [joint.kind.turns for joint in self.robot.arm.joints if joint.name == name]
        unit = units_of(self.robot.units[i], turns, None)[0]
        below = kind.minimum if kind.minimum is not None else 0.0 if kind.above == 0 else None
        lower = -kind.most if below is None else below + NEARLY_NONE * guess
        start = written if size else guess if below is not None else 0.0
        return Unknown(path, unit, written, start, guess, lower, kind.most)


def _friction(robot: document.Robot, output: Output) -> list[str]:
    """Viscous and dry friction of every joint: beside the motor, where the file has it there."""
    found = []
    for i, joint in enumerate(robot.joints):
        if joint.mimic is not None:
            continue
        places: dict[str, document.Friction | document.Motor] = {"friction": joint.friction}
        if joint.motor is not None and not joint.friction.says("coulomb") and not joint.friction.says("viscous"):
            places["motor"] = joint.motor
        for key in ("viscous", "coulomb"):
            at = (
                "motor"
                if "motor" in places and key in places["motor"].fields and places["motor"].says(key)
                else "friction"
            )
            sides = [f".{side}" for side in SIDES] if isinstance(places[at].entries[key], Document) else [""]
            found += [f"joints[{i}].{at}.{key}{side}" for side in sides]
    return found


def _motors(robot: document.Robot, output: Output) -> list[str]:
    """Torque constants, under voltages also what else turns a voltage into a torque."""
    keys = ("Kp", "Ke", "Ra") if output == "voltage" else ("Kp",)
    motors = {i: joint.motor for i, joint in enumerate(robot.joints) if joint.motor is not None}
    return [
        f"joints[{i}].motor.{key}"
        for i, motor in motors.items()
        for key in keys
        if key in motor.fields and motor.given(key)
    ]


def _payload(robot: document.Robot, output: Output) -> list[str]:
    return [path for path, x in numbers(robot) if path.startswith("payload.") and x.given] or ["payload.mass"]


def _masses(robot: document.Robot, output: Output) -> list[str]:
    return [path for path, x in numbers(robot) if ".bodies[" in path and path.endswith(".mass") and x.given]


SETS = {FRICTION: _friction, "motors": _motors, "payload": _payload, "masses": _masses}
