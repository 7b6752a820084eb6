"""`armsim record`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    Display,
    Overrides,
    check_folder,
    display_options,
    flag,
    force_step_option,
    grouped,
    read_scenario,
    scenario_argument,
    set_option,
)
from armsim.cli.pictures import Pictures, plot_run_option
from armsim.errors import Diverged
from armsim.files.destination import Destination
from armsim.files.folder_kind import RUN
from armsim.reports.recording import report
from armsim.terminal.divergence import divergence
from armsim.terminal.failure import INTERRUPTED
from armsim.terminal.progress import progress_bars


@click.command(
    "record",
    epilog="""\b
Examples:
  armsim record arm5_hold --set control.period=1e-3 -o recorded
  armsim record my_arm/sine.yaml --set inputs.period=1e-3
  armsim replay recorded                                  the same, to the bit
""",
)
@scenario_argument
@click.option(
    "-o", "--output", "folder", metavar="DIR", help="Folder for it [default: runs/<scenario>-001, next free number]."
)
@set_option
@grouped(
    "destination",
    Destination,
    flag("--force", help="Replace an earlier armsim run in the output folder, and the picture."),
)
@force_step_option
@grouped("pictures", Pictures, plot_run_option)
@display_options
def command(
    scenario: str,
    overrides: Overrides,
    destination: Destination,
    force_step: bool,
    pictures: Pictures,
    display: Display,
) -> int:
    """Run SCENARIO and write record.csv, the full state and the inputs at every sample, and run.yaml.

    The two need no other file: `armsim replay` runs the forward model on them. What drives the arm must be held from sample
    to sample, by `control.period` or `inputs.period`.
    """
    from armsim.recording.record import record_into

    pictures.check(destination.force)
    check_folder(RUN, destination)
    read, doubts = read_scenario(scenario, overrides)
    with progress_bars("recording", "saving", display.progress) as (progress, saving):
        recording, folder = record_into(destination, read, progress, force_step, saving)
    display.print(
        lambda: {**recording.summary(), "folder": str(folder), "doubts": doubts},
        lambda: [*report(recording, display.verbose), f"written  {folder}: record.csv, run.yaml"],
    )
    pictures.draw(folder, display)
    if recording.divergence is not None:
        raise Diverged(divergence(recording.divergence, recording.scenario))
    return INTERRUPTED if recording.status == "interrupted" else 0
