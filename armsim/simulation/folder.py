"""A run's files: trajectory.csv and torque.csv, or the same as Parquet, and run.yaml."""

from __future__ import annotations

import json
import platform
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from armsim.files.csv_writer import CsvFile
from armsim.files.interrupts import interrupts_later
from armsim.files.recovery import ABOUT, RUN_FORMAT
from armsim.files.run_folder import RunFolder
from armsim.files.run_record import RunRecord
from armsim.files.yaml_writer import yaml_text
from armsim.loading import Scenario
from armsim.plant import Plant
from armsim.plant.column_kinds import FILES, File
from armsim.plant.columns import Layout
from armsim.records import as_plain
from armsim.simulation.result import Result
from armsim.simulation.row_log import BLOCK, DOUBLE
from armsim.simulation.runner import Progress
from armsim.simulation.summary import RunSummary, StepCounts, pace
from armsim.version import __version__

if TYPE_CHECKING:
    from armsim.files.parquet import ParquetFile

OF_SUMMARY = ("scenario", "robot", "steps_per_second")  # keys of a summary that follow from others of run.yaml
COMMENT = """An armsim run. `armsim simulate run.yaml` repeats it to the bit: the scenario below holds all numbers it needs,
but for CSV inputs, which must still be where they were and are checked by their hash."""


def least_size(scenario: Scenario, plant: Plant) -> int:
    """What the tables of a whole run take at least [bytes]; 0 where they are compressed."""
    if scenario.log_format != "csv":
        return 0
    cells = sum(1 + len(plant.layout.headings(file=name)) for name in FILES)
    return scenario.clock.rows * cells * 2  # a digit, and a comma


def check_format(scenario: Scenario) -> None:
    """Refuse a format of tables that cannot be written.

    Raises:
        UsageError: A package is missing.
    """
    if scenario.log_format == "parquet":
        from armsim.files.parquet import check_parquet

        check_parquet("log.format: parquet")


def write_about(
    folder: RunFolder, run: Result, content: Mapping[str, Any], scenario: Mapping[str, Any], comment: str
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


class RunFiles:
    """The tables of a run's folder, which take rows block by block; see `armsim.simulation.row_log.RowSink`.

    Args:
        folder: The folder.
        scenario: What is run.
        plant: Its arm.
        degrees: Whether joint angles are in degrees.
        recorded: What rows of record.csv hold, which is written in place of the other tables; None for these.

    Attributes:
        rows: Number of rows that all tables have.
        torn: Whether some have more.
    """

    def __init__(
        self,
        folder: RunFolder,
        scenario: Scenario,
        plant: Plant,
        degrees: bool,
        recorded: Layout | None = None,
    ) -> None:
        self._width = len((recorded or plant.layout).columns)
        self._clock = scenario.clock
        self._tables: list[CsvFile | ParquetFile] = []
        try:
            if recorded is not None:
                self._tables.append(CsvFile(folder.file("record.csv"), recorded.headings()))
            for name in FILES if recorded is None else ():
                self._tables.append(_table(folder, name, scenario, plant, degrees))
        except BaseException:
            self.__exit__(BaseException)
            raise
        self._marks: deque[tuple[int, list[int]]] = deque(maxlen=2)  # rows, and the lengths of the files with them
        self._mark(0)
        self.rows, self.torn = 0, False

    def __enter__(self) -> RunFiles:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        for table in self._tables:
            try:
                table.close()
            except OSError:  # the first reason is told
                if failed is None:
                    raise

    def take(self, run: Result, progress: Progress | None = None) -> None:
        """Write the rows of a run that has them in memory.

        Args:
            run: The run.
            progress: Called with rows written and rows in all.

        Raises:
            KeyboardInterrupt: After whole rows, `rows` of them; after a second Ctrl-C with tables that are `torn`.
        """
        at_once, timed = max(1, BLOCK // (DOUBLE * self._width)), run.rows.times
        for begin, block in run.rows.blocks():
            for first in range(0, len(block) // self._width, at_once):
                part = block[first * self._width : (first + at_once) * self._width]
                with interrupts_later():
                    count = len(part) // self._width
                    times = None if timed is None else timed[begin + first : begin + first + count].tolist()
                    self.write(part, begin + first, count, times)
                if progress is not None:
                    progress(self.rows, run.count)

    def write(self, block: memoryview[float], first: int, count: int, times: Sequence[float] | None = None) -> None:
        """Write rows to all tables; their times are those of the scenario's clock unless given."""
        if times is None:
            times = [self._clock.at(k * self._clock.log_every) for k in range(first, first + count)]
        self.torn = True
        for table in self._tables:
            table.add(block, self._width, count, times)
        self._mark(first + count)
        self.rows, self.torn = first + count, False

    def cut(self) -> int:
        """Cut the tables back to the block before the last whole one, which makes room for run.yaml on a full disk."""
        self.rows, lengths = self._marks[0]
        for table, length in zip(self._tables, lengths, strict=True):
            table.cut(length)
        return self.rows

    def end(self) -> str:
        """Close the tables; where that fails, cut them, and say why."""
        try:
            self.__exit__(None)
        except OSError as error:
            self.cut()
            return error.strerror or str(error)
        return ""

    def _mark(self, rows: int) -> None:
        lengths = [table.length for table in self._tables]
        self._marks.append((rows if all(lengths) else 0, lengths))


def tables_of(scenario: Scenario) -> list[str]:
    """Names of the tables in the folder of a run."""
    return [f"{name}.{scenario.log_format}" for name in FILES]


def _table(folder: RunFolder, name: File, scenario: Scenario, plant: Plant, degrees: bool) -> CsvFile | ParquetFile:
    """A table that rows are written to."""
    columns = plant.layout.headings(degrees, name)
    path = folder.file(f"{name}.{scenario.log_format}")
    if scenario.log_format == "csv":
        return CsvFile(path, columns)
    from armsim.files.parquet import ParquetFile

    about = {
        "format": RUN_FORMAT,
        "armsim": __version__,
        "scenario": scenario.name,
        "robot": plant.arm.name,
        "method": plant.method,
        "sources": json.dumps([vars(source) for source in scenario.sources]),
        "scenario_data": json.dumps(scenario.scenario_data),
    }
    return ParquetFile(path, columns, about)


def content(run: Result, summary: RunSummary, degrees: bool) -> dict[str, Any]:
    """What run.yaml has of a run alone; see `write_about`."""
    return {
        "csv_angles": "deg" if degrees else "rad",
        **{key: value for key, value in as_plain(summary).items() if key not in OF_SUMMARY},
        "reached": {"steps": run.steps, "state": run.state, "row": run.end, "failure": run.failure},
        "results": {"measures": run.measures, "figures": run.figures},
    }


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
