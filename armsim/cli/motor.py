"""`armsim motor`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    SETTINGS,
    deg_option,
    json_option,
    number_value,
    plot_option,
    print_json,
    quiet_option,
    robot_argument,
    verbose_option,
)
from armsim.errors import UsageError
from armsim.terminal.streams import echo


@click.command(
    "motor",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim motor arm5 --voltage 24               a line for every motor
  armsim motor arm5 --voltage 24 --joint R2    its curve, stall to no load
  armsim motor my_arm.yaml --joint R2 --plot r2.png
""",
)
@robot_argument
@click.option("--joint", metavar="NAME", help="The whole curve of this joint's motor.")
@click.option("--voltage", metavar="V", help="What drives the motors. [default: their limit of voltage]")
@plot_option("Draw the curve of --joint into a picture.")
@deg_option
@json_option
@quiet_option
@verbose_option
def command(
    robot: str,
    joint: str | None,
    voltage: str | None,
    plot: str | None,
    degrees: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Print what the motors of ROBOT can do at their joints, and what share of it holding the arm takes.

    From stall to no load: torque, current and power over speed at a constant voltage. Torques are those left for the arm
    after all friction of motor, gear and joint, in the direction in which the motor holds its joint at the initial pose.
    """
    from armsim.arm.motor_curve import motor_curve, motors
    from armsim.loading import read_robot
    from armsim.reports.motor import curve_text, motors_text, turned

    if plot is not None and joint is None:
        raise UsageError.of(
            f"--plot {plot}", "--joint with it, whose curve is drawn", "no joint", "add for example --joint R2"
        )
    volts = None if voltage is None else number_value("voltage", voltage)
    arm, _ = read_robot(robot)
    digits = 10 if verbose else 5
    if joint is None:
        all_of_them = motors(arm, volts)
        if as_json:
            facts = [turned(found) if degrees else found for found in all_of_them]
            print_json({"robot": arm.name, "motors": facts})
        elif not quiet:
            known = {found["joint"] for found in all_of_them}
            rest = [j.name for j in arm.joints if j.motor is not None and j.name not in known]
            echo(motors_text(arm.name, all_of_them, rest, degrees, digits))
        return 0
    found = motor_curve(arm, joint, volts)
    if plot is not None:
        from armsim.figures.motor import plot_motor

        plot_motor(plot, motor_curve(arm, joint, volts, points=401), f"{joint} of {arm.name}", degrees)
    if as_json:
        print_json({"robot": arm.name, **(turned(found) if degrees else found)})
    elif not quiet:
        drawn = "" if plot is None else f"\ndrawn          {plot}"
        echo(curve_text(arm.name, found, degrees, digits) + drawn)
    return 0
