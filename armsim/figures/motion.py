"""Motions that are no runs, drawn: of `armsim advance` and of `armsim reference`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from armsim.arm.advance import Advanced
from armsim.arm.planned import PlannedMotion
from armsim.arm.robot import Robot
from armsim.document.base import plain
from armsim.figures.drawn_run import columns_over_time
from armsim.figures.run import draw_run
from armsim.loading import resolved_robot
from armsim.plant.columns import spellings

MOMENTS = 301


def moments(duration: float) -> np.ndarray:
    """The times at which a motion of so many seconds is drawn [s]."""
    return np.linspace(0.0, duration, MOMENTS if duration > 0 else 1)


def motion_figure(
    robot: Robot, times: np.ndarray, motion: Advanced, torque: Sequence[float], degrees: bool = False
) -> Any:
    """A figure of a motion under constant torques.

    Args:
        robot: Of a file.
        times: Of the motion, see `moments`.
        motion: What `Robot.advance` came to at these.
        torque: Of the drives [N·m or N].
        degrees: Draw angles in degrees.
    """
    assert robot.document is not None  # it is of a file
    columns = {"t_s": times}
    for kind, values in {"q": motion.q, "qd": motion.qd, "motor": np.tile(torque, (len(times), 1))}.items():
        for joint, column in zip(robot.arm.joints, values.T, strict=True):
            columns[spellings(kind, joint)[0][0]] = column
    about = {"name": "advance", "duration": float(times[-1]), "robot": plain(resolved_robot(robot.document))}
    return draw_run(columns_over_time("advance", columns, about), degrees=degrees)


def reference_figure(planned: PlannedMotion, degrees: bool = False) -> Any:
    """A figure of a reference, and of the torques, voltages and currents that it asks for; angles in degrees if asked."""
    headings, rows = planned.table()
    columns, scenario = dict(zip(headings, rows.T, strict=True)), planned.scenario
    return draw_run(columns_over_time(scenario.name, columns, scenario.scenario_data), degrees=degrees)
