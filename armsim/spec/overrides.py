"""Overrides: values set on a document before it is checked, by `--set path=value` or from the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armsim.errors import spelled
from armsim.files.document import Map, Node, Place, Scalar, Seq, clipped
from armsim.files.faults import Report, listed, suggestion
from armsim.files.plain_data import document
from armsim.spec.paths import PathError, joint_index, parse_path, path_text

MOST = 200  # characters of a path in a message


def apply_overrides(root: Node, overrides: Mapping[str, Any] | None, report: Report, prefix: str = "") -> Node:
    """A copy of a document with values replaced or added.

    Args:
        root: The document's root.
        overrides: Values by path, joints by index or name: text is read as YAML, anything else is plain data. A key
            that is not there is added; the check that follows reports it if it is unknown, at the option's own place.
        report: Takes the faults of invalid paths.
        prefix: Put before the paths in messages (`robot.`).
    """
    for path, value in (overrides or {}).items():
        where = f"{prefix}{clipped(path, MOST)}"
        place = Place(spelled(f"--set {where}", f"value of {where}"))
        try:
            steps = parse_path(path)
        except PathError as error:
            report.add(place, "", str(error), where, "correct the path")
            continue
        root = _replaced(root, steps, 0, _node(value, place), place, report)
    return root


def split_overrides(overrides: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The overrides of a scenario's own keys, and those of its robot without the prefix `robot.`."""
    own, robot = {}, {}
    for path, value in (overrides or {}).items():
        if path.startswith("robot."):
            robot[path.removeprefix("robot.")] = value
        else:
            own[path] = value
    return own, robot


def _node(value: Any, place: Place) -> Node:
    if isinstance(value, str):
        from armsim.files.yaml_reader import parse_value

        return parse_value(value, place.source)
    return document(value, place)


def _replaced(node: Node, steps: list[str | int], at: int, value: Node, place: Place, report: Report) -> Node:
    """A node with the value set at the steps from `at` on."""
    if at == len(steps):
        return value
    step = steps[at]
    here = clipped(path_text(steps[: at + 1]), MOST)
    key = isinstance(step, str) and type(step) is str
    if isinstance(node, Scalar) and node.value is None:
        node = Map({}, place) if key else Seq([], place)
    if isinstance(node, Map) and key:
        key_place, old = node.entries.get(str(step), (place, Scalar(None, "null", place)))
        new = _replaced(old, steps, at + 1, value, place, report)
        return Map({**node.entries, str(step): (key_place, new)}, node.place)
    if isinstance(node, Seq) and not key:
        names = [_name(item) for item in node.items]
        index = joint_index(step, names)
        if index is None and step == len(names) == 0:
            return Seq([_replaced(Scalar(None, "null", place), steps, at + 1, value, place, report)], node.place)
        if index is None:
            known = [name for name in names if name]
            many = f"an index from 0 to {len(names) - 1}" if names else "a list with items"
            expected = f"{many}, or one of {listed(known)}" if known else many
            mend = (
                suggestion(str(step), known, "take one of") if known and isinstance(step, str) else "correct the index"
            )
            report.add(place, here, expected, clipped(str(step)), mend)
            return node
        items = list(node.items)
        items[index] = _replaced(items[index], steps, at + 1, value, place, report)
        return Seq(items, node.place)
    above = clipped(path_text(steps[:at]), MOST)
    if isinstance(node, Scalar):
        expected, mend = (
            "a path that ends where the values end",
            f"set `{above}` as a whole" if above else "correct the path",
        )
        report.add(place, here, expected, f"a single value at {above or 'the top'}", mend)
    else:
        kind = "keys" if isinstance(node, Map) else "indices"
        there = list(node.entries) if isinstance(node, Map) else [n for n in map(_name, node.items) if n]
        mend = f"{kind} here are {listed(there)}" if there else "correct the path"
        report.add(place, here, f"one of the {kind} of {above or 'the file'}", clipped(str(step)), mend)
    return node


def _name(node: Node) -> str | None:
    """The name of a list's item, where it has one."""
    name = node.get("name") if isinstance(node, Map) else None
    return name.text if isinstance(name, Scalar) else None
