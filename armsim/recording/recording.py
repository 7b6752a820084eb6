"""A recording: the full state and the inputs of a run at every sample, and its folder."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.actuation import OUTPUTS, Output
from armsim.errors import UsageError, spelled
from armsim.files.csv_reader import read_csv
from armsim.files.csv_writer import CsvTable
from armsim.files.document import Map, Node, Place, Scalar, clipped, shown
from armsim.files.faults import refuse
from armsim.files.interrupts import interrupts_later
from armsim.files.run_folder import RUN_FORMAT, RunFolder, new_run_folder
from armsim.files.yaml_reader import read_yaml
from armsim.files.yaml_writer import yaml_text
from armsim.loading import Scenario, read_scenario
from armsim.notebook import counted
from armsim.plant import held
from armsim.recording.state_vector import StateVector
from armsim.simulation.driver import Progress
from armsim.simulation.result import steps_chosen
from armsim.simulation.summary import stepped
from armsim.stability.advice import Advice
from armsim.stability.method_choice import with_method
from armsim.version import __version__

Array = NDArray[np.float64]
TABLE = "record.csv"
AT_ONCE = 2_000  # samples that are written between looks at Ctrl-C and at the progress bar
COMMENT = (
    "An armsim recording: record.csv holds the full state and the inputs at every sample.\n"
    "`armsim replay` on this folder runs the forward model on them; `armsim simulate run.yaml` repeats the run."
)


@dataclass(repr=False)
class Recording:
    """The full state and the inputs of a run at every sample.

    Row k is the state at t[k], with the accelerations from then on, and the inputs held from then on.

    Attributes:
        scenario: What was run.
        output: What the inputs are: "voltage" [V], "current" [A], "torque" [N·m or N], or None where nothing drives the arm.
        algorithm: Of the forward dynamics: "crba" or "aba".
        t: Times [s], shape (m,).
        states: In the order of `ForwardModel.slots`, shape (m, len(slots)).
        inputs: Shape (m, n); (m, 0) where nothing drives the arm.
        status: "complete", "interrupted" or "diverged".
        steps: Number of steps carried out.
        diverged: Of a diverged run, the first slot out of bounds, for example "qd_R4"; else None.
        causes: Of a diverged run, `armsim.stability.departure.causes`, and why it `stalled`, see
            `armsim.simulation.result.Result`; else empty.
        audit: The energy balance up to the last sample, see `armsim.simulation.energy_balance.balance`; None if it was read from
            a folder.
        stable: Of a diverged run, `armsim.stability.remedy` of its last samples; else None.
        advice: The advice on the step.
        seconds: Wall time [s].
        source: The folder it was read from; empty if there is none.
    """

    scenario: Scenario
    output: Output | None
    algorithm: str
    t: Array = field(repr=False)
    states: Array = field(repr=False)
    inputs: Array = field(repr=False)
    status: str = "complete"
    steps: int = 0
    diverged: str | None = None
    causes: dict[str, Any] = field(default_factory=dict)
    audit: dict[str, Any] | None = None
    stable: dict[str, Any] | None = None
    advice: Advice = Advice()
    seconds: float = 0.0
    source: str = ""

    def __repr__(self) -> str:
        return f"Recording({self.scenario.brief}, {self.status}, {counted(len(self.t), 'sample')})"

    @cached_property
    def vector(self) -> StateVector:
        """The order of a state's numbers."""
        from armsim.plant import make_plant

        return StateVector(held(make_plant(self.scenario), self.output))

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

    @property
    def headings(self) -> list[str]:
        """The headings of record.csv."""
        return ["t_s", *self.vector.headings(), *self.vector.input_headings()]

    def save(self, folder: str | PathLike[str] | None = None, force: bool = False) -> Path:
        """Write record.csv and run.yaml, which need no other file.

        Args:
            folder: Absent or empty; `runs/<scenario>-001` or the next free number if none is given.
            force: Replace an earlier run there.

        Returns:
            The folder.

        Raises:
            UsageError: The folder must not be overwritten, or cannot be written.
        """
        with new_run_folder(folder, self.scenario.name, force) as made:
            count, sha256 = self._write_table(made)
            if count < len(self.t):
                raise KeyboardInterrupt
            self._write_about(made, sha256)
        return Path(made.path)

    def save_into(self, folder: RunFolder, progress: Progress | None = None) -> Recording:
        """Write a folder at the end of a program that has no other use for the samples; see `Run.save_into`.

        Args:
            folder: Where to.
            progress: Called with samples written and samples in all.

        Returns:
            What is written: on Ctrl-C only so many samples.

        Raises:
            UsageError: It is kept in another place, which is told.
            OSError: The folder cannot be written, nor is there another place.
        """
        try:
            count, sha256 = self._write_table(folder, progress)
            kept = self if count == len(self.t) else self._cut_short(count)
            folder.conclude(lambda: kept._write_about(folder, sha256))
        except OSError as error:
            folder.keep_elsewhere(error, self.save)
            raise
        return kept

    def _cut_short(self, count: int) -> Recording:
        """The first samples, of a recording that was stopped after them."""
        num, den = self.scenario.time_ratio
        steps = round(float(self.t[count - 1]) * den / num)
        first = {"t": self.t[:count], "states": self.states[:count], "inputs": self.inputs[:count]}
        return replace(self, **first, status="interrupted", steps=steps, audit=None)  # type: ignore[arg-type]  # arrays

    def _write_table(self, folder: RunFolder, progress: Progress | None = None) -> tuple[int, str]:
        """Write record.csv; the number of its samples, all unless Ctrl-C came, and its hash.

        Raises:
            KeyboardInterrupt: Before the first sample; or with a second Ctrl-C.
        """
        hashed = hashlib.sha256()
        done, count, torn = 0, len(self.t), False
        with open(folder.file(TABLE), "wb") as file:

            def write(text: bytes) -> None:
                file.write(text)
                hashed.update(text)

            headings = self.headings
            table = CsvTable(write, headings, range(len(headings)), (1.0,) * len(headings))
            try:
                while done < count:
                    last = min(done + AT_ONCE, count)
                    parts = self.t[done:last, None], self.states[done:last], self.inputs[done:last]
                    with interrupts_later():
                        torn = True
                        table.add(np.concatenate(parts, axis=1).ravel(), len(headings), last - done)
                        done, torn = last, False
                    if progress is not None:
                        progress(done, count)
            except KeyboardInterrupt:
                if torn or not done:
                    raise
        return done, hashed.hexdigest()

    def _write_about(self, folder: RunFolder, sha256: str) -> None:
        """Write run.yaml."""
        with open(folder.file("run.yaml"), "w", encoding="utf-8", newline="\n") as text:
            text.write(yaml_text(self._about(sha256), COMMENT))

    def _about(self, sha256: str) -> dict[str, Any]:
        """The content of run.yaml."""
        scenario = self.scenario
        counted = stepped(scenario, self.steps, steps_chosen(self.slots, self.states[-1].tolist()))
        at = "landing" if scenario.adaptive else "step"
        lost = {"slot": self.diverged, at: self.steps, **self.causes}
        diverged = {} if self.diverged is None else {"diverged": lost}
        return {
            "format": RUN_FORMAT,
            "status": self.status,
            "armsim": __version__,
            "python": platform.python_version(),
            "method": self.scenario.method,
            **({"picked": self.scenario.picked} if self.scenario.picked else {}),
            "algorithm": self.algorithm,
            **counted,
            "seconds": self.seconds,
            **diverged,
            **({} if self.audit is None else {"audit": self.audit}),
            "recording": {"output": self.output or "none", "samples": len(self.t), "sha256": sha256},
            "sources": [{"path": source.path, "sha256": source.sha256} for source in self.scenario.sources],
            "scenario": own_inputs(self.scenario.scenario_data, self.vector.input_headings()),
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


def load_recording(folder: str | PathLike[str]) -> Recording:
    """Read a recording from its folder.

    Raises:
        UsageError: There is no such folder, or it holds no recording.
        FileFaults: Its files are damaged, cut short or not a recording's; says where and how.
    """
    path = os.fspath(folder)
    about = os.path.join(path, "run.yaml")
    if not os.path.isdir(path):
        make = spelled("armsim record SCENARIO -o DIR", "armsim.record(scenario).save(folder)")
        raise _none(path, "no folder of this name", f"check the name; `{make}` makes one")
    if not os.path.isfile(about):
        raise _none(path, "a folder without run.yaml", f"name a folder that `{recorder()}` has written")
    root, _ = read_yaml(about)
    form = root.get("format") if isinstance(root, Map) else None
    if not isinstance(root, Map) or getattr(form, "value", None) != RUN_FORMAT:
        place = Place(about, 1, 1) if form is None else form.place
        found = "no format" if form is None else shown(form)
        mend = f"name a folder that `{recorder()}` has written"
        raise refuse(place, "format", RUN_FORMAT, found, mend)
    section = root.get("recording")
    if not isinstance(section, Map):
        again = spelled(f"armsim record {about} -o DIR", f"armsim.record({about!r}).save(folder)")
        mend = f"record it again: `{again}`"
        raise _none(path, "a run without the state at every sample", mend)
    table = os.path.join(path, TABLE)
    columns = _sound_table(table, section, about)
    scenario = with_method(read_scenario(about))
    output = _word(section, "output", (*OUTPUTS, "none"), about)
    algorithm = _word(root, "algorithm", ("crba", "aba"), about)
    status = _word(root, "status", ("complete", "interrupted", "diverged"), about)
    made = Recording(
        scenario,
        None if output == "none" else output,  # type: ignore[arg-type]  # one of the words above
        algorithm,
        np.empty(0),
        np.empty((0, 0)),
        np.empty((0, 0)),
        status=status,
        source=path,
    )
    headings = made.headings
    for name in headings:
        if name not in columns:
            found = f"columns {clipped(', '.join(columns))}"
            mend = "restore the file, or record it again; the robot in run.yaml names the columns"
            raise refuse(Place(table, 1, 1), "", f"a column `{name}`", found, mend)
    values = np.column_stack([columns[name] for name in headings])
    made.t = values[:, 0]
    made.states = values[:, 1 : 1 + len(made.slots)]
    made.inputs = values[:, 1 + len(made.slots) :]
    return made


def recorder() -> str:
    """What writes recordings, as a message calls it."""
    return spelled("armsim record", "Recording.save")


def _none(path: str, found: str, mend: str) -> UsageError:
    return UsageError.of(path, f"a recording, as `{recorder()}` writes it", found, mend)


def _sound_table(table: str, section: Map, about: str) -> Mapping[str, Sequence[float]]:
    """The columns of record.csv, checked against its hash."""
    csv = read_csv(table)
    expected = _scalar(section, "sha256", about) if section.get("sha256") is not None else None
    if expected is not None and csv.sha256 != expected.text:
        rows = len(next(iter(csv.columns.values())))
        samples = section.get("samples")
        count = samples.value if isinstance(samples, Scalar) and isinstance(samples.value, float) else float(rows)
        found = f"{rows} of {count:.15g} samples" if rows != count else f"other bytes, sha256 {csv.sha256[:12]}..."
        mend = "restore the file, or take `recording.sha256` out of run.yaml to replay it as it is"
        raise refuse(Place(table), "", f"the file that was recorded, sha256 {expected.text[:12]}...", found, mend)
    if "t_s" not in csv.columns:
        raise refuse(
            Place(table, 1, 1), "", "a column `t_s`, the time", clipped(", ".join(csv.columns)), "restore the file"
        )
    return csv.columns


def _scalar(node: Map, key: str, about: str) -> Scalar:
    value: Node | None = node.get(key)
    if not isinstance(value, Scalar):
        place = Place(about, *node.place[1:]) if value is None else value.place
        found = "nothing" if value is None else shown(value)
        raise refuse(place, key, "a value", found, "restore the file, or record it again")
    return value


def _word(node: Map, key: str, words: tuple[str, ...], about: str) -> str:
    value = _scalar(node, key, about)
    if value.text not in words:
        raise refuse(value.place, key, " or ".join(words), shown(value), "restore the file, or record it again")
    return value.text
