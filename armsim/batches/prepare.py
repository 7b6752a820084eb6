"""A scenario made ready for runs with other numbers: one kernel serves them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from armsim.arrays import Array
from armsim.batches.variants import OpenScenario, Variants
from armsim.errors import UsageError
from armsim.loading import Given, Overrides, Scenario
from armsim.loading.open_numbers import open_numbers
from armsim.plant import Plant
from armsim.plant.columns import Layout
from armsim.progress import Progress
from armsim.simulation.loop_plan import EVERYTHING
from armsim.simulation.run import Run
from armsim.simulation.runner import Job, Runner
from armsim.simulation.setup import KnownSetup
from armsim.simulation.simulate import carry_out
from armsim.simulation.stopwatch import Stopwatch
from armsim.stability.advice import Advice
from armsim.stability.step_advice import heed


class Prepared:
    """A scenario that is ready to run with any values of its open numbers; called with them, it gives a `Run`.

        sim = armsim.prepare("arm5_hold", open=["control.kp[0]", "payload.mass"])
        run = sim({"control.kp[0]": 80, "payload.mass": 0.2})

    Every run has the bits of `armsim.simulate` with these numbers written in. Numbers that decide what there is (a dry friction
    of zero, say) have a kernel of their own, which is compiled when they are first asked for.

    Attributes:
        open: The paths of the open numbers.
    """

    def __init__(
        self,
        scenario: Given,
        open: Sequence[str] | Mapping[str, Any],
        overrides: Overrides | None,
        measure: Sequence[str] | str,
        force_step: bool,
    ) -> None:
        paths = open if isinstance(open, Mapping) else [] if isinstance(open, str) else list(open)
        if not paths or not all(isinstance(path, str) for path in paths):
            raise UsageError.of("open", "a list of paths", repr(open), 'write for example ["control.kp[0]"]')
        self._arguments = (scenario, paths, overrides, measure, force_step)
        self._opened = open_numbers(scenario, paths, overrides)
        self.open = tuple(self._opened.asked)
        self._scenario = OpenScenario(self._opened, measure, EVERYTHING)
        self._force_step = force_step
        file = np.array([[self._opened.number(place) for place in self._opened.places]])
        variants = self._scenario.variants_of(file)
        variants.engine(lanes=1)
        variants.judge(file[0].tolist())

    def __reduce__(self) -> tuple[Any, ...]:
        return Prepared, self._arguments  # made ready again on the other side

    def __repr__(self) -> str:
        return f"Prepared({self._opened.file.name}, open={list(self.open)})"

    def __call__(self, values: Mapping[str, Any], progress: Progress | None = None) -> Run:
        """Run the scenario.

        Args:
            values: For each open path its number, in the file's unit; where it stands for k numbers, k of them or one for all.
            progress: Called about twenty times a second with steps done and steps in all.

        Raises:
            UsageError: A value is missing, or the files would not take it; or the step is refused, as the run would blow up.
        """
        watch = Stopwatch()
        matrix = self._opened.matrix(values, one=True)
        refused = self._opened.refused(matrix)
        if refused:
            raise UsageError(refused[0])
        variants = self._scenario.variants_of(matrix)
        engine = variants.engine(lanes=1)
        runner = Runner(engine, Job(variants.plan, variants.scenario.clock, values=matrix[0]))
        if not runner.lanes.alive:
            raise UsageError(variants.undetermined(matrix[0].tolist()))
        if variants.adviser.refuses(matrix)[0]:
            heed(variants.adviser.one(matrix[0]), self._force_step)
        watch.lap("ready_s")
        return carry_out(runner, Variant(variants, matrix[0]), watch, progress)


class Variant:
    """What is run with numbers of its own, made when it is looked at; see `armsim.simulation.setup.Setup`.

    Args:
        variants: Of a scenario.
        values: The open numbers.
    """

    def __init__(self, variants: Variants, values: Array) -> None:
        self._variants, self._values = variants, values

    def __reduce__(self) -> tuple[Any, ...]:
        return KnownSetup, (self.scenario, self.plant, self.advice)

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario with the numbers written in."""
        row = self._values.tolist()
        return replace(self._variants.variant(row), file=self._variants.opened.file_with(row))

    @cached_property
    def plant(self) -> Plant:
        """The arm with its drives."""
        return self._variants.plant(self.scenario)

    @property
    def layout(self) -> Layout:
        """What the numbers of a row are."""
        return self._variants.plan.plant.layout

    @cached_property
    def advice(self) -> Advice:
        """The advice on the step; a refusal has been heeded, or is a warning."""
        return heed(self._variants.adviser.one(self._values), True)


def prepare(
    scenario: Given,
    open: Sequence[str] | Mapping[str, Any],
    overrides: Overrides | None = None,
    measure: Sequence[str] | str = (),
    force_step: bool = False,
) -> Prepared:
    """Make a scenario ready for runs with other numbers.

    Args:
        scenario: A scenario file, the name of a shipped one, or a file's content.
        open: The numbers, by path as `--set` names them: "control.kp[0]", "control.kp" for all of a list,
            "robot.joints[*].motor.Kp"; a mapping also says the values of numbers that the file leaves out.
        overrides: Values in place of the file's, by path.
        measure: Names of what is measured, for `Run.measures`; see docs/measures.md.
        force_step: Run even with a step that is refused.

    Raises:
        FileFaults: The scenario or its robot cannot be run; says where and why.
        UsageError: There is no number at a path, or it is part of the structure, or a measure is unknown.
    """
    return Prepared(scenario, open, overrides, measure, force_step)
