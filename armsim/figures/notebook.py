"""What notebooks show: the figure of a run, the picture of a robot."""

from __future__ import annotations

from armsim.arm.robot import Robot
from armsim.figures.drawn_run import DrawnArm, drawn
from armsim.figures.picture import png_of
from armsim.figures.robot_picture import draw_arm
from armsim.figures.run import draw_run
from armsim.simulation.result import Result

DPI = 80


def png(shown: Result | Robot) -> bytes:
    """A run's figure, or a robot at its initial pose, as PNG.

    Raises:
        ArmsimError: It cannot be drawn.
    """
    if isinstance(shown, Robot):
        figure = draw_arm(DrawnArm.of_robot(shown), shown.initial.tolist())
    else:
        figure = draw_run(drawn(shown))
    return png_of(figure, DPI)
