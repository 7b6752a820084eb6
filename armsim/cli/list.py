"""`armsim list`"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from armsim.cli.options import Display, flag, grouped, quiet_option
from armsim.notebook import counted
from armsim.records import as_plain
from armsim.reports.source import source_facts
from armsim.reports.table import Report, number, sections
from armsim.terminal.streams import bold
from armsim.text_columns import WIDTH, aligned

if TYPE_CHECKING:
    from armsim.arm.catalog import ShippedFile


@click.command(
    "list",
    epilog="""\b
Examples:
  armsim list
  armsim list -v                 with their files, to copy and change
  armsim simulate arm5_hold      run one of them
""",
)
@grouped(
    "display",
    Display,
    flag("--json", "as_json", help="Print names, descriptions and files as JSON."),
    quiet_option,
    flag("-v", "--verbose", help="Say where their files are."),
)
def command(display: Display) -> int:
    """Print the robots, scenarios and studies that come with armsim; commands take their names."""
    from armsim.arm.catalog import catalog

    found = catalog()
    display.print(lambda: found, lambda: sections(*(_section(*each, display.verbose) for each in found.items())))
    return 0


def _section(kind: str, items: Sequence[ShippedFile], verbose: bool) -> Report:
    """A kind of files, a line each."""
    where = f"  in {os.path.dirname(items[0].file)}" if verbose and items else ""
    return [bold(kind) + where, *aligned([[item.name, _line(item)] for item in items], width=WIDTH)]


def _line(item: ShippedFile) -> str:
    """What is said of a file; of a robot with its figures."""
    robot = item.robot
    if robot is None:
        return item.about
    reach = "no end to its reach" if robot.reach is None else f"reach {number(robot.reach, 3)} m"
    return ", ".join([f"{item.about} {counted(robot.joints, 'joint')}", reach, *source_facts(as_plain(robot))])
