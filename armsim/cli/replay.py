"""`armsim replay`"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from armsim.cli.options import (
    SETTINGS,
    deg_option,
    json_option,
    number_value,
    plot_option,
    print_json,
    quiet_option,
    shipped,
    tolerance_values,
    verbose_option,
)
from armsim.errors import Diverged, UsageError
from armsim.reports.comparison import difference_table, drift_table, verdict
from armsim.reports.table import wrapped
from armsim.terminal.progress import progress_bar
from armsim.terminal.streams import echo

if TYPE_CHECKING:
    from armsim.recording.replay import Replay

UNWELL = 1
METHODS = "explicit_euler, semi_implicit_euler, rk4, rk54, ..."


@click.command(
    "replay",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim replay recorded                                  the same to the bit?
  armsim replay recorded --dt 1e-3 --tolerance q=1e-4     good enough?
  armsim replay recorded --method rk54 --tolerance 1e-4   was its step fine?
  armsim replay recorded --robot my_arm.yaml --plot out.png
  armsim replay log.csv --robot my_arm.yaml --columns map.yaml
""",
)
@click.argument("path", metavar="DIR|LOG")
@click.option(
    "--robot", metavar="ROBOT", shell_complete=shipped("robots"), help="The model: a robot file or a shipped robot."
)
@click.option("--method", metavar="METHOD", help=f"Integrator: {METHODS}")
@click.option("--dt", metavar="S", help="Length of a step. [default: the recording's; 1e-4 for a log]")
@click.option("--rtol", metavar="X", help="Relative error in a step, of an adaptive method. [default: 1e-6]")
@click.option("--tolerance", metavar="X | q=X,qd=X", help="Differences that are allowed. [default: none]")
@click.option("--columns", metavar="YAML", help="Which column of a log is which, by formulas too.")
@plot_option("Draw both and their difference into a picture.")
@deg_option
@json_option
@quiet_option
@verbose_option
def command(
    path: str,
    robot: str | None,
    method: str | None,
    dt: str | None,
    rtol: str | None,
    tolerance: str | None,
    columns: str | None,
    plot: str | None,
    degrees: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run the forward model on recorded inputs, and compare what it does with what was recorded.

    DIR is a folder of `armsim record`: every sample is compared, to the bit unless --tolerance is given. LOG is the log of a
    real arm, a CSV file with t_s, voltage_<joint>_V (or tau_motor_<joint>_Nm, or current_<joint>_A of the motor) and
    q_<joint>_rad (or _deg): says how far the model drifts from it within 0.1 s, 1 s and the whole log. Exits with 1 if they
    differ by more than is allowed; of a log, nothing is asked without --tolerance. With --deg, tolerances of angles are in
    degrees, too. Where a log's columns have other names or units, --columns names a file with lines such as
    `q_R1_rad: (enc1 - 2048)*2*pi/4096`, or is such text in braces; names with blanks or signs go into backquotes.
    """
    allowed = tolerance_values(tolerance)
    step = None if dt is None else number_value("dt", dt)
    error = None if rtol is None else number_value("rtol", rtol)
    if _is_log(path):
        if robot is None:
            raise UsageError.of(
                path,
                "--robot ROBOT, the model that is to follow the log",
                "none",
                f"write for example armsim replay {path} --robot my_arm.yaml",
            )
        return _follow(path, robot, columns, method, step, error, allowed, plot, degrees, as_json, quiet, verbose)
    if columns is not None:
        raise UsageError.of(
            f"--columns {columns}", "a log, whose columns it explains", f"the folder {path}", "leave it out"
        )
    folder = os.path.dirname(path) or "." if os.path.basename(path) == "run.yaml" else path
    return _replay(folder, robot, method, step, error, allowed, plot, degrees, as_json, quiet, verbose)


def _is_log(path: str) -> bool:
    return not os.path.isdir(path) and os.path.basename(path) != "run.yaml" and bool(os.path.splitext(path)[1])


def _replay(
    folder: str,
    robot: str | None,
    method: str | None,
    dt: float | None,
    rtol: float | None,
    allowed: dict[str, float] | float | None,
    plot: str | None,
    degrees: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    from armsim.recording.replay import replay

    with progress_bar("replaying", not quiet and not as_json) as progress:
        result = replay(folder, robot, method, dt, allowed, progress=progress, degrees=degrees, rtol=rtol)
    comparison = result.comparison
    if plot is not None:
        from armsim.figures.comparison import plot_comparison

        plot_comparison(plot, comparison, f"{folder}: {_model(result)}", ("recorded", "replayed"))
    if as_json:
        about = {
            "recording": folder,
            "robot": result.scenario.arm.name,
            "method": result.scenario.method,
            "algorithm": result.algorithm,
            "dt": result.scenario.dt,
            **(vars(result.scenario.tolerance) if result.scenario.adaptive else {}),
            "steps": result.steps,
            "diverged": result.diverged,
        }
        print_json({**about, **comparison.data()})
    elif not quiet:
        samples = f"{len(result.recording.t)} samples over {result.recording.t[-1]:g} s"
        lines = [f"{folder}: {samples}, replayed on {_model(result)}", verdict(comparison)]
        if not comparison.equal:
            lines += ["", difference_table(comparison, verbose)]
        if plot is not None:
            lines.append(f"drawn    {plot}")
        echo("\n".join(lines))
    if result.diverged is not None:
        step = None if result.scenario.adaptive else result.scenario.dt
        raise _diverged(result.diverged, float(comparison.t[-1]), result.scenario.method, step)
    return UNWELL if comparison.differs else 0


def _follow(
    log: str,
    robot: str,
    columns: str | None,
    method: str | None,
    dt: float | None,
    rtol: float | None,
    allowed: dict[str, float] | float | None,
    plot: str | None,
    degrees: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    from armsim.recording.follow import METHOD, follow

    with progress_bar("replaying", not quiet and not as_json) as progress:
        result = follow(
            log, robot, columns, method or METHOD, dt, allowed, progress=progress, degrees=degrees, rtol=rtol
        )
    comparison = result.comparison
    steps = f"steps of at most {result.dt:g} s" if result.rtol is None else f"rtol {result.rtol:g}"
    about = f"{result.arm.name} by {result.method}, {steps}"
    if plot is not None:
        from armsim.figures.comparison import plot_comparison

        plot_comparison(plot, comparison, f"{log}: {about}", ("measured", "model"))
    if as_json:
        print_json(result.data(degrees))
    elif not quiet:
        lines = [
            f"{log}: {len(result.log.t)} rows over {result.horizons[-1].seconds:g} s",
            f"model    {about}",
            wrapped(f"inputs   {result.log.inputs_from}, each row's held until the next"),
            f"qd       {result.log.velocities_from}",
            *(wrapped(f"* {note}") for note in result.log.notes),
            "",
            drift_table(result, degrees, 10 if verbose else 3),
            "",
            "How far q drifts in so long, restarted from the log each time:",
            "root mean square at the ends, and the largest in between.",
        ]
        if result.judged:
            lines += ["", verdict(comparison)]
        if result.judged or verbose:
            lines += ["", difference_table(comparison, verbose)]
        if plot is not None:
            lines.append(f"drawn    {plot}")
        echo("\n".join(lines))
    if result.diverged is not None:
        step = result.dt if result.rtol is None else None
        raise _diverged(result.diverged, float(comparison.t[-1]), result.method, step)
    return UNWELL if comparison.differs else 0


def _model(result: Replay) -> str:
    scenario = result.scenario
    steps = f"rtol {scenario.tolerance.rtol:g}" if scenario.adaptive else f"dt {scenario.dt:g} s"
    return f"{scenario.arm.name} by {scenario.method}, {steps}"


def _diverged(slot: str, time: float, method: str, dt: float | None) -> Diverged:
    smaller = "" if dt is None else f"take a smaller step than {dt:g} s with {method}, or "
    what = f"the replay diverged after t = {time:.6g} s"
    return Diverged.of(what, "a state within all bounds", f"{slot} beyond its own", f"{smaller}check the model")
