"""`armsim draw`"""

from __future__ import annotations

import click

from armsim.cli.options import SETTINGS, Settings, joint_values, q_option, quiet_option, robot_argument, set_option
from armsim.errors import UsageError
from armsim.figures.style import VIEWS
from armsim.terminal.streams import echo


@click.command(
    "draw",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim draw arm5                              writes arm5.png
  armsim draw my_arm.yaml --deg --q 0,40,-60 -o arm.pdf
  armsim draw arm5 --view side --set parameters.upper=0.5 --show
""",
)
@robot_argument
@click.option(
    "-o", "--output", metavar="FILE", help="The picture: .png, .svg, .pdf, ... [default: <its name>.png, here]"
)
@q_option
@click.option(
    "--view", type=click.Choice(VIEWS), default="auto", help="From where. [default: a planar arm's plane, else iso]"
)
@set_option
@click.option("--deg", "degrees", is_flag=True, help="Take and write joint angles in degrees.")
@click.option("--show", "window", is_flag=True, help="Open a window; without -o no file is written.")
@click.option("--force", is_flag=True, help="Replace a picture that is there.")
@quiet_option
def command(
    robot: str,
    output: str | None,
    q: str | None,
    view: str,
    settings: Settings,
    degrees: bool,
    window: bool,
    force: bool,
    quiet: bool,
) -> int:
    """Draw ROBOT at a pose: its solids, the frames of its links, the ranges of its joints, centre of mass and lengths.

    Sectors are the ranges of joints, from the way the link points; dash-dotted lines their axes. A mass without a shape is
    drawn as a ball of steel, a link without solids as a thin bar. Takes matplotlib: pip install "armsim[plot]".
    """
    from armsim.figures.picture import show
    from armsim.figures.robot_picture import draw
    from armsim.loading import read_robot

    arm, _ = read_robot(robot, settings)
    pose = None if q is None else joint_values("q", q, arm, degrees)
    name = "".join(c if c.isalnum() or c in "-_." else "_" for c in arm.name)
    target = None if window and output is None else output or f"{name}.png"
    if target is not None and not target.strip("."):
        raise UsageError.of(robot, "a robot with a name", arm.name, "name the picture with -o")
    figure = draw(robot, target, pose, settings, view, degrees, force)  # type: ignore[arg-type]  # a choice
    if target is not None and not quiet:
        echo(f"drawn    {target}")
    if window:
        show(figure)
    return 0
