"""`armsim simulate`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    SETTINGS,
    Settings,
    check_folder,
    draw_run,
    json_option,
    picture_options,
    print_json,
    quiet_option,
    read_scenario,
    scenario_argument,
    set_option,
    verbose_option,
)
from armsim.errors import Diverged, UsageError
from armsim.terminal.divergence import divergence
from armsim.terminal.failure import INTERRUPTED
from armsim.terminal.progress import progress_bars
from armsim.terminal.streams import echo


@click.command(
    "simulate",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim simulate arm5_hold
  armsim simulate my_arm/hold.yaml -o results
  armsim simulate arm5_hold --set "control.kp[0]=80" --set duration=2
  armsim simulate arm5_hold --set "robot.joints[R2].motor.Ra=1.2" --deg
  armsim simulate arm5_hold --measure iae --measure "max(abs(tau_R2))"
  armsim simulate arm5_reach --plot reach.png --animate reach.gif
  armsim simulate runs/arm5_hold-001/run.yaml -o again    the same, to the bit
""",
)
@scenario_argument
@click.option(
    "-o", "--output", metavar="DIR", help="Folder for the run [default: runs/<scenario>-001, next free number]."
)
@set_option
@click.option(
    "--measure",
    "measures",
    metavar="NAME",
    multiple=True,
    help="Also measure this over all steps: iae, settling_time_R2, max(abs(tau_R2)), ... (docs/measures.md); repeatable.",
)
@click.option("--force", is_flag=True, help="Replace an earlier armsim run in the output folder, and pictures.")
@click.option(
    "--engine",
    type=click.Choice(["llvm", "python"]),
    default="llvm",
    show_default=True,
    help="Same bits; python is slow.",
)
@click.option("--force-step", is_flag=True, help="Run even if the step is known to be too long.")
@click.option("--deg", "degrees", is_flag=True, help="Print and write joint angles in degrees.")
@picture_options(film=True)
@json_option
@quiet_option
@verbose_option
def command(
    scenario: str,
    output: str | None,
    settings: Settings,
    measures: tuple[str, ...],
    force: bool,
    engine: str,
    force_step: bool,
    degrees: bool,
    plot: str | None,
    animate: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run SCENARIO, a scenario file or the name of a shipped one, and write trajectory.csv, torque.csv and run.yaml.

    Many rows are written while the run goes on. `log: {format: parquet}` in the scenario writes Parquet in place of CSV.

    The energy of the arm is held against the work that was done on it. The residual, which no work explains, is energy
    that the integrator made or lost; it is given in percent of the energy exchanged: the largest work, kinetic energy,
    or rise or fall of potential energy in the run. The error of the motion is estimated apart, by repeating the run, or
    parts of a long one, with half the step: it sees what an energy balance does not.
    """
    from armsim.simulation.simulate import simulate_into

    check_folder(output, force)
    read, doubts = read_scenario(scenario, settings)
    with progress_bars("simulating", "saving", not quiet and not as_json) as (progress, saving):
        run, folder = simulate_into(output, read, None, engine, progress, force_step, measures, force, degrees, saving)
    summary = {**run.summary(), "folder": str(folder)}
    if as_json:
        from armsim.reports.simulation import in_degrees

        print_json({**(in_degrees(summary) if degrees else summary), "doubts": doubts})
    elif not quiet:
        from armsim.reports.simulation import report
        from armsim.simulation.folder import tables_of

        echo(report({**summary, "tables": tables_of(run.scenario)}, degrees, verbose))
    draw_run(folder, plot, animate, degrees, quiet or as_json)
    if run.failure:
        found = f"{run.failure} after {run.count} rows"
        mend = f"make room, or log less often\n({folder} has these rows, and the run is marked as interrupted)"
        raise UsageError.of(str(folder), "room for the rows", found, mend)
    if run.status == "diverged":
        raise Diverged(divergence(summary["diverged"], run.scenario))
    return INTERRUPTED if run.status == "interrupted" else 0
