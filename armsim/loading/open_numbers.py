"""Numbers of a scenario and its robot that are left open, and values for them: found, checked and grouped, all at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from armsim.errors import UsageError
from armsim.expr import Scalar
from armsim.files.faults import Report
from armsim.loading.build import ABSENT
from armsim.loading.checked import ScenarioFile
from armsim.loading.scenario import Scenario, build_scenario
from armsim.loading.scenario_file import Given, load_scenario_file
from armsim.loading.settle import numbers_at, settle
from armsim.spec.formula import Formula, FormulaError
from armsim.spec.overrides import split_overrides
from armsim.spec.paths import parse_path
from armsim.spec.quantity import Context, Quantity, plain_number
from armsim.spec.scenario import AUTO

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ROBOT = "robot."
OPEN = object()  # in place of the value of a number that is open
# values that decide what is computed, by key: they are written in, and runs that have them are a group of their own
SPECIAL: dict[str, float] = {**ABSENT, "positive": 0.0, "negative": 0.0, "lower": -math.inf, "upper": math.inf}
SPECIAL_TO_AUTO = {"viscous": 0.0, "kd": 0.0}  # as well, where the method is picked by what can damp
Written = Mapping[str, float]


@dataclass(frozen=True)
class OpenNumbers:
    """Numbers of a scenario that are left open.

    Attributes:
        file: The scenario, checked with a value for each of them.
        places: The numbers by path, joints by index, in the order of their values.
        asked: For each path that was asked for, the indices of its numbers among `places`.
    """

    file: ScenarioFile
    places: tuple[str, ...]
    asked: Mapping[str, tuple[int, ...]]

    def scenario(self, values: Sequence[Scalar], written: Written | None = None) -> Scenario:
        """The scenario with these scalars, one for each of `places`; `written` has numbers in their stead, by place."""
        return build_scenario(self.file, {**dict(zip(self.places, values, strict=True)), **(written or {})})

    def matrix(self, given: Mapping[str, Any], one: bool = False) -> Array:
        """Values as an array, shape (m, places): one row for each run.

        Args:
            given: For each path an array of m values, or (m, k) where it stands for k numbers; a single value is for all runs.
            one: Whether there is one run, so that each path has one value, or k.

        Raises:
            UsageError: There are other paths than were asked for, arrays of different lengths, or no numbers.
        """
        import numpy as np

        columns = {path: self._columns(path, given[path], one) for path in self._same(given)}
        lengths = {path: len(column) for path, column in columns.items() if column.ndim == 2}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{path} {count}" for path, count in lengths.items())
            raise UsageError.of("values", "as many values for each path", found, "give one value for each run")
        count = 1 if one else max(lengths.values(), default=1)
        matrix = np.empty((count, len(self.places)))
        for path, column in columns.items():
            matrix[:, list(self.asked[path])] = column
        return matrix

    def _same(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        missing = [path for path in self.asked if path not in given]
        more = [path for path in given if path not in self.asked]
        if missing or more:
            found = f"none for {', '.join(missing)}" if missing else f"one for {', '.join(more)}"
            raise UsageError.of("values", f"a value for each of {', '.join(self.asked)}", found, "correct the paths")
        return self.asked

    def _columns(self, path: str, values: Any, one: bool) -> Array:
        """Values of a path: shape (m, 1) or (m, k), or () for one value for all."""
        import numpy as np

        many = len(self.asked[path])
        try:
            array = np.asarray(values)
        except ValueError:  # ragged
            array = np.empty(0, dtype=object)
        if array.dtype.kind not in "fiu" or array.size == 0:
            raise UsageError.of(path, "real numbers, one for each run", repr(values)[:60], "give an array of numbers")
        array = array.astype(float)
        shapes = (
            [(), (many,)] if one else [(), (len(array) if array.ndim else 0,), (len(array) if array.ndim else 0, many)]
        )
        if array.shape not in shapes:
            expected = f"one number, or {many} of them" if one else f"shape (m,), or (m, {many}) for its {many} numbers"
            raise UsageError.of(path, expected, f"shape {array.shape}", "give one number for each run")
        if array.ndim == 0:
            return array
        return array[None, :] if one else array[:, None] if array.ndim == 1 else array

    def refused(self, matrix: Array) -> dict[int, str]:
        """The runs whose values the files would not take, with the reason.

        Checked are the bounds of every number, and of those that depend on it by a formula, and the order of limits and radii.
        """
        import numpy as np

        found: dict[int, str] = {}
        values = self._values(matrix)
        for number in self._watched:
            right = np.asarray(number.quantity.kind.admits(values[number.path]))
            if not right.all():
                expected = number.quantity.kind.expected(Context(Report()))
                for run in np.flatnonzero(~right):
                    bad = plain_number(float(values[number.path][run]))
                    found.setdefault(int(run), f"{number.path}: expected {expected}, found {bad}")
        for rule in self._rules:
            wrong = rule.broken(*(values.get(path, number) for path, number in rule.numbers))
            for run in np.flatnonzero(wrong):
                found.setdefault(int(run), rule.reason)
        return found

    def groups(self, matrix: Array) -> list[tuple[Written, NDArray[np.int64]]]:
        """The runs by what their values decide of the structure: numbers written in, and indices of the runs."""
        import numpy as np

        values = self._values(matrix)
        found = [
            (number.path, number.special, values[number.path] == number.special)
            for number in self._watched
            if number.special is not None
        ]
        found = [(path, special, equal) for path, special, equal in found if equal.any()]
        if not found:
            return [({}, np.arange(len(matrix), dtype=np.int64))]
        patterns, which = np.unique(np.array([equal for _, _, equal in found]).T, axis=0, return_inverse=True)
        return [
            (
                {path: special for (path, special, _), written in zip(found, pattern, strict=True) if written},
                np.flatnonzero(which.reshape(-1) == i),
            )
            for i, pattern in enumerate(patterns)
        ]

    def _values(self, matrix: Array) -> dict[str, Array]:
        """The values of all numbers that are open or depend on one, shape (m,) each."""
        found = {place: matrix[:, i] for i, place in enumerate(self.places)}
        if all(number.path in found for number in self._watched):
            return found
        return {path: values for path, _, values in self._settled(found, _on_arrays)}

    def _settled(self, values: Mapping[str, Any], evaluate: Any) -> Iterator[tuple[str, Quantity, Any]]:
        """The numbers that are open or depend on one: path, as read, value."""
        own, robot = split_overrides(values)
        yield from _opened(self.file.robot.data, settle(self.file.robot.data, robot, evaluate), ROBOT)
        scenario = {key: value for key, value in self.file.data.items() if key != "robot"}
        yield from _opened(scenario, settle(scenario, own, evaluate), "")

    @cached_property
    def _watched(self) -> list[_Number]:
        special = {**SPECIAL, **(SPECIAL_TO_AUTO if self.file.data["integrator"]["method"] == AUTO else {})}
        marks = dict.fromkeys(self.places, OPEN)
        return [
            _Number(path, quantity, next((special[key] for key in reversed(_keys(path)) if key in special), None))
            for path, quantity, _ in self._settled(marks, lambda formula, values: OPEN)
        ]

    @cached_property
    def _rules(self) -> list[_Rule]:
        """The rules between numbers of the robot that open ones take part in; see `armsim.spec.robot`."""
        watched = {number.path for number in self._watched}
        return [rule for rule in _rules_of(self.file.robot.data) if any(path in watched for path, _ in rule.numbers)]

    def number(self, place: str) -> float:
        """The value of one of `places` in its file."""
        quantity = _quantity({**self.file.data, "robot": self.file.robot.data}, place)
        return float(quantity.value)


def open_numbers(
    given: Given, paths: Mapping[str, Any] | Sequence[str], overrides: Mapping[str, Any] | None = None
) -> OpenNumbers:
    """The numbers that paths stand for, left open.

    Args:
        given: A scenario file, a shipped scenario's name, or a file's content.
        paths: As `--set` names them; a list of numbers stands for all of them, `[*]` for all items of a list. With values: what
            the file leaves out gets the first of them.
        overrides: Values to set before, by path.

    Raises:
        FileFaults: The scenario or its robot cannot be used; says where and why.
        UsageError: There is no number at a path, or it is part of the structure.
    """
    file = load_scenario_file(given, overrides)
    absent = {path: _first(paths[path]) for path in paths if isinstance(paths, Mapping) and _lacks(file, path)}
    if absent:
        file = load_scenario_file(given, {**(overrides or {}), **absent})
    places: list[str] = []
    asked: dict[str, tuple[int, ...]] = {}
    for path in paths:
        found = _found(file, path)
        twice = next((place for place in found if place in places), None)
        if twice is not None:
            raise UsageError.of(path, "numbers that no other path names", twice, "leave one of the paths out")
        asked[path] = tuple(range(len(places), len(places) + len(found)))
        places += found
    return OpenNumbers(file, tuple(places), asked)


def _found(file: ScenarioFile, path: str) -> list[str]:
    """The numbers that a path stands for, those of the robot with their prefix."""
    if path.startswith(ROBOT):
        try:
            return [f"{ROBOT}{place}" for place in numbers_at(file.robot.data, path.removeprefix(ROBOT))]
        except UsageError as error:
            raise UsageError(f"{ROBOT}{error}") from None
    if path == "robot":
        raise UsageError(f"{path}: not a number that can be left open; go on with one of {', '.join(file.robot.data)}")
    return numbers_at(file.data, path)


def _lacks(file: ScenarioFile, path: str) -> bool:
    """Whether there is no value at a path yet, but a file may have one there."""
    try:
        found = _found(file, path)
    except UsageError:
        return "[*]" not in path
    data = {**file.data, "robot": file.robot.data}
    return any(_quantity(data, place) is None for place in found)


def _quantity(data: dict[str, Any], place: str) -> Any:
    here: Any = data
    for step in parse_path(place):
        here = here[step]
    return here


def _first(values: Any) -> Any:
    """The first run's value of an array of values, as plain data."""
    import numpy as np

    array = np.asarray(values)
    return (array if array.ndim == 0 else array[0]).tolist()


def _on_arrays(formula: Formula, values: Mapping[str, Any]) -> Any:
    """The value of a formula on arrays of parameters, NaN where it has none."""
    import numpy as np

    given = {name: values[name] for name in formula.names if name in values}
    arrays = np.broadcast_arrays(*given.values())
    found = np.empty(arrays[0].shape)
    for i, row in enumerate(zip(*(array.tolist() for array in arrays), strict=True)):
        try:
            found[i] = formula.evaluate(dict(zip(given, row, strict=True)))
        except FormulaError:
            found[i] = math.nan
    return found


def _opened(read: Any, settled: Any, path: str) -> Iterator[tuple[str, Quantity, Any]]:
    """The numbers that have another value than the file's: path, as read, value."""
    if isinstance(read, dict):
        dot = "" if not path or path.endswith(".") else "."
        for key, value in read.items():
            yield from _opened(value, settled[key], f"{path}{dot}{key}")
    elif isinstance(read, list):
        for i, (item, value) in enumerate(zip(read, settled, strict=True)):
            yield from _opened(item, value, f"{path}[{i}]")
    elif isinstance(read, Quantity) and not isinstance(settled, (int, float)):
        yield path, read, settled


def _keys(path: str) -> list[str]:
    return [step for step in parse_path(path) if isinstance(step, str)]


class _Number(NamedTuple):
    """A number that is open or depends on one: its path, as read, and the value that decides structure, if one does."""

    path: str
    quantity: Quantity
    special: float | None


class _Rule(NamedTuple):
    """A rule between numbers: their paths and values, whether they break it, and the reason."""

    numbers: list[tuple[str, float]]
    broken: Callable[..., Any]
    reason: str


def _rules_of(robot: dict[str, Any]) -> Iterator[_Rule]:
    for i, joint in enumerate(robot["joints"]):
        where, limits = f"{ROBOT}joints[{i}]", joint["limits"]
        if limits is not None:
            ends = [(f"{where}.limits.{key}", limits[key].value) for key in ("lower", "upper")]
            within = [(f"{where}.initial", joint["initial"].value), *ends]
            yield _Rule(ends, lambda a, b: a >= b, f"{where}.limits: expected lower smaller than upper")
            reason = f"{where}.initial: expected a position within the limits"
            yield _Rule(within, lambda q, a, b: (q < a) | (q > b), reason)
        for k, body in enumerate(joint["bodies"]):
            if "tube" in body:
                tube = f"{where}.bodies[{k}].tube"
                radii = [(f"{tube}.{key}", body["tube"][key].value) for key in ("inner_radius", "outer_radius")]
                yield _Rule(radii, lambda a, b: a >= b, f"{tube}: expected inner_radius smaller than outer_radius")
