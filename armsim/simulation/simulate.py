"""A simulation, from its scenario to its result."""

from __future__ import annotations

import contextlib
import ctypes
import math
import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from armsim.errors import UsageError
from armsim.loading import Scenario, scenario_of
from armsim.plant import Plant, make_plant
from armsim.simulation.driver import Driver, Progress
from armsim.simulation.engine import Engine, NativeEngine, make_engine
from armsim.simulation.loop_plan import LoopPlan, plant_of_run
from armsim.simulation.run import Run
from armsim.spec.timing import time_at
from armsim.stability.advice import Advice
from armsim.stability.method_choice import with_method
from armsim.stability.step_advice import advice_on, heeded

CHUNK = 0.05  # seconds between looks at Ctrl-C and at the progress bar
LARGEST_LOG = 2 * 2**30  # bytes of rows that a run may keep


def simulate(
    scenario: str | PathLike[str] | Scenario,
    overrides: Mapping[str, Any] | None = None,
    engine: str = "llvm",
    progress: Progress | None = None,
    force_step: bool = False,
    measure: Sequence[str] | str = (),
) -> Run:
    """Run a scenario.

    A run that is interrupted by Ctrl-C, or that diverges, is returned with the rows it has; see `Run.status`.

    Args:
        scenario: A scenario file, the name of a shipped one, or what `armsim.loading.read_scenario` returned.
        overrides: Values in place of the file's, by path: {"control.kp[0]": 80, "robot.joints[R2].motor.Kp": 12}.
        engine: "llvm" for machine code, "python" for the same physics on Python floats, with the same bits.
        progress: Called about twenty times a second with steps done and steps in all.
        force_step: Run even with a step that is refused; see `armsim.stability.advice`.
        measure: Names of what is measured over all steps, for `Run.measures`; see docs/measures.md.

    Returns:
        The result; nothing is written.

    Raises:
        FileFaults: The scenario or its robot cannot be run; says where and why.
        UsageError: The step is refused, as the run would blow up; the log would not fit into memory; or a measure is unknown.
    """
    scenario = scenario_of(scenario, overrides)
    began = time.perf_counter()
    scenario = with_method(scenario)
    plant = make_plant(scenario)
    plan = LoopPlan.of(plant_of_run(scenario), scenario.dt, measure, scenario.initial_q, scenario.moments)
    made = make_engine(engine, plan)
    ready = time.perf_counter()
    advice = heeded(scenario, plant, force_step)
    return carried_out(scenario, made, lambda: advice, progress, {"advice_s": time.perf_counter() - ready}, began)


def advise(scenario: Scenario) -> tuple[Scenario, Advice]:
    """A scenario with its method picked, and the advice on its step, without a run.

    Raises:
        UsageError: No method suits it.
    """
    scenario = with_method(scenario)
    return scenario, advice_on(scenario, make_plant(scenario))


def simulate_unadvised(scenario: Scenario, progress: Progress | None = None) -> Run:
    """Run a scenario whatever its step, without advice, for convergence studies; see `simulate`."""
    began = time.perf_counter()
    scenario = with_method(scenario)
    made = NativeEngine(LoopPlan.of(plant_of_run(scenario), scenario.dt, parts=scenario.moments))
    return carried_out(scenario, made, Advice, progress, {}, began)


def carried_out(
    scenario: Scenario,
    engine: Engine,
    advised: Callable[[], Advice],
    progress: Progress | None,
    seconds: Mapping[str, float],
    began: float,
    start: Sequence[float] | None = None,
    asked: Callable[[], tuple[Scenario, Plant]] | None = None,
) -> Run:
    """Carry out a run with an engine that is ready.

    Args:
        scenario: What is run.
        engine: Its engine.
        advised: Gives the advice on its step.
        progress: See `simulate`.
        seconds: Wall time spent so far, by part [s].
        began: When, as `time.perf_counter` has it.
        start: The state at the start; that of the scenario unless given.
        asked: Gives the scenario and the plant of the run, if those given here only have its times and columns.
    """
    plant = engine.plant
    width = len(plant.columns)
    count = scenario.steps // scenario.log_every + 1
    if count * width * 8 > LARGEST_LOG:
        raise UsageError.of(
            "log.every",
            f"rows that take at most {LARGEST_LOG // 2**30} GiB",
            f"{count} rows of {width} numbers",
            "log less often, or simulate less long",
        )
    rows = (ctypes.c_double * (count * width))()
    driver = Driver(
        engine.run,
        plant.initial_state(scenario.initial_q, scenario.initial_qd, scenario.landing) if start is None else start,
        width=width,
        kept=engine.plan.kept,
        log_every=scenario.log_every,
        sample_every=scenario.sample_every or 1,
        time_ratio=scenario.time_ratio,
    )
    looped = time.perf_counter()
    status, chunk = "complete", 1 if scenario.adaptive else 256
    approach: list[list[float]] = []
    end = [math.nan] * width
    try:
        while driver.done < scenario.steps:
            began_chunk = time.perf_counter()
            kept = -(-driver.done // scenario.log_every) * width
            room = (ctypes.c_double * (len(rows) - kept)).from_buffer(rows, kept * ctypes.sizeof(ctypes.c_double))
            if not driver.advance(min(driver.done + chunk, scenario.steps), room):
                status = "diverged"
                approach = driver.approach()  # for the diagnosis
                break
            chunk = _next_chunk(chunk, time.perf_counter() - began_chunk)
            if progress is not None:
                progress(driver.done, scenario.steps)
    except KeyboardInterrupt:
        status = "interrupted"
    ended = time.perf_counter()
    with contextlib.suppress(KeyboardInterrupt):
        end = driver.row()
    done = driver.done
    due = scenario.sample_every is not None and done % scenario.sample_every == 0
    measured = engine.measured(list(driver.state), list(driver.kept), time_at(done, scenario.time_ratio), due)
    kept = min(-(-(done + (status == "diverged")) // scenario.log_every), count)
    if status == "complete" and done % scenario.log_every == 0:
        rows[kept * width : (kept + 1) * width] = end  # type: ignore[assignment]  # ctypes takes floats
        kept += 1
    if kept and not all(map(math.isfinite, rows[(kept - 1) * width : kept * width])):
        kept -= 1  # the row of a diverging step may not be finite
    return Run(
        asked=asked or (lambda: (scenario, plant)),
        status=status,
        steps=done,
        rows=rows,
        count=kept,
        end=end,
        measures=dict(zip(engine.plan.results, measured, strict=True)),
        units=dict(zip(engine.plan.results, engine.plan.units, strict=True)),
        state=list(driver.state),
        approach=approach,
        engine=engine.name,
        stalled=driver.stalled,
        advised=advised,
        seconds={**engine.preparation, **seconds, "loop_s": ended - looped, "total_s": ended - began},
    )


def _next_chunk(chunk: int, seconds: float) -> int:
    """The number of steps that takes about `CHUNK` seconds, at most ten times the last."""
    return max(1, min(chunk * 10, int(chunk * CHUNK / max(seconds, 1e-9))))
