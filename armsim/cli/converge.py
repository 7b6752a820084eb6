"""`armsim converge`"""

from __future__ import annotations

import sys
import time

import click

from armsim.cli.options import (
    SETTINGS,
    Settings,
    deg_option,
    json_option,
    number_value,
    plot_option,
    print_json,
    quiet_option,
    read_scenario,
    scenario_argument,
    set_option,
    verbose_option,
)
from armsim.terminal.failure import INTERRUPTED
from armsim.terminal.streams import echo, status_line

UNWELL = 1
PATIENCE = 1.0  # seconds before a status line appears


@click.command(
    "converge",
    context_settings=SETTINGS,
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
@click.option(
    "--accuracy",
    default="1e-6",
    show_default=True,
    metavar="X",
    help="Wanted of joint positions [rad or m; with --deg degrees].",
)
@click.option(
    "--budget",
    default="10",
    show_default=True,
    metavar="S",
    help="Seconds for each method, and for the reference.",
)
@plot_option("Draw errors over steps and over times into a picture.")
@deg_option
@json_option
@quiet_option
@verbose_option
def command(
    scenario: str,
    methods: tuple[str, ...],
    settings: Settings,
    accuracy: str,
    budget: str,
    plot: str | None,
    degrees: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Refine the step of SCENARIO until its answer settles: error, order and cost of every step.

    A method that chooses its steps is refined by its tolerance, in tenths. Errors are the largest of any joint position at any
    row of the log. They are held against the best answer of all runs, extrapolated where they settle regularly; against
    adaptive runs that locate events where forces may jump or bend within steps. With several methods, what --accuracy costs
    with each; -v shows all runs. Exits with 1 where a method does not reach it, or that cannot be known.
    """
    from armsim.convergence.converge import converge

    wanted, allowed = number_value("accuracy", accuracy), number_value("budget", budget)
    status = None if quiet or as_json or not sys.stderr.isatty() else Status()
    _, doubts = read_scenario(scenario, settings)
    found = converge(scenario, methods, settings, wanted, allowed, status, degrees)
    if status is not None:
        status.close()
    if plot is not None:
        from armsim.figures.convergence import plot_convergence

        plot_convergence(plot, found)
    if as_json:
        print_json({**found.data(), "doubts": doubts})
    elif not quiet:
        from armsim.reports.convergence import report

        echo(report(found, allowed, verbose))
        if plot is not None:
            echo(f"drawn     {plot}")
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
