"""`armsim new`"""

from __future__ import annotations

import click

from armsim.cli.options import SETTINGS, quiet_option
from armsim.terminal.streams import echo


@click.command(
    "new",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim new my_arm                            four joints, modified DH
  armsim new my_arm --joints 6 --convention dh
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
@quiet_option
def command(name: str, joints: int, convention: str, quiet: bool) -> int:
    """Write a robot and a scenario to begin with, in a new folder NAME."""
    from armsim.authoring.starter import write_starter

    robot, scenario, *_ = write_starter(name, joints, convention)
    if not quiet:
        echo(f"{robot:<{len(scenario)}}  the arm: change its numbers to yours\n{scenario}  what happens to it")
        echo(f"\nnext: armsim simulate {scenario}")
    return 0
