"""From each `Quantity` to a scalar: its value, unless it, or a parameter in its formula, is left open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from armsim import document as documents
from armsim.document.base import Document, below
from armsim.document.control import RobotReference
from armsim.document.kinds import Kind
from armsim.document.paths import EVERY, PathError, joint_index, parse_path, path_text
from armsim.document.robot import ROOT as ROBOT
from armsim.document.scenario import ROOT as SCENARIO
from armsim.errors import UsageError
from armsim.expr import Scalar
from armsim.files.faults import suggestion
from armsim.formulas.formula import Formula
from armsim.formulas.quantity import Quantity

D = TypeVar("D", bound=Document)
Open = Mapping[str, Any]
SHAPING = {
    "base",
    "dh",
    "frames",
    "initial",
    "limits",
    "mdh",
    "mimic",
    "origin",
    "pitch",
    "tool",
}  # what decides where a tool is
PER_JOINT = ("control", "initial", "inputs")  # keys of a scenario below which lists have one item per joint


def evaluated(formula: Formula, values: Open) -> Any:
    """The value of a formula of open parameters."""
    return formula.evaluate(values)


def settle(
    document: D,
    open_numbers: Open | None = None,
    evaluate: Callable[[Formula, Open], Any] = evaluated,
) -> D:
    """A document with a scalar for each number, in the user's units; formulas with variables stay as they are.

    Args:
        document: As read.
        open_numbers: Scalars (expressions, or other numbers) by the path of the numbers they stand for; joints by index
            or name. A key without a value can be given one.
        evaluate: Evaluates the formulas in which there are open parameters.

    Raises:
        UsageError: There is no number at one of the paths.
    """
    opened = {place: value for path, value in (open_numbers or {}).items() for place in numbers_at(document, path)}
    values: dict[str, Scalar] = {}
    changed: set[str] = set()

    def settled(quantity: Quantity | None, path: str) -> Any:
        if opened and path in opened:
            return opened[path]
        if quantity is None or quantity.varies:
            return quantity
        if changed and quantity.formula is not None and quantity.formula.names & changed:
            return evaluate(quantity.formula, values)
        return quantity.value

    for name, quantity in (document.entries.get("parameters") or {}).items():
        values[name] = settled(quantity, f"parameters.{name}")
        if values[name] is not quantity.value:
            changed.add(name)
    return document.mapped(settled)


def is_structure(steps: Sequence[str | int], root: Kind[Any] = SCENARIO) -> bool:
    """Whether the number at a path decides what is computed, by the steps of the path."""
    kind: Kind[Any] | None = root
    for i, step in enumerate(steps):
        if isinstance(kind, RobotReference):
            return is_structure(steps[i:], ROBOT)
        kind = None if kind is None else kind.below(step)
        if kind is not None and kind.structure:
            return True
    return False


def numbers_at(document: Document, path: str) -> list[str]:
    """The numbers that a path stands for, each by a path of its own with indices for joints' names.

    A path may end at a number, or at a list of numbers, all of which it stands for; `[*]` stands for all items of a list that
    have such a number. A key without a value counts as a number.

    Raises:
        UsageError: There is no such number, or it is part of the structure.
    """
    try:
        steps = parse_path(path)
    except PathError as error:
        raise UsageError(f"{path}: {error}") from None
    places = _places(document, with_indices(document, steps), [], path)
    if any(_shapes_a_path(document, place) for place in places):
        why = (
            "the fastest motion follows from it"
            if document.entries["control"].reference.fastest
            else "a tool follows a path"
        )
        raise _refused(path, f"part of the structure, as {why}", "set it instead")
    return [path_text(place) for place in places]


def _shapes_a_path(document: Document, place: Sequence[str | int]) -> bool:
    """Whether the number at a place decides how a tool follows the path of a scenario."""
    control = document.entries.get("control")
    if control is None or control.reference is None:
        return False
    if control.reference.fastest:
        return place[0] in ("robot", "payload", "initial") or place[:2] in (
            ["control", "reference"],
            ["control", "limit"],
        )
    if not control.reference.of_tool or "motor" in place:
        return False
    return place[:2] == ["control", "reference"] or not SHAPING.isdisjoint(place)


def with_indices(document: Document, steps: list[str | int]) -> list[str | int]:
    """The steps of a path, with indices for the joints' names in a scenario's lists with one item per joint.

    Args:
        document: A scenario with its robot under "robot"; others have no such lists.
        steps: As `parse_path` gives them.
    """
    robot = document.entries.get("robot")
    at = len(steps) - 1 if steps[:2] in (["control", "reference"], ["control", "posture"]) else 2
    if len(steps) < 3 + (at > 2) or steps[0] not in PER_JOINT or not isinstance(robot, Document):
        return steps
    names = [joint.name for joint in robot.entries["joints"]]
    if steps[0] == "control" and steps[1] in ("kp", "kd") and document.entries["control"].task:
        names = [axis for axis, _ in document.entries["control"].task]
    index = joint_index(steps[at], names)
    return steps if index is None else [*steps[:at], index, *steps[at + 1 :]]


def names_of(items: Sequence[Any]) -> list[str | None]:
    """The names of a list's items, where they have one."""
    return [item.entries.get("name") if isinstance(item, Document) else None for item in items]


def value_at(value: Any, steps: Sequence[str | int]) -> Any:
    """What stands at the steps of a path; None where there is nothing."""
    for step in steps:
        value = None if value is None else below(value)[step]
    return value


def _places(value: Any, steps: list[str | int], done: list[str | int], path: str) -> list[list[str | int]]:
    so_far = path_text(done)
    if not steps:
        return _ends(value, done, path)
    step, *rest = steps
    here = below(value)
    if isinstance(here, dict):
        if not isinstance(step, str) or step not in here:
            mend = suggestion(str(step), here, "there are")
            raise _refused(path, f"no `{step}` in {so_far or 'the file'}", mend)
        return _places(here[step], rest, [*done, step], path)
    if isinstance(here, tuple) and step == EVERY:
        return _every(here, rest, done, path)
    if isinstance(here, tuple):
        names = names_of(here)
        index = joint_index(step, names)
        if index is None:
            known = [name for name in names if name]
            mend = suggestion(str(step), known, "they are") if known else "correct the index"
            raise _refused(path, f"{len(here)} items in {so_far}, of which `{step}` is none", mend)
        return _places(here[index], rest, [*done, index], path)
    raise _refused(path, f"nothing below {so_far}", "correct the path")


def _every(items: tuple[Any, ...], rest: list[str | int], done: list[str | int], path: str) -> list[list[str | int]]:
    """The places in all items of a list that have them."""
    found: list[list[str | int]] = []
    refused: UsageError | None = None
    for i, item in enumerate(items):
        try:
            places = _places(item, rest, [*done, i], path)
        except UsageError as error:
            refused = error
            continue
        found += [place for place in places if value_at(items, place[len(done) :]) is not None]
    if not found:
        found_there = f"{len(items)} items of {path_text(done)} without a value there"
        raise refused or _refused(path, found_there, "name those that have one")
    return found


def _ends(value: Any, done: list[str | int], path: str) -> list[list[str | int]]:
    if is_structure(done) or is_structure(done, ROBOT):
        raise _refused(path, "part of the structure", "set it instead")
    if value is None or isinstance(value, Quantity):
        return [done]
    if isinstance(value, tuple) and value and all(isinstance(item, Quantity) for item in value):
        return [[*done, i] for i in range(len(value))]
    if isinstance(value, documents.CsvSignal):
        raise _refused(path, "a column of a CSV file", "give a number in its place")
    if isinstance(value, (Document, dict)):
        raise _refused(path, "a mapping", f"go on with one of {', '.join(below(value))}")
    if isinstance(value, tuple) and any(isinstance(item, documents.CsvSignal) for item in value):
        raise _refused(path, "a list not of numbers alone", "name those that are numbers one by one")
    if isinstance(value, tuple):
        raise _refused(path, f"a list of {len(value)}", f"go on with one of them: {path}[0]")
    raise _refused(path, f"`{value}`", "set it instead")


def _refused(path: str, found: str, mend: str) -> UsageError:
    return UsageError.of(path, "a number that can be left open", found, mend)
