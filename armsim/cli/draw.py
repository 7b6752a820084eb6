"""`armsim draw`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    Display,
    Overrides,
    flag,
    joint_values,
    q_option,
    quiet_options,
    read_robot,
    robot_argument,
    set_option,
)
from armsim.cli.pictures import OutputFile, picture_options
from armsim.errors import UsageError
from armsim.figures.style import VIEWS, View

view_option = click.option(
    "--view", type=click.Choice(VIEWS), default="auto", help="From where. [default: a planar arm's plane, else iso]"
)


@click.command(
    "draw",
    epilog="""\b
Examples:
  armsim draw arm5                              writes arm5.png
  armsim draw my_arm.yaml --deg --q 0,40,-60 -o arm.pdf
  armsim draw arm5 --view side --set parameters.upper=0.5 --show
""",
)
@robot_argument
@click.option(
    "-o", "--output", "path", metavar="FILE", help="The picture: .png, .svg, .pdf, ... [default: <its name>.png, here]"
)
@q_option
@view_option
@set_option
@flag("--deg", "degrees", help="Take and write joint angles in degrees.")
@picture_options
@quiet_options
def command(robot: str, q: str | None, view: View, overrides: Overrides, output: OutputFile, display: Display) -> int:
    """Draw ROBOT at a pose: its solids, the frames of its links, the ranges of its joints, centre of mass and lengths.

    Sectors are the ranges of joints, from the way the link points; dash-dotted lines their axes. A mass without a shape is
    drawn as a ball of steel, a link without solids as a thin bar. Takes matplotlib: pip install "armsim[plot]".
    """
    from armsim.figures.picture import show
    from armsim.figures.robot_picture import draw

    arm = read_robot(robot, overrides)
    pose = None if q is None else joint_values("q", q, arm, display.degrees)
    name = "".join(c if c.isalnum() or c in "-_." else "_" for c in arm.name)
    target = None if output.none else output.path or f"{name}.png"
    if target is not None and not target.strip("."):
        raise UsageError.of(robot, "a robot with a name", arm.name, "name the picture with -o")
    figure = draw(robot, target, pose, overrides, view, display.degrees, output.force)
    if target is not None:
        display.say(f"drawn    {target}")
    if output.window:
        show(figure)
    return 0
