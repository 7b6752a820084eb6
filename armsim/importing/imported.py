"""What a reader of another program's file gives: the content of a robot file, where it is from, what was left out.

Readers make nodes by `armsim.files.plain_data.nodes_of(data, place)`, whose data may hold nodes with places of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

import yaml

from armsim.document.kinds import LONGEST_NAME, V
from armsim.files.faults import join
from armsim.files.nodes import Map, Node, Place, Seq
from armsim.files.plain_data import nodes_of
from armsim.files.source import Source
from armsim.files.yaml_writer import yaml_text
from armsim.records import record

WIDTH = 110  # columns of a line with its comment
WHOLE = 1e15  # numbers below are written without a point if they are integers


@record
class Imported:
    """A robot description of another program, as the content of a robot file.

    Attributes:
        root: The robot file's content; its nodes stand where the other file has them.
        comments: What came from where, by path in the robot file; that of the file as a whole at the path "".
        sources: The files that were read, the first one with remarks: what was left out, assumed, or looks wrong.
    """

    root: Map
    comments: dict[str, str]
    sources: tuple[Source, ...]


def compact(data: Mapping[str, V]) -> dict[str, V]:
    """Data without what is empty or 0."""
    return {key: x for key, x in data.items() if x}


def compact_nodes(data: Mapping[str, object], place: Place) -> dict[str, Node]:
    """The nodes of data without what is empty or 0, at a place."""
    return {key: nodes_of(x, place) for key, x in compact(data).items()}


def free_name(name: str, taken: set[str]) -> str:
    """A name that is not taken, with a number behind it if it has to; it is taken then."""
    free, k = name, len(taken)
    while free in taken:
        free, k = f"{name[: LONGEST_NAME - 6]}_{k}", k + 1
    taken.add(free)
    return free


def merged(node: Node, over: Node) -> Node:
    """A node with another one laid over it: mappings but those of motors key by key, all else as a whole."""
    if not isinstance(node, Map) or not isinstance(over, Map):
        return over
    entries = dict(node.entries)
    for key, (place, value) in over.entries.items():
        entries[key] = place, merged(entries[key][1], value) if key in entries and key != "motor" else value
    return Map(entries, node.place)


def text_of(imported: Imported) -> str:
    """A robot file in YAML, with comments behind or above the keys that they tell of."""
    text = yaml_text(_plain(imported.root))
    root: Any = yaml.compose(text)
    lines, above = text.splitlines(), dict[int, list[str]]()
    for path, line in _lines(root, "", root.start_mark):
        comment, item = imported.comments.get(path, ""), path.endswith("]")
        indent = " " * (len(lines[line]) - len(lines[line].lstrip()))
        if path and not item and len(f"{lines[line]}  # {comment}") <= WIDTH and comment:
            lines[line] += f"  # {comment}"
        elif comment:
            parts = [part for given in comment.splitlines() for part in wrap(given, WIDTH - len(indent) - 2)]
            above.setdefault(line, []).extend([""] * item + [f"{indent}# {part}" for part in parts])
    return "".join(f"{line}\n" for i, own in enumerate(lines) for line in (*above.get(i, ()), own))


def _lines(node: Any, path: str, mark: Any) -> Iterator[tuple[str, int]]:
    """The paths of a YAML tree, each with the line, from 0, on which its key or item begins."""
    yield path, mark.line
    for i, item in enumerate(node.value if isinstance(node, yaml.SequenceNode) else ()):
        yield from _lines(item, f"{path}[{i}]", item.start_mark)
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        yield from _lines(value, join(path, key.value), key.start_mark)


def _plain(node: Node) -> Any:
    """A node as plain data, whole numbers without a point."""
    if isinstance(node, Map):
        return {key: _plain(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, Seq):
        return list(map(_plain, node.items))
    value = node.value
    return int(value) if isinstance(value, float) and abs(value) < WHOLE and value.is_integer() else value
