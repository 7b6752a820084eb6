"""`armsim info`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    SETTINGS,
    Settings,
    json_option,
    print_json,
    quiet_option,
    set_option,
    shipped,
    verbose_option,
)
from armsim.terminal.streams import echo


@click.command(
    "info",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim info arm5                       a robot: links, masses, motors
  armsim info arm5_hold                  a scenario: its times, gains, robot
  armsim info arm5_hold --set control.kp=100
  armsim info two_link --resolved        every number, and where it came from
""",
)
@click.argument("file", metavar="ROBOT|SCENARIO", shell_complete=shipped("robots", "configs"))
@set_option
@click.option("--resolved", is_flag=True, help="Print every number instead, and where it came from.")
@click.option("--deg", "degrees", is_flag=True, help="Print joint angles in degrees.")
@json_option
@quiet_option
@verbose_option
def command(
    file: str, settings: Settings, resolved: bool, degrees: bool, as_json: bool, quiet: bool, verbose: bool
) -> int:
    """Print what a robot or scenario file says, in numbers, and what follows from it.

    Of a robot: joints, motors, links, mass, reach, and at its initial pose the mass matrix and what holds it. Of a scenario
    first: method, steps, rows, and what its gains come to at the joints. It takes files, names of shipped ones, and the
    run.yaml of a finished run.
    """
    from armsim.reports.info import report, turn, turned
    from armsim.reports.info import resolved as resolved_report

    if resolved:
        from armsim.arm.provenance import origins

        found = [turned(origin) if degrees else origin for origin in origins(file, settings)]
        if as_json:
            print_json([vars(origin) for origin in found])
        elif not quiet:
            echo(resolved_report(found, verbose))
        return 0
    from armsim.arm.overview import overview

    facts = overview(file, settings)
    if degrees:
        turn(facts)
    if as_json:
        print_json(facts)
    elif not quiet:
        echo(report(facts, "deg" if degrees else "rad", 10 if verbose else 5))
    return 0
