"""A simulation, from its scenario to its result."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from armsim.control import LawFunction
from armsim.files.run_folder import new_run_folder
from armsim.loading import Scenario, scenario_of
from armsim.measures.figures import parted
from armsim.plant import Plant, make_plant
from armsim.simulation.called import CalledEngine, is_called, under_function
from armsim.simulation.driver import FIRST_STRETCH, Driver, Progress, next_stretch
from armsim.simulation.engine import Engine, NativeEngine, make_engine
from armsim.simulation.folder import RunFiles, check_format, least_size
from armsim.simulation.loop_plan import SUMMARISED, LoopPlan, plant_of_run
from armsim.simulation.result import KnownSetup, Setup
from armsim.simulation.row_log import RowLog, RowSink, RowsInMemory, RowStream, SpilledRows, held_in_memory
from armsim.simulation.row_totals import RowTotals
from armsim.simulation.run import Run
from armsim.simulation.step_doubling import StepDoubling, can_refine
from armsim.spec.timing import time_at
from armsim.stability.advice import Advice
from armsim.stability.method_choice import with_method
from armsim.stability.step_advice import advice_on, heeded, key

Streamed = Callable[[Scenario, Plant], RowSink]


def simulate(
    scenario: str | PathLike[str] | Mapping[str, Any] | Scenario,
    overrides: Mapping[str, Any] | None = None,
    engine: str = "llvm",
    progress: Progress | None = None,
    force_step: bool = False,
    measure: Sequence[str] | str = (),
    law: LawFunction | None = None,
) -> Run:
    """Run a scenario.

    A run that is interrupted by Ctrl-C, or that diverges, is returned with the rows it has; see `Run.status`. So is one whose
    rows, where they are many, find no more room in a temporary file; see `Run.failure`.

    Args:
        scenario: A scenario file, the name of a shipped one, its content, or what `armsim.loading.read_scenario` returned.
        overrides: Values in place of the file's, by path: {"control.kp[R2]": 80, "robot.joints[R2].motor.Kp": 12}; None takes
            a key out.
        engine: "llvm" for machine code, "python" for the same physics on Python floats, with the same bits.
        progress: Called about twenty times a second with steps done and steps in all.
        force_step: Run even with a step that is refused; see `armsim.stability.advice`.
        measure: Names of what is measured over all steps, for `Run.measures`; see docs/measures.md.
        law: A function from what a controller knows, `armsim.Told`, to its n commands, for a scenario whose `control.law` is
            `python`. If it is arithmetic and functions of `armsim.expr` it is compiled; else it is called at every sample.

    Returns:
        The result; nothing is written.

    Raises:
        FileFaults: The scenario or its robot cannot be run; says where and why.
        UsageError: The step is refused, as the run would blow up; or a measure is unknown.
    """
    read = scenario_of(scenario, overrides)
    return _simulated(read if law is None else under_function(read, law), engine, progress, force_step, measure)


def simulate_into(
    folder: str | PathLike[str] | None,
    scenario: str | PathLike[str] | Mapping[str, Any] | Scenario,
    overrides: Mapping[str, Any] | None = None,
    engine: str = "llvm",
    progress: Progress | None = None,
    force_step: bool = False,
    measure: Sequence[str] | str = (),
    force: bool = False,
    degrees: bool = False,
    saving: Progress | None = None,
) -> tuple[Run, Path]:
    """Run a scenario and write its folder: many rows as they come, so that only the last ones are in memory.

    Args:
        folder: See `Run.save`.
        scenario: See `simulate`, also for those that follow.
        overrides: Values in place of the file's.
        engine: "llvm" or "python".
        progress: Called about twenty times a second.
        force_step: Run even with a step that is refused.
        measure: Names of what is measured.
        force: See `Run.save`.
        degrees: See `Run.save`.
        saving: Called with rows written and rows in all, once the run is at its end.

    Returns:
        The run, without rows if there were many, and its folder. A run whose rows can no longer be written is interrupted, and
        keeps those that are: see `Result.failure`.

    Raises:
        FileFaults: As `simulate`.
        UsageError: As `simulate` and `Run.save`, before the run; or the run is kept in another place, which is told.
    """
    read = scenario_of(scenario, overrides)
    check_format(read)
    with new_run_folder(folder, read.name, force) as made:
        with contextlib.ExitStack() as stack:
            opened: list[RunFiles] = []

            def streamed(scenario: Scenario, plant: Plant) -> RowSink:
                made.check_room(least_size(scenario, plant))
                opened.append(stack.enter_context(RunFiles(made, scenario, plant, degrees)))
                return opened[0]

            run = _simulated(read, engine, progress, force_step, measure, streamed)
            if opened and (failure := opened[0].end()):
                run.cut_short(opened[0].rows, failure)
        if opened:
            made.conclude(lambda: run.record(made, degrees))
        else:
            run.save_into(made, degrees, saving)
    return run, Path(made.path)


def _simulated(
    scenario: Scenario,
    engine: str,
    progress: Progress | None,
    force_step: bool,
    measure: Sequence[str] | str,
    streamed: Streamed | None = None,
) -> Run:
    """Run a scenario; see `simulate` and `carried_out`."""
    began = time.perf_counter()
    scenario = with_method(scenario)
    plant = make_plant(scenario)
    of_run = plant_of_run(scenario)
    plan = LoopPlan.of(
        of_run, scenario.dt, measure, scenario.initial_q, scenario.moments, can_refine(of_run), scenario.steps
    )
    called = is_called(plant)
    made = CalledEngine(plan) if called and engine == "llvm" else make_engine(engine, plan)
    ready = time.perf_counter()
    advice = Advice() if called else heeded(scenario, plant, force_step)
    seconds = {"advice_s": time.perf_counter() - ready}
    setup = KnownSetup(scenario, made.plant, advice)
    return carried_out(scenario, made, setup, progress, seconds, began, streamed=streamed)


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
    return carried_out(scenario, made, KnownSetup(scenario, made.plant, Advice()), progress, {}, began)


def carried_out(
    scenario: Scenario,
    engine: Engine,
    setup: Setup,
    progress: Progress | None,
    seconds: Mapping[str, float],
    began: float,
    start: Sequence[float] | None = None,
    streamed: Streamed | None = None,
) -> Run:
    """Carry out a run with an engine that is ready.

    Args:
        scenario: What is run; that of the setup, or one that has the same times and columns.
        engine: Its engine.
        setup: What is run, as the result tells it.
        progress: See `simulate`.
        seconds: Wall time spent so far, by part [s].
        began: When, as `time.perf_counter` has it.
        start: The state at the start, of a run with open numbers; that of the scenario unless given.
        streamed: Gives what takes the rows if they are too many for memory; a temporary file unless given.
    """
    width = len(engine.plant.columns)
    count = scenario.steps // scenario.log_every + 1
    log: RowLog
    if count <= held_in_memory(width):
        log = RowsInMemory(width, count)
    else:
        totals = RowTotals.of(setup.plant)
        log = SpilledRows(totals, count) if streamed is None else RowStream(streamed(scenario, setup.plant), totals)
    with contextlib.closing(log):
        return _driven(scenario, engine, setup, progress, seconds, began, start, log)


def _driven(
    scenario: Scenario,
    engine: Engine,
    setup: Setup,
    progress: Progress | None,
    seconds: Mapping[str, float],
    began: float,
    start: Sequence[float] | None,
    log: RowLog,
) -> Run:
    """Carry out a run; see `carried_out`."""
    plant = engine.plant
    width = len(plant.columns)
    count = scenario.steps // scenario.log_every + 1
    name = key("step error", scenario) if start is None else ""
    if start is None:
        start = plant.initial_state(scenario.initial_q, scenario.initial_qd, scenario.landing)
    doubling = StepDoubling(scenario, engine, start, name, setup)
    driver = Driver(
        engine.run,
        start,
        width=width,
        kept=engine.plan.kept,
        log_every=scenario.log_every,
        sample_every=scenario.sample_every or 1,
        time_ratio=scenario.time_ratio,
    )
    looped = time.perf_counter()
    status, chunk = "complete", 1 if scenario.adaptive else FIRST_STRETCH
    approach: list[list[float]] = []
    end = [math.nan] * width
    try:
        while driver.done < scenario.steps:
            began_chunk = time.perf_counter()
            room = log.room(-(-driver.done // scenario.log_every))
            if log.failure:
                status = "interrupted"
                break
            ahead = min(chunk, log.at_once * scenario.log_every)
            ahead = min(ahead, doubling.next_instant(driver.done) - driver.done)
            if not driver.advance(driver.done + ahead, room):
                status = "diverged"
                approach = driver.approach()  # for the diagnosis
                break
            doubling.see(driver.done, list(driver.state))
            chunk = next_stretch(ahead, time.perf_counter() - began_chunk)
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
    if status == "diverged":  # there is no end to measure at, but the summary tells how large torques became
        peaks = {f"{SUMMARISED}_{joint.name}" for joint in plant.arm.joints}
        measured = [x if name in peaks else math.nan for name, x in zip(engine.plan.results, measured, strict=True)]
    asked_for, figures = parted(dict(zip(engine.plan.results, measured, strict=True)))
    kept = min(-(-(done + (status == "diverged")) // scenario.log_every), count)
    parts = {"loop_s": ended - looped - log.waited, **({"rows_s": log.waited} if log.waited else {})}
    rows = log.finish(kept, end if status == "complete" and done % scenario.log_every == 0 else None)
    if log.failure and status == "complete":
        status = "interrupted"
    return Run(
        setup=setup,
        status=status,
        steps=done,
        rows=rows,
        failure=log.failure,
        end=end,
        measures=asked_for,
        figures={} if status == "diverged" else figures,
        units={
            name: unit
            for name, unit in zip(engine.plan.results, engine.plan.units, strict=True)
            if name not in engine.plan.summarised
        },
        state=list(driver.state),
        approach=approach,
        engine=engine.name,
        stalled=driver.stalled,
        estimated=doubling.estimate if status == "complete" else "",
        seconds={**engine.preparation, **seconds, **parts, "total_s": ended - began},
    )
