"""Recording a scenario: a run that keeps the full state and the inputs at every sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armsim.control import Controller
from armsim.errors import UsageError, spelled
from armsim.expr import Scalar, Scalars
from armsim.files.destination import Destination
from armsim.files.folder_kind import RUN
from armsim.files.new_folder import new_folder
from armsim.loading import Given, Overrides, Scenario, scenario_of
from armsim.loading.signals import ConstantSignal
from armsim.plant import Plant, held, make_plant
from armsim.progress import Progress
from armsim.recording.recording import RecordedSetup, Recording
from armsim.recording.state_vector import StateVector, VectorLayout
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.simulation.runner import Job, Runner
from armsim.simulation.simulate import carry_out
from armsim.simulation.stopwatch import Stopwatch
from armsim.stability.method_choice import with_method
from armsim.stability.step_advice import advice_on, heed

if TYPE_CHECKING:
    from armsim.compile.target import Target


def record(
    scenario: Given | Scenario,
    overrides: Overrides | None = None,
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
            would blow up.
    """
    return _recorded(scenario_of(scenario, overrides), progress, target, force_step)


def record_into(
    destination: Destination,
    scenario: Scenario,
    progress: Progress | None = None,
    force_step: bool = False,
    saving: Progress | None = None,
) -> tuple[Recording, Path]:
    """Record a scenario and write its folder, which is tried before the run.

    Args:
        destination: See `Recording.save`.
        scenario: The scenario.
        progress: See `record`.
        force_step: Likewise.
        saving: Called with samples written and samples in all.

    Raises:
        UsageError: As `record` and `Recording.save`, before the run; or the recording is kept in another place, which is told.
    """
    with new_folder(RUN, scenario.name, destination) as made:
        recording = _recorded(scenario, progress, None, force_step)
        recording.save_into(made, False, saving)
    return recording, Path(made.path)


def _recorded(scenario: Scenario, progress: Progress | None, target: Target | None, force_step: bool) -> Recording:
    """Run a scenario and keep its samples; see `record`."""
    watch = Stopwatch()
    scenario = with_method(scenario)
    every = sample_steps(scenario)
    asked = make_plant(scenario)
    plant = replace(_sampled(asked, every * scenario.dt), audit=True)
    vector = StateVector(replace(held(plant, None if plant.command is None else plant.command.output), audit=False))
    clock = replace(scenario.clock, sample_every=every, log_every=every)
    plan = replace(LoopPlan.of(plant, scenario.dt), recorded=FullRow(plant, vector))
    engine = NativeEngine(plan, target=target)
    setup = RecordedSetup(scenario, plant, heed(advice_on(scenario), force_step), vector)
    runner = Runner(engine, Job(plan, clock, plan.start_of(scenario)))
    run = carry_out(runner, setup, watch, progress)
    if not run.count:
        raise KeyboardInterrupt
    return Recording.of(run, clock)


@dataclass(frozen=True)
class FullRow:
    """The row of a recording: the full state, the inputs, and the energies.

    Attributes:
        plant: What is run.
        vector: The same arm, driven from outside, and the order of its state.
    """

    plant: Plant
    vector: StateVector

    @property
    def layout(self) -> VectorLayout:
        """What its numbers are."""
        return VectorLayout(self.plant.arm, vector=self.vector, audited=True)

    def row(self, t: Scalar, state: Scalars) -> Scalars:
        """The row of a state of the plant at time t [s]."""
        named = dict(zip(self.plant.slots, state, strict=True)) | self.plant.relaxed(self.plant.parts(state))
        driven = [named.get(slot, 0.0) for slot in self.vector.plant.slots]
        vector, energies = self.vector.observed(t, driven)
        return [*vector, *(driven[i] for i in self.vector.inputs), *energies]


def sample_steps(scenario: Scenario) -> int:
    """The number of steps from sample to sample.

    Raises:
        UsageError: The command is continuous.
    """
    command = scenario.command
    if scenario.clock.sample_every is not None:
        return scenario.clock.sample_every
    if command is None or (not isinstance(command, Controller) and all(map(_constant, command.signals))):
        return scenario.clock.log_every
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
