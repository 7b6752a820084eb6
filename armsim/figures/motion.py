"""Motions that are no runs, drawn: of `armsim advance` and of `armsim reference`."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

import numpy as np

from armsim.arm.advance import Advanced
from armsim.arm.planned import PlannedMotion
from armsim.arm.robot import Robot
from armsim.figures.drawn_run import columns_over_time
from armsim.figures.plot import plot
from armsim.loading import resolved_robot
from armsim.plant.columns import spellings

MOMENTS = 301


def moments(duration: float) -> np.ndarray:
    """The times at which a motion of so many seconds is drawn [s]."""
    return np.linspace(0.0, duration, MOMENTS if duration > 0 else 1)


def plot_motion(
    path: str | PathLike[str],
    robot: Robot,
    times: np.ndarray,
    motion: Advanced,
    torque: Sequence[float],
    degrees: bool,
) -> None:
    """Draw a motion under constant torques into a file.

    Args:
        path: The picture; its suffix gives the format.
        robot: Of a file.
        times: Of the motion, see `moments`.
        motion: What `Robot.advance` came to at these.
        torque: Of the drives [N·m or N].
        degrees: Draw angles in degrees.

    Raises:
        UsageError: It cannot be drawn or written.
    """
    assert robot.data is not None  # it is of a file
    columns = {"t_s": times}
    for kind, values in {"q": motion.q, "qd": motion.qd, "motor": np.tile(torque, (len(times), 1))}.items():
        for joint, column in zip(robot.arm.joints, values.T, strict=True):
            columns[spellings(kind, joint)[0][0]] = column
    about = {"name": "advance", "duration": float(times[-1]), "robot": resolved_robot(robot.data)}
    plot(columns_over_time("advance", columns, about), path, degrees=degrees, force=True, option="--plot")


def plot_reference(planned: PlannedMotion, path: str | PathLike[str], degrees: bool) -> None:
    """Draw a reference, and the torques, voltages and currents that it asks for, into a file.

    Args:
        planned: The reference.
        path: The picture; its suffix gives the format.
        degrees: Draw angles in degrees.

    Raises:
        UsageError: It cannot be drawn or written.
    """
    headings, rows = planned.table()
    drawn = columns_over_time(
        planned.scenario.name, dict(zip(headings, rows.T, strict=True)), planned.scenario.scenario_data
    )
    plot(drawn, path, degrees=degrees, force=True, option="--plot")
