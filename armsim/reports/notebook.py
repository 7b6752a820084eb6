"""What notebooks show: the report of a result, the figure of a run, the picture of a robot."""

from __future__ import annotations

import base64
from importlib import import_module
from typing import Any

from armsim.arm.robot import Robot
from armsim.errors import ArmsimError
from armsim.figures.drawn_arm import DrawnArm
from armsim.figures.drawn_run import drawn
from armsim.figures.picture import check_matplotlib
from armsim.figures.plot import plot as plot
from armsim.figures.robot_picture import draw_arm
from armsim.figures.run import draw_run
from armsim.reports.html import html
from armsim.simulation.result import Result

REPORTS = {  # of a result, by the name of its class
    "ComparedSeries": "comparison.compared_series",
    "Convergence": "convergence.report",
    "Excitation": "excitation.report",
    "Followed": "comparison.followed",
    "Gradients": "gradients.report",
    "Identification": "identification.report",
    "LinearModel": "linear.report",
    "LinearSystem": "linear.of_system",
    "MotionPlan": "plan.of_plan",
    "PlannedMotion": "reference.report",
    "Recording": "recording.report",
    "Replay": "comparison.replayed",
    "Robot": "info.of_robot",
    "Run": "simulation.of_run",
    "Runs": "study.of_runs",
    "TuningResult": "tuning.report",
}


def shown(result: Any) -> str:
    """The report of a result in HTML, and its picture."""
    name = next(of.__name__ for of in type(result).__mro__ if of.__name__ in REPORTS)
    module, report = REPORTS[name].split(".")
    lines = getattr(import_module(f"armsim.reports.{module}"), report)(result)
    return f"<div>{html(lines)}</div>{_image(result)}"


def _image(result: Any) -> str:
    """A run's figure, or a robot at its initial pose; empty of others, without matplotlib, or if it cannot be drawn."""
    try:
        check_matplotlib("notebook")
        if isinstance(result, Robot):
            figure = draw_arm(DrawnArm.of_robot(result), result.initial.tolist())
        elif isinstance(result, Result):
            figure = draw_run(drawn(result))
        else:
            return ""
        png = figure._repr_png_()
    except ArmsimError:
        return ""
    return f'<img alt="its picture" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
