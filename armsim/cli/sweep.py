"""`armsim sweep`"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

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
from armsim.errors import Diverged, UsageError
from armsim.files.destination import Destination
from armsim.records import record
from armsim.studies.request import StudyRequest, Workers
from armsim.terminal.divergence import divergence
from armsim.terminal.failure import INTERRUPTED
from armsim.terminal.progress import progress_bar

if TYPE_CHECKING:
    from armsim.studies.study import Study


def values_by_path(
    context: click.Context, parameter: click.Parameter, assigned: tuple[str, ...]
) -> dict[str, str] | None:
    """The values of an option path=values; None where it is not given.

    Raises:
        UsageError: One is malformed, or a path is there twice.
    """
    option = parameter.opts[0]
    found: dict[str, str] = {}
    for item in assigned:
        path, equals, values = (part.strip() for part in item.partition("="))
        if not equals or not path:
            mend = f'write for example {option} "control.kp[0]=20:400:20"'
            raise UsageError.of(f"{option} {item}", "path=values", "no `=` with a path before it", mend)
        if path in found:
            raise UsageError.of(f"{option} {item}", "each path once", f"{path} twice", "write all its values into one")
        found[path] = values
    return found or None


@record
class Results:
    """What is shown of the results.

    Attributes:
        top: How many of the best runs; None for the usual number.
        by: The measure that says which are best; None for the first one.
        largest: Whether its largest values are best.
        plot: A picture of the measure; None for none.
        show: The run that is run alone instead; None for none.
    """

    top: int | None
    by: str | None
    largest: bool
    plot: str | None
    show: int | None


@click.command(
    "sweep",
    epilog="""\b
Examples:
  armsim sweep arm5_hold --vary "control.kp[1]=20:400:20" --measure iae
  armsim sweep arm5_hold --vary "control.kp[1]=log:15:240:9" \\
      --vary "control.kd[1]=0,1,2,4" --top 5 --by overshoot --plot gains.png
  armsim sweep arm5_hold --vary integrator.method=rk4,rodas \\
      --vary payload.mass=0,1
  armsim sweep arm5_hold --vary payload.mass=normal:1:0.1 \\
      --vary "robot.joints[R2].motor.Ra=uniform:0.9:1.1" --sobol 4096
  armsim sweep arm5_gains -o gains            a study file or a shipped one
  armsim sweep arm5_gains --cluster tcp://10.0.0.5:8786
  armsim sweep gains/study.yaml --show 17     one of its runs, into runs/...
""",
)
@click.argument("scenario", metavar="SCENARIO", shell_complete=shipped("configs", "studies"))
@click.option(
    "--vary",
    multiple=True,
    callback=values_by_path,
    metavar="PATH=VALUES",
    help="Values of a number; repeatable, the last one varies fastest.",
)
@set_option
@click.option("--measure", metavar="NAME", multiple=True, help="Measure of each run (docs/measures.md); repeatable.")
@click.option("--random", type=int, metavar="N", help="Draw N runs independently, in place of all combinations.")
@click.option("--latin", type=int, metavar="N", help="Draw N runs as a Latin hypercube.")
@click.option("--sobol", type=int, metavar="N", help="Draw N runs as a scrambled Sobol' sequence.")
@click.option("--seed", type=int, metavar="K", help="Seed of the random draws. [default: 0]")
@click.option(
    "-o", "--output", "folder", metavar="DIR", help="Folder of the study [default: studies/<scenario>-001, ...]."
)
@click.option("--table", type=click.Choice(["csv", "parquet"]), help="Format of the results. [default: csv]")
@grouped(
    "workers",
    Workers,
    threads_option,
    click.option(
        "--cluster", metavar="ADDRESS", help="Run on the workers of a dask scheduler, or of `local`: docs/cluster.md."
    ),
)
@grouped(
    "results",
    Results,
    click.option("--top", type=int, metavar="N", help="Print the N best runs. [default: 5]"),
    click.option(
        "--by", metavar="MEASURE", help="Measure that orders the best runs, the least first. [default: the first one]"
    ),
    flag("--largest", help="The largest is best."),
    click.option(
        "--plot", metavar="FILE", help='Draw the measure over what is varied. Takes matplotlib: "armsim[plot]".'
    ),
    click.option(
        "--show", type=int, metavar="INDEX", help="Run this run alone, as `armsim simulate` does; -o is its folder."
    ),
)
@grouped(
    "request",
    StudyRequest,
    flag("--force-step", help="Run even if a step is known to be too long."),
)
@study_force_options
@json_options
def command(
    scenario: str, request: StudyRequest, destination: Destination, workers: Workers, results: Results, display: Display
) -> int:
    """Run SCENARIO for many values of its numbers, and write one row of measures a run.

    VALUES are 1,2,5 or 20:400:20 (20 points, ends included) or log:1:100:9; random runs also take normal:1:0.1 and
    uniform:1:2. Methods, laws, robots and steps may vary, too. SCENARIO may be a study file, which says all this.

    After a kill or Ctrl-C the same command continues; it does nothing once all runs are done. A failed run is a row with its
    reason.
    """
    from armsim.batches.runs import COMPLETE, check_measure
    from armsim.batches.runs import INTERRUPTED as CUT_SHORT
    from armsim.reports.study import LEADING, failures, leading, report
    from armsim.studies.study import study_of
    from armsim.studies.sweep import StudyWatch, run_study

    study, by, largest, plot = study_of(scenario, request), results.by, results.largest, results.plot
    if results.show is not None:
        return _show(study, results.show, destination, display)
    check_plot(plot, destination.force)
    with progress_bar("running", display.progress) as bar:
        watch = StudyWatch(bar, None if bar is None else bar.tell, by, largest)
        found = run_study(study, destination, workers, watch)
    doubts = [] if study.first is None else doubts_of(study.first)
    best = partial(found.top, LEADING if results.top is None else results.top, by, largest)
    name = check_measure(by, found.measures)
    status = COMPLETE if found.whole else CUT_SHORT
    about = {"folder": found.folder, "status": status, "runs": found.done, "of": found.count, "ended": found.tally}
    display.print(
        lambda: {**about, "by": name, "top": best(), "notes": list(found.notes), "doubts": doubts},
        lambda: [*report(found), *failures(found), *leading(found, best(), name, largest)],
    )
    if plot is not None:
        from armsim.figures.picture import save
        from armsim.figures.study import study_figure

        save(study_figure(found, study.design.axes, name, study.units(name)), plot)
        display.say(f"drawn    {plot}")
    return 0 if found.whole else INTERRUPTED


def _show(study: Study, index: int, destination: Destination, display: Display) -> int:
    """Run one run of a study as an ordinary simulation."""
    from armsim.files.study_folder import read_record
    from armsim.formulas.values import text_of_value
    from armsim.reports.simulation import written_run
    from armsim.reports.written_run import report
    from armsim.studies.sweep import simulate_row

    folder = destination.folder
    if folder is not None and read_record(str(folder)) is not None:
        destination = replace(destination, folder=None)
    with progress_bar("simulating", display.progress) as progress:
        run, made = simulate_row(study, index, destination, progress)
    values = study.values(index)
    listed = ", ".join(f"{path} {text_of_value(value)}" for path, value in values.items())
    display.print(
        lambda: {"index": index, "values": values, **run.summary(), "folder": str(made)},
        lambda: [f"run      {index}: {listed}", *report(written_run(run.facts, made, run.tables))],
    )
    if run.facts.diverged is not None:
        raise Diverged(divergence(run.facts.diverged, run.scenario))
    return INTERRUPTED if run.status == "interrupted" else 0
