"""The origin of every number of a robot or a scenario: file, default or override."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from armsim.arm.overview import kind_of
from armsim.formulas.quantity import Quantity
from armsim.formulas.units import units_of
from armsim.loading import Scenario, build_scenario, load_robot_file, load_scenario_file
from armsim.loading.build import RADIANS, build_body
from armsim.loading.settle import settle
from armsim.model import JOINT_TYPES
from armsim.spec.motor import DryFriction
from armsim.spec.robot import RobotKeys
from armsim.spec.scenario import ScenarioKeys, Signal
from armsim.spec.schema import Kind, List, Number, OneOf, Parameters, PerJoint, Record, join
from armsim.stability.method_choice import with_method


@dataclass(frozen=True)
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


def origins(given: str | PathLike[str], overrides: Mapping[str, Any] | None = None) -> list[Origin]:
    """Every number of a robot or scenario file, in the order of the format; a scenario's robot comes last.

    Args:
        given: A file, or the name of a shipped robot or scenario.
        overrides: Values in place of the file's, by path.

    Raises:
        FileFaults: The file cannot be used; says where and why.
    """
    if kind_of(given) == "robot":
        return _of_robot(load_robot_file(given, overrides).data, "")
    file = load_scenario_file(given, overrides)
    scenario = build_scenario(file)
    return [*_of_scenario(scenario), *_of_robot(file.robot.data, "robot.")]


def _of_robot(data: dict[str, Any], prefix: str) -> list[Origin]:
    filled: dict[str, float] = {}
    settled = settle(data)
    for i, joint in enumerate(settled["joints"]):
        if joint["motor"] is not None and joint["motor"]["Kp"] is not None:
            filled[f"joints[{i}].motor.Ke"] = joint["motor"]["Kp"]
        for k, body in enumerate(joint["bodies"]):
            filled[f"joints[{i}].bodies[{k}].{next(iter(body))}.mass"] = build_body(body).mass
    if settled["payload"] is not None:
        filled[f"payload.{next(iter(settled['payload']))}.mass"] = build_body(settled["payload"]).mass
    walk = _Walk(data["units"]["angle"] == "deg", [j["type"] for j in data["joints"]], "torque", filled)
    names = [joint["name"] for joint in data["joints"]]
    found = walk.numbers(RobotKeys(), data, "", None)
    return [_renamed(origin, prefix, names) for origin in found]


def _of_scenario(scenario: Scenario) -> list[Origin]:
    data = scenario.file.data
    filled: dict[str, float] = {"log.every": scenario.clock.at(scenario.clock.log_every)}
    filled["integrator.dt"] = scenario.dt
    if with_method(scenario).adaptive:
        filled |= {f"integrator.{key}": float(x) for key, x in vars(scenario.tolerance).items()}
    filled |= {f"initial.q[{i}]": float(x) for i, x in enumerate(scenario.initial_q)}
    filled |= {f"initial.qd[{i}]": float(x) for i, x in enumerate(scenario.initial_qd)}
    control = data["control"]
    for key in ("target", "integral_limit"):
        values = getattr(scenario.command, key, None) if control is not None else None
        filled |= {f"control.{key}[{i}]": float(x) for i, x in enumerate(values or ()) if x is not None}
    output = control["output"] if control is not None else None
    types = [joint.type for joint in scenario.arm.joints]
    law = (control["law"] or "") if control is not None else ""
    walk = _Walk(data["units"]["angle"] == "deg", types, output or "torque", filled, law)
    return list(walk.numbers(ScenarioKeys(), {key: value for key, value in data.items() if key != "robot"}, "", None))


def _renamed(origin: Origin, prefix: str, names: list[str]) -> Origin:
    """The origin with the joint's name for its index in the path."""
    path = re.sub(r"^joints\[(\d+)\]", lambda match: f"joints[{names[int(match[1])]}]", origin.path)
    return replace(origin, path=prefix + path)


class _Walk:
    """Walks through data along the declaration of its format.

    Args:
        degrees: Whether the file's angles are degrees.
        types: Of the joints.
        output: Of the control law: "voltage", "current" or "torque".
        filled: Values in SI of absent keys that default to other numbers, by path.
    """

    def __init__(self, degrees: bool, types: list[str], output: str, filled: dict[str, float], law: str = "") -> None:
        self.degrees = degrees
        self.types = types
        self.output = output
        self.law = law
        self.filled = filled

    def numbers(self, kind: Kind, data: Any, path: str, type: str | None) -> Iterator[Origin]:
        """The numbers at and below a path; type is that of the joint it belongs to, if any."""
        if isinstance(data, Quantity):
            yield self._number(kind, data, path, type)
        elif data is None:
            yield from self._left_out(kind, path, type)
        elif isinstance(kind, Parameters):
            for name, quantity in data.items():
                yield self._number(Number(), quantity, join(path, name), None)
        elif isinstance(kind, DryFriction):
            yield from self.numbers(kind.sides, data, path, type)
        elif isinstance(kind, OneOf):
            ((shape, body),) = data.items() if "mass" not in data else (("", data),)
            yield from self.numbers(kind.variants[shape or "point"], body, join(path, shape) if shape else path, type)
        elif isinstance(kind, Record) and isinstance(data, dict):
            for name, field in kind.fields.items():
                if name in data:
                    yield from self.numbers(field, data[name], join(path, name), type)
        elif isinstance(kind, (List, PerJoint)):
            for i, item in enumerate(data):
                own = self.types[i] if isinstance(kind, PerJoint) or path == "joints" else type
                yield from self.numbers(kind.item, item, f"{path}[{i}]", own)

    def _number(self, kind: Kind, quantity: Quantity, path: str, type: str | None) -> Origin:
        number = kind.number if isinstance(kind, Signal) else kind
        assert isinstance(number, Number)  # nothing else is read as a quantity
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

    def _left_out(self, kind: Kind, path: str, type: str | None) -> Iterator[Origin]:
        """The value of an absent key that defaults to another number."""
        if isinstance(kind, PerJoint):
            for i, own in enumerate(self.types):
                yield from self._filled(kind.item, kind.note, f"{path}[{i}]", own)
        else:
            yield from self._filled(kind, kind.note, path, type)

    def _filled(self, kind: Kind, note: str, path: str, type: str | None) -> Iterator[Origin]:
        if path in self.filled and isinstance(kind, Number):
            value = float(self.filled[path])
            yield Origin(path, value, self._unit(kind, type), "default", None, None, None, note=note)

    def _unit(self, number: Number, type: str | None) -> str:
        """The unit of a number, chosen by joint type and by the output of the control law where it depends on them."""
        turns = () if type is None else (JOINT_TYPES[type].turns,)
        return units_of(number.unit, turns, self.output, self.law)[0]
