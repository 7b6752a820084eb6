"""A recording: the full state and the inputs of a run at every sample, and its folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from armsim.actuation import OUTPUTS, Output
from armsim.arrays import Array
from armsim.clock import Clock
from armsim.errors import UsageError, spelled
from armsim.files.csv_reader import read_csv
from armsim.files.csv_writer import CsvFile
from armsim.files.faults import refuse
from armsim.files.new_folder import NewFolder
from armsim.files.nodes import Place, clipped
from armsim.files.run_record import RunRecord
from armsim.integrate.adaptive import steps_chosen
from armsim.plant import held, make_plant
from armsim.recording.state_vector import StateVector, VectorLayout
from armsim.records import Json, as_plain, record
from armsim.simulation.divergence import Divergence, divergence_of
from armsim.simulation.energy_balance import EnergyBalance, audit
from armsim.simulation.result import Result, Status
from armsim.simulation.row_log import ArrayRows
from armsim.simulation.run import Run, write_about
from armsim.simulation.run_files import RunFiles
from armsim.simulation.saved_run import origin, saved_advice, saved_scenario
from armsim.simulation.setup import KnownSetup
from armsim.simulation.summary import StepCounts, Summary

TABLE = "record.csv"
OF_TABLE = (
    "scenario",
    "robot",
    "samples",
    "output",
    "slots",
    "final",
)  # keys of a summary that other parts of the folder have
OF_SUMMARY = ("time", "torques_finite", "stable")  # keys of a divergence that it does not have
COMMENT = (
    "An armsim recording: record.csv holds the full state and the inputs at every sample.\n"
    "`armsim replay` on this folder runs the forward model on them; `armsim simulate run.yaml` repeats the run."
)


@dataclass(frozen=True)
class RecordedSetup(KnownSetup):
    """What was recorded; see `armsim.simulation.setup.Setup`.

    Attributes:
        vector: The order of a state's numbers; its plant is the one that the inputs drive.
        audited: Whether rows have the energies.
    """

    vector: StateVector
    audited: bool = True

    @property
    def layout(self) -> VectorLayout:
        """What the numbers of a row are."""
        return VectorLayout(self.plant.arm, vector=self.vector, audited=self.audited)


@record(kw_only=True)
class RecordingSummary(Summary):
    """The summary of a recording: the `--json` of `armsim record`.

    Attributes:
        samples: Their number.
        output: What the inputs are; "none" where nothing drives the arm.
        advice: Warnings on the step.
        slots: Names of the numbers of a state.
        final: These at the last sample.
        audit: The energy balance up to there.
        seconds: Wall time [s].
    """

    samples: int
    output: str
    advice: list[str]
    slots: list[str]
    final: dict[str, float]
    audit: EnergyBalance | None
    seconds: float


@dataclass(repr=False)
class Recording(Run):
    """A run with its full state and its inputs at every sample.

    Row k is the state at t[k], with the accelerations from then on, and the inputs held from then on.

    Attributes:
        algorithm: Of the forward dynamics: "crba" or "aba".
        divergence: The diagnosis of a diverged run; else None.
        audit: The energy balance up to the last sample; None if it was cut short.
        source: The folder it was read from; empty if there is none.
    """

    algorithm: str = "crba"
    divergence: Divergence | None = None
    audit: EnergyBalance | None = None
    source: str = ""

    @classmethod
    def of(cls, run: Run, clock: Clock) -> Recording:
        """Of a run by a clock of its own, with the full state among its columns."""
        times = np.array([clock.at(min(k * clock.log_every, run.steps)) for k in range(run.count)])
        made = cls(**{of.name: getattr(run, of.name) for of in fields(Result)}, algorithm=run.plant.algorithm)
        made.rows = replace(run.rows, times=times)  # type: ignore[type-var]  # ArrayRows, as of every run that was just made
        made.audit = audit(run)
        if run.status == "diverged":
            made.divergence = replace(divergence_of(made), torques_finite=True)
        made.measures, made.estimated = {}, ""  # which a recording does not have
        made.seconds, made.end = {"total_s": run.seconds["total_s"]}, made.table[-1].tolist()
        made.state = list(made.vector.state(made.end, made.end[len(made.slots) :]))
        made.setup = replace(made.setup, plant=made.vector.plant)  # type: ignore[type-var]  # a RecordedSetup
        return made

    @property
    def vector(self) -> StateVector:
        """The order of a state's numbers."""
        assert isinstance(self.setup, RecordedSetup)
        return self.setup.vector

    @property
    def output(self) -> Output | None:
        """What the inputs are: "voltage" [V], "current" [A], "torque" [N·m or N]; None where nothing drives the arm."""
        command = self.vector.plant.command
        return None if command is None else command.output

    @property
    def table(self) -> Array:
        """The states and the inputs, shape (m, len(slots) + n)."""
        return self.rows.table[:, : len(self.columns)]

    @property
    def states(self) -> Array:
        """In the order of `ForwardModel.slots`, shape (m, len(slots))."""
        return self.table[:, : len(self.slots)]

    @property
    def inputs(self) -> Array:
        """Shape (m, n); (m, 0) where nothing drives the arm."""
        return self.table[:, len(self.slots) :]

    @property
    def warnings(self) -> list[str]:
        """Warnings on the step; on chattering stops only where a sample lies beyond them."""
        met = []
        for joint, q in zip(self.scenario.arm.joints, self.states.T, strict=False):
            limit = joint.limit
            if limit is not None and limit.stiffness is not None and ((q < limit.lower) | (q > limit.upper)).any():
                met.append(joint.name)
        return self.advice.said(self.scenario.method, self.scenario.dt, met)

    @property
    def slots(self) -> tuple[str, ...]:
        """Names of the numbers of a state, as in `ForwardModel`."""
        return self.vector.names

    def measure(self, *names: str) -> Any:
        """Is refused: a recording has samples, and nothing that was gathered between them.

        Raises:
            UsageError: In any case.
        """
        found, mend = "a recording, which has samples alone", "simulate its scenario, and measure that"
        raise UsageError.of(", ".join(names), "a run that was simulated", found, mend)

    @cached_property
    def facts(self) -> RecordingSummary:  # type: ignore[override]  # a recording has another summary
        """The summary, by its attributes."""
        scenario, last = self.scenario, self.states[-1].tolist()
        return RecordingSummary(
            scenario=scenario.name,
            robot=scenario.arm.name,
            status=self.status,
            method=scenario.method,
            picked=scenario.picked or None,
            algorithm=self.algorithm,
            dt=scenario.dt,
            counts=StepCounts.of(scenario, self.steps, steps_chosen(self.slots, last)),
            duration=float(self.t[-1]),
            samples=self.count,
            output=self.output or "none",
            advice=self.warnings,
            slots=list(self.slots),
            final=dict(zip(self.slots, last, strict=True)),
            audit=self.audit,
            seconds=self.seconds["total_s"],
        )

    def files(self, folder: NewFolder, degrees: bool) -> RunFiles:
        """What takes the rows: record.csv, in radians."""
        if degrees:
            found = "degrees, whose rounding a replay would show"
            raise UsageError.of("degrees", "a recording in radians", found, "leave it out")
        layout = self.setup.layout
        table = partial(CsvFile, folder.file(TABLE), [heading.column for heading in layout.headings()])
        return RunFiles([table], len(layout.columns), self.scenario.clock)

    def cut_short(self, rows: int, failure: str = "") -> None:
        """Note that the file has only so many samples; see `Run.cut_short`.

        Raises:
            KeyboardInterrupt: There are none, so that it is no recording.
            OSError: Likewise, of a file that found no room.
        """
        if not rows:
            raise OSError(failure) if failure else KeyboardInterrupt
        clock = self.scenario.clock
        self.steps, self.audit = round(float(self.t[rows - 1]) * clock.den / clock.num), None
        self._cut(rows, failure)
        vars(self).pop("facts", None)

    def record(self, folder: NewFolder, degrees: bool) -> None:
        """Write run.yaml, which needs no other file than record.csv."""
        with open(folder.file(TABLE), "rb") as table:
            sha256 = hashlib.file_digest(table, "sha256").hexdigest()
        lost = as_plain(self.divergence) or {}
        own = {key: value for key, value in lost.items() if key not in OF_SUMMARY}
        told = {
            **{key: value for key, value in self.summary().items() if key not in OF_TABLE},
            **({"diverged": own, "stable": lost["stable"]} if lost else {}),
            "recording": {"output": self.output or "none", "samples": self.count, "sha256": sha256},
            "reached": {"steps": self.steps},
        }
        scenario = own_inputs(self.scenario.scenario_data, self.vector.input_headings())
        write_about(folder, self, told, scenario, COMMENT)


def own_inputs(scenario: Json, headings: list[str]) -> Json:
    """The scenario with its inputs from files taken from the recording's own columns."""
    inputs = scenario.get("inputs")
    if inputs is None:
        return scenario
    for output in OUTPUTS if "control" not in scenario else ():
        for i, signal in enumerate(inputs.get(output, [])):
            if isinstance(signal, dict):
                inputs[output][i] = {"csv": TABLE, "column": headings[i], "hold": "zero"}
    return scenario


def load_recording(record: RunRecord) -> Recording:
    """The recording of a folder.

    Raises:
        FileFaults: Its files are damaged, cut short or not a recording's; says where and how.
    """
    table = os.path.join(record.folder, TABLE)
    columns = _sound_table(table, record)
    output = record.value("recording", "output", kind=Literal[(*OUTPUTS, "none")])
    algorithm = record.value("algorithm", kind=Literal["crba", "aba"])
    status = record.value("status", kind=Status)
    scenario = saved_scenario(record)
    plant = held(make_plant(scenario), None if output == "none" else output)
    vector = StateVector(plant)
    headings = ["t_s", *vector.headings(), *vector.input_headings()]
    for name in headings:
        if name not in columns:
            found = f"columns {clipped(', '.join(columns))}"
            mend = "restore the file, or record it again; the robot in run.yaml names the columns"
            raise refuse(Place(table, 1, 1), "", f"a column `{name}`", found, mend)
    values = np.column_stack([columns[name] for name in headings])
    last, steps = values[-1, 1:].tolist(), record.value("reached", "steps", kind=int)
    known = {"time": scenario.clock.at(steps), "torques_finite": True, "stable": record.data.get("stable")}
    return Recording(
        setup=RecordedSetup(scenario, plant, saved_advice(record), vector, audited=False),
        status=status,
        steps=steps,
        rows=ArrayRows.of(values[:, 1:], values[:, 0].copy()),
        end=last,
        state=list(vector.state(last, last[len(vector.slots) :])),
        seconds={"total_s": record.value("seconds", kind=float)},
        origin=origin(record),
        algorithm=algorithm,
        divergence=record.value("diverged", kind=Divergence, **known) if record.section("diverged") else None,
        audit=record.value("audit", kind=EnergyBalance | None),
        source=record.folder,
    )


def recorder() -> str:
    """What writes recordings, as a message calls it."""
    return spelled("armsim record", "Recording.save")


def _sound_table(table: str, record: RunRecord) -> Mapping[str, Sequence[float]]:
    """The columns of record.csv, checked against its hash."""
    csv = read_csv(table)
    section = record.value("recording", kind=Mapping)
    expected = section.get("sha256")
    if expected is not None and csv.sha256 != str(expected):
        rows = len(next(iter(csv.columns.values())))
        samples = section.get("samples")
        count = samples if isinstance(samples, (int, float)) else rows
        found = f"{rows} of {count:.15g} samples" if rows != count else f"other bytes, sha256 {csv.sha256[:12]}..."
        mend = "restore the file, or take `recording.sha256` out of run.yaml to replay it as it is"
        raise refuse(Place(table), "", f"the file that was recorded, sha256 {str(expected)[:12]}...", found, mend)
    return csv.columns
