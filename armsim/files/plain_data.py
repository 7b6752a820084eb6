"""Nodes for plain Python data, within the bounds of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armsim.files.faults import refuse
from armsim.files.nodes import DEEPEST, MOST_NODES, Map, Node, Place, Scalar, Seq

LONGEST_INTEGER = 4000  # bits: Python writes no integer of more than 4300 digits


def nodes_of(value: Any, place: Place) -> Node:
    """Nodes for plain Python data; all of them stand at `place`. Numpy arrays and numbers count as lists and floats.

    Raises:
        FileFaults: It is deeper or larger than a file may be, as data that contain themselves are.
    """
    return _Converter(place).node(value, 1)


class _Converter:
    """Makes nodes, and counts them."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.count = 0

    def node(self, value: Any, depth: int) -> Node:
        place = self.place
        if isinstance(value, (Scalar, Seq, Map)):
            return value
        if hasattr(value, "tolist"):
            value = value.tolist()
        if hasattr(value, "as_data") and not isinstance(value, type):  # a document, or a number of one
            value = value.as_data()
        self.count += 1
        if self.count > MOST_NODES:
            raise refuse(place, "", f"at most {MOST_NODES} values", "more of them", "check that it is the right data")
        if value is None or isinstance(value, bool):
            return Scalar(value, {None: "null", True: "true", False: "false"}[value], place)
        if isinstance(value, (int, float)):
            return self.number(value)
        if isinstance(value, (Mapping, list, tuple)):
            if depth >= DEEPEST:
                mend = "take levels out; data must not contain themselves"
                raise refuse(place, "", f"at most {DEEPEST} levels of nesting", "a deeper one", mend)
            if isinstance(value, Mapping):
                items = {str(key): (place, self.node(item, depth + 1)) for key, item in value.items()}
                return Map(items, place)
            return Seq([self.node(item, depth + 1) for item in value], place)
        return Scalar(str(value), str(value), place)

    def number(self, value: int | float) -> Scalar:
        """A number; an integer that no double holds counts as infinite, and so is refused as a number of a file is."""
        if isinstance(value, int) and value.bit_length() > LONGEST_INTEGER:
            return Scalar(float("-inf" if value < 0 else "inf"), f"an integer of {value.bit_length()} bits", self.place)
        try:
            return Scalar(float(value), repr(value), self.place)
        except OverflowError:
            return Scalar(float("-inf" if value < 0 else "inf"), repr(value), self.place)
