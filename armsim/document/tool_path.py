"""The keys of a tool's path: its moves, and the limits of the tool."""

from __future__ import annotations

from typing import Any, ClassVar

from armsim.document.composite import Document, Kind, List, Number, PerJoint, Rule
from armsim.document.joint import refuse_no_direction
from armsim.document.reference_points import POSITION
from armsim.formulas.quantity import Context

MOVES = ("line", "arc", "joints", "rpy", "quaternion")  # of which a move of a path has one
TOOL_LIMITS = {
    "speed": Number("m/s", above=0, example="0.25"),
    "acceleration": Number("m/s²", above=0, example="1"),
    "jerk": Number("m/s³", above=0, example="10"),
}


def structural(kind: Kind[Any], doc: str, note: str, example: str) -> Any:
    """A list of three or four numbers that decide a tool's path."""
    return List(kind, length=example.count(",") + 1, structure=True, doc=doc, note=note, example=example)


class Move(Document):
    """A move of the tool, from where it is."""

    line = structural(Number("m"), "the point to which it leads along a line, in the world", "none", "[0.4, 0.2, 0.3]")
    arc = structural(Number("m"), "the point to which it leads along a circle", "none", "[0.4, 0.2, 0.3]")
    through = structural(Number("m"), "a point between, on the circle", "none; `arc` needs it", "[0.5, 0.1, 0.3]")
    rpy = structural(
        Number("rad", angle=True),
        "orientation at its end: roll, pitch and yaw as of `tool`",
        "as at its beginning",
        "[pi, 0, 0]",
    )
    quaternion = structural(Number(), "likewise, w, x, y, z of any length", "as at its beginning", "[0, 1, 0, 0]")
    blend = Number(
        "m",
        structure=True,
        above=0,
        doc="how far before and after its end the corner to the next move is cut",
        note="the path's; else it stops there",
        example="0.02",
    )

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(given=("arc",), needs=("through",), without=("line",)),
        Rule(absent=("arc",), without=("through",)),
        Rule(given=("rpy",), without=("quaternion",)),
    )

    def unwanted(self, key: str, rule: Rule) -> tuple[str, str, str]:
        return f"no `{key}` here", f"`{key}`", "take it out"

    def check(self, context: Context) -> None:
        super().check(context)
        refuse_no_direction(self.quaternion, context.below("quaternion"))


class PathMove(Move):
    """A move of a path: along a line, an arc, in joint space, or a turn on the spot."""

    joints = PerJoint(
        Number(POSITION, angle=True),
        structure=True,
        doc="the joint positions to which it leads straight in joint space, from rest to rest",
        note="none",
        example="[0.5, -0.3]",
    )
    duration = Number("s", structure=True, above=0, doc="of a move with `joints`", note="as `times` say", example="1.5")

    rules = (
        *Move.rules,
        Rule(given=("joints",), without=("line", "arc", "rpy", "quaternion", "blend")),
        Rule(absent=("joints",), without=("duration",)),
    )

    def check(self, context: Context) -> None:
        super().check(context)
        if not any(map(self.given, MOVES)):
            expected, mend = f"one of {', '.join(MOVES)}", "add for example `line: [0.4, 0.2, 0.3]`"
            context.add(self.place, expected, "none of them", mend)
