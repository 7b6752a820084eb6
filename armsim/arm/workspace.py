"""The workspace of an arm in a plane: where the tool can be, how well it moves there, and what the motors hold."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from armsim.actuation import largest_force
from armsim.arm.reach import reach, reach_center
from armsim.arrays import Array, ArrayLike, Mask
from armsim.errors import UsageError

PLANES = {"xz": (0, 2), "xy": (0, 1), "yz": (1, 2)}
MOST = 1001  # points along a side
REGULAR = 1e-9  # singular values below this share of the greatest are rounding
LEVER = 1e-9  # joint torque per payload, below which the joint does not carry it [N·m/kg or N/kg]


class Workspace(NamedTuple):
    """A square grid of k x k points around the first joint on the tool's path, at the centres of its cells.

    The solution of a point is the one that `Robot.inverse_kinematics` finds from the middle of the joints' ranges: other
    solutions may be more manipulable, or hold more.

    Attributes:
        position: The points [m], shape (k, k, 3); the plane's second axis counts rows, its first one columns.
        q: Joint positions that bring the tool there [rad or m], shape (k, k, n); NaN where there are none.
        manipulability: Product of the singular values of the Jacobian, of the position in m and, where an orientation is asked
            for, of the rotation in rad (Yoshikawa 1985), shape (k, k); NaN likewise. Those that are zero for the whole plane,
            as of a planar arm, are left out.
        payload: Greatest point mass at the tool that the motors hold at rest, besides the file's payloads [kg], shape (k, k); 0
            where they do not hold the arm without it, infinite where no limit of theirs ends it, NaN likewise.
    """

    position: Array
    q: Array
    manipulability: Array
    payload: Array

    @property
    def reachable(self) -> Mask:
        """Whether the tool can be there, shape (k, k)."""
        return np.isfinite(self.q[..., 0])


def workspace(
    robot: Any,
    plane: str,
    at: float | None,
    resolution: int,
    quaternion: ArrayLike | None,
    axis: tuple[Any, ArrayLike] | None,
) -> Workspace:
    """As `Robot.workspace`, of a `Robot`."""
    if plane not in PLANES:
        raise UsageError.of("plane", f"one of {', '.join(PLANES)}", repr(plane), "take one of them")
    if not 2 <= resolution <= MOST:
        raise UsageError.of("resolution", f"2 to {MOST} points", str(resolution), "take for example 61")
    if not math.isfinite(far := reach(robot.arm)):
        raise UsageError.of("workspace", "an arm of finite reach", "a slide without limits", "give the slide limits")
    center = np.array([*reach_center(robot.arm)], dtype=float)
    if at is not None:
        center[[i for i in range(3) if i not in PLANES[plane]]] = at
    steps = far * (np.arange(1 - resolution, resolution, 2) / resolution)
    position = np.tile(center, (resolution, resolution, 1))
    for i, offsets in zip(PLANES[plane], (steps, steps[:, None])):
        position[..., i] += offsets
    points = position.reshape(-1, 3)
    pose = points if quaternion is None else (points, np.tile(quaternion, (len(points), 1)))
    q = robot.inverse_kinematics(pose, axis=axis)
    found = np.isfinite(q[:, 0])
    values = np.full((2, len(points)), math.nan)
    if found.any():
        J = robot.jacobian(q[found])
        values[1, found] = _payload(robot, q[found], J[:, 3:])
        if axis is not None:  # turns about the direction are free
            direction = np.asarray(axis[1], dtype=float)
            J[:, :3] -= np.outer(direction, direction) / (direction @ direction) @ J[:, :3]
        elif quaternion is None:
            J = J[:, 3:]
        sizes = np.linalg.svd(J, compute_uv=False)
        rank = (sizes > REGULAR * sizes.max()).sum(axis=1).max()
        values[0, found] = sizes[:, :rank].prod(axis=1)
    return Workspace(position, q.reshape(resolution, resolution, -1), *values.reshape(2, resolution, resolution))


def _payload(robot: Any, q: Array, J: Array) -> Array:
    """The greatest point mass that the motors hold, shape (m,): their torques are linear in it.

    Args:
        robot: A `Robot`.
        q: Joint positions, shape (m, n).
        J: Jacobians of the tool's position, shape (m, 3, n).
    """
    forces = [largest_force(joint, "current", None) for joint in robot.arm.joints]
    most = np.array([math.inf if force is None else force for force in forces], dtype=float)
    own, lever = robot.inverse_dynamics(q), -np.array([*robot.arm.gravity], dtype=float) @ J
    carries = np.abs(lever) > LEVER
    left = np.where(carries, most - np.sign(lever) * own, math.inf) / np.where(carries, np.abs(lever), 1.0)
    return np.where((np.abs(own) <= most).all(axis=1), left.min(axis=1), 0.0)
