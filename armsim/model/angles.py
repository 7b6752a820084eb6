"""Which numbers of a result are angles where a joint turns: fields whose metadata has the function that gives degrees."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from armsim.model.joint_type import JOINT_TYPES
from armsim.records import Json
from armsim.spatial import in_degrees

T = TypeVar("T")
POSITION = {"degrees": in_degrees}  # of a joint, or a list with one for each
FIGURE = {"degrees": math.degrees}  # of merit, in positions
SQUARE = {"degrees": lambda square: math.degrees(math.degrees(square))}


def in_unit(result: T, joints: Iterable[Any], degrees: bool) -> T:
    """A result with its angles in the unit that is shown, degrees or radians.

    A number belongs to the joint that its record names, as `joint` or as `name`, or a record around that; a number that belongs
    to none is an angle where all joints turn.

    Args:
        result: A record, or a list of them.
        joints: Each with its name and its type, in the order of lists with a number for each.
        degrees: Whether the unit is degrees.
    """
    turning = {joint.name: JOINT_TYPES[joint.type].turns for joint in joints}
    return _turned(result, turning, all(turning.values())) if degrees else result


def _turned(value: Any, turning: Mapping[str, bool], turns: bool) -> Any:
    if type(value) in (list, tuple):
        return type(value)(_turned(item, turning, turns) for item in value)
    if not is_dataclass(value):
        return value
    turns = turning.get(getattr(value, "joint", getattr(value, "name", "")), turns)
    changed: Json = {}
    for of in fields(value):
        part, change = _turned(getattr(value, of.name), turning, turns), of.metadata.get("degrees")
        if "angles" in of.metadata:  # whatever the joints are
            part = [*map(of.metadata["angles"], part)]
        elif change is not None and isinstance(part, list):
            part = [change(x) if of_joint else x for x, of_joint in zip(part, turning.values(), strict=False)]
        elif change is not None and turns and part is not None:
            part = change(part)
        changed |= {of.name: part} if of.init else {}
    return replace(value, **changed)  # type: ignore[type-var]  # a record here, never a class
