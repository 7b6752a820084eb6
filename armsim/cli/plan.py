"""`armsim plan`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from armsim.cli.options import (
    Display,
    Overrides,
    check_folder,
    display_options,
    flag,
    grouped,
    read_scenario,
    scenario_argument,
    set_option,
)
from armsim.files.destination import Destination
from armsim.files.folder_kind import PLAN
from armsim.terminal.failure import INTERRUPTED
from armsim.terminal.progress import progress_bar

if TYPE_CHECKING:
    from armsim.planning.search import SearchIteration

UNWELL = 1


@click.command(
    "plan",
    epilog="""\b
Examples:
  armsim plan arm5_plan
  armsim plan pendubot_swingup -o swing
  armsim plan pendubot_swingup --set plan.intervals=100 --set duration=1.5
  armsim plan arm5_plan --set payload[box].mass=0.8 --from plans/arm5_plan-001
  armsim simulate plans/arm5_plan-001/play.yaml    plays it once more
""",
)
@scenario_argument
@click.option(
    "-o", "--output", "folder", metavar="DIR", help="Folder for it [default: plans/<scenario>-001, next free number]."
)
@set_option
@click.option("--from", "warm", metavar="DIR", help="Begin with an earlier plan.")
@grouped(
    "destination",
    Destination,
    flag("--force", help="Replace an earlier plan in the output folder."),
)
@display_options
def command(scenario: str, overrides: Overrides, warm: str | None, destination: Destination, display: Display) -> int:
    """Plan the motion that the `plan` of SCENARIO asks for: inputs over time within all limits, at the least cost.

    plan writes inputs.csv; gains.csv, of a feedback along the plan; play.yaml, a scenario that plays it; and run/, its simulation
    by another method with a tolerance of 1e-9. Takes piqp: pip install "armsim[plan]". Exits with 1 where the task is infeasible,
    and names the limit that keeps it from being possible.
    """
    from armsim.planning.plan import plan
    from armsim.planning.search import MOST
    from armsim.reports.plan import iteration, report

    read, doubts = read_scenario(scenario, overrides)
    check_folder(PLAN, destination)
    with progress_bar("planning", display.progress) as bar:

        def tell(now: SearchIteration) -> None:
            if bar is not None:
                bar.said = iteration(now)
                bar(now.iteration % MOST, MOST)

        found = plan(read, warm=warm, progress=tell)
    folder = found.save(destination.folder, destination.force) if found.run is not None else None
    display.print(
        lambda: {**found.summary(), "folder": None if folder is None else str(folder), "doubts": doubts},
        lambda: report(found.facts, folder, display.verbose),
    )
    if found.status == "interrupted":
        return INTERRUPTED
    return 0 if found.status == "solved" else UNWELL
