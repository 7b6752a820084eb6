"""A scenario with open numbers, and its families: the variants that one kernel serves."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from armsim.compile import SteppingLoop
from armsim.compile.target import host
from armsim.expr import Scalar
from armsim.loading import Scenario
from armsim.loading.definite import determined, undetermined
from armsim.loading.open_numbers import OpenNumbers, Written
from armsim.measures import Measure, measures_of
from armsim.measures.figures import figures_of
from armsim.plant import Plant
from armsim.simulation.content import content_of, content_of_file, tables_of
from armsim.simulation.loop_plan import SUMMARISED, LoopPlan, Made, plant_of_run, rarely
from armsim.simulation.step_doubling import can_refine
from armsim.stability.many import StepAdviser
from armsim.stability.method_choice import with_method

Array = NDArray[np.float64]
PREPARING = threading.RLock()  # threads that share families take turns to make and to compile them
UNASKED = ("name", "log", "duration")  # keys of a scenario on which no step depends


class Family:
    """The variants of a scenario that differ in numbers alone, not in what there is.

    Args:
        opened: The scenario with its open numbers.
        written: Those of them that decide what there is, by place.
        values: The open numbers of one variant.
        measure: Names of what is measured.
        rows: Whether rows are computed.
        audit: Whether work is counted, whether or not a measure needs it.
        summary: Whether what the summary of a run has is measured besides.
        refinable: Whether the accuracy is open, if it can be.
    """

    def __init__(
        self,
        opened: OpenNumbers,
        written: Written,
        values: Sequence[float],
        measure: Sequence[str] | str = (),
        rows: bool = False,
        audit: bool = False,
        summary: bool = False,
        refinable: bool = False,
    ) -> None:
        self.opened, self.written = opened, dict(written)
        self.scenario = self.variant(values)
        plant = plant_of_run(self.scenario, audit)
        asked = measures_of(measure, plant)
        peaks = measures_of(SUMMARISED, plant) if summary else []
        besides: list[Measure] = [one for one in peaks if one.names not in [other.names for other in asked]]
        besides += [figures_of(plant)] if summary else []
        self.measures = (*asked, *besides)
        silent = tuple(name for one in besides for name in one.names)
        self.audit = audit or any(one.needs_work for one in self.measures)
        self.plan = LoopPlan(
            replace(plant, audit=self.audit),
            self.scenario.dt,
            self.measures,
            silent,
            rows=rows,
            open=tuple(f"open{i}" for i in range(len(opened.places))),
            make=self.made,
            content=self._content,
            sound=lambda made: determined(made.arm),
            landing=self.scenario.landing,
            parts=self.scenario.moments,
            refinable=refinable and can_refine(plant),
            rare_every=rarely(self.scenario.steps, self.scenario.moments) if summary else 0,
        )

    def variant(self, values: Sequence[Scalar]) -> Scenario:
        """The scenario with values, one for each open number; its method is picked."""
        return with_method(self.opened.scenario(values, self.written))

    def plant(self, scenario: Scenario) -> Plant:
        """The plant of a variant."""
        return plant_of_run(scenario, self.audit)

    def made(self, values: Sequence[Scalar]) -> Made:
        """The plant of a variant, and the start of its run."""
        scenario = self.variant(values)
        return self.plant(scenario), scenario.initial_q, scenario.initial_qd

    def loop(self, lanes: int | None = None) -> SteppingLoop:
        """The compiled loop for that many lanes; for as many as suit the machine unless given."""
        target = host()
        lanes = target.register if lanes is None else lanes
        return SteppingLoop(self.plan.body, target, lanes, self.plan.key, lambda: tables_of(self.plan.plant))

    @cached_property
    def adviser(self) -> StepAdviser:
        """The advice on their step."""
        return StepAdviser(self.scenario, self.variant, len(self.opened.places), self._content)

    @cached_property
    def _content(self) -> str:
        """All that the variants' plants depend on besides the open numbers."""
        file = self.opened.file
        places = set(self.opened.places) - self.written.keys()
        data = {key: value for key, value in file.data.items() if key not in UNASKED}
        asked = content_of_file({**data, "robot": file.robot.data}, places)
        scenario = self.scenario
        steps = [scenario.time_ratio, scenario.sample_every, scenario.landing, file.steps["external"], scenario.method]
        return content_of([asked, self.opened.places, self.written, steps])

    def undetermined(self, values: Sequence[float]) -> str:
        """Why the accelerations of a variant are not determined, in a line."""
        faults = undetermined(self.variant(values).arm, self.opened.file.robot.data, "robot")
        if not faults:
            return "expected a mass matrix that is positive definite"
        return f"{faults[0].path}: expected {faults[0].expected}, found {faults[0].found}"


class Families:
    """The families of a scenario, each made and compiled when a variant of it is first met.

    Args:
        opened: The scenario with its open numbers.
        measure: Names of what is measured.
        rows: Whether rows are computed.
    """

    def __init__(self, opened: OpenNumbers, measure: Sequence[str] | str = (), rows: bool = False) -> None:
        self.opened, self.measure, self.rows = opened, measure, rows
        self._families: dict[tuple[tuple[str, float], ...], Family] = {}
        self._loops: dict[tuple[Family, bool], SteppingLoop] = {}
        self._judged: set[Family] = set()

    def of(self, written: Written, values: Sequence[float], one: bool = False) -> tuple[Family, SteppingLoop]:
        """The family of a variant with such numbers written in, and its loop: of lanes, or for one run at a time."""
        key = tuple(written.items())
        with PREPARING:
            if key not in self._families:
                self._families[key] = Family(self.opened, written, values, self.measure, self.rows)
            family = self._families[key]
            if (family, one) not in self._loops:
                self._loops[family, one] = family.loop(lanes=1 if one else None)
            return family, self._loops[family, one]

    def make_ready(self, family: Family, loop: SteppingLoop, values: Sequence[float], judged: bool) -> None:
        """Compile a loop, and what judges the step, if it is to be judged, for all threads.

        Args:
            family: The family.
            loop: One of its loops.
            values: Of one of its variants.
            judged: Whether steps are judged.
        """
        with PREPARING:
            loop.code  # noqa: B018  compiled or fetched
            if judged and family not in self._judged:
                family.adviser.refuses([values])
                self._judged.add(family)
