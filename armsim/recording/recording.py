"""A recording: the full state and the inputs of a run at every sample, and its folder."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim import pictures
from armsim.actuation import OUTPUTS, Output
from armsim.clock import Clock
from armsim.errors import UsageError, spelled
from armsim.files.csv_reader import read_csv
from armsim.files.document import Place, clipped
from armsim.files.faults import refuse
from armsim.files.run_folder import RUN_FORMAT, RunFolder
from armsim.files.run_record import RunRecord
from armsim.notebook import html_table
from armsim.plant import held, make_plant
from armsim.recording.state_vector import StateVector, VectorLayout
from armsim.simulation.energy_balance import audit
from armsim.simulation.folder import RunFiles, write_about
from armsim.simulation.result import KnownSetup, Result, steps_chosen
from armsim.simulation.row_log import BLOCK, ArrayRows
from armsim.simulation.run import Run
from armsim.simulation.saved_run import STATES, origin, saved_advice, saved_scenario
from armsim.simulation.summary import divergence_of, stepped
from armsim.version import __version__

Array = NDArray[np.float64]
TABLE = "record.csv"
OF_TABLE = (
    "scenario",
    "robot",
    "samples",
    "output",
    "slots",
    "final",
)  # keys of a summary that other parts of the folder have
COMMENT = (
    "An armsim recording: record.csv holds the full state and the inputs at every sample.\n"
    "`armsim replay` on this folder runs the forward model on them; `armsim simulate run.yaml` repeats the run."
)


@dataclass(frozen=True)
class RecordedSetup(KnownSetup):
    """What was recorded; see `armsim.simulation.result.Setup`.

    Attributes:
        vector: The order of a state's numbers; its plant is the one that the inputs drive.
        audited: Whether rows have the energies.
    """

    vector: StateVector
    audited: bool = True

    @property
    def layout(self) -> VectorLayout:
        """What the numbers of a row are."""
        return VectorLayout(self.plant.arm, False, self.vector, self.audited)


@dataclass(repr=False)
class Recording(Run):
    """A run with its full state and its inputs at every sample.

    Row k is the state at t[k], with the accelerations from then on, and the inputs held from then on.

    Attributes:
        algorithm: Of the forward dynamics: "crba" or "aba".
        diverged: Of a diverged run, the first slot out of bounds, for example "qd_R4"; else None.
        causes: Of a diverged run, `armsim.stability.departure.causes`, and why it `stalled`, see
            `armsim.simulation.result.Result`; else empty.
        audit: The energy balance up to the last sample, see `armsim.simulation.energy_balance.balance`; None if it was cut short.
        stable: Of a diverged run, `armsim.stability.remedy` of its last samples; else None.
        source: The folder it was read from; empty if there is none.
    """

    algorithm: str = "crba"
    diverged: str | None = None
    causes: dict[str, Any] = field(default_factory=dict)
    audit: dict[str, Any] | None = None
    stable: dict[str, Any] | None = None
    source: str = ""

    @classmethod
    def of(cls, run: Run, clock: Clock) -> Recording:
        """Of a run by a clock of its own, with the full state among its columns."""
        times = np.array([clock.at(min(k * clock.log_every, run.steps)) for k in range(run.count)])
        made = cls(**{of.name: getattr(run, of.name) for of in fields(Result)}, algorithm=run.plant.algorithm)
        made.rows = replace(run.rows, times=times)  # type: ignore[type-var]  # ArrayRows, as of every run that was just made
        made.audit = audit(run)
        if run.status == "diverged":
            made.diverged = run.fastest_to_diverge()
            found = divergence_of(made)
            made.causes = {key: found[key] for key in ("growth", "motion", "stalled")}
            made.stable = found["stable"]
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

    def _repr_html_(self) -> str:
        final = list(self._summary["final"].items())
        table = html_table(self.scenario.brief, ["number", "at the end"], final, [self.status])
        return table + pictures.figures().image_html(self)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        scenario, last = self.scenario, self.states[-1].tolist()
        return {
            "scenario": scenario.name,
            "robot": scenario.arm.name,
            "status": self.status,
            "method": scenario.method,
            **({"picked": scenario.picked} if scenario.picked else {}),
            "algorithm": self.algorithm,
            "dt": scenario.dt,
            **stepped(scenario, self.steps, steps_chosen(self.slots, last)),
            "duration": float(self.t[-1]),
            "samples": self.count,
            "output": self.output or "none",
            "advice": self.warnings,
            "slots": list(self.slots),
            "final": dict(zip(self.slots, last, strict=True)),
            "audit": self.audit,
            "seconds": self.seconds["total_s"],
        }

    def files(self, folder: RunFolder, degrees: bool) -> RunFiles:
        """What takes the rows: record.csv, in radians."""
        if degrees:
            found = "degrees, whose rounding a replay would show"
            raise UsageError.of("degrees", "a recording in radians", found, "leave it out")
        return RunFiles(folder, self.scenario, self.plant, False, self.setup.layout)

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
        super().cut_short(rows, failure)
        del self._summary

    def record(self, folder: RunFolder, degrees: bool) -> None:
        """Write run.yaml, which needs no other file than record.csv."""
        hashed = hashlib.sha256()
        with open(folder.file(TABLE), "rb") as table:
            for piece in iter(partial(table.read, BLOCK), b""):
                hashed.update(piece)
        write_about(folder, self._about(hashed.hexdigest()), COMMENT)

    def _about(self, sha256: str) -> dict[str, Any]:
        """The content of run.yaml."""
        at = "landing" if self.scenario.adaptive else "step"
        lost = {"slot": self.diverged, at: self.steps, **self.causes}
        return {
            "format": RUN_FORMAT,
            "status": self.status,
            "armsim": __version__,
            "python": platform.python_version(),
            **{key: value for key, value in self._summary.items() if key not in OF_TABLE},
            **({} if self.diverged is None else {"diverged": lost, "stable": self.stable}),
            "recording": {"output": self.output or "none", "samples": self.count, "sha256": sha256},
            "reached": {"steps": self.steps},
            "sources": [{"path": source.path, "sha256": source.sha256} for source in self.scenario.sources],
            "scenario": own_inputs(self.scenario.scenario_data, self.vector.input_headings()),
            **self.origin,
        }


def own_inputs(scenario: dict[str, Any], headings: list[str]) -> dict[str, Any]:
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
    output = record.word((*OUTPUTS, "none"), "recording", "output")
    algorithm = record.word(("crba", "aba"), "algorithm")
    status = record.word(STATES, "status")
    scenario = saved_scenario(record)
    plant = held(make_plant(scenario), None if output == "none" else output)  # type: ignore[arg-type]  # one of the words
    vector = StateVector(plant)
    headings = ["t_s", *vector.headings(), *vector.input_headings()]
    for name in headings:
        if name not in columns:
            found = f"columns {clipped(', '.join(columns))}"
            mend = "restore the file, or record it again; the robot in run.yaml names the columns"
            raise refuse(Place(table, 1, 1), "", f"a column `{name}`", found, mend)
    values = np.column_stack([columns[name] for name in headings])
    lost, last = dict(record.section("diverged")), values[-1, 1:].tolist()
    return Recording(
        setup=RecordedSetup(scenario, plant, saved_advice(record), vector, audited=False),
        status=status,
        steps=record.value("reached", "steps", kind=int),
        rows=ArrayRows.of(values[:, 1:], values[:, 0].copy()),
        end=last,
        state=list(vector.state(last, last[len(vector.slots) :])),
        seconds={"total_s": record.value("seconds", kind=(int, float))},
        origin=origin(record),
        algorithm=algorithm,
        diverged=lost.pop("slot", None),
        causes={key: value for key, value in lost.items() if key not in ("step", "landing")},
        audit=record.data.get("audit"),
        stable=record.data.get("stable"),
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
