"""A simulation, from its scenario to its result."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from armsim.control import LawFunction
from armsim.files.destination import Destination
from armsim.files.recovery import ABOUT
from armsim.files.run_folder import new_run_folder
from armsim.loading import Given, Overrides, Scenario, scenario_of
from armsim.measures.figures import parted
from armsim.plant import Plant, make_plant
from armsim.plant.column_kinds import FILES
from armsim.progress import Progress
from armsim.records import attributes
from armsim.simulation.called import under_function
from armsim.simulation.engine import NativeEngine, make_engine
from armsim.simulation.execution import USUAL, Execution
from armsim.simulation.folder import check_format, least_size, run_files
from armsim.simulation.known_run import FEW, SHORT, WrittenRun
from armsim.simulation.loop_plan import SUMMARISED, Keep, LoopPlan
from armsim.simulation.result import KnownSetup, Setup
from armsim.simulation.row_log import RowLog, RowSink, RowsInMemory, RowStream, SpilledRows, held_in_memory
from armsim.simulation.row_totals import RowTotals
from armsim.simulation.run import Run
from armsim.simulation.run_files import RunFiles
from armsim.simulation.runner import Job, Runner
from armsim.simulation.step_doubling import StepDoubling
from armsim.simulation.stopwatch import Stopwatch
from armsim.stability.advice import Advice
from armsim.stability.method_choice import with_method
from armsim.stability.step_advice import advice_on, heed, key

Streamed = Callable[[Scenario, Plant], RowSink]


def simulate(
    scenario: Given | Scenario,
    overrides: Overrides | None = None,
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
    execution = Execution(engine, force_step, measure)
    return _simulated(read if law is None else under_function(read, law), execution, progress)


def simulate_into(
    destination: Destination,
    scenario: Scenario,
    execution: Execution = USUAL,
    degrees: bool = False,
    progress: Progress | None = None,
    saving: Progress | None = None,
) -> tuple[Run, Path]:
    """Run a scenario and write its folder: many rows as they come, so that only the last ones are in memory.

    Args:
        destination: See `Run.save`.
        scenario: The scenario.
        execution: How it is run.
        degrees: See `Run.save`.
        progress: Called about twenty times a second.
        saving: Called with rows written and rows in all, once the run is at its end.

    Returns:
        The run, without rows if there were many, and its folder. A run whose rows can no longer be written is interrupted, and
        keeps those that are: see `Result.failure`.

    Raises:
        UsageError: As `simulate` and `Run.save`, before the run; or the run is kept in another place, which is told.
    """
    check_format(scenario)
    with new_run_folder(destination.folder, scenario.name, destination.force) as made:
        with contextlib.ExitStack() as stack:
            opened: list[RunFiles] = []

            def streamed(scenario: Scenario, plant: Plant) -> RowSink:
                made.check_room(least_size(scenario, plant))
                opened.append(stack.enter_context(run_files(made, scenario, plant, degrees)))
                return opened[0]

            run = _simulated(scenario, execution, progress, streamed)
            if opened and (failure := opened[0].end()):
                run.cut_short(opened[0].rows, failure)
        if opened:
            made.conclude(lambda: run.record(made, degrees))
        else:
            run.save_into(made, degrees, saving)
    return run, Path(made.path)


def _simulated(
    scenario: Scenario, execution: Execution, progress: Progress | None, streamed: Streamed | None = None
) -> Run:
    """Run a scenario; see `simulate` and `carry_out`."""
    watch = Stopwatch()
    scenario = with_method(scenario)
    plant = make_plant(scenario)
    plan = LoopPlan.of_run(scenario, execution.measure)
    made = make_engine(execution.engine, plan)
    watch.seconds.update(made.preparation)
    watch.lap()
    advice = Advice() if plan.sampled_outside else heed(advice_on(scenario, plant), execution.force_step)
    watch.lap("advice_s")
    runner = Runner(made, Job(plan, scenario.clock, plan.start_of(scenario)))
    setup = KnownSetup(scenario, plan.plant, advice)
    return carry_out(runner, setup, watch, progress, streamed, key("step error", scenario))


def known_run(run: Run, made: WrittenRun, execution: Execution, degrees: bool) -> dict[str, Any] | None:
    """A `KnownRun` in plain data; None of one that is not complete, or that takes long or more than plain data.

    Args:
        run: The run.
        made: What was written and told of it.
        execution: How it was run.
        degrees: Whether joint angles are in degrees.
    """
    scenario, plan = run.scenario, LoopPlan.of_run(run.scenario, execution.measure)
    clock, width = scenario.clock, len(plan.columns)
    about = Path(made.folder, ABOUT).read_text("utf-8")
    plain = plan.key and not plan.tables and scenario.log_format == "csv" and "mesh:" not in about  # has absolute paths
    short = run.seconds["loop_s"] < SHORT and clock.rows * width < FEW
    timed = run.facts.plans is not None  # anew in each run
    if run.status != "complete" or run.engine != "llvm" or not plain or not short or timed:
        return None
    files = {f"{name}.csv": [heading.column for heading in run.plant.layout.headings(degrees, name)] for name in FILES}
    return {
        **attributes(plan, "key", "states", "kept", "bounds", "adaptive", "rare_every"),
        **attributes(made, "summary", "told"),
        "width": width,
        "opened": plan.accuracy(),
        "times": vars(clock),
        "start": plan.start_of(scenario),
        "end": [*run.state, *run.end],
        "name": scenario.name,
        "files": files,
        "about": re.split(r"^seconds:.*\n(?: .*\n)*", about, flags=re.MULTILINE),
    }


def advise(scenario: Scenario) -> tuple[Scenario, Advice]:
    """A scenario with its method picked, and the advice on its step, without a run.

    Raises:
        UsageError: No method suits it.
    """
    scenario = with_method(scenario)
    return scenario, advice_on(scenario, make_plant(scenario))


def simulate_unadvised(scenario: Scenario, progress: Progress | None = None) -> Run:
    """Run a scenario whatever its step, without advice and figures of merit, for convergence studies; see `simulate`."""
    watch = Stopwatch()
    scenario = with_method(scenario)
    plan = LoopPlan.of_run(scenario, keep=Keep(figures=False))
    runner = Runner(NativeEngine(plan), Job(plan, scenario.clock, plan.start_of(scenario)))
    return carry_out(runner, KnownSetup(scenario, plan.plant, Advice()), watch, progress)


def carry_out(
    runner: Runner,
    setup: Setup,
    watch: Stopwatch,
    progress: Progress | None = None,
    streamed: Streamed | None = None,
    known: str = "",
) -> Run:
    """Carry out a run.

    Args:
        runner: Has the run at its start.
        setup: What is run, as the result tells it.
        watch: Has the wall time spent so far.
        progress: See `simulate`.
        streamed: Gives what takes the rows if they are too many for memory; a temporary file unless given.
        known: Names the run, whose estimate of the error by the step may be known; see `StepDoubling`.
    """
    width, count = len(runner.plan.columns), runner.clock.rows_before(runner.clock.steps) + 1
    log: RowLog
    if count <= held_in_memory(width):
        log = RowsInMemory(width, count)
    else:
        totals = RowTotals.of(setup.plant.arm, runner.plan.columns)
        log = (
            SpilledRows(totals, count) if streamed is None else RowStream(streamed(setup.scenario, setup.plant), totals)
        )
    with contextlib.closing(log):
        return _driven(runner, setup, watch, progress, log, StepDoubling(runner, setup, known))


def _driven(
    runner: Runner, setup: Setup, watch: Stopwatch, progress: Progress | None, log: RowLog, doubling: StepDoubling
) -> Run:
    """Carry out a run; see `carry_out`."""
    plan, clock = runner.plan, runner.clock
    status, approach, end = "interrupted", list[list[float]](), [math.nan] * len(plan.columns)
    watch.lap()
    try:
        for done in runner.until(clock.steps, log, doubling.next_instant):
            if runner.lanes.alive:
                doubling.see(done, runner.state)
                if progress is not None:
                    progress(done, clock.steps)
        if not runner.lanes.alive:
            status, approach = "diverged", runner.approach()  # for the diagnosis
        elif runner.done == clock.steps:
            end, status = [*runner.row().run(0)], "complete"  # in this order: a run without its last row is interrupted
    except KeyboardInterrupt:
        pass
    watch.lap("loop_s")
    other = {"rows_s": log.waited, "optimise_s": runner.improving}
    watch.seconds["loop_s"] -= sum(other.values())
    watch.seconds |= {part: time for part, time in other.items() if time}
    if status != "complete":
        with contextlib.suppress(KeyboardInterrupt):
            end = [*runner.row().run(0)]
    results = runner.results
    done = runner.done
    if status == "diverged":  # there is no end to measure at, but the summary tells how large torques became
        peaks = {f"{SUMMARISED}_{joint.name}" for joint in plan.plant.arm.joints}
        results = {name: x if name in peaks else math.nan for name, x in results.items()}
    asked_for, figures = parted(results)
    kept = min(clock.rows_before(done + (status == "diverged")), clock.rows)
    due = done % clock.log_every == 0 or plan.recorded is not None
    rows = log.finish(kept, end if status == "complete" and due else None)
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
        units={name: unit for name, unit in zip(plan.results, plan.units, strict=True) if name not in plan.summarised},
        state=runner.state,
        approach=approach,
        engine=runner.engine.name,
        stalled=runner.stalled,
        estimated=doubling.estimate if status == "complete" else "",
        seconds=watch.total(),
    )
