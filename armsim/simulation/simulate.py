"""A simulation, from its scenario to its result."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from armsim.control import Controller, FunctionLaw, LawFunction
from armsim.errors import UsageError
from armsim.files.destination import Destination
from armsim.files.folder_kind import ABOUT, RUN
from armsim.files.new_folder import new_folder
from armsim.loading import Given, Overrides, Scenario, scenario_of
from armsim.measures.figures import PREFIX
from armsim.progress import Progress
from armsim.records import attributes
from armsim.simulation.engine import make_engine
from armsim.simulation.execution import USUAL, Execution
from armsim.simulation.known_run import FEW, SHORT, WrittenRun
from armsim.simulation.loop_plan import EVERYTHING, SUMMARISED, Keep, LoopPlan
from armsim.simulation.row_log import RowLog, RowSink, RowsInMemory, RowStream, SpilledRows, held_in_memory
from armsim.simulation.row_totals import RowTotals
from armsim.simulation.run import Run
from armsim.simulation.run_files import RunFiles, check_format, least_size, run_files
from armsim.simulation.runner import Job, Runner
from armsim.simulation.setup import KnownSetup, Setup
from armsim.simulation.step_doubling import StepDoubling
from armsim.simulation.stopwatch import Stopwatch
from armsim.stability.advice import Advice
from armsim.stability.method_choice import with_method
from armsim.stability.step_advice import advice_on, heed


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
    runner, setup, watch = _ready(read if law is None else _under(read, law), Execution(engine, force_step, measure))
    return carry_out(runner, setup, watch, progress)


def _under(scenario: Scenario, function: LawFunction) -> Scenario:
    """The scenario, whose law is `python`, with its function.

    Raises:
        UsageError: Its law is another, or the function is none.
    """
    if not callable(function):
        raise UsageError.of("law", "a Python function", repr(function), "write for example `law=my_law`")
    command = scenario.command
    if not isinstance(command, Controller) or not isinstance(command.law, FunctionLaw):
        found = command.law.name if isinstance(command, Controller) else "no feedback"
        raise UsageError.of(
            "law", "a scenario with `control: {law: python, output: ...}`", found, "write `law: python`"
        )
    return replace(scenario, command=replace(command, law=replace(command.law, function=function)))


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
    with new_folder(RUN, scenario.name, destination) as made, contextlib.ExitStack() as stack:
        runner, setup, watch = _ready(scenario, execution)
        files: RunFiles | None = None
        if not _fits(runner):
            made.check_room(least_size(setup.scenario, setup.plant))
            files = stack.enter_context(run_files(made, setup.scenario, setup.plant, degrees))
        run = carry_out(runner, setup, watch, progress, files)
        run.save_into(made, degrees, saving, files)
    return run, Path(made.path)


def _ready(
    scenario: Scenario, execution: Execution, keep: Keep = EVERYTHING, advised: bool = True
) -> tuple[Runner, KnownSetup, Stopwatch]:
    """What `carry_out` takes of a scenario.

    Raises:
        UsageError: See `simulate`.
    """
    watch = Stopwatch()
    scenario = with_method(scenario)
    plan = LoopPlan.of_run(scenario, execution.measure, keep)
    engine = make_engine(execution.engine, plan)
    watch.seconds.update(engine.preparation)
    watch.lap()
    advised = advised and not plan.sampled_outside
    advice = heed(advice_on(scenario, whole=False), execution.force_step) if advised else Advice()
    watch.lap("advice_s")
    runner = Runner(engine, Job(plan, scenario.clock, plan.start_of(scenario)))
    return runner, KnownSetup(scenario, plan.plant, advice), watch


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
    every = run.plant.layout.files(degrees).items()
    files = {f"{name}.csv": [heading.column for heading in headings] for name, headings in every}
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
    return scenario, advice_on(scenario)


def simulate_unadvised(scenario: Scenario, progress: Progress | None = None) -> Run:
    """Run a scenario whatever its step, without advice and figures of merit, for convergence studies; see `simulate`."""
    return carry_out(*_ready(scenario, USUAL, Keep(figures=False), advised=False), progress)


def _rows(runner: Runner) -> int:
    """The number of rows of a run."""
    return runner.clock.rows_before(runner.clock.steps) + 1


def _fits(runner: Runner) -> bool:
    """Whether the rows of a run stay in memory."""
    return _rows(runner) <= held_in_memory(len(runner.plan.columns))


def _log(runner: Runner, setup: Setup, files: RowSink | None) -> RowLog:
    """What takes the rows of a run; see `carry_out`."""
    if _fits(runner):
        return RowsInMemory(len(runner.plan.columns), _rows(runner))
    totals = RowTotals.of(setup.plant.arm, runner.plan.columns)
    return SpilledRows(totals, _rows(runner)) if files is None else RowStream(files, totals)


def carry_out(
    runner: Runner, setup: Setup, watch: Stopwatch, progress: Progress | None = None, files: RowSink | None = None
) -> Run:
    """Carry out a run.

    Args:
        runner: Has the run at its start.
        setup: What is run, as the result tells it.
        watch: Has the wall time spent so far.
        progress: See `simulate`.
        files: Takes the rows if they are too many for memory; a temporary file unless given.
    """
    plan, clock, log = runner.plan, runner.clock, _log(runner, setup, files)
    doubling = StepDoubling(runner, setup)
    with contextlib.closing(log):
        status, approach, end = "interrupted", list[list[float]](), [math.nan] * len(plan.columns)
        watch.lap()
        try:
            for done in runner.until(clock.steps, log, doubling.next_instant):
                if runner.lanes.alive and progress is not None:
                    progress(done, clock.steps)
            if not runner.lanes.alive:
                status, approach = "diverged", runner.approach()  # for the diagnosis
            elif runner.done == clock.steps:
                end, status = (
                    [*runner.row().run(0)],
                    "complete",
                )  # in this order: a run without its last row is interrupted
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
        figures = {name.removeprefix(PREFIX): x for name, x in results.items() if name.startswith(PREFIX)}
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
            measures={name: x for name, x in results.items() if not name.startswith(PREFIX)},
            figures={} if status == "diverged" else figures,
            units={
                name: unit for name, unit in zip(plan.results, plan.units, strict=True) if name not in plan.summarised
            },
            state=runner.state,
            approach=approach,
            engine=runner.engine.name,
            stalled=runner.stalled,
            estimated=doubling if status == "complete" else "",
            seconds=watch.total(),
        )
