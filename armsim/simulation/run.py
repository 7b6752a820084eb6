"""A run, as `armsim.simulate` returns it, and its run.yaml."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any

from armsim.clock import NEVER
from armsim.display import Shown
from armsim.files.destination import Destination
from armsim.files.folder_kind import ABOUT, RUN, RUN_FORMAT
from armsim.files.new_folder import NewFolder, new_folder
from armsim.files.run_record import RunRecord
from armsim.files.yaml_writer import yaml_text
from armsim.progress import Progress
from armsim.records import as_plain
from armsim.simulation.loop_plan import Keep, LoopPlan
from armsim.simulation.result import Result
from armsim.simulation.run_files import RunFiles, run_files
from armsim.simulation.runner import Job, Runner
from armsim.simulation.summary import RunSummary, StepCounts, pace, summarize
from armsim.version import __version__

OF_SUMMARY = ("scenario", "robot", "steps_per_second")  # keys of a summary that follow from others of run.yaml
COMMENT = """An armsim run. `armsim simulate run.yaml` repeats it to the bit: the scenario below holds all numbers it needs,
but for CSV inputs, which must still be where they were and are checked by their hash."""


class Run(Shown, Result):
    """A finished, interrupted or diverged simulation, with its summary and its files."""

    def save(self, folder: str | PathLike[str] | None = None, force: bool = False, degrees: bool = False) -> Path:
        """Write trajectory.csv, torque.csv and run.yaml; Parquet in place of CSV where the scenario's `log.format` says so.

        Args:
            folder: Absent or empty; `runs/<scenario>-001` or the next free number if none is given.
            force: Replace an earlier run there.
            degrees: Write joint angles in degrees.

        Returns:
            The folder.

        Raises:
            UsageError: The folder must not be overwritten, or cannot be written.
        """
        with new_folder(RUN, self.scenario.name, Destination(folder, force)) as made:
            with self.files(made, degrees) as files:
                files.take(self.rows)
            self.record(made, degrees)
        return Path(made.path)

    def files(self, folder: NewFolder, degrees: bool) -> RunFiles:
        """What takes the rows, in a folder."""
        return run_files(folder, self.scenario, self.plant, degrees)

    def save_into(
        self, folder: NewFolder, degrees: bool, progress: Progress | None = None, written: RunFiles | None = None
    ) -> None:
        """Write the folder of a run, at the end of a program that has no other use for its rows.

        Ctrl-C ends the tables after whole rows. Where they find no room, the run is kept whole in another place; where there
        is none, the rows that found room are.

        Args:
            folder: Where to.
            degrees: Write joint angles in degrees.
            progress: Called with rows written and rows in all.
            written: The tables, if they took the rows while the run went on.

        Raises:
            UsageError: It is kept in another place, which is told.
            OSError: The folder cannot be written, nor is there another place.
        """
        if written is not None:
            if failure := written.end():
                self.cut_short(written.rows, failure)
            with folder.conclude():
                self.record(folder, degrees)
            return
        save = partial(self.save, degrees=degrees)
        with folder.or_elsewhere(save):
            with self.files(folder, degrees) as files:
                try:
                    with folder.or_elsewhere(save):
                        files.take(self.rows, progress)
                except KeyboardInterrupt:
                    if files.torn:
                        raise
                    self.cut_short(files.rows)
                except OSError as error:
                    self.cut_short(files.cut(), error.strerror or str(error))
            with folder.conclude():
                self.record(folder, degrees)

    def cut_short(self, rows: int, failure: str = "") -> None:
        """Note that the files have only so many rows.

        Args:
            rows: Their number.
            failure: Why; empty if Ctrl-C is.
        """
        facts = self.facts
        self._cut(rows, failure)
        vars(self)["facts"] = replace(facts, status=self.status, rows=rows)

    def _cut(self, rows: int, failure: str) -> None:
        self.status = "interrupted" if self.status == "complete" else self.status
        self.rows, self.failure = self.rows.cut(rows), failure

    def record(self, folder: NewFolder, degrees: bool) -> None:
        """Write run.yaml into a folder that has the rows already."""
        told = {
            "csv_angles": "deg" if degrees else "rad",
            **{key: value for key, value in self.summary().items() if key not in OF_SUMMARY},
            "reached": {"steps": self.steps, "state": self.state, "row": self.end, "failure": self.failure},
            "results": {"measures": self.measures, "figures": self.figures},
        }
        write_about(folder, self, told, self.scenario.scenario_data, COMMENT)

    @property
    def tables(self) -> list[str]:
        """Names of the tables in its folder."""
        return [f"{name}.{self.scenario.log_format}" for name in self.plant.layout.files()]

    @cached_property
    def facts(self) -> RunSummary:
        """The summary, by its attributes."""
        return summarize(self)

    def measure(self, *names: str) -> Any:
        """What was measured over all steps; what was not is measured now, by carrying the run out once more.

        Args:
            names: Of measures, see docs/measures.md.

        Returns:
            The number, if one was asked for; else a dict of all results. NaN of a run that diverged.

        Raises:
            UsageError: A measure is unknown, or this run does not have it.
        """
        missing = [name for name in names if name not in self.measures]
        found = {name: self.measures[name] for name in names if name in self.measures}
        found |= self._measured(missing) if missing else {}
        return next(iter(found.values())) if len(names) == len(found) == 1 else found

    def _measured(self, names: Sequence[str]) -> dict[str, float]:
        """The results of measures, by carrying the run out once more; NaN if it diverged."""
        from armsim.simulation.engine import NativeEngine

        plan = LoopPlan.of_run(self.scenario, names, Keep(rows=False, peaks=False, figures=False, accuracy=False))
        if self.status == "diverged":
            return dict.fromkeys(plan.results, math.nan)
        clock = replace(self.scenario.clock, steps=self.steps, log_every=NEVER)
        runner = Runner(NativeEngine(plan), Job(plan, clock, plan.start_of(self.scenario)))
        for _ in runner.until(self.steps):
            pass
        return runner.results

    def summary(self) -> dict[str, Any]:
        """What the command line prints, as plain data; see `armsim.simulation.summary`."""
        return dict(as_plain(self.facts))


def write_about(
    folder: NewFolder, run: Result, content: Mapping[str, Any], scenario: Mapping[str, Any], comment: str
) -> None:
    """Write run.yaml: outcome, provenance, and the resolved scenario that repeats the run."""
    record = {
        "format": RUN_FORMAT,
        "status": run.status,
        "armsim": __version__,
        "python": platform.python_version(),
        **content,
        "sources": [vars(source) for source in run.scenario.sources],
        "scenario": scenario,
        **run.origin,
    }
    with open(folder.file(ABOUT), "w", encoding="utf-8", newline="\n") as file:
        file.write(yaml_text(record, comment))


def summary_of(record: RunRecord) -> RunSummary:
    """The summary of a run, from its run.yaml.

    Raises:
        FileFaults: A part of it is missing, or of another kind.
    """
    names = {
        key: record.value("scenario", *path, "name", kind=str)
        for key, path in (("scenario", ()), ("robot", ("robot",)))
    }
    speed = pace(record.value("seconds", kind=dict[str, float]), record.value(kind=StepCounts))
    found: RunSummary = record.value(kind=RunSummary, **names, steps_per_second=speed)
    return found
