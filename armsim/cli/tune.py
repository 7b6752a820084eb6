"""`armsim tune`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    Display,
    doubts_of,
    flag,
    grouped,
    json_options,
    set_option,
    shipped,
    study_force_options,
    threads_option,
)
from armsim.cli.pictures import check_plot
from armsim.cli.sweep import values_by_path
from armsim.errors import UsageError
from armsim.files.destination import Destination
from armsim.terminal.failure import INTERRUPTED
from armsim.terminal.progress import progress_bar
from armsim.tuning.request import TuningRequest


def paired(opened: tuple[str, ...], bounds: tuple[str, ...]) -> dict[str, str] | None:
    """The bounds of each `--open`.

    Raises:
        UsageError: There are neither one nor as many, or a path is there twice.
    """
    if not opened and not bounds:
        return None
    if len(bounds) not in (1, len(opened)) or not opened:
        found = f"{len(opened)} --open and {len(bounds)} --bounds"
        mend = "write for example --open control.kp --bounds 0:200"
        raise UsageError.of("--bounds", "bounds of each --open, or one for all of them", found, mend)
    twice = next((path for i, path in enumerate(opened) if path in opened[:i]), None)
    if twice is not None:
        raise UsageError.of(f"--open {twice}", "each path once", "it twice", "leave one of them out")
    return dict(zip(opened, bounds if len(bounds) > 1 else bounds * len(opened), strict=True))


def given_or_none(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...] | None:
    """The values of an option that may be repeated; None where it is not given."""
    return given or None


@click.command(
    "tune",
    epilog="""\b
Examples:
  armsim tune arm5_hold --open control.kp --bounds 0:200 \\
      --open control.kd --bounds log:0.1:20 --minimise iae
  armsim tune arm5_hold --open "control.kp[1]" --bounds 0:400 \\
      --subject-to "max(abs(current_R2)) <= 12" --plot tuned.png
  armsim tune arm5_hold_pi --open control.kp --open control.ki \\
      --bounds 0:200 --stage control.kp --stage control.ki
  armsim tune arm5_hold --open control.kp --bounds 0:300 \\
      --case payload.mass=0,1 --method differential_evolution
  armsim tune arm5_tune_report -o tuned       a study file or a shipped one
""",
)
@click.argument("scenario", metavar="SCENARIO|STUDY", shell_complete=shipped("configs", "studies"))
@grouped(
    "open",
    paired,
    click.option("--open", "opened", multiple=True, metavar="PATH", help="A parameter to optimise; repeatable."),
    click.option(
        "--bounds",
        multiple=True,
        metavar="LOW:HIGH",
        help="Of each --open, or of all; log:1:200 for a logarithmic scale.",
    ),
)
@click.option(
    "--minimise", "--minimize", metavar="MEASURE", help="Measure to minimise, or a formula of measures. [default: iae]"
)
@click.option("--subject-to", multiple=True, metavar="CONDITION", help="Condition that all runs must meet; repeatable.")
@click.option(
    "--stage", multiple=True, metavar="PATH,...", help="Optimise one set after the other. [default: all at once]"
)
@click.option(
    "--case",
    multiple=True,
    callback=values_by_path,
    metavar="PATH=VALUES",
    help="Cases that each trial runs; repeatable.",
)
@click.option("--draw-cases", type=int, metavar="N", help="Draw N of them, in place of all combinations.")
@click.option("--over", type=click.Choice(["worst", "mean"]), help="Which value of all cases counts. [default: worst]")
@click.option(
    "--method", type=click.Choice(["nelder_mead", "differential_evolution", "gradient"]), help="[default: nelder_mead]"
)
@click.option("--trials", type=int, metavar="N", help="Most trials in each stage.")
@click.option("--seed", type=int, metavar="K", help="Seed of the random draws. [default: 0]")
@click.option(
    "--holds",
    multiple=True,
    callback=given_or_none,
    metavar="CONDITION",
    help="Condition under which a case holds; repeatable. [default: errors like those of the tuned runs]",
)
@click.option(
    "--test",
    multiple=True,
    callback=values_by_path,
    metavar="PATH=VALUES",
    help="Other cases to test the result on; repeatable.",
)
@click.option("--draw-test", type=int, metavar="N", help="Draw N of them, in place of all combinations.")
@set_option
@click.option("-o", "--output", "folder", metavar="DIR", help="Folder [default: studies/<scenario>-001, ...].")
@threads_option
@click.option("--plot", metavar="FILE", help='Draw search, test and margins. Takes matplotlib: "armsim[plot]".')
@grouped(
    "request",
    TuningRequest,
    flag("--force-step", help="Run even if a step is known to be too long."),
)
@study_force_options
@json_options
def command(
    scenario: str,
    request: TuningRequest,
    destination: Destination,
    threads: int | None,
    plot: str | None,
    display: Display,
) -> int:
    """Optimise gains or other parameters of SCENARIO: minimise a measure, and report where the result holds.

    tune writes tuned.yaml, a scenario that runs, and leaves your file as it is. The report says at how many other poses and
    payloads the result holds, why it fails at the rest, and how far gains, masses and delay may be off.

    After a kill or Ctrl-C the same command continues, and finds the same numbers to the bit. SCENARIO may be a study file with
    `tune`.
    """
    from armsim.loading import scenario_of
    from armsim.reports.tuning import report
    from armsim.tuning.tune import Watch, run_tuning
    from armsim.tuning.tuning import tuning_of

    check_plot(plot, destination.force)
    tuning = tuning_of(scenario, request)
    with progress_bar("trying", display.progress) as trying:
        testing = None if trying is None else trying.then("testing")
        moving = None if testing is None else testing.then("margins")
        watch = Watch(trying, testing, moving, None if trying is None else trying.tell)
        found = run_tuning(tuning, destination.folder, threads, watch, destination.force)
        if moving is not None:
            moving.close()
    doubts = doubts_of(scenario_of(tuning.study.scenario, tuning.study.overrides))
    display.print(lambda: {**found.summary(), "doubts": doubts}, lambda: report(found))
    if plot is not None and found.trials.done:
        from armsim.figures.picture import save
        from armsim.figures.tuning import tuning_figure

        save(tuning_figure(found), plot)
        display.say(f"drawn    {plot}")
    return 0 if found.status == "complete" else INTERRUPTED
