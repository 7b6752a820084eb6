"""What a file's format asks of its open numbers: bounds, relations between them, and values that decide structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from armsim import document as documents
from armsim.document.base import Document, numbers, walk
from armsim.document.paths import parse_path
from armsim.document.reference import IncreasingTimes
from armsim.files.faults import Report, join
from armsim.formulas.formula import Formula
from armsim.formulas.quantity import Context, Quantity
from armsim.loading.settle import Open, evaluated, settle

NOTHING: Mapping[str, float] = {}
SIDES = ("positive", "negative")  # of dry friction, which is absent where both are zero
Number = tuple[str, float]  # path, and its value in the file
Evaluate = Callable[[Formula, Open], Any]
OPEN = object()  # in place of the value of an open number


class Requirement(NamedTuple):
    """What is asked of numbers: conditions on floats, arrays or expressions in their place, all of which must hold."""

    numbers: tuple[Number, ...]
    asked: Callable[..., Sequence[Any]]
    path: str
    expected: str

    def conditions(self, values: Open) -> Sequence[Any]:
        """The conditions on values by path; the file's where there is none."""
        return self.asked(*(values.get(path, value) for path, value in self.numbers))


class Absence(NamedTuple):
    """Numbers that mean together that something is absent, if each has this value."""

    numbers: tuple[Number, ...]
    value: float
    path: str

    def differences(self, values: Open) -> list[Any]:
        """Conditions on values by path, floats, arrays or expressions, of which one holds unless it is absent."""
        numbers = [values.get(path, value) for path, value in self.numbers]
        return [differs for x in numbers for differs in (x < self.value, x > self.value)]


class OpenData:
    """A document of which some numbers are open.

    Args:
        document: As read.
        places: Paths of the open numbers, joints by index.
        root: Path of the document, which the places begin with.
        structural: Values that decide structure, by key, besides those that mean that something is absent.

    Attributes:
        places: Paths of the open numbers.
        requirements: On numbers that are open or depend on one by a formula.
        absences: That such numbers can mean.
    """

    def __init__(
        self,
        document: Document,
        places: Sequence[str],
        root: str = "",
        structural: Mapping[str, float] = NOTHING,
    ) -> None:
        self.places = tuple(places)
        marked = settle(document, {place[len(root) + 1 if root else 0 :]: OPEN for place in places}, lambda *_: OPEN)
        open_paths = {path for path, value, _ in walk(marked, root) if value is OPEN}
        watched = {path: quantity for path, quantity in numbers(document, root) if path in open_paths}
        parameters = document.entries.get("parameters") or {}
        self._parameters = {name: quantity.value for name, quantity in parameters.items()}
        self._named = {name: path for name in parameters if (path := join(root, f"parameters.{name}")) in watched}
        others = {path: quantity.formula for path, quantity in watched.items() if path not in places}
        self._formulas = [(path, formula) for path, formula in others.items() if formula is not None]
        self.requirements = [
            *_bounds(watched),
            *_related(document, root, watched),
            *_increasing(document, root, watched),
        ]
        self.absences = [*_absences(document, root, watched, structural)]

    def values(self, opened: Open, evaluate: Evaluate = evaluated) -> Open:
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


def _bounds(watched: Mapping[str, Quantity]) -> Iterator[Requirement]:
    for path, quantity in watched.items():
        number, kind = (path, quantity.value), quantity.kind
        yield Requirement((number,), kind.signs, path, kind.expected(Context(Report())))
        yield Requirement((number,), kind.magnitudes, path, kind.bounded())


def _related(document: Document, root: str, watched: Mapping[str, Quantity]) -> Iterator[Requirement]:
    """The relations in all documents, of which some numbers are open."""
    for path, inner, _ in walk(document, root):
        for relation in inner.relations if isinstance(inner, Document) else ():
            related = [(join(path, key), x.value) for key, x in zip(relation.keys, relation.numbers(inner))]
            if any(place in watched for place, _ in related):
                at = join(path, relation.at) if relation.at else path
                yield Requirement(tuple(related), relation.conditions, at, relation.expected)


def _increasing(document: Document, root: str, watched: Mapping[str, Quantity]) -> Iterator[Requirement]:
    """That times of which some are open are in order."""
    for path, times, kind in walk(document, root):
        if not isinstance(kind, IncreasingTimes) or times is None:
            continue
        places = [f"{path}[{k}]" for k in range(len(times))]
        for (a, before), (b, time) in pairwise(zip(places, times, strict=True)):
            if a in watched or b in watched:
                related = (a, before.value), (b, time.value)
                yield Requirement(related, lambda x, y: [x < y], b, "a time after the one before")


def _absences(
    document: Document, root: str, watched: Mapping[str, Quantity], structural: Mapping[str, float]
) -> Iterator[Absence]:
    for path, value, _ in walk(document, root):
        if isinstance(value, (documents.JointCoulomb, documents.MotorCoulomb)):
            sides = tuple((join(path, side), value.entries[side].value) for side in SIDES)
            if any(place in watched for place, _ in sides):
                yield Absence(sides, 0.0, path)
        elif path in watched and not path.endswith(SIDES):
            key = next(step for step in reversed(parse_path(path)) if isinstance(step, str))
            absent = structural.get(key, value.kind.absent)
            if absent is not None and not path.startswith(join(root, "parameters.")):
                yield Absence(((path, value.value),), absent, path)
