"""Inverse dynamics of a recorded or planned motion."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from armsim.actuation.elastic_drive import elastic_joints
from armsim.arm.motor_motion import MotorMotion
from armsim.arm.robot import Robot
from armsim.arrays import Array
from armsim.dynamics.internal import carriers
from armsim.errors import UsageError
from armsim.model import Arm
from armsim.plant.column_kinds import WRENCH
from armsim.plant.columns import spellings
from armsim.records import record

STENCIL = 5  # rows of the polynomial that is differentiated


@record
class Derived:
    """What of a motion was differentiated, and by how much that may falsify the torques.

    Attributes:
        quantities: "qd" and "qdd", or "qdd" alone; with elastic couplings "jerk" and "snap" besides, or alone.
        source: What of: "q", "qd" or "qdd".
        rows: Number of rows of the interpolating polynomial.
        error: Estimated error of every joint's torque [N·m or N], n of them: the largest difference between polynomials through
            `rows` and one row less. Noise in the rows is part of it.
    """

    quantities: tuple[str, ...]
    source: str
    rows: int
    error: tuple[float, ...]


def motion_of(
    robot: Robot, columns: Mapping[str, Sequence[float]], stencil: int = STENCIL
) -> tuple[Array, Array, Array, Array]:
    """Time, positions, velocities and accelerations from the columns of a trajectory.csv; rows with missing cells are left out.

    Absent velocities and accelerations are derivatives of the polynomial through the `stencil` nearest rows: with 5 rows exact
    for quartics on any spacing, at the ends as in between.

    Args:
        robot: The arm, n joints.
        columns: Values by heading: `t_s`, `q_R1_rad` (or `_deg`, `_m`), and so on; NaN where a cell is missing.
        stencil: Rows of a polynomial, 2 or more.

    Returns:
        t [s], shape (m,); q, qd, qdd in rad (or m), shape (m, n).

    Raises:
        UsageError: A column is missing, or the times do not increase.
    """
    t = np.array(_column(columns, ["t_s"]))
    given = {quantity: _joint_columns(robot, columns, quantity) for quantity in ("q", "qd", "qdd")}
    if given["q"] is None:
        raise _missing(columns, _headings(robot, 0, "q"))
    present = {quantity: values for quantity, values in given.items() if values is not None}
    whole = np.isfinite(np.column_stack([t, *present.values()])).all(axis=1)
    t, present = t[whole], {quantity: values[whole] for quantity, values in present.items()}
    if np.any(np.diff(t) <= 0):
        k = int(np.argmax(np.diff(t) <= 0))
        raise UsageError.of(
            "t_s",
            "times that increase from row to row",
            f"{float(t[k + 1])!r} after {float(t[k])!r}",
            "sort the rows, and leave each time once",
        )
    q, qd, qdd = present["q"], present.get("qd"), present.get("qdd")
    if qd is None:
        qd, from_q = _derivatives(q, t, stencil)
        return t, q, qd, from_q if qdd is None else qdd
    return t, q, qd, _derivatives(qd, t, stencil)[0] if qdd is None else qdd


def motors_along(
    robot: Robot, columns: Mapping[str, Sequence[float]], stencil: int = STENCIL
) -> tuple[Array, Array, Array, Array, MotorMotion]:
    """`motion_of` columns, and what the motors have to do for it; jerk and snap, as elastic couplings need, are derivatives."""
    t, q, qd, qdd = motion_of(robot, columns, stencil)
    if not any(joint.coupling for joint in robot.arm.joints):
        tau = robot.inverse_dynamics(q, qd, qdd)
        return t, q, qd, qdd, MotorMotion(q, qd, tau, tau)
    return t, q, qd, qdd, robot.motor_motion(q, qd, qdd, *_derivatives(qdd, t, stencil), t=t)


def derived(robot: Robot, columns: Mapping[str, Sequence[float]]) -> Derived | None:
    """What `motion_of` differentiates, and the error that this may make; None where nothing is missing."""
    absent = tuple(quantity for quantity in ("qd", "qdd") if _joint_columns(robot, columns, quantity) is None)
    source = "q" if "qd" in absent else "qd" if absent else "qdd"
    absent += ("jerk", "snap") if elastic_joints(robot.arm) else ()
    if not absent:
        return None
    rows = min(STENCIL, len(_column(columns, ["t_s"])))
    finer, coarser = (motors_along(robot, columns, count)[-1].torque for count in (rows, rows - 1))
    error = np.abs(finer - coarser).max(axis=0)
    return Derived(absent, source, rows, tuple(error.tolist()))


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


def _derivatives(values: Array, t: Array, stencil: int) -> tuple[Array, Array]:
    """First and second derivatives, shape (m, n), of the polynomials through the nearest rows.

    Newton's interpolation by divided differences; Horner's rule on the Newton form gives the derivatives with the value.
    """
    m = len(t)
    if m < 3:
        raise UsageError.of(
            "a short trajectory",
            "at least 3 rows, to differentiate velocities and accelerations from",
            str(m),
            "give more rows, or columns for qd and qdd",
        )
    count = min(stencil, m)
    first = np.clip(np.arange(m) - count // 2, 0, m - count)
    x = np.stack([t[first + j] - t for j in range(count)])[:, :, None]
    c = [values[first + j] for j in range(count)]
    for order in range(1, count):
        for j in range(count - 1, order - 1, -1):
            c[j] = (c[j] - c[j - 1]) / (x[j] - x[j - order])
    p, slope, half = c[-1], np.zeros_like(values), np.zeros_like(values)
    for j in range(count - 2, -1, -1):
        half = slope - x[j] * half
        slope = p - x[j] * slope
        p = c[j] - x[j] * p
    return slope, 2.0 * half


def demand_table(arm: Arm, t: Array, tau: Array, voltage: Array, current: Array) -> tuple[list[str], Array]:
    """Headings, and a row per instant of time: torques of the drives, and voltages and currents of the motors that have them.

    Args:
        arm: The arm, n joints.
        t: Times [s], shape (m,).
        tau: Torques [N·m or N], shape (m, n).
        voltage: Of the motors [V], likewise.
        current: Through them [A], likewise.
    """
    powered = [i for i, joint in enumerate(arm.joints) if joint.electric_motor is not None]
    asked = [("motor", i) for i in range(arm.n)] + [(kind, i) for kind in ("voltage", "current") for i in powered]
    headings = ["t_s", *(spellings(kind, arm.joints[i])[0][0] for kind, i in asked)]
    return headings, np.column_stack([t, tau, voltage[:, powered], current[:, powered]])


def motion_table(
    robot: Robot, t: Array, motion: Sequence[Array], tau: Array, degrees: bool = False
) -> tuple[list[str], Array]:
    """Headings, and a row per instant of time: the motion q, qd, qdd, and `demand_table`, whose arguments the others are."""
    torques, demanded = demand_table(robot.arm, t, tau, *robot.motor_demand(motion[1], tau))
    headings, columns = ["t_s"], [t]
    for quantity, values in zip(("q", "qd", "qdd"), motion, strict=True):
        for joint, column in zip(robot.arm.joints, values.T, strict=True):
            text, factor = spellings(quantity, joint)[-1 if degrees else 0]
            headings.append(text)
            columns.append(column * factor)
    return [*headings, *torques[1:]], np.column_stack([*columns, demanded[:, 1:]])


def with_motors(arm: Arm, headings: list[str], rows: Array, motion: MotorMotion) -> tuple[list[str], Array]:
    """The same table with positions and velocities of rotors behind elastic couplings, and the couplings' torques.

    Args:
        arm: The arm, n joints.
        headings: Of the table.
        rows: Its rows, shape (m, columns).
        motion: Of the motors.
    """
    known = elastic_joints(arm)
    elastic = [i for i, joint in enumerate(arm.joints) if joint.name in known]
    kinds = {"q_motor": motion.q, "qd_motor": motion.qd, "elastic": motion.coupling}
    more = [spellings(kind, arm.joints[i])[0][0] for kind in kinds for i in elastic]
    return [*headings, *more], np.column_stack([rows, *(values[:, elastic] for values in kinds.values())])


def with_wrenches(
    robot: Robot, headings: list[str], rows: Array, q: Array, qd: Array, qdd: Array
) -> tuple[list[str], Array]:
    """The same table with the wrenches of `carriers` as further columns.

    Args:
        robot: The arm, n joints.
        headings: Of the table.
        rows: Its rows, shape (m, columns).
        q: Joint positions [rad or m], shape (m, n).
        qd: Joint velocities [rad/s or m/s], likewise.
        qdd: Joint accelerations [rad/s² or m/s²], likewise.
    """
    names = carriers(robot.arm)
    headings = headings + [heading.replace("_", f"_{name}_") for name in names for heading in WRENCH.values()]
    forces_first = np.roll(robot.wrenches(q, qd, qdd, names), 3, axis=-1)
    return headings, np.column_stack([rows, forces_first.reshape(len(rows), -1)])
