"""A run's files: trajectory.csv, torque.csv and run.yaml."""

from __future__ import annotations

import platform
from os import PathLike
from pathlib import Path
from typing import Any

from armsim.files.csv_writer import write_csv
from armsim.files.run_folder import RUN_FORMAT, new_run_folder
from armsim.files.yaml_writer import yaml_text
from armsim.plant.columns import FILES, headings
from armsim.simulation.result import Result
from armsim.version import __version__

COMMENT = """An armsim run. `armsim simulate run.yaml` repeats it to the bit: the scenario below holds all numbers it needs,
but for CSV inputs, which must still be where they were and are checked by their hash."""


def write_run(
    run: Result, summary: dict[str, Any], folder: str | PathLike[str] | None, force: bool, degrees: bool
) -> Path:
    """Write a run's folder atomically; see `Run.save`."""
    with new_run_folder(folder, run.scenario.name, force) as made:
        for name in FILES:
            columns = headings(run.plant.arm, name, degrees)
            write_csv(
                made.file(f"{name}.csv"),
                ["t_s", *(column.text for column in columns)],
                run.rows,
                width=len(run.plant.columns),
                count=run.count,
                pick=[column.index for column in columns],
                factors=[column.factor for column in columns],
                lead=run.times,
            )
        with open(made.file("run.yaml"), "w", encoding="utf-8", newline="\n") as file:
            file.write(yaml_text(record(run, summary, degrees), COMMENT))
    return Path(made.path)


def record(run: Result, summary: dict[str, Any], degrees: bool) -> dict[str, Any]:
    """The content of run.yaml: outcome, provenance, and the resolved scenario that repeats the run."""
    return {
        "format": RUN_FORMAT,
        "status": run.status,
        "armsim": __version__,
        "python": platform.python_version(),
        "engine": run.engine,
        "method": summary["method"],
        **{key: summary[key] for key in ("picked",) if key in summary},
        "algorithm": summary["algorithm"],
        **{key: summary[key] for key in ("steps", "landings", "moments", "adaptive") if key in summary},
        "rows": run.count,
        "csv_angles": "deg" if degrees else "rad",
        "seconds": summary["seconds"],
        **{
            key: summary[key]
            for key in (
                "advice",
                "would_chatter",
                "diverged",
                "tool",
                "energy",
                "audit",
                "joints",
                "outside_limits",
                "measures",
            )
            if key in summary
        },
        "sources": [{"path": source.path, "sha256": source.sha256} for source in run.scenario.sources],
        "scenario": run.scenario.scenario_data,
    }
