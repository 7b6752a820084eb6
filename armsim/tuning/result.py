"""What a tuning comes to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

import numpy as np

from armsim import document
from armsim.arrays import Array, Mask
from armsim.batches.runs import Runs
from armsim.display import Shown
from armsim.document.base import written
from armsim.files.study_folder import TUNED
from armsim.formulas.values import Interval
from armsim.notebook import counted
from armsim.records import Json, attributes, record
from armsim.tuning.margins import Margin
from armsim.tuning.objective import UNMET, Merit
from armsim.tuning.search import NEAR
from armsim.tuning.trials import RESULTS, STAGE


@record
class TuningResult(Shown):
    """Numbers that were found, and where they hold.

    Attributes:
        folder: Where tuned.yaml, the table of trials, and the test are.
        name: Of the scenario.
        status: "complete", or "interrupted".
        minimise: What was minimised.
        over: Over which of the cases: "worst" or "mean".
        cases: How many cases there were.
        values: What was found, by path of each number, in the file's unit.
        before: What the file has, likewise.
        bounds: Between which it was sought, likewise.
        merit: Of that: objective, and how far conditions are missed.
        trials: The table of the trials: stage, numbers, "objective", "violation", "failed".
        conditions: When a case holds, as text.
        why: How those follow that were not asked, in words.
        tried: The cases of the test, in words.
        test: The runs of cases that it was not tuned at; None where there are none.
        holds: Which of them hold.
        causes: How many of the cases that do not hold, of those that were looked into, do not because of what.
        notes: On its cases and those of the test: whether the controller's model knows them, and what was grouped.
        held: How many of its own cases hold.
        margins: How much numbers, masses and delay may be off before one of them does not.
        control: The controller of the tuned scenario, without defaults; None where it has none.
        simulated: Time in the loops of the search's runs [s]; 0 of what had been done before.
    """

    folder: str
    name: str
    status: str
    minimise: str
    over: str
    cases: int
    values: Mapping[str, float]
    before: Mapping[str, float]
    bounds: Mapping[str, Interval]
    merit: Merit
    trials: Runs = field(repr=False)
    conditions: tuple[str, ...] = ()
    why: str = ""
    tried: str = ""
    test: Runs | None = field(default=None, repr=False)
    holds: Mask = field(default_factory=lambda: np.empty(0, bool), repr=False)
    causes: Mapping[str, int] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()
    held: int = 0
    margins: tuple[Margin, ...] = field(default=(), repr=False)
    control: document.Control | None = field(default=None, repr=False)
    simulated: float = 0.0

    @property
    def scenario(self) -> str:
        """The path of the tuned scenario."""
        return os.path.join(self.folder, TUNED)

    @property
    def objective(self) -> float:
        """The least that was found, in the unit of what is minimised."""
        return self.merit.objective

    @cached_property
    def merits(self) -> list[Merit]:
        """Of the trials; the first one is that of the file's values, or of the nearest within the bounds."""
        return [Merit(*row) for row in zip(*(self.trials[name].tolist() for name in RESULTS), strict=True)]

    @property
    def first(self) -> Merit | None:
        """The merit of the file's values; None before there is a trial."""
        return self.merits[0] if self.merits else None

    @property
    def unmet(self) -> int:
        """How many complete trials miss a condition."""
        return int(np.count_nonzero(self.trials.complete & (self.trials["violation"] > 0.0)))

    @property
    def curve(self) -> Array:
        """The least objective so far in each stage, after each trial; NaN before one meets all conditions."""
        values, stages = np.array([merit.value for merit in self.merits]), self.trials[STAGE]
        for stage in np.unique(stages):
            values[stages == stage] = np.minimum.accumulate(values[stages == stage])
        return np.where(values < UNMET, values, np.nan)

    def __repr__(self) -> str:
        least = f"{self.minimise} {self.objective:.6g} after {counted(self.trials.done, 'trial')}"
        return f"TuningResult({self.folder}: {self.status}, {least})"

    def summary(self) -> Json:
        """All of it as plain data, but for the curve and the cases one by one, and for how long it took."""
        return {
            **attributes(self, "folder", "status", "minimise", "over", "cases", "objective"),
            "violation": self.merit.violation,
            "before": None if self.first is None or self.outside else self.first.objective,
            "values": dict(self.values),
            "trials": self.trials.done,
            "ended": self.trials.tally,
            "unmet": self.unmet,
            "holds": list(self.conditions),
            "held": self.held,
            "test": None
            if self.test is None
            else {
                "cases": len(self.holds),
                "of": self.tried,
                "hold": int(self.holds.sum()),
                "causes": dict(self.causes),
            },
            **attributes(self, "margins"),
            "control": written(self.control or {}),
        }

    @property
    def outside(self) -> list[str]:
        """The numbers whose values in the file are outside the bounds."""
        return [
            path for path, value in self.before.items() if not self.bounds[path].low <= value <= self.bounds[path].high
        ]

    @property
    def at_bounds(self) -> list[tuple[str, str, float]]:
        """The numbers that are at a bound, "lower" or "upper", to a thousandth of the way, and the bound."""
        found = []
        for path, value in self.values.items():
            share = self.bounds[path].share(value)
            if not NEAR <= share <= 1.0 - NEAR:
                low = share < 0.5
                if low and self.bounds[path].low == 0.0:  # no gain, mass or length is below
                    continue
                found.append((path, "lower" if low else "upper", self.bounds[path].at(0.0 if low else 1.0)))
        return found
