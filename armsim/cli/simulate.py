"""`armsim simulate`"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

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

if TYPE_CHECKING:
    from armsim.spec import Scenario

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
        raise Diverged(divergence(summary["diverged"], run.scenario))
    return INTERRUPTED if run.status == "interrupted" else 0


KEPT = "            (the rows up to then are kept, and the run is marked as diverged)"


def divergence(where: dict[str, Any], scenario: Scenario) -> str:
    """What to say of a run that diverged.

    Args:
        where: slot and time [s]; unless they are known to be as usual, whether torques_finite and stalled.
        scenario: What was run.
    """
    kind, joint = where["slot"].split("_", 1)
    names = {"q": "position", "qd": "velocity", "integral": "controller integral", "held": "command"}
    what = names.get(kind, "motor current" if kind == "current" else "state")
    method, at = scenario.method, f"at t = {where['time']:.6g} s"
    if not where.get("torques_finite", True):
        return (
            f"the simulation stopped {at}: a torque was no longer finite\n"
            "  mend:     look for a division by zero, or a root or logarithm of a negative number, in `inputs`\n"
            f"{KEPT}"
        )
    if where.get("stalled"):
        return (
            f"the simulation stopped {at}: {method} found no step short enough for rtol {scenario.tolerance.rtol:g}\n"
            f"  mend:     take a greater integrator.rtol, or check gains, stops and inputs\n{KEPT}"
        )
    shorter = "" if scenario.adaptive else f"take a smaller step than dt = {scenario.dt:g} s with {method}, or "
    return (
        f"the simulation diverged {at}: the {what} of joint {joint} grew without bound\n"
        f"  mend:     {shorter}check gains, stops and masses of that joint\n{KEPT}"
    )


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
