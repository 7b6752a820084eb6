"""The numbers that paths stand for, and values for those that a file lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from armsim.document.base import Document, below
from armsim.document.overrides import Overrides
from armsim.document.paths import EVERY, PathError, joint_index, parse_path, path_text
from armsim.errors import ArmsimError, UsageError
from armsim.files.faults import Report
from armsim.formulas.quantity import Context, Quantity
from armsim.formulas.units import units_of
from armsim.loading.checked import ScenarioFile
from armsim.loading.settle import is_structure, names_of, numbers_at, value_at, with_indices
from armsim.model import JOINT_TYPES

STAND_IN = 0.5  # for a number that the file lacks: it means of none that something is absent, and few forbid it
SLIGHT = 1e-6  # more than none, and less than what other numbers of a file bound


def places_of(document: Document, paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The numbers that each path stands for, by paths of their own, joints by index; see `numbers_at`.

    Raises:
        UsageError: There is no such number, it is part of the structure, or two paths stand for the same one.
    """
    found: dict[str, tuple[str, ...]] = {}
    known: set[str] = set()
    for path in paths:
        places = numbers_at(document, path)
        twice = next((place for place in places if place in known), None)
        if twice is not None or path in found:
            expected = "numbers that no other path names"
            raise UsageError.of(path, expected, f"`{twice or path}` twice", "leave one of the paths out")
        known.update(places)
        found[path] = tuple(places)
    return found


def lacking(document: Document, path: str) -> str:
    """The key without a value at which a path ends, or which it goes beyond; empty if there is none."""
    try:
        steps = with_indices(document, parse_path(path))
    except PathError:
        return ""
    here: Any = document
    done: list[str | int] = []
    for step in steps:
        here = below(here)
        if isinstance(here, dict) and step in here:
            here = here[step]
        elif isinstance(here, tuple) and here:
            index = 0 if step == EVERY and isinstance(here[0], Quantity) else joint_index(step, names_of(here))
            if index is None:
                return ""
            here, step = here[index], index
        else:
            return ""
        done.append(step)
        if here is None:
            return path_text(done)
    return ""


def stand_ins(
    document: Document, paths: Sequence[str], first: Overrides, lists: Mapping[str, Sequence[float]]
) -> Overrides:
    """Values for what the paths name and the file lacks, as overrides; to be asked again of a file that has them.

    Args:
        document: As read.
        paths: Of numbers.
        first: Values to take, by path; `STAND_IN` elsewhere.
        lists: Defaults of lists that the file may leave out, by path.

    Raises:
        UsageError: A path names an item of another list that the file lacks.
    """
    found: dict[str, object] = {}
    items: dict[str, str] = {}
    for path in paths:
        key = lacking(document, path)
        beyond = with_indices(document, parse_path(path))[len(parse_path(key)) :] if key else []
        if key in lists:
            found[key] = list(lists[key])
        elif any(isinstance(step, int) or step == EVERY for step in beyond):  # the rest may bring the list
            items[path] = key
        elif key:
            found[path] = first.get(path, STAND_IN)
    if items and not found:
        path, key = next(iter(items.items()))
        raise UsageError.of(path, "an item of a list that the file has", f"no {key}", f"write {key} into the file")
    return found


def doubtful(document: Document, places: Sequence[str]) -> dict[str, float]:
    """Other values for numbers of friction and motors that are as if left out, since other keys may forbid such numbers."""
    found = {}
    for place in places:
        steps = parse_path(place)
        here = value_at(document, steps)
        if {"friction", "motor"}.intersection(steps) and here.value in (0.0, here.kind.default):
            found[place] = (here.kind.minimum or 0.0) + SLIGHT
    return found


def places_at(file: ScenarioFile, path: str) -> tuple[str, ...]:
    """The numbers of a scenario that a path stands for, each by a path of its own; none where it is structure."""
    try:
        return tuple(numbers_at(file.whole, path))
    except ArmsimError:
        return ()


def unit_at(file: ScenarioFile, path: str) -> str:
    """The unit of the numbers at a path in a scenario; empty where they have none, or several."""
    written = "[" not in path and is_structure(parse_path(path))
    units = {unit for place in ([path] if written else places_at(file, path)) for unit in _units_of_joint(file, place)}
    return units.pop() if len(units) == 1 else ""


def _units_of_joint(file: ScenarioFile, place: str) -> list[str]:
    """What the unit of one number can be; several where joints differ."""
    steps, robot, control = parse_path(place), file.robot.document, file.document.control
    own, number = steps[0] == "robot", value_at(file.whole, steps)
    if not isinstance(number, Quantity):
        return []
    indices = [step for step in steps if isinstance(step, int)][slice(1) if own else slice(-1, None)]
    turns = [JOINT_TYPES[joint.type].turns for joint in (robot.joints if own else robot.free)]
    turns = [turns[i] for i in indices if i < len(turns)] or turns
    if control is not None and control.task and steps[1] in ("kp", "kd") and indices:
        turns = [JOINT_TYPES[control.task[indices[0]][1]].turns]
    law = (None, "") if control is None else (control.output, control.law)
    return units_of(unit_of(number, (robot if own else file.document).degrees), turns, *law)


def unit_of(quantity: Quantity, degrees: bool) -> str:
    """The unit that a number of a file is in; empty for a pure number, "rad or m" where the joint decides."""
    return str(quantity.kind.unit_in(Context(Report(), degrees=degrees))) if quantity.kind is not None else ""
