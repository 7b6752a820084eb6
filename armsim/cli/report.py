"""`armsim report`"""

from __future__ import annotations

import os

import click

from armsim.cli.options import SETTINGS, quiet_option
from armsim.cli.plot import picture_name
from armsim.terminal.streams import echo


@click.command(
    "report",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim report runs/arm5_reach-001             writes arm5_reach-001.html
  armsim report runs/arm5_reach-001 --deg -o reach.html
  armsim report studies/arm5_hold-001 --by overshoot
  armsim report tuned                           of a tuning
""",
)
@click.argument("run", metavar="RUN|STUDY")
@click.option("-o", "--output", metavar="FILE", help="The page, .html. [default: <its name>.html, here]")
@click.option("--deg", "degrees", is_flag=True, help="Give joint angles in degrees.")
@click.option("--by", metavar="MEASURE", help="Of a study: best is the least of this. [default: the first measure]")
@click.option("--largest", is_flag=True, help="Of a study: the largest is best.")
@click.option("--force", is_flag=True, help="Replace a page that is there.")
@quiet_option
def command(
    run: str, output: str | None, degrees: bool, by: str | None, largest: bool, force: bool, quiet: bool
) -> int:
    """Write a page of RUN, a folder of `armsim simulate`, or of STUDY, one of `armsim sweep` or `armsim tune`, to print or mail.

    Of a run it has the arm in three dimensions and its curves, as `armsim view`; then what came of it, with its figures of
    merit, and what its scenario and robot are. Of a study it has what was asked, how the runs ended and why, a picture of the
    measure, the best runs, and the best one as a run; of a tuning where the numbers hold, and a run with them.
    """
    from armsim.reports.run_page import report

    target = output or picture_name(run, "html")
    report(run, target, degrees, force, by, largest)
    if not quiet:
        echo(f"written  {target}, {os.path.getsize(target) / 1e6:.1f} MB")
    return 0
