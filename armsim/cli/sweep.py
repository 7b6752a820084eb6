"""`armsim sweep`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from armsim.cli.options import (
    SETTINGS,
    Settings,
    doubts_of,
    json_option,
    print_json,
    quiet_option,
    set_option,
    shipped,
)
from armsim.errors import Diverged, UsageError
from armsim.terminal.divergence import divergence
from armsim.terminal.failure import INTERRUPTED
from armsim.terminal.progress import progress_bar
from armsim.terminal.streams import echo

if TYPE_CHECKING:
    from armsim.studies.study import Study


@click.command(
    "sweep",
    context_settings=SETTINGS,
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
@click.option("--vary", multiple=True, metavar="PATH=VALUES", help="What is varied; repeatable, the last one fastest.")
@set_option
@click.option(
    "--measure", "measures", metavar="NAME", multiple=True, help="What is measured (docs/measures.md); repeatable."
)
@click.option("--random", type=int, metavar="N", help="Draw N runs independently, in place of all combinations.")
@click.option("--latin", type=int, metavar="N", help="Draw N runs as a Latin hypercube.")
@click.option("--sobol", type=int, metavar="N", help="Draw N runs as a scrambled Sobol' sequence.")
@click.option("--seed", type=int, metavar="K", help="Of the draws. [default: 0]")
@click.option("-o", "--output", metavar="DIR", help="Folder of the study [default: studies/<scenario>-001, ...].")
@click.option("--table", type=click.Choice(["csv", "parquet"]), help="Format of the results. [default: csv]")
@click.option("--threads", type=int, metavar="N", help="How many. [default: one a processor]")
@click.option(
    "--cluster", metavar="ADDRESS", help="Run on the workers of a dask scheduler, or of `local`: docs/cluster.md."
)
@click.option("--top", type=int, metavar="N", help="Print the N best runs. [default: 5]")
@click.option("--by", metavar="MEASURE", help="What is best: the least of this. [default: the first measure]")
@click.option("--largest", is_flag=True, help="The largest is best.")
@click.option("--plot", metavar="FILE", help='Draw the measure over what is varied. Takes matplotlib: "armsim[plot]".')
@click.option(
    "--show", type=int, metavar="INDEX", help="Run this run alone, as `armsim simulate` does; -o is its folder."
)
@click.option("--force-step", is_flag=True, help="Run even if a step is known to be too long.")
@click.option("--force", is_flag=True, help="Replace another study that the folder has, and a picture.")
@json_option
@quiet_option
def command(
    scenario: str,
    vary: tuple[str, ...],
    settings: Settings,
    measures: tuple[str, ...],
    random: int | None,
    latin: int | None,
    sobol: int | None,
    seed: int | None,
    output: str | None,
    table: str | None,
    threads: int | None,
    cluster: str | None,
    top: int | None,
    by: str | None,
    largest: bool,
    plot: str | None,
    show: int | None,
    force_step: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run SCENARIO for many values of its numbers; write what each run came to, one row a run.

    VALUES are 1,2,5 or 20:400:20 (that many points, ends included) or log:1:100:9; where runs are drawn also normal:1:0.1 and
    uniform:1:2. Methods, laws, robots and steps may be varied, too. SCENARIO may be a study file, which says all this.

    The same command goes on after a kill or Ctrl-C, and does nothing once all is done. Runs that fail are rows with a reason.
    """
    from armsim.batches.runs import COMPLETE, check_measure
    from armsim.batches.runs import INTERRUPTED as CUT_SHORT
    from armsim.reports.study import LEADING, failures, leading, report
    from armsim.studies.study import study_of
    from armsim.studies.sweep import run_study

    sample = {"random": random, "latin": latin, "sobol": sobol}
    study = study_of(scenario, assigned_values("--vary", vary), settings, measures, sample, seed, table, force_step)
    if show is not None:
        return _show(study, show, output, force, as_json, quiet)
    if plot is not None:
        from armsim.figures.picture import check_picture

        check_picture(plot, force)
    with progress_bar("running", not quiet and not as_json) as bar:
        found = run_study(study, output, threads, bar, force, by, largest, None if bar is None else bar.tell, cluster)
    doubts = [] if study.first is None else doubts_of(study.first)
    best = [] if quiet and not as_json else found.top(LEADING if top is None else top, by, largest)
    name = check_measure(by, found.measures)
    if as_json:
        status = COMPLETE if found.whole else CUT_SHORT
        about = {"folder": found.folder, "status": status, "runs": found.done, "of": found.count}
        print_json(
            {**about, "ended": found.tally, "by": name, "top": best, "notes": list(found.notes), "doubts": doubts}
        )
    elif not quiet:
        echo("\n".join(filter(None, [report(found), failures(found)])))
        echo(leading(found, best, name, largest))
    if plot is not None:
        from armsim.figures.study import plot_study

        plot_study(found, study.axes, name, plot, study.unit(name))
        if not quiet and not as_json:
            echo(f"drawn    {plot}")
    return 0 if found.whole else INTERRUPTED


def assigned_values(option: str, assigned: tuple[str, ...]) -> dict[str, str]:
    """The values of an option path=values.

    Raises:
        UsageError: One is malformed, or a path is there twice.
    """
    found: dict[str, str] = {}
    for item in assigned:
        path, equals, values = (part.strip() for part in item.partition("="))
        if not equals or not path:
            mend = f'write for example {option} "control.kp[0]=20:400:20"'
            raise UsageError.of(f"{option} {item}", "path=values", "no `=` with a path before it", mend)
        if path in found:
            raise UsageError.of(f"{option} {item}", "each path once", f"{path} twice", "write all its values into one")
        found[path] = values
    return found


def _show(study: Study, index: int, output: str | None, force: bool, as_json: bool, quiet: bool) -> int:
    """Run one run of a study as an ordinary simulation."""
    from armsim.files.study_folder import read_record
    from armsim.formulas.values import text_of_value
    from armsim.reports.simulation import report
    from armsim.simulation.folder import tables_of
    from armsim.studies.sweep import simulate_row

    folder = None if output is not None and read_record(output) is not None else output
    with progress_bar("simulating", not quiet and not as_json) as progress:
        run, made = simulate_row(study, index, folder, force, progress)
    values = study.values(index)
    summary = {**run.summary(), "folder": str(made)}
    if as_json:
        print_json({"index": index, "values": values, **summary})
    elif not quiet:
        echo(f"run      {index}: " + ", ".join(f"{path} {text_of_value(value)}" for path, value in values.items()))
        echo(report({**summary, "tables": tables_of(run.scenario)}, False, False))
    if run.status == "diverged":
        raise Diverged(divergence(summary["diverged"], run.scenario))
    return INTERRUPTED if run.status == "interrupted" else 0
