"""Measures of a run that has been made, by carrying it out once more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from armsim.clock import NEVER
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import Keep, LoopPlan
from armsim.simulation.result import Result
from armsim.simulation.runner import Job, Runner


def measured(run: Result, names: Sequence[str]) -> dict[str, float]:
    """The results of measures of a run, over all its steps; NaN if it diverged."""
    scenario = run.scenario
    plan = LoopPlan.of_run(scenario, names, Keep(rows=False, peaks=False, figures=False, accuracy=False))
    if run.status == "diverged":
        return dict.fromkeys(plan.results, math.nan)
    clock = replace(scenario.clock, steps=run.steps, log_every=NEVER)
    runner = Runner(NativeEngine(plan), Job(plan, clock, plan.start_of(scenario)))
    for _ in runner.until(run.steps):
        pass
    return runner.results
