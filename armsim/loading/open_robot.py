"""A robot file with numbers left open, and the condition on what stands for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, reduce
from typing import Any

from armsim import document
from armsim.document.base import plain
from armsim.document.overrides import Overrides, apply_overrides
from armsim.document.paths import parse_path, path_text
from armsim.document.robot import ROOT
from armsim.errors import UsageError
from armsim.expr import Scalar, Scalars, both, either, trace
from armsim.files.faults import Report
from armsim.formulas.quantity import Context, plain_number
from armsim.loading.build import build_robot
from armsim.loading.definite import determined
from armsim.loading.open_data import OpenData
from armsim.loading.open_paths import doubtful, places_of, stand_ins, unit_of
from armsim.loading.robot_file import Given, check_robot, load_root, refuse_undetermined
from armsim.loading.settle import value_at
from armsim.model import Arm


class OpenRobot:
    """A robot file of which some numbers are left open.

    Args:
        robot: A file, the name of a shipped robot, or a file's content as plain data.
        paths: Of the numbers, as `--set` names them without the prefix `robot.`; joints by index or name, `[*]` for all. A list
            of numbers stands for all of them.

    Attributes:
        paths: Of the numbers, one for each.
        arm: The arm with the numbers of the file.
        structure: The arm with its open numbers as expressions of a trace that has ended: what there is of joints and motors.
        written: The file's numbers there, in its units; NaN where it has none.
        places: Their paths, joints by index.
        quantities: What stands there, or stands in for what the file lacks.
        units: These units; empty for a pure number, "rad or m" where the joint decides.

    Raises:
        FileFaults: The file cannot be used; says where and why.
        UsageError: There is no number at a path, or two paths are of the same one.
    """

    def __init__(self, robot: Given, paths: Sequence[str]) -> None:
        report = Report()
        self._root, _ = load_root("robots", robot, report)
        self._lists: dict[str, list[float]] = {}
        written = self._checked({}, report)
        self.arm = build_robot(written)
        refuse_undetermined(self.arm, written)
        self._document = written
        set_before: Overrides = {}
        while absent := stand_ins(self._document, paths, {}, {}):
            set_before = {**set_before, **absent}
            self._document = self._checked(set_before, report)
        found = places_of(self._document, paths)
        self.places = [place for places in found.values() for place in places]
        self.paths = tuple(x for path, places in found.items() for x in ([path] if len(places) == 1 else places))
        steps = [parse_path(place) for place in self.places]
        for place in steps:
            if isinstance(place[-1], int) and not value_at(self._document, place).given:
                self._lists[path_text(place[:-1])] = plain(value_at(self._document, place[:-1]))
        read = [value_at(written, place) for place in steps]
        self.written = [math.nan if item is None else float(item.value) for item in read]
        self.quantities = [value_at(self._document, place) for place in steps]
        self.units = [unit_of(quantity, written.degrees) for quantity in self.quantities]
        self._checked({**set_before, **doubtful(self._document, self.places)}, report)

    @cached_property
    def _open(self) -> OpenData:
        return OpenData(self._document, self.places)

    @cached_property
    def structure(self) -> Arm:
        arms = []

        def note(*values: Scalar) -> Scalars:
            arms.append(self.of(values))
            return []

        trace(note, self.paths)
        return arms[0]

    def __getstate__(self) -> object:
        """Without what is made again."""
        return {key: x for key, x in vars(self).items() if key not in ("structure", "_open")}

    def of(self, values: Scalars) -> Arm:
        """The arm with these scalars in place of the open numbers, in the file's units."""
        return build_robot(self._document, self._opened(values))

    def _opened(self, values: Scalars) -> dict[str, Scalar]:
        return dict(zip(self.places, values, strict=True))

    def sound(self, values: Scalars) -> Any:
        """The condition that `refuse` returns; values may be expressions."""
        found = self._open.values(self._opened(values))
        conditions = [x for requirement in self._open.requirements for x in requirement.conditions(found)]
        conditions += [reduce(either, absence.differences(found)) for absence in self._open.absences]
        return reduce(both, conditions, determined(self.of(values)))

    def refuse(self, values: Sequence[float]) -> None:
        """Raise what is wrong with numbers in place of the open ones; return if nothing is.

        Raises:
            FileFaults: They are refused as a file with them would be.
            UsageError: One means that something is absent, which is structure.
        """
        numbers = {path: float(x) for path, x in self._opened(values).items()}
        robot = self._checked(numbers, Report())
        found = self._open.values(numbers)
        for absence in self._open.absences:
            if not any(absence.differences(found)):
                raise UsageError.of(
                    absence.path,
                    f"a number other than {plain_number(absence.value)}, where it depends on a number left open",
                    f"{plain_number(absence.value)}, which means that there is none",
                    "write it into the robot file, and leave it out of `open`",
                )
        refuse_undetermined(build_robot(robot), robot)

    def _checked(self, numbers: Overrides, report: Report) -> document.Robot:
        set_whole = {**self._lists, **numbers}  # of a list that the file has not, no single number can be set
        robot = check_robot(apply_overrides(self._root, set_whole, report, kind=ROOT), Context(report))
        report.raise_if_any()
        assert robot is not None  # or there was a fault
        return robot
