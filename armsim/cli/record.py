"""`armsim record`"""

from __future__ import annotations

from typing import Any

import click

from armsim.cli.options import (
    SETTINGS,
    Settings,
    check_folder,
    draw_run,
    json_option,
    picture_options,
    print_json,
    quiet_option,
    read_scenario,
    scenario_argument,
    set_option,
    verbose_option,
)
from armsim.errors import Diverged
from armsim.reports.simulation import method_notes, steps_by, uncached, work_lines
from armsim.reports.table import wrapped
from armsim.spec.timing import seconds
from armsim.terminal.divergence import divergence
from armsim.terminal.failure import INTERRUPTED
from armsim.terminal.progress import progress_bars
from armsim.terminal.streams import echo


@click.command(
    "record",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim record arm5_hold --set control.period=1e-3 -o recorded
  armsim record my_arm/sine.yaml --set inputs.period=1e-3
  armsim replay recorded                                  the same, to the bit
""",
)
@scenario_argument
@click.option("-o", "--output", metavar="DIR", help="Folder for it [default: runs/<scenario>-001, next free number].")
@set_option
@click.option("--force", is_flag=True, help="Replace an earlier armsim run in the output folder, and the picture.")
@click.option("--force-step", is_flag=True, help="Run even if the step is known to be too long.")
@picture_options()
@json_option
@quiet_option
@verbose_option
def command(
    scenario: str,
    output: str | None,
    settings: Settings,
    force: bool,
    force_step: bool,
    plot: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run SCENARIO and write record.csv, the full state and the inputs at every sample, and run.yaml.

    The two need no other file: `armsim replay` runs the forward model on them. What drives the arm must be held from sample
    to sample, by `control.period` or `inputs.period`.
    """
    from armsim.recording.record import record_into

    check_folder(output, force)
    read, doubts = read_scenario(scenario, settings)
    with progress_bars("recording", "saving", not quiet and not as_json) as (progress, saving):
        recording, folder = record_into(output, read, None, progress, force_step, force, saving)
    made = recording.scenario
    summary = recording.summary() | {"folder": str(folder)}
    if as_json:
        print_json({**summary, "doubts": doubts})
    elif not quiet:
        echo(_report(summary, recording.inputs.shape[1], verbose))
    draw_run(folder, plot, None, False, quiet or as_json)
    if recording.diverged is not None:
        time = made.clock.at(recording.steps)
        lost = {"slot": recording.diverged, "time": time, **recording.causes, "stable": recording.stable}
        raise Diverged(divergence(lost, made))
    return INTERRUPTED if recording.status == "interrupted" else 0


def _report(summary: dict[str, Any], inputs: int, verbose: bool) -> str:
    status = "" if summary["status"] == "complete" else f" ({summary['status']})"
    what = f"{inputs} {summary['output']}{'s' if inputs > 1 else ''}" if inputs else "no inputs"
    lines = [
        f"{summary['scenario']}: {summary['duration']:g} s of {summary['robot']}, {steps_by(summary)}{status}",
        *method_notes(summary),
        f"samples  {summary['samples']}, each with {len(summary['slots'])} numbers of state and {what}",
    ]
    if summary["audit"] is not None:
        lines += work_lines(summary["audit"], 6 if verbose else 3)
    lines += [wrapped(f"! {warning}") for warning in summary["advice"]]
    if verbose:
        lines.append(f"state    {', '.join(summary['slots'])}")
        lines.append(f"detail   {summary['algorithm']} forward dynamics; {seconds(summary['seconds'])} in all")
        lines += uncached()
    lines.append(f"written  {summary['folder']}: record.csv, run.yaml")
    return "\n".join(lines)
