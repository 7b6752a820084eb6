"""A scenario with open numbers, and its variants, as many as one kernel serves."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from armsim import document
from armsim.arrays import Array
from armsim.compile.target import host
from armsim.document.base import below
from armsim.expr import Scalars
from armsim.formulas.quantity import Quantity
from armsim.loading import Scenario
from armsim.loading.definite import determined, undetermined
from armsim.loading.open_numbers import OpenNumbers, Written
from armsim.plant import Plant
from armsim.simulation.content import content_of
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import Keep, LoopPlan, OpenPlant, PlantStart, plant_of_run
from armsim.stability.many import StepAdviser
from armsim.stability.method_choice import with_method

PREPARING = threading.RLock()  # threads that share variants take turns to make and to compile them
ENDS = Keep(rows=False, work=False, peaks=False, figures=False, accuracy=False)  # nothing but how runs end
UNASKED = ("name", "log", "duration")  # keys of a scenario on which no step depends


class Variants:
    """The variants of a scenario that differ in numbers alone, not in what there is: one kernel serves them.

    Args:
        opened: The scenario with its open numbers.
        written: Those of them that decide what there is, by place.
        values: The open numbers of one variant.
        measure: Names of what is measured.
        keep: What is kept besides.
    """

    def __init__(
        self,
        opened: OpenNumbers,
        written: Written,
        values: Sequence[float],
        measure: Sequence[str] | str = (),
        keep: Keep = ENDS,
    ) -> None:
        self.opened, self.written = opened, dict(written)
        self.scenario = self.variant(values)
        names = tuple(f"open{i}" for i in range(len(opened.places)))
        numbers = OpenPlant(names, self.made, self._content, lambda made: determined(made.arm), self.scenario.landing)
        self.plan = LoopPlan.of_run(self.scenario, measure, keep, numbers)
        self._engines: dict[int | None, NativeEngine] = {}
        self._judged = False

    def variant(self, values: Scalars) -> Scenario:
        """The scenario with values, one for each open number; its method is picked."""
        return with_method(self.opened.scenario(values, self.written))

    def plant(self, scenario: Scenario) -> Plant:
        """The plant of a variant."""
        asked = self.plan.plant
        return replace(plant_of_run(scenario), audit=asked.audit, times=asked.times)

    def made(self, values: Scalars) -> PlantStart:
        """The plant of a variant, and the start of its run."""
        scenario = self.variant(values)
        return PlantStart(self.plant(scenario), scenario.initial_q, scenario.initial_qd)

    def engine(self, lanes: int | None = None) -> NativeEngine:
        """Machine code for that many lanes, compiled once; for as many as suit the machine unless given."""
        with PREPARING:
            if lanes not in self._engines:
                target = host()
                self._engines[lanes] = NativeEngine(self.plan, target=target, lanes=lanes or target.register)
            return self._engines[lanes]

    def judge(self, values: Sequence[float]) -> None:
        """Compile what judges the step, for all threads.

        Args:
            values: Of one of the variants.
        """
        with PREPARING:
            if not self._judged:
                self.adviser.refuses([values])
                self._judged = True

    @cached_property
    def adviser(self) -> StepAdviser:
        """The advice on their step."""
        return StepAdviser(self.scenario, self.variant, len(self.opened.places), self._content)

    @cached_property
    def _content(self) -> str:
        """All that the variants' plants depend on besides the open numbers."""
        file = self.opened.file
        places = set(self.opened.places) - self.written.keys()
        whole = file.document.replaced(**dict.fromkeys(UNASKED), robot=file.robot.document.without_visuals)
        asked = _marked(whole, places)
        scenario = self.scenario
        clock = scenario.clock
        times = (clock.num, clock.den), clock.sample_every, scenario.landing
        steps = [*times, file.steps.external, file.steps.payload, scenario.method]
        return content_of([asked, self.opened.places, self.written, steps])

    def undetermined(self, values: Sequence[float]) -> str:
        """Why the accelerations of a variant are not determined, in a line."""
        faults = undetermined(self.variant(values).arm, self.opened.file.robot.document, "robot")
        if not faults:
            return "expected a mass matrix that is positive definite"
        return f"{faults[0].path}: expected {faults[0].expected}, found {faults[0].found}"


class OpenScenario:
    """A scenario with open numbers.

    Args:
        opened: The scenario.
        measure: Names of what is measured.
        keep: What is kept of its runs besides.
    """

    def __init__(self, opened: OpenNumbers, measure: Sequence[str] | str = (), keep: Keep = ENDS) -> None:
        self.opened, self.measure, self.keep = opened, measure, keep
        self._variants: dict[tuple[tuple[str, float], ...], Variants] = {}

    def variants(self, written: Written, values: Sequence[float]) -> Variants:
        """The variants with such numbers written in, made when one of them is first met."""
        key = tuple(written.items())
        with PREPARING:
            if key not in self._variants:
                self._variants[key] = Variants(self.opened, written, values, self.measure, self.keep)
            return self._variants[key]

    def variants_of(self, row: Array) -> Variants:
        """The variants that values are one of, shape (1, places)."""
        ((written, _),) = self.opened.groups(row)
        return self.variants(written, row[0].tolist())


def _marked(value: Any, open_places: Collection[str], path: str = "") -> Any:
    """A document with marks for the numbers that are open; formulas, which may depend on them, as they are written."""
    if isinstance(value, document.CsvSignal):  # where it comes from does not matter
        return value.table
    if isinstance(value, document.Reference) and value.rows is not None:
        return value.rows
    value = below(value)
    if isinstance(value, dict):
        dot = "" if not path or path.endswith(".") else "."
        return {key: _marked(item, open_places, f"{path}{dot}{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_marked(item, open_places, f"{path}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, Quantity):
        if path in open_places:
            return "open"
        return value.value if value.formula is None or not value.formula.names else value.formula
    return value
