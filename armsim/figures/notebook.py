"""What notebooks show: the figure of a run, the picture of a robot."""

from __future__ import annotations

import base64

from armsim.arm.robot import Robot
from armsim.errors import ArmsimError
from armsim.figures.drawn_arm import DrawnArm
from armsim.figures.drawn_run import drawn
from armsim.figures.picture import check_matplotlib
from armsim.figures.plot import plot as plot
from armsim.figures.robot_picture import draw_arm
from armsim.figures.run import draw_run
from armsim.simulation.result import Result


def image_html(shown: Result | Robot) -> str:
    """A run's figure, or a robot at its initial pose, in HTML; empty where matplotlib is missing, or it cannot be drawn."""
    try:
        check_matplotlib("notebook")
        if isinstance(shown, Robot):
            figure = draw_arm(DrawnArm.of_robot(shown), shown.initial.tolist())
        else:
            figure = draw_run(drawn(shown))
        png = figure._repr_png_()
    except ArmsimError:
        return ""
    return f'<img alt="its picture" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
