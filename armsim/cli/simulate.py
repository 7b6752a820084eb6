"""`armsim simulate`"""

from __future__ import annotations

import sys
import time
from typing import Any

import click

from armsim.cli.divergence import divergence
from armsim.cli.main import INTERRUPTED
from armsim.cli.options import (
    SETTINGS,
    assignments,
    json_option,
    print_json,
    quiet_option,
    scenario_argument,
    set_option,
    verbose_option,
)
from armsim.errors import Diverged

PATIENCE = 1.0  # seconds before a progress bar appears


@click.command(
    "simulate",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim simulate arm5_hold
  armsim simulate my_arm/hold.yaml -o results
  armsim simulate arm5_hold --set "control.kp[0]=80" --set duration=2
  armsim simulate arm5_hold --set "robot.joints[R2].motor.Ra=1.2" --deg
  armsim simulate runs/arm5_hold-001/run.yaml -o again    the same, to the bit
""",
)
@scenario_argument
@click.option(
    "-o", "--output", metavar="DIR", help="Folder for the run [default: runs/<scenario>-001, next free number]."
)
@set_option
@click.option("--force", is_flag=True, help="Replace an earlier armsim run in the output folder.")
@click.option(
    "--engine",
    type=click.Choice(["llvm", "python"]),
    default="llvm",
    show_default=True,
    help="Same bits; python is slow.",
)
@click.option("--deg", "degrees", is_flag=True, help="Print and write joint angles in degrees.")
@json_option
@quiet_option
@verbose_option
def command(
    scenario: str,
    output: str | None,
    settings: tuple[str, ...],
    force: bool,
    engine: str,
    degrees: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run SCENARIO, a scenario file or the name of a shipped one, and write trajectory.csv, torque.csv and run.yaml."""
    from armsim.files.run_folder import check_target
    from armsim.run.simulate import simulate

    if output is not None:
        check_target(output, force)
    progress = None if quiet or as_json or not sys.stderr.isatty() else ProgressBar()
    run = simulate(scenario, assignments(settings), engine, progress)
    if progress is not None:
        progress.close()
    folder = run.save(output, force, degrees)
    summary = {**run.summary(), "folder": str(folder)}
    if as_json:
        from armsim.cli.simulate_report import in_degrees

        print_json(in_degrees(summary) if degrees else summary)
    elif not quiet:
        from armsim.cli.simulate_report import report

        click.echo(report(summary, degrees, verbose))
    if run.status == "diverged":
        raise Diverged(divergence(summary["diverged"], run.plant.method, run.scenario.dt))
    return INTERRUPTED if run.status == "interrupted" else 0


class ProgressBar:
    """A bar on standard error, once a run has taken a second."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._bar: Any = None
        self._shown = 0

    def __call__(self, done: int, steps: int) -> None:
        if self._bar is None and time.monotonic() - self._began > PATIENCE:
            self._bar = click.progressbar(length=steps, label="simulating", file=sys.stderr)
            self._bar.__enter__()
        if self._bar is not None:
            self._bar.update(done - self._shown)
            self._shown = done

    def close(self) -> None:
        """Leave the terminal on a line of its own."""
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
