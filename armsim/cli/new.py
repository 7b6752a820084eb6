"""`armsim new`"""

from __future__ import annotations

import click

from armsim.cli.options import Display, doubts_of, flag, grouped, quiet_options
from armsim.errors import UsageError
from armsim.records import record
from armsim.text_columns import aligned


@record
class TableFile:
    """A DH table.

    Attributes:
        path: Its file; None for none.
        degrees: Whether angles without a unit are degrees.
    """

    path: str | None
    degrees: bool


@click.command(
    "new",
    epilog="""\b
Examples:
  armsim new my_arm                            four joints, modified DH
  armsim new my_arm --joints 6 --convention dh
  armsim new my_arm --planar 2                 rods in a plane, with l1 and m1
  armsim new my_arm --dh table.csv --deg       by a DH table
  armsim simulate my_arm/scenario.yaml         it runs as it stands
""",
)
@click.argument("name")
@click.option("--joints", type=click.IntRange(1, 10), default=4, show_default=True, help="Number of joints.")
@click.option(
    "--convention",
    type=click.Choice(["mdh", "dh"]),
    default="mdh",
    show_default=True,
    help="Modified or standard DH.",
)
@click.option("--planar", type=click.IntRange(1, 10), metavar="N", help="N rods in a vertical plane instead.")
@grouped(
    "table",
    TableFile,
    click.option(
        "--dh",
        "path",
        metavar="FILE",
        help="The arm of a DH table: columns a, alpha, d, theta, and mass if known; units in the heading or the cells.",
    ),
    flag("--deg", "degrees", help="Angles of the table without a unit are degrees."),
)
@quiet_options
def command(name: str, joints: int, convention: str, planar: int | None, table: TableFile, display: Display) -> int:
    """Write a robot and a scenario to begin with, in a new folder NAME."""
    from armsim.authoring.starter import write_starter
    from armsim.authoring.table_arm import read_table
    from armsim.loading import read_scenario

    if planar and table.path:
        raise UsageError.of("--planar", "one of --planar and --dh", "both", "leave one out")
    read = read_table(table.path, table.degrees) if table.path else None
    rows = None if read is None else read.rows
    robot, scenario, *_ = write_starter(name, planar or joints, convention, planar is not None, rows)
    doubts_of(read_scenario(scenario))
    others = [] if read is None else read.others
    display.say(
        *aligned([[robot, "the arm: change its numbers to yours"], [scenario, "what happens to it"]]),
        *([f"! columns of {table.path} that are left out: {', '.join(others)}"] if others else []),
        f"\nnext: armsim simulate {scenario}",
    )
    return 0
