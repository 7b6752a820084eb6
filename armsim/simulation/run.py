"""A run, as `armsim.simulate` returns it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any

from armsim.display import Shown
from armsim.files.run_folder import RunFolder, new_run_folder
from armsim.progress import Progress
from armsim.records import as_plain
from armsim.simulation.folder import COMMENT, check_format, content, run_files, write_about
from armsim.simulation.result import Result
from armsim.simulation.run_files import RunFiles
from armsim.simulation.summary import RunSummary, summarize


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
        with new_run_folder(folder, self.scenario.name, force) as made:
            with self.files(made, degrees) as files:
                files.take(self.rows)
            self.record(made, degrees)
        return Path(made.path)

    def files(self, folder: RunFolder, degrees: bool) -> RunFiles:
        """What takes the rows, in a folder."""
        check_format(self.scenario)
        return run_files(folder, self.scenario, self.plant, degrees)

    def save_into(self, folder: RunFolder, degrees: bool, progress: Progress | None = None) -> None:
        """Write the folder of a run with its rows in memory, at the end of a program that has no other use for them.

        Ctrl-C ends the tables after whole rows. Where they find no room, the run is kept whole in another place; where there
        is none, the rows that found room are.

        Args:
            folder: Where to.
            degrees: Write joint angles in degrees.
            progress: Called with rows written and rows in all.

        Raises:
            UsageError: It is kept in another place, which is told.
            OSError: The folder cannot be written, nor is there another place.
        """
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
            folder.conclude(lambda: self.record(folder, degrees))

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

    def record(self, folder: RunFolder, degrees: bool) -> None:
        """Write run.yaml into a folder that has the rows already."""
        told = content(self, self.facts, degrees)
        write_about(folder, self, told, self.scenario.scenario_data, COMMENT)

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
        from armsim.simulation.measured import measured

        missing = [name for name in names if name not in self.measures]
        found = {name: self.measures[name] for name in names if name in self.measures}
        found |= measured(self, missing) if missing else {}
        return next(iter(found.values())) if len(names) == len(found) == 1 else found

    def summary(self) -> dict[str, Any]:
        """What the command line prints, as plain data; see `armsim.simulation.summary`."""
        return dict(as_plain(self.facts))
