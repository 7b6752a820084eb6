"""The origin of every number of a robot or a scenario: file, default or override."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from armsim import document
from armsim.arm.overview import kind_of
from armsim.document.bodies import payload_bodies
from armsim.document.composite import LawGains, PerJoint
from armsim.document.kinds import Kind, Number
from armsim.files.faults import join
from armsim.formulas.quantity import Quantity
from armsim.formulas.units import units_of
from armsim.loading import Overrides, Scenario, build_scenario, load_robot_file, load_scenario_file
from armsim.loading.build import build_body
from armsim.loading.frames import RADIANS
from armsim.loading.settle import settle
from armsim.model import JOINT_TYPES
from armsim.records import record
from armsim.spatial import in_degrees
from armsim.stability.method_choice import with_method


@record
class Origin:
    """A number and where it came from.

    Attributes:
        path: As `--set` takes it, for example `joints[R2].motor.Kp`; a scenario's robot with the prefix `robot.`.
        value: In SI units; None for an expression of time.
        unit: SI; empty for pure numbers, and for parameters, whose unit is that of their use.
        origin: "file", "default" or "override".
        file: That it stands in; None for overrides and for defaults.
        line: From 1; None likewise.
        column: From 1; None likewise.
        written: As written in the file or the override; empty for a default.
        expression: Whether that is a formula, not just a number.
        note: The source of a default that is another number of the file.
        converted_from: The number as written with its unit, or in the file's unit where that is not SI; empty elsewhere.
    """

    path: str
    value: float | None
    unit: str
    origin: str
    file: str | None
    line: int | None
    column: int | None
    written: str = ""
    expression: bool = False
    note: str = ""
    converted_from: str = ""

    def in_degrees(self) -> Origin:
        """With an angle, or its rate, in degrees."""
        if self.value is None or self.unit not in ("rad", "rad/s"):
            return self
        unit = self.unit.replace("rad", "deg")
        return replace(self, value=in_degrees(self.value), unit=unit, converted_from="")


def origins(given: str | PathLike[str], overrides: Overrides | None = None) -> list[Origin]:
    """Every number of a robot or scenario file, in the order of the format; a scenario's robot comes last.

    Args:
        given: A file, or the name of a shipped robot or scenario.
        overrides: Values in place of the file's, by path.

    Raises:
        FileFaults: The file cannot be used; says where and why.
    """
    if kind_of(given) == "robot":
        return _of_robot(load_robot_file(given, overrides).document, "")
    file = load_scenario_file(given, overrides)
    scenario = build_scenario(file)
    return [*_of_scenario(scenario), *_of_robot(file.robot.document, "robot.")]


def _of_robot(robot: document.Robot, prefix: str) -> list[Origin]:
    filled: dict[str, float] = {}
    settled = settle(robot)
    for i, joint in enumerate(settled.joints):
        if joint.motor is not None and joint.motor.Kp is not None:
            filled[f"joints[{i}].motor.Ke"] = joint.motor.Kp
        for k, body in enumerate(joint.bodies):
            filled[f"joints[{i}].bodies[{k}].{body.tag}.mass"] = build_body(body).mass
    for path, _, body in payload_bodies(settled.payload):
        if body.tag:
            filled[f"{path}.{body.tag}.mass"] = build_body(body).mass
    names = [joint.name for joint in robot.joints]
    numbers = _Numbers(robot.degrees, [joint.type for joint in robot.joints], "torque", filled)
    return [_renamed(origin, prefix, names) for origin in numbers.below(robot)]


def _of_scenario(scenario: Scenario) -> list[Origin]:
    content = scenario.file.document
    filled: dict[str, float] = {"log.every": scenario.clock.at(scenario.clock.log_every)}
    filled["integrator.dt"] = scenario.dt
    if with_method(scenario).adaptive:
        filled |= {f"integrator.{key}": float(x) for key, x in vars(scenario.tolerance).items()}
    filled |= {f"initial.q[{i}]": float(x) for i, x in enumerate(scenario.initial_q)}
    filled |= {f"initial.qd[{i}]": float(x) for i, x in enumerate(scenario.initial_qd)}
    control = content.control
    for key in ("target", "integral_limit"):
        values = getattr(scenario.command, key, None) if control is not None else None
        filled |= {f"control.{key}[{i}]": float(x) for i, x in enumerate(values or ()) if x is not None}
    output, law = (None, None) if control is None else (control.output, control.law)
    types = [joint.type for joint in scenario.arm.joints]
    task = () if control is None else control.task
    numbers = _Numbers(content.degrees, types, output or "torque", filled, law or "", [type for _, type in task])
    return list(numbers.below(content))


def _renamed(origin: Origin, prefix: str, names: list[str]) -> Origin:
    """The origin with the joint's name for its index in the path."""
    path = re.sub(r"^joints\[(\d+)\]", lambda match: f"joints[{names[int(match[1])]}]", origin.path)
    return replace(origin, path=prefix + path)


class _Numbers:
    """The numbers of a file with their origins.

    Args:
        degrees: Whether the file's angles are degrees.
        types: Of the joints.
        output: Of the control law: "voltage", "current" or "torque".
        filled: Values in SI of absent keys that default to other numbers, by path.
        law: The control law; empty for none.
        axes: Types of joints along or about the axes that its gains are of; empty where they are of joints.
    """

    def __init__(
        self,
        degrees: bool,
        types: list[str],
        output: str,
        filled: dict[str, float],
        law: str = "",
        axes: Sequence[str] = (),
    ) -> None:
        self.degrees = degrees
        self.types = types
        self.output = output
        self.law = law
        self.axes = axes or types
        self.filled = filled

    def below(
        self, value: Any, kind: Kind[Any] | None = None, path: str = "", type: str | None = None
    ) -> Iterator[Origin]:
        """The numbers at and below a value, in the order of the format; type is that of the joint it belongs to, if any."""
        if isinstance(value, Quantity):
            yield self._number(value, path, type)
        elif value is None and kind is not None:
            yield from self._left_out(kind, path, type)
        elif isinstance(value, document.Document):
            path = join(path, value.tag) if value.tag else path
            for key, item in value.items():
                yield from self.below(item, value.fields[key], join(path, key), type)
        elif isinstance(value, dict):
            for name, item in value.items():
                yield from self.below(item, None, join(path, name))
        elif isinstance(value, tuple):
            types = self.axes if isinstance(kind, LawGains) else self.types
            for i, item in enumerate(value):
                own = types[i] if isinstance(kind, PerJoint) or path == "joints" else type
                yield from self.below(item, getattr(kind, "item", None), f"{path}[{i}]", own)

    def _number(self, quantity: Quantity, path: str, type: str | None) -> Origin:
        number = quantity.kind
        unit = self._unit(number, type)
        place = quantity.place
        of_time = quantity.varies
        turned = number.angle and self.degrees and "rad" in unit
        degrees = f"{quantity.value:.15g} {unit.replace('rad', 'deg')}"
        origin = "default" if not quantity.given else "file" if place.line else "override"
        return Origin(
            path=path,
            value=None if of_time else quantity.value * RADIANS if turned else quantity.value,
            unit=unit,
            origin=origin,
            file=place.source if origin == "file" else None,
            line=place.line if origin == "file" else None,
            column=place.column if origin == "file" else None,
            written=quantity.text if quantity.given else "",
            expression=quantity.given and quantity.formula is not None,
            converted_from=quantity.text if quantity.unit else degrees if turned and quantity.value else "",
        )

    def _left_out(self, kind: Kind[Any], path: str, type: str | None) -> Iterator[Origin]:
        """The value of an absent key that defaults to another number."""
        if isinstance(kind, PerJoint):
            for i, own in enumerate(self.types):
                yield from self._filled(kind.item, kind.note, f"{path}[{i}]", own)
        else:
            yield from self._filled(kind, kind.note, path, type)

    def _filled(self, kind: Kind[Any], note: str, path: str, type: str | None) -> Iterator[Origin]:
        if path in self.filled and isinstance(kind, Number):
            value = float(self.filled[path])
            yield Origin(path, value, self._unit(kind, type), "default", None, None, None, note=note)

    def _unit(self, number: Number, type: str | None) -> str:
        """The unit of a number, chosen by joint type and by the output of the control law where it depends on them."""
        turns = () if type is None else (JOINT_TYPES[type].turns,)
        return units_of(number.unit, turns, self.output, self.law)[0]
