"""`armsim replay`"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from armsim.cli.options import (
    Display,
    Matching,
    angle_options,
    feedback_option,
    grouped,
    interpolate_option,
    number,
    read_scenario,
    shipped,
    tolerance_option,
)
from armsim.cli.pictures import plot_option
from armsim.errors import Diverged, UsageError
from armsim.records import record
from armsim.reports.comparison import followed, replayed
from armsim.terminal.progress import progress_bar

if TYPE_CHECKING:
    from armsim.recording.comparison import Comparison
    from armsim.recording.follow import Followed
    from armsim.recording.replay import Replay
    from armsim.reports.table import Report
    from armsim.terminal.progress import ProgressBar

UNWELL = 1
METHODS = "explicit_euler, semi_implicit_euler, rk4, rk54, ..."


@record
class ReplayModel:
    """The model that is run on recorded inputs.

    Attributes:
        robot: Its file; None for the recorded one, likewise what follows.
        method: The integrator.
        dt: Length of a step [s].
        rtol: Relative error in a step.
        feedback: The scenario whose controller sees a log's positions; None for none.
    """

    robot: str | None
    method: str | None
    dt: float | None
    rtol: float | None
    feedback: str | None


@record
class Answer:
    """What a replay came to.

    Attributes:
        comparison: Of the model's motion with what was recorded.
        title: Of its picture.
        names: What the picture calls the two.
        lines: Its report.
        data: As plain data.
        diverged: How the model diverged; None if it has not.
    """

    comparison: Comparison
    title: str
    names: tuple[str, str]
    lines: Report
    data: object
    diverged: Diverged | None


@click.command(
    "replay",
    epilog="""\b
Examples:
  armsim replay recorded                                  the same to the bit?
  armsim replay recorded --dt 1e-3 --tolerance q=1e-4     good enough?
  armsim replay recorded --method rk54 --tolerance 1e-4   was its step fine?
  armsim replay recorded --robot my_arm.yaml --plot out.png
  armsim replay log.csv --robot my_arm.yaml --columns map.yaml
  armsim replay log.csv --feedback my_scenario.yaml       by its controller
""",
)
@click.argument("path", metavar="DIR|LOG")
@grouped(
    "model",
    ReplayModel,
    click.option(
        "--robot", metavar="ROBOT", shell_complete=shipped("robots"), help="The model: a robot file or a shipped robot."
    ),
    click.option("--method", metavar="METHOD", help=f"Integrator: {METHODS}"),
    click.option(
        "--dt", callback=number, metavar="S", help="Length of a step. [default: the recording's; 1e-4 for a log]"
    ),
    click.option(
        "--rtol", callback=number, metavar="X", help="Relative error in a step, of an adaptive method. [default: 1e-6]"
    ),
    feedback_option,
)
@grouped(
    "matching",
    Matching,
    tolerance_option,
    click.option("--columns", metavar="YAML", help="Which column of a log is which, by formulas too."),
    interpolate_option,
)
@plot_option("Draw both and their difference into a picture.")
@angle_options
def command(path: str, model: ReplayModel, matching: Matching, plot: str | None, display: Display) -> int:
    """Run the forward model on recorded inputs, and compare its motion with the recording.

    DIR is a folder of `armsim record`: replay compares every sample, to the bit unless --tolerance is given. LOG is the log of a
    real arm, a CSV file with t_s, voltage_<joint>_V (or tau_motor_<joint>_Nm, or current_<joint>_A of the motor) and
    q_<joint>_rad (or _deg): replay prints how far the model drifts from it within 0.1 s, 1 s and the whole log. Exits with 1 if
    they differ by more than --tolerance allows; without it a log has no bound. With --deg, tolerances of angles are in degrees,
    too. Where the columns of a log have other names or units, --columns names a file with lines such as
    `q_R1_rad: (enc1 - 2048)*2*pi/4096`, or is such text in braces; names with blanks or signs go into backquotes.
    """
    log = _is_log(path)
    of_logs = {"columns": matching.columns, "interpolate": matching.interpolate, "feedback": model.feedback}
    for option, given in of_logs.items():
        if given and not log:
            raise UsageError.of(
                f"--{option}", "a log in a CSV file", f"the folder {path}", "leave it out, or name a CSV file"
            )
    with progress_bar("replaying", display.progress) as progress:
        answer = (_follow if log else _replay)(path, model, matching, display, progress)
    if plot is not None:
        from armsim.figures.comparison import comparison_figure
        from armsim.figures.picture import save

        save(comparison_figure(answer.comparison, answer.title, answer.names), plot)
    display.print(lambda: answer.data, lambda: answer.lines, plot)
    if answer.diverged is not None:
        raise answer.diverged
    return UNWELL if answer.comparison.differs else 0


def _is_log(path: str) -> bool:
    return not os.path.isdir(path) and os.path.basename(path) != "run.yaml" and bool(os.path.splitext(path)[1])


def _replay(
    path: str, model: ReplayModel, matching: Matching, display: Display, progress: ProgressBar | None
) -> Answer:
    """A recording that is replayed."""
    from armsim.recording.replay import replay

    folder = os.path.dirname(path) or "." if os.path.basename(path) == "run.yaml" else path
    result = replay(
        folder, model.robot, model.method, model.dt, matching.tolerance, None, progress, display.degrees, model.rtol
    )
    scenario, comparison = result.scenario, result.comparison
    lines = replayed(result, folder, display.verbose)
    data = {
        "recording": folder,
        "robot": scenario.arm.name,
        "method": scenario.method,
        "algorithm": result.algorithm,
        "dt": scenario.dt,
        **(vars(scenario.tolerance) if scenario.adaptive else {}),
        "steps": result.steps,
        "diverged": result.diverged,
        **comparison.data(),
    }
    diverged = _diverged(result, scenario.method, None if scenario.adaptive else scenario.dt)
    return Answer(comparison, f"{folder}: {result.model}", ("recorded", "replayed"), lines, data, diverged)


def _follow(log: str, model: ReplayModel, matching: Matching, display: Display, progress: ProgressBar | None) -> Answer:
    """A log that a model follows."""
    from armsim.recording.follow import METHOD, follow

    method, degrees = model.method or METHOD, display.degrees
    feedback = None if model.feedback is None else read_scenario(model.feedback, {})[0]
    given = vars(model) | {"method": method, "feedback": feedback}
    result = follow(log, progress=progress, degrees=degrees, **given, **vars(matching))
    comparison = result.comparison
    lines = followed(result, degrees, display.verbose)
    diverged = _diverged(result, method, result.dt if result.rtol is None else None)
    return Answer(comparison, f"{log}: {result.model}", ("measured", "model"), lines, result.data(degrees), diverged)


def _diverged(result: Replay | Followed, method: str, dt: float | None) -> Diverged | None:
    """The divergence of a model, by steps of dt [s]; None where it has not diverged."""
    if result.diverged is None:
        return None
    smaller = "" if dt is None else f"take a smaller step than {dt:g} s with {method}, or "
    what = f"the replay diverged after t = {result.comparison.t[-1]:.6g} s"
    return Diverged.of(
        what, "a state within all bounds", f"{result.diverged} beyond its own", f"{smaller}check the model"
    )
