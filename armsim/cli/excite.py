"""`armsim excite`"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from armsim.actuation import OUTPUTS
from armsim.cli.options import Display, display_options, flag, grouped, number, number_value, robot_argument
from armsim.files.destination import Destination
from armsim.records import record


def numbers(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    """One number for all joints, or one for each separated by commas; None for none."""
    if text is None:
        return None
    found = [number_value(parameter.opts[0].removeprefix("--"), part) for part in text.split(",")]
    return found[0] if len(found) == 1 else found


def per_joint(name: str, what: str, default: str | None = None) -> Callable[[Any], Any]:
    """An option with one number for all joints, or one for each."""
    return click.option(
        f"--{name}", metavar="X[,X...]", callback=numbers, default=default, show_default=default is not None, help=what
    )


@record
class Sensors:
    """What a log will have, and how noisy it will be; see `armsim.excite`."""

    measured: str
    noise: Any
    command_noise: Any
    rate: float


@record
class JointMotion:
    """The motion that is sought; see `armsim.excite`."""

    duration: float
    speed: Any
    acceleration: Any
    seed: int


@click.command(
    "excite",
    epilog="""\b
Examples:
  armsim excite arm5 --open "joints[*].friction.viscous" --open payload.mass
  armsim excite puma560 --open friction --open masses
  armsim excite arm5 --open payload.mass --measured voltage --noise 2e-4 \\
      --command-noise 0.05 --speed 1.5 -o excite
  armsim simulate excite/excite.yaml       the arm follows it
""",
)
@robot_argument
@click.option(
    "--open",
    "opened",
    multiple=True,
    metavar="PATH",
    help="Numbers to show: a path, a pattern, or friction, motors, payload, masses, base; repeatable. [default: friction]",
)
@click.option("--duration", callback=number, default="10", show_default=True, metavar="T", help="Of the motion [s].")
@grouped(
    "sensors",
    Sensors,
    click.option(
        "--measured",
        type=click.Choice(OUTPUTS),
        default="torque",
        show_default=True,
        help="In the log beside positions.",
    ),
    per_joint("noise", "Standard deviation of measured positions [rad or m].", "1e-4"),
    per_joint("command-noise", "Of measured torques, currents or voltages.", "0"),
    click.option("--rate", callback=number, default="1000", show_default=True, metavar="HZ", help="Rows a second."),
)
@grouped(
    "motion",
    JointMotion,
    per_joint("speed", "Greatest speed. [default: 2 rad/s, 0.2 m/s]"),
    per_joint("acceleration", "Greatest acceleration. [default: 10 rad/s², 1 m/s²]"),
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the search.")
@grouped(
    "files",
    Destination,
    click.option("-o", "--output", "folder", metavar="DIR", help="Write a scenario and a CSV of the motion there."),
    flag("--force", help="Let -o replace files that exist."),
)
@display_options
def command(
    robot: str,
    opened: tuple[str, ...],
    sensors: Sensors,
    motion: JointMotion,
    files: Destination,
    display: Display,
) -> int:
    """Find a motion of ROBOT that shows numbers of its file, and how well a log of it will tell them.

    A Fourier series, at rest at both ends, within ranges, speeds and accelerations of the joints and the limits of the motors.
    95 % intervals are those of the linear estimate under the sensors' noise. Collisions are not looked at: watch it first, in
    `armsim view` or `armsim simulate`.
    """
    import os

    from armsim.files.new_file import check_output
    from armsim.identification.excite import SCENARIO, TABLE, excite, save
    from armsim.identification.unknowns import FRICTION
    from armsim.reports.excitation import report

    if files.folder is not None and os.path.lexists(files.folder):
        for name in (SCENARIO, TABLE):
            check_output(os.path.join(files.folder, name), [robot], files.force)
    found = excite(robot, opened or FRICTION, **vars(motion), **vars(sensors))
    written = [] if files.folder is None else save(found, robot, str(files.folder))
    display.print(lambda: {**vars(found), "files": written}, lambda: report(found, display.digits, written))
    return 0
