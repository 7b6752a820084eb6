"""Inverse dynamics of a recorded or planned motion."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from armsim.arm.robot import Array, Robot
from armsim.errors import UsageError
from armsim.plant.columns import spellings


def motion_of(robot: Robot, columns: Mapping[str, Sequence[float]]) -> tuple[Array, Array, Array, Array]:
    """Time, positions, velocities and accelerations from the columns of a trajectory.csv.

    Absent velocities and accelerations are finite differences of second order: central, one-sided at the ends.

    Args:
        robot: The arm, n joints.
        columns: Values by heading: `t_s`, `q_R1_rad` (or `_deg`, `_m`), and so on.

    Returns:
        t [s], shape (m,); q, qd, qdd in rad (or m), shape (m, n).

    Raises:
        UsageError: A column is missing, or the times do not increase.
    """
    t = np.array(_column(columns, ["t_s"]))
    if np.any(np.diff(t) <= 0):
        k = int(np.argmax(np.diff(t) <= 0))
        raise UsageError.of(
            "t_s",
            "times that increase from row to row",
            f"{float(t[k + 1])!r} after {float(t[k])!r}",
            "sort the rows, and leave each time once",
        )
    q = _joint_columns(robot, columns, "q")
    if q is None:
        raise UsageError(_missing(columns, _headings(robot, 0, "q")))
    qd = _joint_columns(robot, columns, "qd")
    if qd is None:
        qd = _differentiated(q, t)
    qdd = _joint_columns(robot, columns, "qdd")
    if qdd is None:
        qdd = _differentiated(qd, t)
    return t, q, qd, qdd


def _joint_columns(robot: Robot, columns: Mapping[str, Sequence[float]], quantity: str) -> Array | None:
    """The columns of one quantity, shape (m, n); None if all are absent."""
    wanted = [_headings(robot, i, quantity) for i in range(robot.arm.n)]
    if not any(heading in columns for headings in wanted for heading in headings):
        return None
    values = []
    for headings in wanted:
        heading = next((h for h in headings if h in columns), None)
        if heading is None:
            raise _missing(columns, headings)
        values.append(np.array(columns[heading]) * (1.0 if heading == headings[0] else math.radians(1.0)))
    return np.stack(values, axis=1)


def _headings(robot: Robot, i: int, quantity: str) -> list[str]:
    return [text for text, _ in spellings(quantity, robot.arm.joints[i])]


def _column(columns: Mapping[str, Sequence[float]], headings: list[str]) -> Sequence[float]:
    if headings[0] not in columns:
        raise _missing(columns, headings)
    return columns[headings[0]]


def _missing(columns: Mapping[str, Sequence[float]], headings: list[str]) -> UsageError:
    found = ", ".join(list(columns)[:8]) + (", ..." if len(columns) > 8 else "")
    mend = "name the columns as armsim's trajectory.csv does: t_s, q_<joint>_rad, qd_<joint>_rad_s, qdd_<joint>_rad_s2"
    return UsageError.of("a column is missing", " or ".join(headings), found, mend)


def _differentiated(values: Array, t: Array) -> Array:
    if len(t) < 3:
        raise UsageError.of(
            "a short trajectory",
            "at least 3 rows, to differentiate velocities and accelerations from",
            str(len(t)),
            "give more rows, or columns for qd and qdd",
        )
    return np.gradient(values, t, axis=0, edge_order=2)


def demand_table(robot: Robot, t: Array, q: Array, qd: Array, qdd: Array) -> tuple[list[str], Array]:
    """Inverse dynamics along a motion: headings, and a row per instant of time, torques, voltages and currents."""
    tau = robot.inverse_dynamics(q, qd, qdd)
    voltage, current = robot.motor_demand(qd, tau)
    powered = [i for i, joint in enumerate(robot.arm.joints) if joint.electric_motor is not None]
    asked = [("motor", i) for i in range(robot.arm.n)] + [(kind, i) for kind in ("voltage", "current") for i in powered]
    headings = ["t_s", *(spellings(kind, robot.arm.joints[i])[0][0] for kind, i in asked)]
    return headings, np.column_stack([t, tau, voltage[:, powered], current[:, powered]])
