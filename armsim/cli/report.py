"""`armsim report`"""

from __future__ import annotations

import os

import click

from armsim.cli.options import Display, flag, grouped, quiet_options
from armsim.cli.pictures import OutputFile, page_option, picture_name, replace_page_option


@click.command(
    "report",
    epilog="""\b
Examples:
  armsim report runs/arm5_reach-001             writes arm5_reach-001.html
  armsim report runs/arm5_reach-001 --deg -o reach.html
  armsim report studies/arm5_hold-001 --by overshoot
  armsim report tuned                           of a tuning
""",
)
@click.argument("run", metavar="RUN|STUDY")
@page_option
@flag("--deg", "degrees", help="Give joint angles in degrees.")
@click.option("--by", metavar="MEASURE", help="Of a study: best is the least of this. [default: the first measure]")
@flag("--largest", help="Of a study: the largest is best.")
@grouped("output", OutputFile, replace_page_option)
@quiet_options
def command(run: str, output: OutputFile, by: str | None, largest: bool, display: Display) -> int:
    """Write a page of RUN, a folder of `armsim simulate`, or of STUDY, one of `armsim sweep` or `armsim tune`, to print or mail.

    The page of a run has the arm in three dimensions and its curves, as `armsim view`, then its results with the
    figures of merit, its scenario and its robot. The page of a study has its question, how the runs ended and why, a picture
    of the measure, the best runs, and the best one as a run; that of a tuning also where the result holds.
    """
    from armsim.reports.run_page import report

    target = output.path or picture_name(run, "html")
    report(run, target, display.degrees, output.force, by, largest)
    display.say(f"written  {target}, {os.path.getsize(target) / 1e6:.1f} MB")
    return 0
