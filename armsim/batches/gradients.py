"""Gradients of measures of a run by open numbers, exact along the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from armsim.arrays import Array
from armsim.batches.block import divergence
from armsim.batches.variants import ENDS, OpenScenario, Variants
from armsim.clock import NEVER
from armsim.display import Shown
from armsim.errors import Diverged, UsageError, spelled
from armsim.loading import Given, Overrides
from armsim.loading.open_numbers import open_numbers
from armsim.loading.open_paths import lacking
from armsim.loading.scenario_file import default_lists, load_scenario_file
from armsim.progress import Progress
from armsim.records import Json, record
from armsim.simulation.engine import NativeEngine
from armsim.simulation.runner import Job, Runner
from armsim.simulation.tangent_plan import TangentPlan, check_differentiable
from armsim.stability.step_advice import heed


@record
class Gradients(Shown):
    """Measures of a run, and their derivatives by numbers of its files.

        found = armsim.sensitivity("arm5_hold", ["control.kp", "payload.mass"], ["iae", "energy"])
        found["iae"]["payload.mass"]

    Attributes:
        scenario: Its name.
        method: Name of the integrator.
        dt: Its step [s].
        measures: Names of the r measures.
        units: Theirs; empty for a pure number.
        values: What was measured, shape (r,).
        paths: Of the p numbers.
        path_units: Theirs.
        numbers: The numbers of the file, shape (p,).
        by: Derivatives in these units, shape (r, p).
    """

    scenario: str
    method: str
    dt: float
    measures: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    paths: tuple[str, ...]
    path_units: tuple[str, ...]
    numbers: Array
    by: Array

    def __repr__(self) -> str:
        return f"Gradients({self.scenario}: {', '.join(self.measures)} by {len(self.paths)} numbers)"

    def __getitem__(self, measure: str) -> dict[str, float]:
        """The derivatives of a measure by path.

        Raises:
            KeyError: It was not asked for.
        """
        if measure not in self.measures:
            raise KeyError(f"{measure}: measures are {', '.join(self.measures)}")
        return dict(zip(self.paths, self.by[self.measures.index(measure)].tolist(), strict=True))

    @property
    def relative(self) -> Array:
        """By how many percent a measure changes for a percent of a number, shape (r, p); NaN of a measure that is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares: Array = self.by * self.numbers / np.where(self.values == 0.0, np.nan, self.values)[:, None]
        return shares

    @property
    def still(self) -> tuple[str, ...]:
        """The measures that no small change of a number changes: one that counts steps, for example."""
        return tuple(name for name, row in zip(self.measures, self.by, strict=True) if not row.any())

    def summary(self) -> Json:
        """All of it as plain data."""
        numbers = zip(self.paths, self.numbers.tolist(), self.path_units, strict=True)
        measures = zip(self.measures, self.values.tolist(), self.units, self.relative.tolist(), strict=True)
        return {
            "scenario": self.scenario,
            "method": self.method,
            "dt": self.dt,
            "open": {path: {"value": x, "unit": unit} for path, x, unit in numbers},
            "measures": {
                name: {
                    "value": x,
                    "unit": unit,
                    "by": self[name],
                    "percent": {path: None if y != y else y for path, y in zip(self.paths, shares, strict=True)},
                }
                for name, x, unit, shares in measures
            },
        }


def sensitivity(
    scenario: Given,
    open: Sequence[str] | str,
    measure: Sequence[str] | str,
    overrides: Overrides | None = None,
    progress: Progress | None = None,
    force_step: bool = False,
) -> Gradients:
    """The derivatives of measures of a run by numbers of its files, exact for the steps that the run takes.

    At kinks they are those of the branch taken; times of events that the method locates move with the numbers.

    Args:
        scenario: A scenario file, the name of a shipped one, or a file's content.
        open: Paths of the numbers, as `--set` names them: "control.kp[0]", "control.kp" for all of a list.
        measure: Names of measures, see docs/measures.md.
        overrides: Values in place of the file's, by path.
        progress: Called about twenty times a second with steps done and steps in all.
        force_step: Run even with a step that is refused.

    Raises:
        FileFaults: The scenario or its robot cannot be run; says where and why.
        UsageError: There is no number at a path, or it is part of the structure; a measure is unknown; the method has no steps
            of a fixed length, or the law is `predictive`, or a Python function that is called; or the step is refused.
        Diverged: The run left its bounds.
    """
    paths, names = ([x] if isinstance(x, str) else list(x) for x in (open, measure))
    for key, given, example in (("open", paths, "control.kp[0]"), ("measure", names, "iae")):
        if not given:
            raise UsageError.of(key, "one at least", "none", f'write for example ["{example}"]')
    _check_present(scenario, paths, overrides)
    opened = open_numbers(scenario, paths, overrides)
    numbers = np.array([[opened.number(place) for place in opened.places]])
    ((written, _),) = opened.groups(numbers)
    if written:
        place, number = next(iter(written.items()))
        mend = "give it another value by `overrides`, or leave it out of `open`"
        raise UsageError.of(f"open: {place}", "a number that may vary", f"{number:g}, which stands for absence", mend)
    variants = OpenScenario(opened, names, ENDS).variants_of(numbers)
    found, plan = MeasureGradients(variants).at(numbers[0], progress, force_step), variants.plan
    return Gradients(
        variants.scenario.name,
        variants.scenario.method,
        variants.scenario.dt,
        plan.results,
        plan.units,
        found[:, 0],
        opened.places,
        tuple(opened.unit(place) for place in opened.places),
        numbers[0],
        found[:, 1:],
    )


def _check_present(scenario: Given, paths: Sequence[str], overrides: Overrides | None) -> None:
    """Raises UsageError where a file has no number at a path and no default for it."""
    file = load_scenario_file(scenario, overrides)
    defaults = default_lists(file.robot.document, file.document.degrees)
    for path in paths:
        key = lacking(file.whole, path)
        if key and key not in defaults:
            mend = f"give it a value: {spelled(f'--set {path}=...', f'overrides={{{path!r}: ...}}')}"
            raise UsageError.of(f"open: {path}", "a number that the files have", f"no {key}", mend)


class MeasureGradients:
    """Measures of runs of one scenario, with their gradients by its open numbers.

    Args:
        variants: Of the scenario, in the numbers.

    Raises:
        UsageError: The method has no steps of a fixed length, or the law has no derivatives.
    """

    def __init__(self, variants: Variants) -> None:
        check_differentiable(variants.plan.plant)
        if variants.plan.sampled_outside:
            mend = "write it with armsim.expr's where, clip, sin, ..., so that it can be traced"
            raise UsageError.of("control.law", "a law with derivatives", "a Python function that is called", mend)
        self._variants, self._plan = variants, TangentPlan.along(variants.plan)

    @cached_property
    def _engine(self) -> NativeEngine:
        return NativeEngine(self._plan)

    def at(self, numbers: Array, progress: Progress | None = None, force_step: bool = False) -> Array:
        """The r results of a run, each followed by its derivatives by the p numbers, shape (r, 1 + p).

        Arguments and errors are as of `sensitivity`.
        """
        variants, plan = self._variants, self._plan
        clock = replace(variants.scenario.clock, log_every=NEVER)
        runner = Runner(self._engine, Job(plan, clock, values=numbers))  # type: ignore[arg-type]  # a buffer of doubles
        if not runner.lanes.alive:
            raise UsageError(variants.undetermined(numbers.tolist()))
        heed(variants.adviser.one(numbers), force_step)
        for done in runner.until(clock.steps):
            if progress is not None:
                progress(done, clock.steps)
        if not runner.lanes.alive:
            found = divergence(plan, clock, runner.lanes.left[0])
            where = f"{variants.scenario.name}: the run diverged"
            raise Diverged.of(where, "a run within all bounds", found, "take a smaller step")
        found = np.array([runner.results[name] for name in plan.results])  # derivatives come last
        values, by = np.split(found, [len(plan.values.results)])
        return np.column_stack([values, by.reshape(len(values), -1)])

    def slopes(self, numbers: Array) -> dict[str, Array]:
        """The rows of `at` by name."""
        return dict(zip(self._plan.values.results, self.at(numbers, force_step=True)))
