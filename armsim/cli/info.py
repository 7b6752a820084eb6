"""`armsim info`"""

from __future__ import annotations

import click

from armsim.cli.options import Display, Overrides, display_options, file_argument, flag, set_option


@click.command(
    "info",
    epilog="""\b
Examples:
  armsim info arm5                       a robot: links, masses, motors
  armsim info arm5_hold                  a scenario: its times, gains, robot
  armsim info arm5_hold --set control.kp=100
  armsim info two_link --resolved        every number, and where it came from
""",
)
@file_argument
@set_option
@flag("--resolved", help="Print every number instead, and where it came from.")
@flag("--deg", "degrees", help="Print joint angles in degrees.")
@display_options
def command(file: str, overrides: Overrides, resolved: bool, display: Display) -> int:
    """Print the numbers of a robot or scenario file, and what follows from them.

    For a robot: joints, motors, links, mass, reach; mass matrix and holding torques at its initial pose. For a scenario, first:
    method, steps, rows, and the gains as seen at the joints. FILE is a file, the name of a shipped one, or the run.yaml of a
    finished run.
    """
    from armsim.reports.info import in_unit, report
    from armsim.reports.info import resolved as resolved_report

    if resolved:
        from armsim.arm.provenance import origins

        found = [origin.in_degrees() if display.degrees else origin for origin in origins(file, overrides)]
        display.print(lambda: found, lambda: resolved_report(found, display.verbose))
        return 0
    from armsim.arm.overview import overview

    facts = in_unit(overview(file, overrides), display.degrees)
    display.print(lambda: facts, lambda: report(facts, display.degrees, display.digits))
    return 0
