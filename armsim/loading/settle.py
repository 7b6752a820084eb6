"""From each `Quantity` to a scalar: its value, unless it, or a parameter in its formula, is left open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armsim.errors import UsageError
from armsim.files.faults import suggestion
from armsim.spec.paths import PathError, joint_index, parse_path, path_text
from armsim.spec.quantity import Quantity

Open = Mapping[str, Any]
STRUCTURE = {"axis", "dt", "duration", "every", "from", "period", "to"}  # keys of numbers that decide what is computed


def settle(data: dict[str, Any], open_numbers: Open | None = None) -> dict[str, Any]:
    """Read data with a scalar for each number, in the user's units.

    Args:
        data: As read: dicts, lists, `Quantity`, text.
        open_numbers: Scalars (expressions, or other numbers) by the path of the number they stand for; joints by index
            or name. A key without a value can be given one.

    Raises:
        UsageError: There is no number at one of the paths.
    """
    opened = {path_text(open_path(data, path)): value for path, value in (open_numbers or {}).items()}
    values: dict[str, Any] = {}
    changed: set[str] = set()
    for name, quantity in (data.get("parameters") or {}).items():
        key = f"parameters.{name}"
        if key in opened:
            values[name] = opened[key]
            changed.add(name)
        elif quantity.formula is not None and quantity.formula.names & changed:
            values[name] = quantity.formula.evaluate(values)
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
        if isinstance(item, Quantity):
            if item.formula is not None and item.formula.names & changed:
                return item.formula.evaluate(values)
            return item.value
        return item

    return {**walk({key: value for key, value in data.items() if key != "parameters"}, ""), "parameters": values}


def open_path(data: dict[str, Any], path: str) -> list[str | int]:
    """The steps of a path to a number, joints' names replaced by indices.

    Raises:
        UsageError: There is no such number.
    """
    try:
        steps = parse_path(path)
    except PathError as error:
        raise UsageError(f"{path}: {error}") from None
    here: Any = data
    done: list[str | int] = []
    for step in steps:
        so_far = path_text(done)
        if isinstance(here, dict):
            if not isinstance(step, str) or step not in here:
                mend = suggestion(str(step), here, "there are")
                raise UsageError(f"{path}: there is no `{step}` in {so_far or 'the file'}; {mend}")
            done.append(step)
            here = here[step]
        elif isinstance(here, list):
            index = joint_index(step, [item.get("name") if isinstance(item, dict) else None for item in here])
            if index is None:
                raise UsageError(f"{path}: {so_far} has {len(here)} items, and `{step}` is none of them")
            done.append(index)
            here = here[index]
        else:
            raise UsageError(f"{path}: {so_far} has nothing below it")
    if here is not None and not isinstance(here, Quantity):
        raise UsageError(f"{path}: not a number that can be left open")
    if STRUCTURE.intersection(done):
        raise UsageError(f"{path}: part of the structure, which cannot be left open; set it instead")
    return done
