"""A recording replayed through the forward model, and compared with what was recorded."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from armsim import document
from armsim.arm.integration import check_dt, check_method, check_tolerance
from armsim.arrays import Array
from armsim.display import Shown
from armsim.document.timing import common_step
from armsim.errors import UsageError, spelled
from armsim.files.faults import refuse
from armsim.files.nodes import Place
from armsim.files.run_record import ABOUT, folder_of
from armsim.integrate import METHODS
from armsim.loading import Given, Scenario, load_robot_file, read_scenario
from armsim.loading.scenario import resolved_scenario
from armsim.loading.voltage import check_motors
from armsim.plant import Plant, held, make_plant
from armsim.progress import Progress
from armsim.recording.comparison import ComparedColumn, Comparison, Tolerance, column_of, compared, tolerances
from armsim.recording.load_run import load_run
from armsim.recording.playback import Playback
from armsim.recording.recording import TABLE, Recording, recorder
from armsim.recording.state_vector import Slot, StateVector
from armsim.records import record

if TYPE_CHECKING:
    from armsim.compile.target import Target


@record
class Replay(Shown):
    """A recording, and the forward model's motion from its first state under its inputs.

    Attributes:
        recording: The recording.
        scenario: The scenario it was replayed with.
        algorithm: Of the forward dynamics: "crba" or "aba".
        states: Of the model at recording.t, shape (instants reached, len(slots)).
        slots: Names of the numbers of a state of the model.
        comparison: Replayed minus recorded, for every number that both have.
        steps: Number of steps carried out.
        diverged: If the model diverged, the first slot out of bounds, for example "qd_R4"; else None.
    """

    recording: Recording
    scenario: Scenario
    algorithm: str
    states: Array
    slots: tuple[str, ...]
    comparison: Comparison
    steps: int
    diverged: str | None

    @property
    def model(self) -> str:
        """The model, in words."""
        scenario = self.scenario
        steps = f"rtol {scenario.tolerance.rtol:g}" if scenario.adaptive else f"dt {scenario.dt:g} s"
        return f"{scenario.arm.name} by {scenario.method}, {steps}"

    def __repr__(self) -> str:
        return f"Replay({self.scenario.brief}: {self.comparison.verdict()})"


def replay(
    recording: str | PathLike[str] | Recording,
    robot: Given | None = None,
    method: str | None = None,
    dt: float | None = None,
    tolerance: Tolerance = None,
    target: Target | None = None,
    progress: Progress | None = None,
    degrees: bool = False,
    rtol: float | None = None,
) -> Replay:
    """Run the forward model from a recording's first state with its inputs, and compare every sample.

    Args:
        recording: A folder that `armsim record` has written, or a `Recording`.
        robot: Another robot in place of the recorded one, with the same joint types.
        method: Another integrator.
        dt: Another step [s], of which the time between samples is a whole multiple. An adaptive method needs none.
        tolerance: Largest difference, by quantity ("q", "qd", "qdd", "tool", ...; others are not judged), or one for all; None
            to require equal bits.
        target: The machine to compile for; the host unless given. The bits do not depend on it.
        progress: Called about twenty times a second with samples done and samples in all.
        degrees: Compare angles in degrees, their tolerances included.
        rtol: Relative tolerance of an adaptive method.

    Raises:
        FileFaults: A file is damaged or cannot be used; says where and why.
        UsageError: There is no recording, or it cannot be replayed as asked.
    """
    if not isinstance(recording, Recording):
        recording = _recording(recording)
    scenario = _scenario(recording, robot, method, dt, rtol)
    plant = make_plant(scenario)
    if robot is None:
        plant = replace(plant, algorithm=recording.algorithm)  # type: ignore[arg-type]  # read as one
    vector = StateVector(held(plant, recording.output))
    pairs = shared_slots(recording.vector, vector)
    columns = [_column(recording.vector, i) for i, _ in pairs]
    tolerances(columns, tolerance, degrees)  # refused before anything is compiled
    counts = _counts(recording, scenario.dt)

    start = first_state(vector, recording.vector.slots, recording.states[0])
    look = None if progress is None else (lambda done: progress(done, len(counts)))
    played = Playback(vector, scenario.dt, target).play(start, recording.inputs, counts, scenario.clock, None, look)
    m = len(played.states)
    ours, theirs = recording.states[:m, [i for i, _ in pairs]], played.states[:, [j for _, j in pairs]]
    return Replay(
        recording=recording,
        scenario=scenario,
        algorithm=plant.algorithm,
        states=played.states,
        slots=vector.names,
        comparison=compared(recording.t[:m], columns, ours, theirs, tolerance, degrees),
        steps=played.steps,
        diverged=played.diverged,
    )


def _recording(folder: str | PathLike[str]) -> Recording:
    """The recording of a folder.

    Raises:
        As `load_run`, and for a run that is none.
    """
    run = load_run(folder)
    if not isinstance(run, Recording):
        about = os.path.join(folder_of(folder), ABOUT)
        again = spelled(f"armsim record {about} -o DIR", f"armsim.record({about!r}).save(folder)")
        expected, found = f"a recording, as `{recorder()}` writes it", "a run without the state at every sample"
        raise UsageError.of(os.fspath(folder), expected, found, f"record it again: `{again}`")
    return run


def _scenario(
    recording: Recording, robot: Given | None, method: str | None, dt: float | None, rtol: float | None
) -> Scenario:
    """The recorded scenario with another robot, integrator or step, its command left to the recording."""
    scenario = recording.scenario
    if robot is None and method is None and dt is None and rtol is None:
        return scenario
    asked = resolved_scenario(scenario).replaced(control=None, inputs=None, log=None)
    if robot is not None:
        read = load_robot_file(robot)
        _same_joints(scenario, read.document, robot)
        asked = asked.replaced(robot=read.document)
    integrator = _integrator(recording, method, dt, rtol)
    asked = asked.replaced(integrator=integrator)
    if integrator.dt != scenario.dt:
        _counts(recording, integrator.dt)
        asked = asked.replaced(duration=max(float(recording.t[-1]), integrator.dt))
    made = read_scenario(asked)
    check_motors(made.arm, recording.output or "torque", _called(robot))
    return made


def _integrator(recording: Recording, method: str | None, dt: float | None, rtol: float | None) -> document.Integrator:
    """The `integrator`: as recorded, but for what is given."""
    scenario = recording.scenario
    name = scenario.method if method is None else check_method(method)
    tolerance = check_tolerance(name, rtol, None)
    if METHODS[name].adaptive is None:
        if dt is None and scenario.adaptive:
            raise UsageError.of(
                "dt",
                f"the length of the steps of {name}",
                f"none, and a recording by {scenario.method}, which chose its own",
                "give one, for example 1e-4",
            )
        return document.Integrator(method=name, dt=scenario.dt if dt is None else check_dt(dt))
    if dt is not None:
        landing = check_dt(dt)
    else:
        landing = scenario.dt if scenario.adaptive else _landing(recording)
    return document.Integrator(
        method=name, dt=landing, **vars(scenario.tolerance if scenario.adaptive and rtol is None else tolerance)
    )


def _landing(recording: Recording) -> float:
    """The longest step [s] of which the times of samples and external forces are whole multiples."""
    scenario, t = recording.scenario, recording.t
    times = [float(time) for time in (*t[1:2], *t[-1:]) if time > 0]
    times += [time for wrench in scenario.external for time in (wrench.start, wrench.end) if time]
    step = common_step(times) if times else None
    return scenario.dt if step is None else step.numerator / step.denominator


def _same_joints(scenario: Scenario, robot: document.Robot, given: Given) -> None:
    recorded = [joint.type for joint in scenario.arm.joints]
    types = [joint.type for joint in robot.free]
    if types != recorded:
        raise UsageError.of(
            _called(given),
            f"{len(recorded)} joints as in the recording: {', '.join(recorded)}",
            f"{len(types)}: {', '.join(types)}",
            "name a robot with these joints",
        )


def _called(robot: Given | None) -> str:
    return "robot" if robot is None or isinstance(robot, Mapping) else os.fspath(robot)


def _counts(recording: Recording, dt: float) -> list[int]:
    """The number of steps from sample to sample.

    Raises:
        FileFaults: The times do not increase.
        UsageError: They are not whole multiples of dt.
    """
    t = recording.t
    place = Place(os.path.join(recording.source, TABLE) if recording.source else "recording")
    if not (np.diff(t) > 0).all():
        k = int(np.argmax(~(np.diff(t) > 0)))
        found = f"{t[k + 1]!r} after {t[k]!r} in line {k + 3}"
        raise refuse(place, "t_s", "times that increase from row to row", found, "restore the file, or record it again")
    at = t / dt
    steps = np.rint(at)
    off = ~(np.abs(at - steps) <= 1e-6 * np.maximum(1.0, 1e-6 * steps)) | ~(np.diff(steps, prepend=-1) > 0)
    if off.any():
        k = int(np.argmax(off))
        raise UsageError.of(
            "dt",
            "a step of which every sample's time is a whole multiple",
            f"{dt:g} s, with a sample at {t[k]:.12g} s",
            f"take for example {_divisor(t, dt)!r} s",
        )
    return [int(count) for count in np.diff(steps)]


def _divisor(t: Array, dt: float) -> float:
    """A step of at most dt [s], with few digits, of which the shortest time between samples is a whole multiple."""
    sample = float(f"{np.diff(t).min():.9g}") if len(t) > 1 else dt
    least = max(1, math.ceil(sample / dt))
    return min((sample / count for count in range(least, least + 10)), key=lambda step: len(repr(step)))


def shared_slots(first: StateVector, second: StateVector) -> list[tuple[int, int]]:
    """Pairs of indices of the slots that two vectors share by kind and joint, without those of integrators."""
    places = {slot.name: j for j, slot in enumerate(second.slots) if slot.joint is not None or slot.part}
    return [(i, places[slot.name]) for i, slot in enumerate(first.slots) if slot.name in places]


def first_state(vector: StateVector, slots: tuple[Slot, ...], values: Array) -> list[float]:
    """An initial state vector: given values in shared slots, the plant's initial state in all others."""
    given = {slot.name: float(value) for slot, value in zip(slots, values, strict=True)}
    plant: Plant = vector.plant
    n = plant.arm.n
    q, qd = ([given[f"{kind}{i + 1}"] for i in range(n)] for kind in ("q", "qd"))
    initial = plant.initial_state(q, qd)
    return [
        given.get(slot.name, 0.0) if slot.source is None else given.get(slot.name, float(initial[slot.source]))
        for slot in vector.slots
    ]


def _column(vector: StateVector, i: int) -> ComparedColumn:
    """The column of a vector's number in a comparison."""
    slot, heading = vector.slots[i], vector.headings()[i]
    if slot.joint is None:
        return column_of(heading)
    known = column_of(heading)
    return ComparedColumn(heading, slot.kind, vector.plant.arm.joints[slot.joint].name, known.unit)
