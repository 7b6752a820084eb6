"""The content of a user's file: a tree of nodes with source positions."""

from __future__ import annotations

from typing import Any, NamedTuple

from armsim.errors import visible

DEEPEST = 40  # levels of a document


class Place(NamedTuple):
    """A source position: a file with line and column (both from 1), or an option like `--set control.kp[0]`."""

    source: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}" if self.line else self.source


class Scalar:
    """One value: text, a number, true, false or null.

    Attributes:
        value: Its value: str, float, bool or None.
        text: As written.
        place: Where.
        size: Number of nodes in its subtree, aliases expanded.
    """

    __slots__ = ("place", "size", "text", "value")

    def __init__(self, value: str | float | bool | None, text: str, place: Place) -> None:
        self.value = value
        self.text = text
        self.place = place
        self.size: int = 1


class Seq:
    """A list of nodes."""

    __slots__ = ("items", "place", "size")
    size: int

    def __init__(self, items: list[Node], place: Place) -> None:
        self.items = items
        self.place = place
        self.size = 1 + sum(item.size for item in items)


class Map:
    """A mapping from keys, which are text, to nodes.

    Attributes:
        entries: Key to (place of the key, node).
    """

    __slots__ = ("entries", "place", "size")
    size: int

    def __init__(self, entries: dict[str, tuple[Place, Node]], place: Place) -> None:
        self.entries = entries
        self.place = place
        self.size = 1 + sum(node.size for _, node in entries.values())

    def get(self, key: str) -> Node | None:
        """The node of a key; None where it is left out or null."""
        entry = self.entries.get(key)
        if entry is None or (isinstance(entry[1], Scalar) and entry[1].value is None):
            return None
        return entry[1]


Node = Scalar | Seq | Map


def document(value: Any, place: Place, levels: int = DEEPEST) -> Node:
    """Nodes for plain Python data, all of which stand at `place`; what lies deeper than some levels becomes text.

    Numpy arrays and numbers count as lists and floats.
    """
    if isinstance(value, (Scalar, Seq, Map)):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, bool):
        return Scalar(value, {None: "null", True: "true", False: "false"}[value], place)
    if isinstance(value, (int, float)):
        try:
            return Scalar(float(value), repr(value), place)
        except OverflowError:  # not even its digits are wanted: Python refuses to print some thousands
            return Scalar("a whole number beyond all bounds", "a whole number beyond all bounds", place)
    if isinstance(value, dict) and levels:
        return Map({str(key): (place, document(item, place, levels - 1)) for key, item in value.items()}, place)
    if isinstance(value, (list, tuple)) and levels:
        return Seq([document(item, place, levels - 1) for item in value], place)
    text = "nested too deeply" if isinstance(value, (dict, list, tuple)) else str(value)
    return Scalar(text, text, place)


def shown(node: Node) -> str:
    """A node in a few words, for `found:` in a message."""
    if isinstance(node, Seq):
        return f"a list of {len(node.items)}" if node.items else "an empty list"
    if isinstance(node, Map):
        keys = ", ".join(node.entries) if node.entries else ""
        return f"a mapping ({clipped(keys)})" if keys else "an empty mapping"
    if node.value is None:
        return "nothing (null)"
    if isinstance(node.value, str):
        return f'"{clipped(node.text)}"'
    return clipped(node.text)


def clipped(text: str, most: int = 60) -> str:
    """Text on one line, at most `most` characters of it."""
    line = visible(text[: most + 1])
    return line if len(line) <= most else line[: most - 3] + "..."
