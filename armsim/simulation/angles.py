"""Which numbers of a summary are angles where a joint turns: fields whose metadata has the function that gives degrees."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import fields, is_dataclass, replace
from typing import Any

from armsim.spatial import in_degrees

POSITION = {"degrees": in_degrees}
FIGURE = {"degrees": math.degrees}  # of merit, in positions
SQUARE = {"degrees": lambda square: math.degrees(math.degrees(square))}


def turned(value: Any, turning: Container[str], turns: bool = False) -> Any:
    """A result with angles in degrees.

    Args:
        value: The result.
        turning: Names of the joints that turn.
        turns: Whether the joint that the result is of turns, unless it has a `joint` itself.
    """
    if isinstance(value, list):
        return [turned(item, turning, turns) for item in value]
    if not is_dataclass(value):
        return value
    turns = value.joint in turning if hasattr(value, "joint") else turns
    changed = {}
    for of in fields(value):
        part = turned(getattr(value, of.name), turning, turns)
        changed[of.name] = (
            of.metadata["degrees"](part) if turns and part is not None and "degrees" in of.metadata else part
        )
    return replace(value, **changed)  # type: ignore[type-var]  # no class
