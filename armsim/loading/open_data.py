"""What a file's format asks of its open numbers: bounds, relations between them, and values that decide structure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from armsim.files.faults import Report
from armsim.formulas.formula import Formula
from armsim.formulas.quantity import Context, Quantity
from armsim.loading.build import ABSENT
from armsim.loading.settle import evaluated, settle
from armsim.spec.motor import DryFriction
from armsim.spec.paths import parse_path, path_text
from armsim.spec.reference import IncreasingTimes
from armsim.spec.schema import Kind, List, OneOf, PerJoint, Record, Relation, join

# the values that decide what is computed, by key
STRUCTURAL: dict[str, float] = {**ABSENT, "lower": -math.inf, "upper": math.inf}
SIDES = ("positive", "negative")  # of dry friction, which is absent where both are zero
Number = tuple[str, float]  # path, and its value in the file
Evaluate = Callable[[Formula, Mapping[str, Any]], Any]
OPEN = object()  # in place of the value of an open number


class Requirement(NamedTuple):
    """What is asked of numbers: conditions on floats, arrays or expressions in their place, all of which must hold."""

    numbers: tuple[Number, ...]
    asked: Callable[..., Sequence[Any]]
    path: str
    expected: str

    def conditions(self, values: Mapping[str, Any]) -> Sequence[Any]:
        """The conditions on values by path; the file's where there is none."""
        return self.asked(*(values.get(path, value) for path, value in self.numbers))


class Absence(NamedTuple):
    """Numbers that mean together that something is absent, if each has this value."""

    numbers: tuple[Number, ...]
    value: float
    path: str

    def differences(self, values: Mapping[str, Any]) -> list[Any]:
        """Conditions on values by path, floats, arrays or expressions, of which one holds unless it is absent."""
        numbers = [values.get(path, value) for path, value in self.numbers]
        return [differs for x in numbers for differs in (x < self.value, x > self.value)]


class OpenData:
    """The data of a file of which some numbers are open.

    Args:
        kind: Of the file's root.
        data: As read.
        places: Paths of the open numbers, joints by index.
        root: Path of the data, which the places begin with.
        structural: The values that decide structure, by key.

    Attributes:
        places: Paths of the open numbers.
        requirements: On numbers that are open or depend on one by a formula.
        absences: That such numbers can mean.
    """

    def __init__(
        self,
        kind: Record,
        data: dict[str, Any],
        places: Sequence[str],
        root: str = "",
        structural: Mapping[str, float] = STRUCTURAL,
    ) -> None:
        self.places = tuple(places)
        marked = settle(data, {place[len(root) + 1 if root else 0 :]: OPEN for place in places}, lambda *_: OPEN)
        watched = {path: quantity for path, quantity in _numbers(data, root) if _at(marked, path[len(root) :]) is OPEN}
        parameters = data.get("parameters") or {}
        self._parameters = {name: quantity.value for name, quantity in parameters.items()}
        self._named = {name: path for name in parameters if (path := join(root, f"parameters.{name}")) in watched}
        others = {path: quantity.formula for path, quantity in watched.items() if path not in places}
        self._formulas = [(path, formula) for path, formula in others.items() if formula is not None]
        self.requirements = [
            *_bounds(watched),
            *_related(kind, data, root, watched),
            *_increasing(kind, data, root, watched),
        ]
        self.absences = [*_absences(watched, dict(_numbers(data, root)), structural)]

    def values(self, opened: Mapping[str, Any], evaluate: Evaluate = evaluated) -> dict[str, Any]:
        """Values of the open numbers, and of those that depend on them, by path.

        Args:
            opened: Values of the open ones: floats, arrays or expressions.
            evaluate: Evaluates a formula.
        """
        found = dict(opened)
        if self._formulas:
            names = self._parameters | {name: found[path] for name, path in self._named.items() if path in found}
            of_name = {path: name for name, path in self._named.items()}
            for path, formula in self._formulas:  # parameters come first, in the order of their references
                found[path] = evaluate(formula, names)
                if path in of_name:
                    names[of_name[path]] = found[path]
        return found


def _numbers(item: Any, path: str) -> Iterator[tuple[str, Quantity]]:
    """The numbers of read data by path, parameters first."""
    if isinstance(item, Quantity):
        yield path, item
    elif isinstance(item, dict):
        for key in sorted(item, key=lambda key: key != "parameters"):
            yield from _numbers(item[key], join(path, key))
    elif isinstance(item, list):
        for i, each in enumerate(item):
            yield from _numbers(each, f"{path}[{i}]")


def _at(data: Any, path: str) -> Any:
    for step in parse_path(path.removeprefix(".")):
        data = data[step]
    return data


def _bounds(watched: Mapping[str, Quantity]) -> Iterator[Requirement]:
    for path, quantity in watched.items():
        number, kind = (path, quantity.value), quantity.kind
        yield Requirement((number,), kind.signs, path, kind.expected(Context(Report())))
        yield Requirement((number,), kind.magnitudes, path, kind.bounded())


def _related(kind: Record, data: dict[str, Any], root: str, watched: Mapping[str, Quantity]) -> Iterator[Requirement]:
    for path, relation, record in _relations(kind, data, root):
        numbers = [(join(path, key), x.value) for key, x in zip(relation.keys, relation.numbers(record))]
        if any(place in watched for place, _ in numbers):
            at = join(path, relation.at) if relation.at else path
            yield Requirement(tuple(numbers), relation.conditions, at, relation.expected)


def _relations(kind: Kind, item: Any, path: str) -> Iterator[tuple[str, Relation, dict[str, Any]]]:
    """The relations of all records of read data: path and data of the record."""
    if isinstance(kind, OneOf) and isinstance(item, dict) and len(item) == 1:  # a payload may be a mere point
        ((name, inner),) = item.items()
        yield from _relations(kind.variants[name], inner, join(path, name))
    elif isinstance(kind, (List, PerJoint)) and isinstance(item, list):
        for i, each in enumerate(item):
            yield from _relations(kind.item, each, f"{path}[{i}]")
    elif isinstance(kind, DryFriction) and isinstance(item, dict):
        yield from _relations(kind.sides, item, path)
    elif isinstance(kind, Record) and isinstance(item, dict):
        for relation in kind.relations:
            yield path, relation, item
        for key, field in kind.fields.items():
            yield from _relations(field, item.get(key), join(path, key))


def _increasing(kind: Kind, item: Any, path: str, watched: Mapping[str, Quantity]) -> Iterator[Requirement]:
    """That times of which some are open are in order."""
    if isinstance(kind, IncreasingTimes) and isinstance(item, list):
        places = [f"{path}[{k}]" for k in range(len(item))]
        for (a, before), (b, time) in pairwise(zip(places, item, strict=True)):
            if a in watched or b in watched:
                numbers = (a, before.value), (b, time.value)
                yield Requirement(numbers, lambda x, y: [x < y], b, "a time after the one before")
    elif isinstance(kind, Record) and isinstance(item, dict):
        for key, field in kind.fields.items():
            yield from _increasing(field, item.get(key), join(path, key), watched)


def _absences(
    watched: Mapping[str, Quantity], numbers: Mapping[str, Quantity], structural: Mapping[str, float]
) -> Iterator[Absence]:
    done = set()
    for place, quantity in watched.items():
        steps = parse_path(place)
        key = next(step for step in reversed(steps) if isinstance(step, str))
        if "parameters" in steps:
            continue
        if key in SIDES:
            path = path_text(steps[:-1])
            if path not in done:
                done.add(path)
                sides = tuple((f"{path}.{side}", numbers[f"{path}.{side}"].value) for side in SIDES)
                yield Absence(sides, structural["coulomb"], path)
        elif key in structural:
            yield Absence(((place, quantity.value),), structural[key], place)
