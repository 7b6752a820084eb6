"""`armsim list`"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from armsim.cli.options import flag, print_json, quiet_option
from armsim.notebook import counted
from armsim.records import as_plain
from armsim.reports.source import source_facts
from armsim.reports.table import WIDTH, number
from armsim.terminal.streams import bold, echo

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
@flag("--json", "as_json", help="Print names, descriptions and files as JSON.")
@quiet_option
@flag("-v", "--verbose", help="Say where their files are.")
def command(as_json: bool, quiet: bool, verbose: bool) -> int:
    """Print the robots, scenarios and studies that come with armsim; commands take their names."""
    from armsim.arm.catalog import catalog

    found = catalog()
    if as_json:
        print_json(found)
        return 0
    if quiet:
        return 0
    parts = []
    for kind, items in found.items():
        formatter = click.HelpFormatter(width=WIDTH)
        formatter.write_dl([(item.name, _line(item)) for item in items], col_max=30)
        head = bold(kind)
        if verbose and items:
            head += f"  in {os.path.dirname(items[0].file)}"
        parts.append(f"{head}\n{formatter.getvalue().rstrip()}")
    echo("\n\n".join(parts))
    return 0


def _line(item: ShippedFile) -> str:
    """What is said of a file; of a robot with its figures."""
    robot = item.robot
    if robot is None:
        return item.about
    reach = "no end to its reach" if robot.reach is None else f"reach {number(robot.reach, 3)} m"
    return ", ".join([f"{item.about} {counted(robot.joints, 'joint')}", reach, *source_facts(as_plain(robot))])
