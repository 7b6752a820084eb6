"""`armsim tune`"""

from __future__ import annotations

from typing import Any

import click

from armsim.cli.options import SETTINGS, Settings, doubts_of, json_option, print_json, quiet_option, set_option, shipped
from armsim.cli.sweep import assigned_values
from armsim.errors import UsageError
from armsim.terminal.failure import INTERRUPTED
from armsim.terminal.progress import progress_bar
from armsim.terminal.streams import echo


@click.command(
    "tune",
    context_settings=SETTINGS,
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
@click.option("--open", "opened", multiple=True, metavar="PATH", help="What is sought; repeatable.")
@click.option(
    "--bounds", multiple=True, metavar="LOW:HIGH", help="Of each --open, or of all; log:1:200 seeks logarithms."
)
@click.option("--minimise", "--minimize", metavar="MEASURE", help="A measure, or a formula of them. [default: iae]")
@click.option("--subject-to", multiple=True, metavar="CONDITION", help="What runs must meet; repeatable.")
@click.option(
    "--stage", multiple=True, metavar="PATH,...", help="Sought one set after the other. [default: all at once]"
)
@click.option("--case", "cases", multiple=True, metavar="PATH=VALUES", help="Cases over which it must do; repeatable.")
@click.option("--draw-cases", type=int, metavar="N", help="Draw N of them, in place of all combinations.")
@click.option("--over", type=click.Choice(["worst", "mean"]), help="What counts of all cases. [default: worst]")
@click.option("--method", type=click.Choice(["nelder_mead", "differential_evolution"]), help="[default: nelder_mead]")
@click.option("--trials", type=int, metavar="N", help="At most, in each stage.")
@click.option("--seed", type=int, metavar="K", help="Of what is drawn. [default: 0]")
@click.option("--holds", multiple=True, metavar="CONDITION", help="When a case counts as held; repeatable.")
@click.option("--test", multiple=True, metavar="PATH=VALUES", help="Cases to test the result on; repeatable.")
@click.option("--draw-test", type=int, metavar="N", help="Draw N of them, in place of all combinations.")
@set_option
@click.option("-o", "--output", metavar="DIR", help="Folder [default: studies/<scenario>-001, ...].")
@click.option("--threads", type=int, metavar="N", help="How many. [default: one a processor]")
@click.option("--plot", metavar="FILE", help='Draw search, test and margins. Takes matplotlib: "armsim[plot]".')
@click.option("--force-step", is_flag=True, help="Run even if a step is known to be too long.")
@click.option("--force", is_flag=True, help="Replace another study that the folder has, and a picture.")
@json_option
@quiet_option
def command(
    scenario: str,
    opened: tuple[str, ...],
    bounds: tuple[str, ...],
    stage: tuple[str, ...],
    cases: tuple[str, ...],
    holds: tuple[str, ...],
    test: tuple[str, ...],
    settings: Settings,
    output: str | None,
    threads: int | None,
    plot: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **asked: Any,
) -> int:
    """Seek numbers of SCENARIO for which a measure is least; test them where they were not sought.

    Writes tuned.yaml, a scenario that runs; your file is not changed. Says at how many poses and payloads the numbers hold,
    why not at the others, and by how much gains, masses and delay may be off.

    The same command goes on after a kill or Ctrl-C, and finds the same numbers to the bit. SCENARIO may be a study with `tune`.
    """
    from armsim.loading import scenario_of
    from armsim.reports.tuning import report
    from armsim.tuning.tune import Watch, run_tuning
    from armsim.tuning.tuning import tuning_of

    if plot is not None:
        from armsim.figures.picture import check_picture

        check_picture(plot, force)
    tuning = tuning_of(
        scenario,
        _paired(opened, bounds),
        overrides=settings,
        stages=[part.split(",") for part in stage] or None,
        cases=assigned_values("--case", cases) or None,
        holds=holds or None,
        test=assigned_values("--test", test) or None,
        **asked,
    )
    shown = not quiet and not as_json
    with progress_bar("trying", shown) as trying:
        testing = None if trying is None else trying.then("testing")
        moving = None if testing is None else testing.then("margins")
        found = run_tuning(
            tuning, output, threads, Watch(trying, testing, moving, None if trying is None else trying.tell), force
        )
        if moving is not None:
            moving.close()
    doubts = doubts_of(scenario_of(tuning.study.scenario, tuning.study.overrides))
    if as_json:
        print_json({**found.summary(), "doubts": doubts})
    elif not quiet:
        echo(report(found))
    if plot is not None and found.trials.done:
        from armsim.figures.tuning import plot_tuning

        plot_tuning(found, plot)
        if shown:
            echo(f"drawn    {plot}")
    return 0 if found.status == "complete" else INTERRUPTED


def _paired(opened: tuple[str, ...], bounds: tuple[str, ...]) -> dict[str, str] | None:
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
