"""`armsim converge`"""

from __future__ import annotations

import sys
import time

import click

from armsim.cli.options import (
    Display,
    Overrides,
    angle_options,
    grouped,
    number,
    read_scenario,
    scenario_argument,
    set_option,
)
from armsim.cli.pictures import plot_option
from armsim.records import record
from armsim.terminal.failure import INTERRUPTED
from armsim.terminal.streams import status_line

UNWELL = 1
PATIENCE = 1.0  # seconds before a status line appears


@record
class Goal:
    """What a study of convergence is to reach.

    Attributes:
        accuracy: Of joint positions [rad or m, or degrees].
        budget: Wall time for each method [s].
    """

    accuracy: float
    budget: float


@click.command(
    "converge",
    epilog="""\b
Examples:
  armsim converge arm5_hold
  armsim converge arm5_hold --method rk4 --accuracy 1e-4
  armsim converge arm5_hold --method all --plot out.png
  armsim converge my_arm/swing.yaml --set duration=2
""",
)
@scenario_argument
@click.option(
    "--method",
    "methods",
    multiple=True,
    metavar="METHOD",
    help="Integrator; may be repeated, or all. [default: its own]",
)
@set_option
@grouped(
    "goal",
    Goal,
    click.option(
        "--accuracy",
        callback=number,
        default="1e-6",
        show_default=True,
        metavar="X",
        help="Wanted of joint positions [rad or m; with --deg degrees].",
    ),
    click.option(
        "--budget",
        callback=number,
        default="10",
        show_default=True,
        metavar="S",
        help="Seconds for each method, and for the reference.",
    ),
)
@plot_option("Draw errors over steps and over times into a picture.")
@angle_options
def command(
    scenario: str, methods: tuple[str, ...], overrides: Overrides, goal: Goal, plot: str | None, display: Display
) -> int:
    """Refine the step of SCENARIO until its answer settles; print error, order and cost of every step.

    A method with step-size control is refined by its tolerance, tenfold each time. The error is the largest of any joint position
    at any row of the log. The reference is the best answer of all runs, extrapolated where the errors decrease regularly, or
    adaptive runs that locate events where forces may jump or bend within steps. With several methods, converge prints the cost
    of --accuracy with each; -v shows all runs. Exits with 1 where a method does not reach it, or where that cannot be decided.
    """
    from armsim.convergence.converge import converge
    from armsim.reports.convergence import report

    status = Status() if display.progress and sys.stderr.isatty() else None
    _, doubts = read_scenario(scenario, overrides)
    found = converge(scenario, methods, overrides, goal.accuracy, goal.budget, status, display.degrees)
    if status is not None:
        status.close()
    if plot is not None:
        from armsim.figures.convergence import convergence_figure
        from armsim.figures.picture import save

        save(convergence_figure(found), plot)
    display.print(lambda: {**found.data(), "doubts": doubts}, lambda: report(found, display.verbose), plot)
    if any(method.verdict == "interrupted" for method in found.methods):
        return INTERRUPTED
    return 0 if found.reached else UNWELL


class Status:
    """A status line on standard error that names the current run, after `PATIENCE`."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._shown = ""

    def __call__(self, method: str, knob: str, value: float) -> None:
        if time.monotonic() - self._began < PATIENCE:
            return
        text = f"{method}, {knob} = {value:.6g}"
        self._shown = f"{text:<{len(self._shown)}}"
        with status_line() as line:
            line.write(f"\r{self._shown}")

    def close(self) -> None:
        """Erase the line."""
        if self._shown:
            with status_line() as line:
                line.write(f"\r{' ' * len(self._shown)}\r")
