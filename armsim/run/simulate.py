"""A simulation from its scenario to its result."""

from __future__ import annotations

import contextlib
import ctypes
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

from armsim.errors import UsageError
from armsim.integrate.adaptive import FAILED
from armsim.plant import make_plant
from armsim.run.advice import Advice, Advising
from armsim.run.divergence import LAST_STEPS
from armsim.run.engine import Engine, NativeEngine, make_engine
from armsim.run.method_choice import with_method
from armsim.run.result import Run
from armsim.spec import Scenario, read_scenario

CHUNK = 0.05  # seconds between looks at Ctrl-C and at the progress bar
LARGEST_LOG = 2 * 2**30  # bytes of rows that a run may keep

Progress = Callable[[int, int], None]  # steps done, steps in all


def simulate(
    scenario: str | PathLike[str] | Scenario,
    overrides: Mapping[str, Any] | None = None,
    engine: str = "llvm",
    progress: Progress | None = None,
    force_step: bool = False,
) -> Run:
    """Run a scenario.

    A run that is interrupted by Ctrl-C, or that diverges, is returned with the rows it has; see `Run.status`.

    Args:
        scenario: A scenario file, the name of a shipped one, or what `armsim.spec.read_scenario` returned.
        overrides: Values in place of the file's, by path: {"control.kp[0]": 80, "robot.joints[R2].motor.Kp": 12}.
        engine: "llvm" for machine code, "python" for the same physics on Python floats, with the same bits.
        progress: Called about twenty times a second.
        force_step: Run even if the step is known to be too long; see `armsim.run.advice`.

    Returns:
        The result; nothing is written.

    Raises:
        FileFaults: The scenario or its robot cannot be run; says where and why.
        UsageError: The step is so long that the run would blow up; or the log would not fit into memory.
    """
    if not isinstance(scenario, Scenario):
        scenario = read_scenario(scenario, overrides)
    elif overrides:
        raise UsageError("overrides go with a scenario's path or name, not with one that has been read already")
    began = time.perf_counter()
    scenario = with_method(scenario)
    plant = make_plant(scenario)
    advising = Advising(scenario, plant)
    driver = make_engine(engine, replace(plant, audit=True), scenario.dt)
    ready = time.perf_counter()
    advice = advising.heeded(force_step)
    return _carried_out(scenario, driver, advice, progress, {"advice_s": time.perf_counter() - ready}, began)


def advise(scenario: Scenario) -> tuple[Scenario, Advice]:
    """A scenario with its method picked, and what `simulate` would say of its step, without running it.

    Raises:
        UsageError: No method suits it.
    """
    scenario = with_method(scenario)
    return scenario, Advising(scenario, make_plant(scenario)).advice()


def simulate_unadvised(scenario: Scenario, progress: Progress | None = None) -> Run:
    """Run a scenario whatever its step, with no advice on that: for studies of what steps do; see `simulate`."""
    began = time.perf_counter()
    scenario = with_method(scenario)
    driver = NativeEngine(replace(make_plant(scenario), audit=True), scenario.dt)
    return _carried_out(scenario, driver, Advice(), progress, {}, began)


def _carried_out(
    scenario: Scenario,
    driver: Engine,
    advice: Advice,
    progress: Progress | None,
    seconds: Mapping[str, float],
    began: float,
) -> Run:
    """The run of an engine that is ready."""
    plant = driver.plant
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
    peaks = (ctypes.c_double * plant.arm.n)()
    state = (ctypes.c_double * len(plant.slots))(*plant.initial_state(scenario.initial_q, scenario.initial_qd))
    every = (scenario.log_every, scenario.sample_every or 1, scenario.time_ratio)

    def advance(first: int, last: int) -> int:
        kept = -(-first // scenario.log_every) * width * ctypes.sizeof(ctypes.c_double)
        room = len(rows) - kept // ctypes.sizeof(ctypes.c_double)
        return driver.run(state, (ctypes.c_double * room).from_buffer(rows, kept), peaks, first, last, *every)

    looped = time.perf_counter()
    status, stalled = "complete", False
    done, chunk = 0, 1 if scenario.adaptive else 256
    earlier = before = (0, list(state))  # where the last two chunks began
    approach: list[list[float]] = []
    try:
        while done < scenario.steps:
            last = min(done + chunk, scenario.steps)
            chunk_began = time.perf_counter()
            reached = advance(done, last)
            if reached < last:  # go back and see the last states within bounds: they tell what went wrong
                stalled = FAILED in state
                status = "diverged"
                done, state[:] = before if reached - before[0] >= LAST_STEPS else earlier
                done = advance(done, max(done, reached - LAST_STEPS))
                approach.append(list(state))
                while done < reached:
                    done = advance(done, done + 1)
                    approach.append(list(state))
                break
            done = last
            earlier, before = before, (done, list(state))
            chunk = _next_chunk(chunk, time.perf_counter() - chunk_began)
            if progress is not None:
                progress(done, scenario.steps)
    except KeyboardInterrupt:
        status, (done, state[:]) = "interrupted", before
    ended = time.perf_counter()
    # the state reached, as a row of its own: one more step from it, of which only the row is kept
    end = (ctypes.c_double * width)(*[math.nan] * width)
    with contextlib.suppress(KeyboardInterrupt):
        driver.run((ctypes.c_double * len(state))(*state), end, peaks, done, done + 1, 1, *every[1:])
    kept = min(-(-(done + (status == "diverged")) // scenario.log_every), count)
    if status == "complete" and done % scenario.log_every == 0:
        rows[kept * width : (kept + 1) * width] = end[:]
        kept += 1
    if kept and not all(map(math.isfinite, rows[(kept - 1) * width : kept * width])):
        kept -= 1  # what led out of bounds may be infinite itself
    return Run(
        scenario=scenario,
        plant=plant,
        status=status,
        steps=done,
        rows=rows,
        count=kept,
        end=list(end),
        peaks=list(peaks),
        state=list(state),
        approach=approach,
        engine=driver.name,
        stalled=stalled,
        advice=advice,
        seconds={**driver.preparation, **seconds, "loop_s": ended - looped, "total_s": ended - began},
    )


def _next_chunk(chunk: int, seconds: float) -> int:
    """The number of steps that takes about `CHUNK` seconds, growing tenfold at most."""
    return max(1, min(chunk * 10, int(chunk * CHUNK / max(seconds, 1e-9))))
