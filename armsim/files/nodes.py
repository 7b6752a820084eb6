"""The content of a user's file: a tree of nodes with source positions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from armsim.errors import visible

MOST_NODES = 20_000  # aliases written out; a robot of 30 joints has about 1500
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


def data_of(node: Node) -> Any:
    """A node as plain data."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Map):
        return {key: data_of(value) for key, (_, value) in node.entries.items()}
    return [data_of(item) for item in node.items]


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


@lru_cache(maxsize=1024)
def clipped(text: str, most: int = 60) -> str:
    """Text on one line, at most `most` characters of it."""
    line = visible(text[: most + 1])
    return line if len(line) <= most else line[: most - 3] + "..."


def quoted(value: object) -> str:
    """The `repr` of plain data, clipped; Python writes no integer of more than some 4300 digits."""
    try:
        return clipped(repr(value))
    except ValueError:
        return "an integer of more than 4000 digits"
