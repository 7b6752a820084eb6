"""Advice on the step of many variants of a scenario, that differ in its open numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from armsim.actuation import sticks
from armsim.expr import flatten, trace
from armsim.loading import Scenario
from armsim.loading.build import ABSENT
from armsim.spec.formula import FormulaError
from armsim.stability.advice import Advice, chooses_steps
from armsim.stability.closed_loop import Array
from armsim.stability.growth import Mask
from armsim.stability.operating_points import STOP, OperatingPoint
from armsim.stability.step_check import StepCheck
from armsim.stability.step_modes import LinearPlant
from armsim.stability.traced_points import Make, Points, TracedPoints
from armsim.stability.verdicts import Times, VariantsCheck, Verdicts

BLOCK = 1000  # variants that are judged together
SPECIAL = sorted(set(ABSENT.values()))  # values by which a number may change what there is

Pattern = tuple[float | None, ...]  # for each open number its value where that decides what there is, else None


class StepAdviser:
    """Advice on the step for any values of a scenario's open numbers.

    What does not depend on them is traced and compiled once. Where a number is one that means absent (no dry friction, no
    inductance), the variants with it are a scenario of their own, and compiled when they are first asked for.

    Args:
        make: The scenario with these scalars (floats or expressions) in place of its open numbers; its method is picked.
        count: How many numbers are open.
    """

    def __init__(self, make: Make, count: int) -> None:
        self.make, self.count = make, count
        self._checks: dict[Pattern, FormCheck] = {}
        self._special: dict[tuple[int, float], bool] = {}

    def advice(self, values: npt.ArrayLike) -> Advices:
        """The advice on every variant; as `advice_on` gives it for the scenario with these numbers written in.

        Args:
            values: The open numbers, shape (variants, count).
        """
        rows = np.array(values, dtype=float, ndmin=2)
        made = Verdicts(*(np.zeros(len(rows), dtype=bool) for _ in Verdicts._fields))
        patterns = self._patterns(rows)
        for pattern, chosen in patterns.items():
            check = self.check(pattern)
            for first in range(0, len(chosen), BLOCK):
                block = chosen[first : first + BLOCK]
                for found, part in zip(made, check.verdicts(rows[block]), strict=True):
                    found[block] = part
        return Advices(self, rows, made.refused, made.speaks)

    def refuses(self, values: npt.ArrayLike) -> Mask:
        """Which variants' step is refused, shape (variants,): as `advice` says, sooner where none is."""
        rows = np.array(values, dtype=float, ndmin=2)
        found: Mask = np.zeros(len(rows), dtype=bool)
        for pattern, chosen in self._patterns(rows).items():
            check = self.check(pattern)
            doubtful = chosen[check.may_refuse(rows[chosen])]
            if len(doubtful):
                found[doubtful] = check.verdicts(rows[doubtful]).refused
        return found

    def check(self, pattern: Pattern) -> FormCheck:
        """The check of the variants with these numbers written in."""
        if pattern not in self._checks:

            def make(values: Sequence[object]) -> Scenario:
                return self.make([x if given is None else given for x, given in zip(values, pattern, strict=True)])

            self._checks[pattern] = FormCheck(make, self.count)
        return self._checks[pattern]

    def one(self, values: Array) -> Advice:
        """The advice on one variant, in words."""
        ((pattern, _),) = self._patterns(values[None]).items()
        return self.check(pattern).advice(values)

    def _patterns(self, rows: Array) -> dict[Pattern, npt.NDArray[np.int64]]:
        """The variants by what there is."""
        form: Pattern = (None,) * self.count
        columns = [(j, x) for x in SPECIAL for j in np.flatnonzero((rows == x).any(axis=0)).tolist()]
        deciding = [(j, x) for j, x in columns if self._decides(j, x)]
        if not deciding:
            return {form: np.arange(len(rows))}
        has = np.stack([rows[:, j] == x for j, x in deciding], axis=-1)
        combinations, which = np.unique(has, axis=0, return_inverse=True)
        groups = {}
        for k, combination in enumerate(combinations):
            pattern = list(form)
            for (j, x), given in zip(deciding, combination, strict=True):
                if given:
                    pattern[j] = x
            groups[tuple(pattern)] = np.flatnonzero(which == k)
        return groups

    def _decides(self, j: int, x: float) -> bool:
        """Whether number j decides what there is by having this value, the others being open, or having it too."""
        if (j, x) not in self._special:
            own: Pattern = tuple(x if i == j else None for i in range(self.count))
            rest: Pattern = tuple(None if i == j else x for i in range(self.count))
            pairs: list[tuple[Pattern, Pattern]] = [((None,) * self.count, own), (rest, (x,) * self.count)]
            self._special[j, x] = any(self._form(a) != self._form(b) for a, b in pairs)
        return self._special[j, x]

    def _form(self, pattern: Pattern) -> object:
        """What there is in the scenario with these numbers written in."""
        forms: list[object] = []

        def read(*values: object) -> list[float]:
            scenario = self.make([x if given is None else given for x, given in zip(values, pattern, strict=True)])
            forms.append(flatten((scenario.arm, scenario.command, scenario.method))[1])
            return []

        try:
            trace(read, [f"open{i}" for i in range(self.count)])
        except (ArithmeticError, FormulaError):
            forms.append(None)
        return forms[0]


class FormCheck:
    """The check of the step of variants that differ in numbers alone, not in what there is.

    Args:
        make: The scenario; see `StepAdviser`.
        count: How many numbers are open.
    """

    def __init__(self, make: Make, count: int) -> None:
        self.traced = TracedPoints(make, count)
        self.scenario, self.plant = self.traced.scenario, self.traced.plant
        self.silent = chooses_steps(self.plant)
        if not self.silent:
            try:
                self.traced.function  # noqa: B018  traces it
            except (ArithmeticError, FormulaError):  # there is no advice without operating points
                self.silent = True

    @cached_property
    def times(self) -> Times:
        """The times of the run."""
        command = self.plant.command
        period = None if command is None else command.period
        return Times(self.scenario.dt, self.scenario.steps * self.scenario.dt, period)

    def may_refuse(self, values: Array) -> Mask:
        """Which variants `verdicts` may refuse."""
        made: Mask = np.zeros(len(values), dtype=bool)
        if self.silent:
            return made
        points, finite = self.traced.at(values)
        if finite.any():
            with np.errstate(all="ignore"):
                made[finite] = VariantsCheck(self.plant.method, self.times, points, self.sticky).may_refuse()
        return made

    @cached_property
    def sticky(self) -> tuple[bool, ...]:
        """Which joints have dry friction."""
        return tuple(sticks(joint) for joint in self.plant.arm.joints)

    def verdicts(self, values: Array) -> Verdicts:
        """The verdicts on variants, all of them decided."""
        made = Verdicts(*(np.zeros(len(values), dtype=bool) for _ in Verdicts._fields))
        if self.silent:
            return made
        points, finite = self.traced.at(values)
        if not finite.any():
            return made
        with np.errstate(all="ignore"):  # of steps far too long, powers overflow
            found = VariantsCheck(self.plant.method, self.times, points, self.sticky).verdicts()
        for k in np.flatnonzero(found.unsure):
            found.refused[k] = self._advice_at(points, int(k)).refusal is not None
        for whole, part in zip(made, found, strict=True):
            whole[finite] = part
        return made

    def advice(self, values: Array) -> Advice:
        """The advice on one variant, in words."""
        if self.silent:
            return Advice()
        points, finite = self.traced.at(values[None])
        return self._advice_at(points, 0) if finite[0] else Advice()

    def _advice_at(self, points: Points, k: int) -> Advice:
        """The advice on the k-th of some variants."""
        dt, duration, period = self.times
        free = len(points.where)
        seen: list[tuple[int, str, str | None]] = [
            (p, points.where[p], None) for p in range(free) if points.there[p, k]
        ]
        seen += [(free + s, STOP, self.plant.arm.joints[i].name) for s, i in enumerate(points.stops)]
        at = [(LinearPlant(points.coefficients[p, k]), where, stop) for p, where, stop in seen]
        found = [OperatingPoint(near, where, period, duration, stop) for near, where, stop in at]
        return StepCheck(self.plant.method, dt, found, self.plant.arm).advice()


class Advices(Sequence[Advice]):
    """The advice on many variants: whether there is any for all of them; its words are found when they are asked for.

    Args:
        adviser: Whose advice it is.
        values: The open numbers, shape (variants, count).
        refused: Whether each variant's step is refused, shape (variants,).
        speaks: Whether there is a refusal or a warning, shape (variants,).
    """

    def __init__(self, adviser: StepAdviser, values: Array, refused: Mask, speaks: Mask) -> None:
        self.values, self.refused, self.speaks = values, refused, speaks
        self._adviser = adviser

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, k: int) -> Advice: ...

    @overload
    def __getitem__(self, k: slice) -> Advices: ...

    def __getitem__(self, k: int | slice) -> Advice | Advices:
        if isinstance(k, slice):
            return Advices(self._adviser, self.values[k], self.refused[k], self.speaks[k])
        return self._adviser.one(self.values[k]) if self.speaks[k] else Advice()
