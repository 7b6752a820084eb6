"""The robot's file with the numbers that were found, comments kept, how sure they are beside them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import yaml

from armsim.document.paths import parse_path
from armsim.document.writing import rewritten, said
from armsim.files.new_file import check_output
from armsim.identification.base_numbers import BaseNumbers
from armsim.identification.consistent import with_inertias
from armsim.identification.estimate import Estimate
from armsim.loading import Given, load_robot_file

DIGITS = 7
FILES = ("identified.yaml", "identification.yaml", "fit.csv")
CHOICE = "# Masses and inertias are a choice: of those with the base parameters that were found, the nearest to the file's.\n"


def identified_text(robot: Given, estimates: Sequence[Estimate], folder: str, base: BaseNumbers | None = None) -> str:
    """The YAML of a robot with numbers that were found.

    Args:
        robot: Its file.
        estimates: The numbers; of others than the file's there is nothing in it.
        folder: Where the text will be, from which it names other files.
        base: Those that stand for base parameters: links have inertias that have these, or are near them, and can exist.

    Raises:
        FileFaults: The file cannot be read any more.
    """
    apart = () if base is None else base.paths
    found = {one.path: one for one in estimates if "." in one.path and one.seen > 0.0 and one.path not in apart}
    overrides = {path: float(f"{one.value:.{DIGITS}g}") for path, one in found.items()}
    document = load_robot_file(robot, overrides).document
    if base is None:
        text = rewritten(document, said(document, folder))
    else:
        text = CHOICE + rewritten(document, with_inertias(document, base.robot, base.links(estimates), folder))
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    notes: dict[int, list[str]] = {}
    for path, one in found.items():
        node = _node_at(root, parse_path(path))
        if node is not None:
            told = "with others, see identification.yaml" if one.within is None else f"± {one.within:.2g}"
            notes.setdefault(node.end_mark.line, []).append(f"{parse_path(path)[-1]} {told}")
    lines = text.splitlines(keepends=True)
    for line, told_there in notes.items():
        body = lines[line].rstrip("\r\n")
        lines[line] = f"{body}{'; ' if ' #' in body else '    # '}{', '.join(told_there)}{lines[line][len(body) :]}"
    made = "".join(lines)
    return made if _says_the_same(made, text) else text


def _says_the_same(text: str, other: str) -> bool:
    try:
        return bool(yaml.safe_load(text) == yaml.safe_load(other))
    except yaml.YAMLError:
        return False


def _node_at(node: Any, steps: Sequence[str | int]) -> Any:
    """The node at the steps of a path; None where there is none."""
    for step in steps:
        if isinstance(node, yaml.MappingNode):
            node = next((value for key, value in node.value if key.value == step), None)
        elif isinstance(node, yaml.SequenceNode):
            names = [_name_of(item) for item in node.value]
            node = node.value[step if isinstance(step, int) else names.index(step)]
        else:
            return None
    return node


def _name_of(node: Any) -> Any:
    items: Mapping[str, Any] = (
        {key.value: value.value for key, value in node.value} if isinstance(node, yaml.MappingNode) else {}
    )
    return items.get("name")


def check_files(folder: str | PathLike[str], force: bool, more: Sequence[str] = ()) -> None:
    """Refuse a folder before the work begins.

    Raises:
        UsageError: It has files of an identification, and `force` is not given; or it cannot be written.
    """
    path = os.fspath(folder)
    for name in (*FILES, *more) if os.path.lexists(path) else ():
        check_output(os.path.join(path, name), force=force)
