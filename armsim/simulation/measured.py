"""Measures of a run that has been made, by carrying it out once more."""

from __future__ import annotations

import math
from collections.abc import Sequence

from armsim.measures.names import measures_of
from armsim.simulation.called import CalledEngine, is_called
from armsim.simulation.driver import NEVER, Driver
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.simulation.result import Result
from armsim.spec.timing import time_at

STRETCHES = 100  # looks at Ctrl-C


def measured(run: Result, names: Sequence[str]) -> dict[str, float]:
    """The results of measures of a run, over all its steps; NaN if it diverged."""
    scenario = run.scenario
    asked = tuple(measures_of(names, run.plant))
    start = tuple(scenario.initial_q)
    plan = LoopPlan(run.plant, scenario.dt, asked, start=start, rows=False, parts=scenario.moments)
    if run.status == "diverged":
        return dict.fromkeys(plan.results, math.nan)
    engine = CalledEngine(plan) if is_called(run.plant) else NativeEngine(plan)
    every = scenario.sample_every
    driver = Driver(
        engine.run,
        run.plant.initial_state(scenario.initial_q, scenario.initial_qd, scenario.landing),
        kept=plan.kept,
        log_every=NEVER,
        sample_every=every or 1,
        time_ratio=scenario.time_ratio,
    )
    while driver.done < run.steps:
        driver.advance(min(driver.done + -(-run.steps // STRETCHES), run.steps))
    due = every is not None and run.steps % every == 0
    found = engine.measured(list(driver.state), list(driver.kept), time_at(run.steps, scenario.time_ratio), due)
    return dict(zip(plan.results, found, strict=True))
