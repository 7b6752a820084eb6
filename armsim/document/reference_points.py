"""Points of references, when it is at each, and how they are joined."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from armsim.document import other_words as words
from armsim.document.composite import Choice, List, Number
from armsim.files.nodes import Node, Scalar, Seq
from armsim.formulas.quantity import Context, Quantity

MOST_POINTS = 200  # that a file may have, as code grows with them; a CSV has as many as you like
POSITION = "rad or m"


class ViaPoints(List[Any]):
    """Points in joint space: for each a list of positions, one per joint."""

    def read(self, node: Node, context: Context) -> tuple[Any, ...] | None:
        if isinstance(node, Seq) and node.items and all(isinstance(item, Scalar) for item in node.items):
            mend = "write brackets around each point, also around a single one: `[[0.5, -0.3]]`"
            return self.fault(node, context, mend, "numbers alone")
        return super().read(node, context)

    def expected(self, context: Context) -> str:
        return f"a list of points, {MOST_POINTS} at most, each {self.item.expected(context)}"


class IncreasingTimes(List[Any]):
    """Times, each after the one before."""

    item: Number

    def read(self, node: Node, context: Context) -> tuple[Any, ...] | None:
        times = super().read(node, context)
        known = [time for time in times or [] if isinstance(time, Quantity)]
        for k, (before, time) in enumerate(pairwise(known), start=1):
            if not before.value < time.value:
                expected = f"a time after the one before, {before.of('s')}"
                context.item(k).add(time.place, expected, time.of("s"), "put the times in order")
        return times


class Profile(Choice):
    """How points are joined, or the name of an oscillation."""

    def read(self, node: Node, context: Context) -> str | None:
        other = words.word_for(node.text.lower(), words.PROFILE) if isinstance(node, Scalar) else None
        return super().read(node, context) if other is None else self.fault(node, context, f"write `{other}`")
