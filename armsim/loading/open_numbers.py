"""Numbers of a scenario and its robot that are left open, and values for them: found, checked and grouped, all at once."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, TypeVar

from armsim.document.base import Document
from armsim.document.overrides import Overrides, split_overrides
from armsim.document.paths import parse_path
from armsim.document.scenario import AUTO
from armsim.errors import UsageError
from armsim.expr import Scalars
from armsim.files.nodes import quoted
from armsim.formulas.formula import Formula, FormulaError
from armsim.formulas.quantity import Quantity, plain_number
from armsim.loading.checked import ScenarioFile
from armsim.loading.open_data import NOTHING, OpenData, Requirement
from armsim.loading.open_paths import doubtful, lacking, places_of, stand_ins, unit_at
from armsim.loading.scenario import Scenario, build_scenario
from armsim.loading.scenario_file import Given, default_lists, load_scenario_file
from armsim.loading.settle import Open, settle, value_at
from armsim.records import record

if TYPE_CHECKING:
    from armsim.arrays import Array, Indices


ROBOT = "robot."
STRUCTURAL_TO_AUTO = {"viscous": 0.0, "kd": 0.0}  # where the method is picked by what can damp
Written = Mapping[str, float]
D = TypeVar("D", bound=Document)


@record
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

    def scenario(self, values: Scalars, written: Written | None = None) -> Scenario:
        """The scenario with these scalars, one for each of `places`; `written` has numbers in their stead, by place."""
        return build_scenario(self.file, {**dict(zip(self.places, values, strict=True)), **(written or {})})

    def file_with(self, row: Sequence[float]) -> ScenarioFile:
        """The scenario's file as if it had these numbers, one for each of `places`, which it would take."""
        return file_with_numbers(self.file, dict(zip(self.places, row, strict=True)))

    def scenario_with(self, row: Sequence[float]) -> Scenario:
        """The scenario with these numbers, one for each of `places`, as an ordinary one.

        Raises:
            UsageError: The files would not take them.
        """
        import numpy as np

        for why in self.refused(np.array([row])).values():
            raise UsageError(why)
        return build_scenario(self.file_with(row))

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
        many = len(self.asked[path])
        array = _array(path, values)
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

        Checked are the bounds of every number, and of those that depend on it by a formula, and the relations between numbers.
        """
        import numpy as np

        found: dict[int, str] = {}
        values = self._values(matrix)
        for requirement in (x for data in self._data for x in data.requirements):
            for right in requirement.conditions(values):
                if right is not True and not np.all(right):
                    for run in np.flatnonzero(~np.atleast_1d(right)).tolist():
                        found.setdefault(run, _reason(requirement, values, run))
        return found

    def groups(self, matrix: Array) -> list[tuple[Written, Indices]]:
        """The runs by what their values decide of the structure: numbers written in, and indices of the runs."""
        import numpy as np

        values = self._values(matrix)
        absences = [absence for data in self._data for absence in data.absences]
        present = [reduce(operator.or_, absence.differences(values)) for absence in absences]
        if all(here is True or np.all(here) for here in present):
            return [({}, np.arange(len(matrix), dtype=np.int64))]
        arrays = [np.broadcast_to(here, len(matrix)) for here in present]
        patterns, which = np.unique(np.array(arrays).T, axis=0, return_inverse=True)
        return [
            (
                {
                    path: absence.value
                    for absence, here in zip(absences, pattern, strict=True)
                    for path, _ in absence.numbers
                    if path in values and not here
                },
                np.flatnonzero(which.reshape(-1) == i),
            )
            for i, pattern in enumerate(patterns)
        ]

    def _values(self, matrix: Array) -> Open:
        """The values of all numbers that are open or depend on one: floats of a single run, else arrays of shape (m,)."""
        if len(matrix) == 1:
            columns, evaluate = matrix[0].tolist(), _on_floats
        else:
            columns, evaluate = list(matrix.T), _on_arrays
        opened = dict(zip(self.places, columns, strict=True))
        each = (data.values({place: opened[place] for place in data.places}, evaluate) for data in self._data)
        return {path: value for values in each for path, value in values.items()}

    @cached_property
    def _data(self) -> tuple[OpenData, OpenData]:
        """The data of the scenario and of its robot."""
        robot = [place for place in self.places if place.startswith(ROBOT)]
        own = [place for place in self.places if not place.startswith(ROBOT)]
        structural = STRUCTURAL_TO_AUTO if self.file.document.integrator.method == AUTO else NOTHING
        return (
            OpenData(self.file.robot.document, robot, ROBOT.rstrip("."), structural),
            OpenData(self.file.document, own, structural=structural),
        )

    def number(self, place: str) -> float:
        """The value of one of `places` in its file; a stand-in where the file has none."""
        return float(self._quantity(place).value)

    def unit(self, place: str) -> str:
        """The unit of one of `places` in its file; empty for a pure number."""
        return unit_at(self.file, place)

    def _quantity(self, place: str) -> Any:
        return value_at(self.file.whole, parse_path(place))


def open_numbers(
    given: Given, paths: Mapping[str, Any] | Sequence[str], overrides: Overrides | None = None
) -> OpenNumbers:
    """The numbers that paths stand for, left open.

    Args:
        given: A scenario file, a shipped scenario's name, or a file's content.
        paths: As `--set` names them; a list of numbers stands for all of them, `[*]` for all items of a list. With values: what
            the file leaves out gets the first of them; without, a number that stands in.
        overrides: Values to set before, by path.

    Raises:
        FileFaults: The scenario or its robot cannot be used; says where and why.
        UsageError: There is no number at a path, or it is part of the structure.
    """
    if not isinstance(given, (str, os.PathLike, Mapping)):
        expected = "a scenario file, the name of a shipped one, or a file's content"
        raise UsageError.of("scenario", expected, type(given).__name__, "give what the scenario was read from")
    file = load_scenario_file(given, overrides)
    values = paths if isinstance(paths, Mapping) else {}
    first = {path: _first(path, x) for path, x in values.items() if lacking(file.whole, path)}
    set_before = dict(overrides or {})
    defaults = default_lists(file.robot.document, file.document.degrees)
    while absent := stand_ins(file.whole, list(paths), first, defaults):
        set_before |= absent
        file = load_scenario_file(given, set_before)
    asked = places_of(file.whole, list(paths))
    places = tuple(place for found in asked.values() for place in found)
    doubts = doubtful(file.whole, places)
    if doubts:
        load_scenario_file(given, set_before | doubts)
    index = {place: i for i, place in enumerate(places)}
    return OpenNumbers(file, places, {path: tuple(index[place] for place in found) for path, found in asked.items()})


def file_with_numbers(file: ScenarioFile, values: Mapping[str, float]) -> ScenarioFile:
    """The file as if it had these numbers, and those that follow from them by formulas.

    Args:
        file: The scenario.
        values: Numbers that the file would take, by the path of those that they replace.

    Raises:
        UsageError: There is no number at one of the paths.
    """
    own, robot = split_overrides(values)
    made = _written(file.robot.document, robot)
    return replace(file, document=_written(file.document, own), robot=replace(file.robot, document=made))


def _written(document: D, values: Mapping[str, float]) -> D:
    if not values:
        return document
    settled = settle(document, values)

    def leaf(quantity: Quantity | None, path: str) -> Any:
        value = value_at(settled, parse_path(path))
        if quantity is None or value is quantity.value or value is quantity:
            return quantity
        return replace(quantity, value=value, text=plain_number(value), formula=None, given=True, unit="")

    return document.mapped(leaf)


def _first(path: str, values: Any) -> Any:
    """The first run's value of an array of values, as plain data."""
    array = _array(path, values)
    return (array if array.ndim == 0 else array[0]).tolist()


def _array(path: str, values: Any) -> Array:
    """Values of a path as doubles.

    Raises:
        UsageError: They are no real numbers.
    """
    import numpy as np

    if np.ma.is_masked(values):
        raise UsageError.of(path, "a number for each run", "a masked array", "fill in what is masked, or leave it out")
    try:
        array = np.asarray(values)
    except ValueError:  # ragged
        array = np.empty(0, dtype=object)
    if array.dtype.kind == "O" and all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in array.flat):
        try:
            array = array.astype(float)
        except OverflowError:  # an integer beyond all doubles
            array = np.empty(0)
    if array.dtype.kind not in "fiu" or array.size == 0:
        raise UsageError.of(path, "real numbers, one for each run", quoted(values), "give an array of numbers")
    return array.astype(float)


def _reason(requirement: Requirement, values: Open, run: int) -> str:
    """Why a run is refused; of a number's bounds with what was found."""
    reason = f"{requirement.path}: expected {requirement.expected}"
    if len(requirement.numbers) > 1:
        return reason
    value = values[requirement.numbers[0][0]]
    return f"{reason}, found {plain_number(float(value if isinstance(value, float) else value[run]))}"


def _on_floats(formula: Formula, values: Open) -> float:
    """The value of a formula of parameters, NaN where it has none."""
    try:
        return float(formula.evaluate(values))
    except FormulaError:
        return math.nan


def _on_arrays(formula: Formula, values: Open) -> Any:
    """The values of a formula of arrays of parameters, NaN where it has none."""
    import numpy as np

    names = [name for name in formula.names if name in values]
    arrays = np.broadcast_arrays(*(values[name] for name in names))
    rows = zip(*(array.tolist() for array in arrays), strict=True)
    return np.array([_on_floats(formula, dict(zip(names, row, strict=True))) for row in rows])
