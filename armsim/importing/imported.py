"""What a reader of another program's file gives: the content of a robot file, where it is from, what was left out.

Readers make nodes by `armsim.files.plain_data.nodes_of(data, place)`, whose data may hold nodes with places of their own.
"""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import yaml

from armsim.document.paths import parse_path
from armsim.files.faults import Fault
from armsim.files.nodes import Map, Node, Seq
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
        remarks: What was left out, assumed, or looks wrong.
        sources: The files that were read.
    """

    root: Map
    comments: dict[str, str]
    remarks: tuple[Fault, ...]
    sources: tuple[Source, ...]


def merged(node: Node, over: Node) -> Node:
    """A node with another one laid over it: mappings key by key, all else in its place."""
    if not isinstance(node, Map) or not isinstance(over, Map):
        return over
    entries = dict(node.entries)
    for key, (place, value) in over.entries.items():
        entries[key] = place, merged(entries[key][1], value) if key in entries else value
    return Map(entries, node.place)


def text_of(imported: Imported) -> str:
    """A robot file in YAML, with comments behind or above the keys that they tell of."""
    text = yaml_text(_plain(imported.root))
    lines, root = text.splitlines(), yaml.compose(text)
    above: dict[int, list[str]] = {}
    for path, comment in imported.comments.items():
        line, item = _line(root, path)
        indent = " " * (len(lines[line]) - len(lines[line].lstrip()))
        if path and not item and "#" not in lines[line] and len(f"{lines[line]}  # {comment}") <= WIDTH:
            lines[line] += f"  # {comment}"
        else:
            parts = [part for given in comment.splitlines() for part in wrap(given, WIDTH - len(indent) - 2) or [""]]
            above.setdefault(line, []).extend([""] * item + [f"{indent}# {part}".rstrip() for part in parts])
    return "".join(f"{line}\n" for i, own in enumerate(lines) for line in (*above.get(i, ()), own))


def _line(root: Any, path: str) -> tuple[int, bool]:
    """The line, from 0, on which a path's key or item begins in a YAML tree, and whether it is an item with a dash."""
    mark, item, node = root.start_mark, False, root
    for step in parse_path(path) if path else ():
        if isinstance(step, int):
            item, node = not node.flow_style, node.value[step]
            mark = node.start_mark
        else:
            mark, item, node = next((key.start_mark, False, value) for key, value in node.value if key.value == step)
    return mark.line, item


def _plain(node: Node) -> Any:
    """A node as plain data, whole numbers without a point."""
    if isinstance(node, Map):
        return {key: _plain(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, Seq):
        return list(map(_plain, node.items))
    value = node.value
    return int(value) if isinstance(value, float) and abs(value) < WHOLE and value.is_integer() else value
