"""A robot file with numbers left open, and the condition on what stands for them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from typing import Any

from armsim.errors import UsageError
from armsim.expr import Expr, Scalar, absolute, both, either, trace
from armsim.files.faults import Report
from armsim.loading.build import ABSENT, build_robot
from armsim.loading.plausible import determined
from armsim.loading.robot_file import check_robot, load_root, refuse_undetermined
from armsim.loading.settle import number_at, settle
from armsim.model import Arm
from armsim.spec.bodies import TubeKeys
from armsim.spec.motor import DryFriction
from armsim.spec.overrides import apply_overrides
from armsim.spec.parameters import NUMBER
from armsim.spec.paths import path_text
from armsim.spec.quantity import Context, plain, plain_number
from armsim.spec.robot import JointKeys, LimitKeys, RobotKeys
from armsim.spec.schema import Kind, List, Number, OneOf, Parameters, Record

LARGEST = math.nextafter(math.inf, 0.0)
STAND_IN = 0.5  # of a number that the file has not: neither means it that something is absent, nor is it out of range
Path = tuple[str | int, ...]
KEYS = {(key,) for key in ABSENT}


class OpenRobot:
    """A robot file of which some numbers are left open.

    Args:
        robot: A file, the name of a shipped robot, or a file's content as plain data.
        paths: Of the numbers, as `--set` names them without the prefix `robot.`; joints by index or name.

    Attributes:
        paths: Of the numbers.
        arm: The arm with the numbers of the file.
        structure: The arm with its open numbers as expressions of a trace that has ended: what there is of joints and motors.
        written: The file's numbers there, in its units; NaN where it has none.

    Raises:
        FileFaults: The file cannot be used; says where and why.
        UsageError: There is no number at a path, or two paths are of the same one.
    """

    def __init__(self, robot: str | os.PathLike[str] | Mapping[str, Any], paths: Sequence[str]) -> None:
        report = Report()
        self._root, _ = load_root("robots", robot, report)
        self._lists: dict[str, list[float]] = {}
        self._data = self._checked({}, report)
        self.arm = build_robot(self._data)
        refuse_undetermined(self.arm, self._data)
        self.paths = tuple(paths)
        steps = [number_at(self._data, path) for path in self.paths]
        found = [path_text(path) for path in steps]
        for path, text in zip(self.paths, found, strict=True):
            if found.count(text) > 1:
                raise UsageError.of("open", "every number once", f"`{path}` twice", "leave one of them out")
        read = [_at(self._data, path) for path in steps]
        self._lists = {
            path_text(path[:-1]): plain(_at(self._data, path[:-1]))
            for path, item in zip(steps, read, strict=True)
            if isinstance(path[-1], int) and not item.given
        }
        self.written = [math.nan if item is None else float(item.value) for item in read]
        for path, keys, number in zip(self.paths, steps, self.written, strict=True):
            if math.isnan(number) or (number == 0.0 and {"friction", "motor"}.intersection(keys)):
                self._checked({path: STAND_IN}, report)  # whether there may be such a number at all

    @cached_property
    def structure(self) -> Arm:
        arms = []
        trace(lambda *values: arms.append(self.of(values)) or [], self.paths)  # type: ignore[func-returns-value]
        return arms[0]

    @cached_property
    def _structural(self) -> list[Path]:
        """Paths of the numbers that depend on the open ones and may mean that something is absent."""
        found: list[Path] = []

        def note(*values: Expr) -> list[Scalar]:
            opened = _open_data(RobotKeys(), settle(self._data, self._opened(values)), ())
            found.extend(path for path, kind, _ in opened if path[-1:] in KEYS and isinstance(kind, Number))
            return []

        trace(note, self.paths)
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Without what has been traced."""
        return {key: x for key, x in vars(self).items() if key not in ("structure", "_structural")}

    def of(self, values: Sequence[Scalar]) -> Arm:
        """The arm with these scalars in place of the open numbers, in the file's units."""
        return build_robot(self._data, self._opened(values))

    def _opened(self, values: Sequence[Scalar]) -> dict[str, Scalar]:
        return dict(zip(self.paths, values, strict=True))

    def sound(self, values: Sequence[Scalar]) -> Any:
        """The condition that `refuse` returns; values may be expressions."""
        opened = _open_data(RobotKeys(), settle(self._data, self._opened(values)), ())
        conditions = [condition for found in opened for condition in _conditions(*found)]
        return reduce(both, conditions, determined(self.of(values)))

    def refuse(self, values: Sequence[float]) -> None:
        """Raise what is wrong with numbers in place of the open ones; return if nothing is.

        Raises:
            FileFaults: They are refused as a file with them would be.
            UsageError: One means that something is absent, which is structure.
        """
        report = Report()
        data = self._checked({path: float(x) for path, x in self._opened(values).items()}, report)
        settled = settle(data)
        for path in self._structural:
            found = _at(settled, path)
            absent = ABSENT[str(path[-1])]
            if all(x == absent for x in (found.values() if isinstance(found, dict) else [found])):
                raise UsageError.of(
                    path_text(path),
                    f"a number other than {plain_number(absent)}, where it depends on a number left open",
                    f"{plain_number(absent)}, which means that there is none",
                    "write it into the robot file, and leave it out of `open`",
                )
        refuse_undetermined(build_robot(data), data)

    def _checked(self, numbers: Mapping[str, float], report: Report) -> dict[str, Any]:
        set_whole = {**self._lists, **numbers}  # of a list that the file has not, no single number can be set
        data = check_robot(apply_overrides(self._root, set_whole, report), Context(report))
        report.raise_if_any()
        assert data is not None  # or there was a fault
        return data


def _at(data: Any, path: Iterable[str | int]) -> Any:
    """What stands at a path."""
    for step in path:
        data = data[step]
    return data


def _open_data(kind: Kind, item: Any, path: Path) -> Iterator[tuple[Path, Kind, Any]]:
    """Path, kind and settled data of all records, open numbers, and dry frictions by direction of which a side is open."""
    if isinstance(kind, OneOf) and isinstance(item, dict):
        if "mass" in item:  # a payload may be a mere point
            kind = kind.variants["point"]
        else:
            ((name, item),) = item.items()
            kind, path = kind.variants[name], (*path, name)
    if isinstance(item, Expr):
        yield path, kind, item
    elif isinstance(kind, Parameters):
        for name, value in item.items():
            yield from _open_data(NUMBER, value, (*path, name))
    elif isinstance(kind, List) and isinstance(item, list):
        for i, each in enumerate(item):
            yield from _open_data(kind.item, each, (*path, i))
    elif isinstance(item, dict):
        if isinstance(kind, DryFriction):
            if any(isinstance(side, Expr) for side in item.values()):
                yield path, kind, item
            kind = kind.sides
        assert isinstance(kind, Record)
        yield path, kind, item
        for name, value in item.items():
            yield from _open_data(kind.fields[name], value, (*path, name))


def _conditions(path: Path, kind: Kind, item: Any) -> Iterator[Any]:
    """What `armsim.spec` asks of a number, or of the numbers of a record among themselves, as conditions."""
    if isinstance(kind, LimitKeys):
        yield item["lower"] < item["upper"]
    elif isinstance(kind, TubeKeys):
        yield item["inner_radius"] < item["outer_radius"]
    elif isinstance(kind, JointKeys):
        if item["limits"] is not None:
            yield item["limits"]["lower"] <= item["initial"]
            yield item["initial"] <= item["limits"]["upper"]
        if item["pitch"] is not None:
            yield absolute(item["pitch"]) > 0.0
    elif isinstance(item, dict) and isinstance(kind, DryFriction):
        yield either(item["positive"] > 0.0, item["negative"] > 0.0)
    elif isinstance(kind, Number):
        yield absolute(item) <= (math.inf if kind.infinite else LARGEST if kind.largest is None else kind.largest)
        if kind.minimum is not None:
            yield kind.minimum <= item
        if kind.above is not None:
            yield kind.above < item
        if kind.nonzero:
            yield absolute(item) > 0.0
        if path[-1] in ABSENT:
            yield absolute(item - ABSENT[str(path[-1])]) > 0.0
