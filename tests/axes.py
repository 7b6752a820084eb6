"""Arms by the axes of their joints, and all solutions of inverse kinematics by brute force, without `armsim.dynamics`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from armsim.model import Arm, Joint, LinkFrame
from armsim.spatial import Matrix, Pose, Vector

Axis = tuple[str, Sequence[float], Sequence[float]]  # R or P, direction, a point on it [m]


def arm_of_axes(*axes: Axis, tool: Pose | None = None) -> Arm:
    """An arm whose joints have these axes at zero, and the tool its pose in the world: near the last axis unless given."""
    links, before, origin = [], np.eye(3), np.zeros(3)
    for i, (kind, direction, point) in enumerate(axes):
        z = np.array(direction) / np.linalg.norm(direction)
        x = np.cross(z, np.eye(3)[abs(z).argmin()])
        x /= np.linalg.norm(x)
        frame = np.column_stack([x, np.cross(z, x), z])
        tilt = matrix(before.T @ frame)
        position = Vector(*(before.T @ (np.array(point) - origin)).tolist())
        kind = {"R": "revolute", "P": "prismatic"}[kind]
        links.append(Joint(f"J{i + 1}", kind, tilt=tilt, position=position))
        before, origin = frame, np.array(point)
    last = Pose(matrix(before), Vector(*origin.tolist()))
    tool = tool or Pose(position=last.position + Vector(0.1, -0.05, 0.2))
    return Arm("axes", Vector(0.0, 0.0, 0.0), Pose(), tuple(links), (LinkFrame("tool", "", last.inverse @ tool),))


def random_axes(rng: np.random.Generator, kinds: str) -> list[Axis]:
    """Axes of any direction through points of about a metre."""
    return [(kind, rng.standard_normal(3), rng.standard_normal(3)) for kind in kinds]


def matrix(R: np.ndarray) -> Matrix:
    return Matrix(*(Vector(*row) for row in R.tolist()))


def multistart(
    arm: Arm, pose: Pose, rng: np.random.Generator, starts: int = 1500, rounds: int = 35
) -> list[np.ndarray]:
    """Joint positions by Levenberg and Marquardt's method from many starts, those of angles from 0 to a turn."""
    R, p = np.array([list(row) for row in pose.rotation]), np.array(list(pose.position))
    turns = np.array([link.turns for link in arm.links]) > 0
    q = np.where(turns, rng.uniform(-math.pi, math.pi, (starts, arm.n)), rng.uniform(-4.0, 4.0, (starts, arm.n)))
    for i in range(rounds + 1):
        J, e = _linearized(arm, q, R, p)
        if i < rounds:
            damping = (1e-3 * (e * e).sum(axis=1) + 1e-15)[:, None, None] * np.eye(6)
            step = (J.transpose(0, 2, 1) @ np.linalg.solve(J @ J.transpose(0, 2, 1) + damping, e[..., None]))[..., 0]
            q = q + step * np.minimum(1.0, 1.0 / np.maximum(np.linalg.norm(step, axis=1), 1e-9))[:, None]
    found: list[np.ndarray] = []
    for x in np.where(turns, q % math.tau, q)[np.linalg.norm(e, axis=1) < 1e-10]:
        if not any(same(x, y, turns, 1e-5) for y in found):
            found.append(x)
    return found


def same(x: np.ndarray, y: np.ndarray, turns: np.ndarray, tolerance: float) -> bool:
    """Whether joint positions are the same up to turns."""
    off = np.subtract(x, y)
    return bool(abs(np.where(turns, (off + math.pi) % math.tau - math.pi, off)).max() < tolerance)


def _linearized(arm: Arm, q: np.ndarray, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Jacobians and what is missing of a pose, angular parts first, of an arm that is a chain of own frames."""
    turn, at = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
    axes, points = [], []
    for link, x in zip(arm.links, q.T, strict=True):
        at = at + turn @ np.array(list(link.position))
        turn = turn @ np.array([list(row) for row in link.tilt])
        z = turn[:, :, 2]
        x = x + link.offset
        at = at + z * (x * link.slides)[:, None]
        c, s, one, none = np.cos(x * link.turns), np.sin(x * link.turns), np.ones_like(x), np.zeros_like(x)
        turn = turn @ np.array([[c, -s, none], [s, c, none], [none, none, one]]).transpose(2, 0, 1)
        axes.append((z * link.turns, z * link.slides))
        points.append(at)
    end = arm.placement(arm.tool)
    at = at + turn @ np.array(list(end.position))
    turn = turn @ np.array([list(row) for row in end.rotation])
    columns = [np.hstack([w, np.cross(w, at - r) + v]) for (w, v), r in zip(axes, points, strict=True)]
    rest = R @ turn.transpose(0, 2, 1)
    skew = 0.5 * np.stack([rest[:, i, j] - rest[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=1)
    sine = np.linalg.norm(skew, axis=1)
    angle = np.arctan2(sine, 0.5 * (np.trace(rest, axis1=1, axis2=2) - 1.0))
    missing = skew * np.where(sine > 1e-9, angle / np.maximum(sine, 1e-300), 1.0)[:, None]
    return np.stack(columns, axis=2), np.hstack([missing, p - at])
