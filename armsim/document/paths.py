"""Paths of values in files: `control.kp[0]`, `joints[R2].motor.Kp`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from armsim.errors import spelled

STEP = re.compile(r"(?:^|\.)(?P<key>[^\W\d][\w\-]*)|\[(?P<index>[^\[\]]+)\]")
DEEPEST = 40  # keys and indices of a path, as many as files may nest
EVERY = "*"  # in brackets: all items of a list


class PathError(ValueError):
    """A malformed path."""


def source_of(path: str, unset: bool = False) -> str:
    """Where a value is from that is set by its path, or taken out, as messages say it."""
    if unset:
        return spelled(f"--unset {path}", f"None for {path}")
    return spelled(f"--set {path}", f"value of {path}")


class Item(str):
    """The name of a list's item, for example of a joint."""

    __slots__ = ()


def parse_path(text: str) -> list[str | int]:
    """The steps of a path: keys (str), indices (int) and names of items (`Item`).

    Raises:
        PathError: It is malformed.
    """
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        match = STEP.match(text, at)
        if match is None or (match["index"] is not None and not steps):
            raise PathError("a path like control.kp[0] or robot.joints[R2].motor.Kp")
        if match["key"] is not None:
            steps.append(match["key"])
        else:
            index = match["index"].strip()
            steps.append(int(index) if index.isascii() and index.isdigit() and len(index) < 10 else Item(index))
        at = match.end()
        if len(steps) > DEEPEST:
            raise PathError(f"a path of at most {DEEPEST} keys and indices")
    if not steps:
        raise PathError("a path like control.kp[0] or robot.joints[R2].motor.Kp")
    return steps


def path_text(steps: Sequence[str | int]) -> str:
    """The text of a path."""
    text = ""
    for step in steps:
        if isinstance(step, (int, Item)):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def joint_index(step: str | int, names: Sequence[str | None]) -> int | None:
    """The index of the list item that a step gives by index or name; None if there is no such item."""
    if isinstance(step, int):
        return step if 0 <= step < len(names) else None
    return names.index(step) if isinstance(step, Item) and step in names else None
