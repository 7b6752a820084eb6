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
""",
)
@click.argument("run", metavar="RUN")
@click.option("-o", "--output", metavar="FILE", help="The page, .html. [default: <RUN>.html, here]")
@click.option("--deg", "degrees", is_flag=True, help="Give joint angles in degrees.")
@click.option("--force", is_flag=True, help="Replace a page that is there.")
@quiet_option
def command(run: str, output: str | None, degrees: bool, force: bool, quiet: bool) -> int:
    """Write a page of RUN, a folder of `armsim simulate`, to print or to mail.

    It has the arm in three dimensions and its curves, as `armsim view`; then what came of the run, with its figures of
    merit, and what its scenario and robot are.
    """
    from armsim.reports.run_page import report

    target = output or picture_name(run, "html")
    report(run, target, degrees, force)
    if not quiet:
        echo(f"written  {target}, {os.path.getsize(target) / 1e6:.1f} MB")
    return 0
