"""From each `Quantity` to a scalar: its value, unless it, or a parameter in its formula, is left open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from armsim.errors import UsageError
from armsim.files.faults import suggestion
from armsim.formulas.formula import Formula
from armsim.formulas.quantity import Quantity
from armsim.spec.paths import EVERY, PathError, joint_index, parse_path, path_text

Open = Mapping[str, Any]
PER_JOINT = ("control", "initial", "inputs")  # keys of a scenario below which lists have one item per joint
STRUCTURE = {
    "axis",
    "delay",
    "dt",
    "duration",
    "every",
    "from",
    "period",
    "to",
}  # keys of numbers that decide what is computed


def evaluated(formula: Formula, values: Mapping[str, Any]) -> Any:
    """The value of a formula of open parameters."""
    return formula.evaluate(values)


def settle(
    data: dict[str, Any],
    open_numbers: Open | None = None,
    evaluate: Callable[[Formula, Mapping[str, Any]], Any] = evaluated,
) -> dict[str, Any]:
    """Read data with a scalar for each number, in the user's units; formulas with variables stay as they are.

    Args:
        data: As read: dicts, lists, `Quantity`, text.
        open_numbers: Scalars (expressions, or other numbers) by the path of the numbers they stand for; joints by index
            or name. A key without a value can be given one.
        evaluate: Evaluates the formulas in which there are open parameters.

    Raises:
        UsageError: There is no number at one of the paths.
    """
    opened = {place: value for path, value in (open_numbers or {}).items() for place in numbers_at(data, path)}
    values: dict[str, Any] = {}
    changed: set[str] = set()
    for name, quantity in (data.get("parameters") or {}).items():
        key = f"parameters.{name}"
        if key in opened:
            values[name] = opened[key]
            changed.add(name)
        elif quantity.formula is not None and quantity.formula.names & changed:
            values[name] = evaluate(quantity.formula, values)
            changed.add(name)
        else:
            values[name] = quantity.value

    def walk(item: Any, path: str) -> Any:
        if isinstance(item, dict):
            return {key: walk(value, f"{path}.{key}" if path else key) for key, value in item.items()}
        if isinstance(item, list):
            return [walk(value, f"{path}[{i}]") for i, value in enumerate(item)]
        if opened and path in opened:
            return opened[path]
        if isinstance(item, Quantity) and item.varies:
            return item
        if isinstance(item, Quantity):
            if item.formula is not None and item.formula.names & changed:
                return evaluate(item.formula, values)
            return item.value
        return item

    return {**walk({key: value for key, value in data.items() if key != "parameters"}, ""), "parameters": values}


def is_structure(steps: Sequence[str | int]) -> bool:
    """Whether the number at a path decides what is computed, by the steps of the path."""
    return "parameters" not in steps[:2] and bool(STRUCTURE.intersection(steps))


def values_of(data: Any) -> Any:
    """Data with each `Quantity` replaced by its value."""
    if isinstance(data, Quantity):
        return data.value
    if isinstance(data, dict):
        return {key: values_of(value) for key, value in data.items()}
    return [values_of(value) for value in data] if isinstance(data, list) else data


def numbers_at(data: dict[str, Any], path: str) -> list[str]:
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
    return [path_text(place) for place in _places(data, with_indices(data, steps), [], path)]


def with_indices(data: dict[str, Any], steps: list[str | int]) -> list[str | int]:
    """The steps of a path, with indices for the joints' names in a scenario's lists with one item per joint.

    Args:
        data: Of a scenario, with its robot's under "robot"; other data have no such lists.
        steps: As `parse_path` gives them.
    """
    at = len(steps) - 1 if steps[:2] == ["control", "reference"] else 2
    if len(steps) < 3 + (at > 2) or steps[0] not in PER_JOINT or not isinstance(data.get("robot"), dict):
        return steps
    index = joint_index(steps[at], [joint["name"] for joint in data["robot"]["joints"]])
    return steps if index is None else [*steps[:at], index, *steps[at + 1 :]]


def _places(here: Any, steps: list[str | int], done: list[str | int], path: str) -> list[list[str | int]]:
    so_far = path_text(done)
    if not steps:
        return _ends(here, done, path)
    step, *rest = steps
    if isinstance(here, dict):
        if not isinstance(step, str) or step not in here:
            mend = suggestion(str(step), here, "there are")
            raise UsageError(f"{path}: there is no `{step}` in {so_far or 'the file'}; {mend}")
        return _places(here[step], rest, [*done, step], path)
    if isinstance(here, list) and step == EVERY:
        return _every(here, rest, done, path)
    if isinstance(here, list):
        names = [item.get("name") if isinstance(item, dict) else None for item in here]
        index = joint_index(step, names)
        if index is None:
            known = [name for name in names if name]
            hint = f"; {suggestion(str(step), known, 'they are')}" if known else ""
            raise UsageError(f"{path}: {so_far} has {len(here)} items, and `{step}` is none of them{hint}")
        return _places(here[index], rest, [*done, index], path)
    raise UsageError(f"{path}: {so_far} has nothing below it")


def _every(items: list[Any], rest: list[str | int], done: list[str | int], path: str) -> list[list[str | int]]:
    """The places in all items of a list that have them."""
    found: list[list[str | int]] = []
    refused: UsageError | None = None
    for i, item in enumerate(items):
        try:
            places = _places(item, rest, [*done, i], path)
        except UsageError as error:
            refused = error
            continue
        found += [place for place in places if _value(items, place[len(done) :]) is not None]
    if not found:
        raise refused or UsageError(f"{path}: none of the {len(items)} items of {path_text(done)} has a value there")
    return found


def _value(here: Any, steps: list[str | int]) -> Any:
    for step in steps:
        here = here[step]
    return here


def _ends(here: Any, done: list[str | int], path: str) -> list[list[str | int]]:
    if is_structure(done):
        raise UsageError(f"{path}: part of the structure, which cannot be left open; set it instead")
    if here is None or isinstance(here, Quantity):
        return [done]
    if isinstance(here, list) and here and all(isinstance(item, Quantity) for item in here):
        return [[*done, i] for i in range(len(here))]
    if isinstance(here, dict) and "table" in here:
        raise UsageError(f"{path}: a column of a CSV file, which cannot be left open; give a number in its place")
    if isinstance(here, dict):
        mend = f"; go on with one of {', '.join(here)}" if here else ""
        raise UsageError(f"{path}: not a number that can be left open{mend}")
    if isinstance(here, list) and any(isinstance(item, dict) and "table" in item for item in here):
        raise UsageError(f"{path}: not a list of numbers alone; name those that are numbers one by one")
    raise UsageError(f"{path}: not a number that can be left open")
