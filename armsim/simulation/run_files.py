"""The tables of a run's folder, while rows come."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from armsim.clock import Clock
from armsim.files.csv_writer import CsvFile
from armsim.files.folder_kind import RUN_FORMAT
from armsim.files.interrupts import interrupts_later
from armsim.simulation.row_log import BLOCK, DOUBLE, Rows
from armsim.version import __version__

if TYPE_CHECKING:
    from armsim.files.new_folder import NewFolder
    from armsim.files.parquet import ParquetFile
    from armsim.loading import Scenario
    from armsim.plant import Plant
    from armsim.plant.columns import Heading
    from armsim.progress import Progress

    RowTable = CsvFile | ParquetFile


class RunFiles:
    """The tables of a run's folder, which take rows block by block; see `armsim.simulation.row_log.RowSink`.

    Args:
        tables: Open a table each.
        width: Numbers of a row.
        clock: Of the run.

    Attributes:
        rows: Number of rows that all tables have.
        torn: Whether some have more.
    """

    def __init__(self, tables: Iterable[Callable[[], RowTable]], width: int, clock: Clock) -> None:
        self._width, self._clock = width, clock
        self._tables: list[RowTable] = []
        try:
            for opened in tables:
                self._tables.append(opened())
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

    def take(self, rows: Rows, progress: Progress | None = None) -> None:
        """Write rows that are in memory.

        Args:
            rows: The rows.
            progress: Called with rows written and rows in all.

        Raises:
            KeyboardInterrupt: After whole rows, `rows` of them; after a second Ctrl-C with tables that are `torn`.
        """
        at_once, timed = max(1, BLOCK // (DOUBLE * self._width)), rows.times
        for begin, block in rows.blocks():
            for first in range(0, len(block) // self._width, at_once):
                part = block[first * self._width : (first + at_once) * self._width]
                with interrupts_later():
                    count = len(part) // self._width
                    times = None if timed is None else timed[begin + first : begin + first + count].tolist()
                    self.write(part, begin + first, count, times)
                if progress is not None:
                    progress(self.rows, rows.count)

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


def check_format(scenario: Scenario) -> None:
    """Refuse a format of tables that cannot be written.

    Raises:
        UsageError: A package is missing.
    """
    if scenario.log_format == "parquet":
        from armsim.files.parquet import check_parquet

        check_parquet("log.format: parquet")


def run_files(folder: NewFolder, scenario: Scenario, plant: Plant, degrees: bool) -> RunFiles:
    """The tables of a run's folder, which take rows block by block; see `armsim.simulation.row_log.RowSink`.

    Args:
        folder: The folder.
        scenario: What is run.
        plant: Its arm.
        degrees: Whether joint angles are in degrees.

    Raises:
        UsageError: A package is missing.
    """
    check_format(scenario)
    tables = [
        partial(_table, folder.file(f"{name}.{scenario.log_format}"), columns, scenario, plant)
        for name, columns in plant.layout.files(degrees).items()
    ]
    return RunFiles(tables, len(plant.layout.columns), scenario.clock)


def least_size(scenario: Scenario, plant: Plant) -> int:
    """What the tables of a whole run take at least [bytes]; 0 where they are compressed."""
    if scenario.log_format != "csv":
        return 0
    cells = sum(1 + len(columns) for columns in plant.layout.files().values())
    return scenario.clock.rows * cells * 2  # a digit, and a comma


def _table(path: str, columns: Sequence[Heading], scenario: Scenario, plant: Plant) -> RowTable:
    """A table that rows are written to."""
    if scenario.log_format == "csv":
        return CsvFile(path, [heading.column for heading in columns])
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
