"""Recording a scenario: a run that keeps the full state and the inputs at every sample."""

from __future__ import annotations

import ctypes
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armsim.control import Controller
from armsim.errors import UsageError, spelled
from armsim.files.run_folder import new_run_folder
from armsim.loading import Scenario, scenario_of
from armsim.loading.signals import ConstantSignal
from armsim.plant import Column, Plant, held, make_plant
from armsim.recording.playback import Playback, out_of_bounds
from armsim.recording.recording import RecordedSetup, Recording
from armsim.recording.state_vector import StateVector, slot_of
from armsim.simulation.driver import Driver, Progress
from armsim.simulation.energy_balance import balance
from armsim.simulation.engine import NativeEngine
from armsim.simulation.row_log import LARGEST_LOG, ArrayRows
from armsim.stability.departure import causes
from armsim.stability.method_choice import with_method
from armsim.stability.remedy import remedy
from armsim.stability.step_advice import heeded

if TYPE_CHECKING:
    from armsim.compile.target import Target

LATELY = 300  # samples before a divergence that `remedy` is given


def record(
    scenario: str | PathLike[str] | Mapping[str, Any] | Scenario,
    overrides: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    target: Target | None = None,
    force_step: bool = False,
) -> Recording:
    """Run a scenario and keep the full state and the inputs at every sample of its command, and at its end.

    Where the inputs are constant, or nothing drives the arm, its log's rows are the samples. A run that is interrupted
    by Ctrl-C after its first sample, or that diverges, is returned with the samples it has; see `Recording.status`.

    Args:
        scenario: A scenario file, the name of a shipped one, its content, or what `armsim.loading.read_scenario` returned.
        overrides: Values in place of the file's, by path.
        progress: Called about twenty times a second with steps done and steps in all.
        target: The machine to compile for; the host unless given. The bits do not depend on it.
        force_step: Run even with a step that is refused; see `armsim.stability.advice`.

    Raises:
        FileFaults: The scenario or its robot cannot be run; says where and why.
        UsageError: The command is continuous, so that no sequence of held inputs repeats it; the step is refused, as the run
            would blow up; or the samples would not fit into memory.
    """
    return _recorded(scenario_of(scenario, overrides), progress, target, force_step)


def record_into(
    folder: str | PathLike[str] | None,
    scenario: str | PathLike[str] | Mapping[str, Any] | Scenario,
    overrides: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    force_step: bool = False,
    force: bool = False,
    saving: Progress | None = None,
) -> tuple[Recording, Path]:
    """Record a scenario and write its folder, which is tried before the run.

    Args:
        folder: See `Recording.save`.
        scenario: See `record`, also for those that follow.
        overrides: Values in place of the file's.
        progress: Called about twenty times a second.
        force_step: Run even with a step that is refused.
        force: See `Recording.save`.
        saving: Called with samples written and samples in all.

    Raises:
        FileFaults: As `record`.
        UsageError: As `record` and `Recording.save`, before the run; or the recording is kept in another place, which is told.
    """
    read = scenario_of(scenario, overrides)
    with new_run_folder(folder, read.name, force) as made:
        recording = _recorded(read, progress, None, force_step)
        recording.save_into(made, False, saving)
    return recording, Path(made.path)


def _recorded(scenario: Scenario, progress: Progress | None, target: Target | None, force_step: bool) -> Recording:
    """Run a scenario and keep its samples; see `record`."""
    began = time.perf_counter()
    scenario = with_method(scenario)
    every = sample_steps(scenario)
    plant = make_plant(scenario)
    asked, plant = plant, replace(_sampled(plant, every * scenario.dt), audit=True)
    output = None if plant.command is None else plant.command.output
    vector = StateVector(replace(held(plant, output), audit=False))
    starts = [*range(0, scenario.steps, every), scenario.steps]
    if len(starts) * (len(vector.slots) + len(plant.slots)) * 8 > LARGEST_LOG:
        raise UsageError.of(
            scenario.name,
            f"at most {LARGEST_LOG // 2**30} GiB of samples",
            f"{len(starts)} of them",
            "sample less often, or simulate less long",
        )

    engine = NativeEngine(plant, scenario.dt, target)
    advice = heeded(scenario, asked, force_step)
    width = len(plant.columns)
    row = (ctypes.c_double * width)()
    num, den = scenario.time_ratio
    driver = Driver(
        engine.run,
        plant.initial_state(scenario.initial_q, scenario.initial_qd),
        width=width,
        kept=engine.plan.kept,
        log_every=every,
        sample_every=every,
        time_ratio=scenario.time_ratio,
        progress=progress,
        total=scenario.steps,
    )
    view = np.frombuffer(memoryview(driver.state), dtype=float)
    pairs = _pairs(plant, vector.plant)
    own = [(i, j) for i, j, is_input in pairs if not is_input]
    inputs = [(i, j) for i, j, is_input in pairs if is_input]
    table = np.zeros((len(starts), 1 + len(vector.plant.slots)))
    status, diverged, done, rows = "complete", None, 0, 0
    energies: list[tuple[float, float]] = []
    kept = view
    kinetic, potential = (plant.columns.index(Column("energy", kind)) for kind in ("kinetic", "potential"))
    approach: list[list[float]] = []
    lately: deque[tuple[float, list[float]]] = deque(maxlen=LATELY)
    try:
        for k, first in enumerate(starts):
            last = min(first + every, scenario.steps) if first < scenario.steps else first + 1
            before = view.copy()
            lately.append((first * num / den, before.tolist()))
            within = driver.reach(last, row, told=True)
            table[k, 0] = first * num / den
            for i, j in own:
                table[k, 1 + j] = before[i]
            for i, j in inputs:  # sampled at `first`, and held from there on
                table[k, 1 + j] = view[i]
            energies.append((row[kinetic], row[potential]))
            rows, kept = k + 1, before
            if first == scenario.steps:
                break
            done = driver.done
            if not within:
                status, diverged = "diverged", out_of_bounds(StateVector(plant), view)
                approach = driver.approach()
                break
            driver.report(done)
    except KeyboardInterrupt:
        if not rows:
            raise
        status = "interrupted"
    states = Playback(vector, scenario.dt, target).complete(table[:rows])
    n = plant.arm.n
    causes_found: dict[str, Any] = {}
    if status == "diverged":
        velocities = [x[n : 2 * n] for x in approach]
        motion = (states[:, i * n : (i + 1) * n].tolist() for i in range(3))
        causes_found = {
            **causes(scenario, done, velocities, table[:rows, 0].tolist(), *motion),
            "stalled": driver.stalled,
        }
    found = np.concatenate([states, table[:rows, [1 + i for i in vector.inputs]]], axis=1)
    return Recording(
        setup=RecordedSetup(scenario, vector.plant, advice, vector),
        status=status,
        steps=done,
        rows=ArrayRows.of(found, table[:rows, 0].copy()),
        end=found[-1].tolist(),
        state=vector.plant_state(found[-1].tolist()),
        approach=approach,
        stalled=driver.stalled,
        algorithm=plant.algorithm,
        diverged=diverged,
        causes=causes_found,
        audit=balance(scenario, plant, kept.tolist(), *zip(*energies[:rows], strict=True)) if rows else None,
        stable=None if diverged is None else remedy(plant, scenario.dt, list(lately)),
        seconds={"total_s": time.perf_counter() - began},
    )


def sample_steps(scenario: Scenario) -> int:
    """The number of steps from sample to sample.

    Raises:
        UsageError: The command is continuous.
    """
    command = scenario.command
    if scenario.sample_every is not None:
        return scenario.sample_every
    if command is None or (not isinstance(command, Controller) and all(map(_constant, command.signals))):
        return scenario.log_every
    key, what = ("control", "feedback") if isinstance(command, Controller) else ("inputs", "inputs")
    path, period = f"{key}.period", f"{10 * scenario.dt:g}"
    example = f"--set {path}={period}", f'overrides={{"{path}": {period}}}'
    raise UsageError.of(
        f"{scenario.name}: {key}.period",
        f"{what} held from sample to sample, so that a list of them repeats the run",
        f"{what} followed continuously",
        f"set `{key}.period`, for example `{spelled(*example)}`",
    )


def _constant(signal: Any) -> bool:
    return isinstance(signal, ConstantSignal)


def _sampled(plant: Plant, period: float) -> Plant:
    """The same plant with its command sampled: one without a period, being constant, gets this one [s]."""
    if plant.command is None or plant.command.period is not None:
        return plant
    return replace(plant, command=replace(plant.command, period=period))


def _pairs(plant: Plant, driven: Plant) -> list[tuple[int, int, bool]]:
    """(index in the plant's state, index in the driven plant's, whether it is an input) of the slots that both have."""
    places = {slot: i for i, slot in enumerate(plant.slots)}
    return [
        (places[slot], j, slot_of(driven, slot)[0] == "held") for j, slot in enumerate(driven.slots) if slot in places
    ]
