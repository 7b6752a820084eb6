"""Which numbers of a result are angles where a joint turns: fields whose metadata has the function that gives degrees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields, is_dataclass, replace
from typing import Any, TypeVar

from armsim.model.joint_type import JOINT_TYPES
from armsim.records import OMIT, Json, record
from armsim.spatial import in_degrees

T = TypeVar("T")
POSITION = {"degrees": in_degrees}  # of a joint, or one for each in a list or by name
FIGURE = {"degrees": math.degrees}  # of merit, in positions
SQUARE = {"degrees": lambda square: math.degrees(math.degrees(square))}


@record
class MotionInstant:
    """A motion at an instant: of each joint what a question about an arm is asked, or answers.

    Attributes:
        q: Positions [rad or m], a list; None for a joint without one.
        qd: Velocities [rad/s or m/s]; None for none.
        qdd: Accelerations [rad/s² or m/s²]; likewise.
    """

    q: Any = field(metadata=POSITION)
    qd: Any = field(default=None, metadata=POSITION | OMIT)
    qdd: Any = field(default=None, metadata=POSITION | OMIT)


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
        elif change is not None:
            part = _changed(part, change, turning, turns)
        changed |= {of.name: part} if of.init else {}
    return replace(value, **changed)  # type: ignore[type-var]  # a record here, never a class


def _changed(part: Any, change: Callable[[Any], Any], turning: Mapping[str, bool], turns: bool) -> Any:
    """A number in degrees if its joint turns; numbers of all joints each, in their order or by name."""
    if isinstance(part, Mapping):
        return {name: _changed(x, change, turning, turning[name]) for name, x in part.items()}
    if type(part) in (list, tuple):
        return type(part)(_changed(x, change, turning, of) for x, of in zip(part, turning.values(), strict=False))
    return part if part is None or not turns else change(part)
