"""A run's files: trajectory.csv and torque.csv, or the same as Parquet, and run.yaml."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from armsim.files.csv_writer import CsvFile
from armsim.files.recovery import ABOUT, RUN_FORMAT
from armsim.files.run_folder import RunFolder
from armsim.files.run_record import RunRecord
from armsim.files.yaml_writer import yaml_text
from armsim.loading import Scenario
from armsim.plant import Plant
from armsim.plant.column_kinds import FILES, File
from armsim.records import as_plain
from armsim.simulation.result import Result
from armsim.simulation.run_files import RunFiles
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


def run_files(folder: RunFolder, scenario: Scenario, plant: Plant, degrees: bool) -> RunFiles:
    """The tables of a run's folder, which take rows block by block; see `armsim.simulation.row_log.RowSink`.

    Args:
        folder: The folder.
        scenario: What is run.
        plant: Its arm.
        degrees: Whether joint angles are in degrees.
    """
    tables = [partial(_table, folder, name, scenario, plant, degrees) for name in FILES]
    return RunFiles(tables, len(plant.layout.columns), scenario.clock)


def tables_of(scenario: Scenario) -> list[str]:
    """Names of the tables in the folder of a run."""
    return [f"{name}.{scenario.log_format}" for name in FILES]


def _table(folder: RunFolder, name: File, scenario: Scenario, plant: Plant, degrees: bool) -> CsvFile | ParquetFile:
    """A table that rows are written to."""
    columns = plant.layout.headings(degrees, name)
    path = folder.file(f"{name}.{scenario.log_format}")
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
