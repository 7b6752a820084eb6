"""`armsim simulate`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    Display,
    Overrides,
    check_folder,
    display_options,
    flag,
    force_step_option,
    grouped,
    read_scenario,
    scenario_argument,
    set_option,
)
from armsim.cli.pictures import Pictures, plot_run_option
from armsim.errors import Diverged, UsageError
from armsim.files.destination import Destination
from armsim.files.faults import Doubt
from armsim.files.folder_kind import RUN
from armsim.files.known_data import KnownData
from armsim.reports.written_run import report
from armsim.simulation.execution import Execution
from armsim.simulation.known_run import KnownRun
from armsim.terminal.failure import INTERRUPTED
from armsim.terminal.progress import progress_bars
from armsim.terminal.streams import bold


@click.command(
    "simulate",
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
    "-o",
    "--output",
    "folder",
    metavar="DIR",
    help="Folder for the run [default: runs/<scenario>-001, next free number].",
)
@set_option
@click.option(
    "--measure",
    metavar="NAME",
    multiple=True,
    help="Also measure this over all steps: iae, settling_time_R2, max(abs(tau_R2)), ... (docs/measures.md); repeatable.",
)
@grouped(
    "destination",
    Destination,
    flag("--force", help="Replace an earlier armsim run in the output folder, and pictures."),
)
@grouped(
    "execution",
    Execution,
    click.option(
        "--engine",
        type=click.Choice(["llvm", "python"]),
        default="llvm",
        show_default=True,
        help="Same bits; python is slow.",
    ),
    force_step_option,
)
@flag("--deg", "degrees", help="Print and write joint angles in degrees.")
@grouped(
    "pictures",
    Pictures,
    click.option(
        "--animate",
        metavar="FILE",
        help="Draw the arm in motion, .gif or .mp4, or poses, .png, as `armsim animate` does.",
    ),
    plot_run_option,
)
@display_options
def command(
    scenario: str,
    overrides: Overrides,
    destination: Destination,
    execution: Execution,
    pictures: Pictures,
    display: Display,
) -> int:
    """Run SCENARIO, a scenario file or the name of a shipped one, and write trajectory.csv, torque.csv and run.yaml.

    Many rows are written while the run goes on. `log: {format: parquet}` in the scenario writes Parquet in place of CSV.

    The energy of the arm is held against the work that was done on it. The residual, which no work explains, is energy
    that the integrator made or lost; it is given in percent of the energy exchanged: the largest work, kinetic energy,
    or rise or fall of potential energy in the run. The error of the motion is estimated apart, by repeating the run, or
    parts of a long one, with half the step: it sees what an energy balance does not.
    """
    pictures.check(destination.force)
    check_folder(RUN, destination)
    known = KnownData("simulate", scenario, overrides, execution, display, bold(""))
    before, doubts, run = known.data(), list[Doubt](), None
    made = None if before is None else KnownRun(**before).repeated(destination)
    if made is None:
        from armsim.reports.simulation import written_run
        from armsim.simulation.simulate import known_run, simulate_into

        read, doubts = read_scenario(scenario, overrides)
        with progress_bars("simulating", "saving", display.progress) as (progress, saving):
            run, folder = simulate_into(destination, read, execution, display.degrees, progress, saving)
        made = written_run(run.facts, folder, run.tables, display.degrees, display.verbose)
        if not doubts:
            known.keep(known_run(run, made, execution, display.degrees), run.scenario.sources)
    told = made
    display.print(
        lambda: {**told.summary, "folder": told.folder, "doubts": doubts}, lambda: report(told, display.verbose)
    )
    pictures.draw(made.folder, display)
    if run is None:
        return 0
    if run.failure:
        found = f"{run.failure} after {run.count} rows"
        mend = f"make room, or log less often\n({made.folder} has these rows, and the run is marked as interrupted)"
        raise UsageError.of(made.folder, "room for the rows", found, mend)
    if run.facts.diverged is not None:
        from armsim.terminal.divergence import divergence

        raise Diverged(divergence(run.facts.diverged, run.scenario))
    return INTERRUPTED if run.status == "interrupted" else 0
