"""`armsim motor`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    Display,
    Overrides,
    angle_options,
    number,
    read_robot,
    robot_argument,
    set_option,
)
from armsim.cli.pictures import plot_option
from armsim.errors import UsageError


@click.command(
    "motor",
    epilog="""\b
Examples:
  armsim motor arm5 --voltage 24               a line for every motor
  armsim motor arm5 --voltage 24 --joint R2    its curve, stall to no load
  armsim motor my_arm.yaml --joint R2 --plot r2.png
  armsim motor my_arm.yaml --set "joints[R2].motor.gear=50" \\
      --set "joints[R2].initial=0"             another gear, another pose
""",
)
@robot_argument
@click.option("--joint", metavar="NAME", help="The whole curve of this joint's motor.")
@click.option(
    "--voltage", callback=number, metavar="V", help="What drives the motors. [default: their limit of voltage]"
)
@plot_option("Draw the curve of --joint into a picture.")
@set_option
@angle_options
def command(
    robot: str,
    overrides: Overrides,
    joint: str | None,
    voltage: float | None,
    plot: str | None,
    display: Display,
) -> int:
    """Print the torque, speed and power of ROBOT's motors at their joints, and the share that holding the arm takes.

    --joint prints torque, current and power over speed, from stall to no load, at a constant voltage. Torques are net of all
    friction of motor, gear and joint, in the direction in which the motor holds its joint at the initial pose.
    """
    from armsim.arm.motor_curve import motor_curve, motors
    from armsim.model.angles import in_unit
    from armsim.reports.motor import curve_text, motors_text

    if plot is not None and joint is None:
        raise UsageError.of(
            f"--plot {plot}", "--joint with it, whose curve is drawn", "no joint", "add for example --joint R2"
        )
    arm = read_robot(robot, overrides)
    if joint is None:
        all_of_them = in_unit(motors(arm, voltage), arm.joints, display.degrees)
        known = {found.joint for found in all_of_them}
        rest = [j.name for j in arm.joints if j.motor is not None and j.name not in known]
        display.print(
            lambda: {"robot": arm.name, "motors": all_of_them},
            lambda: motors_text(arm.name, all_of_them, rest, display.degrees, display.digits),
        )
        return 0
    found = in_unit(motor_curve(arm, joint, voltage), arm.joints, display.degrees)
    if plot is not None:
        from armsim.figures.motor import plot_motor

        fine = in_unit(motor_curve(arm, joint, voltage, points=401), arm.joints, display.degrees)
        plot_motor(plot, fine, f"{joint} of {arm.name}", display.degrees)
    display.print(
        lambda: {"robot": arm.name, **vars(found)},
        lambda: curve_text(arm.name, found, display.degrees, display.digits),
        plot,
    )
    return 0
