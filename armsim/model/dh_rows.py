"""Rows of (modified) Denavit-Hartenberg parameters, recovered from the axes of a tree of joints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from armsim.spatial import Pose, Vector, rotation_x, rotation_z

PARALLEL = 1e-8  # rad and m: below, axes count as parallel, and as one; nearer 0 rounding hides their normal


class DHRow(NamedTuple):
    """A row for a joint at position 0, and the link's frame that it leads to.

    Attributes:
        a: Length [m].
        alpha: Twist [rad].
        d: Offset [m].
        theta: Angle [rad].
        frame: Of the link, in the base's frame that was given.
        residual: By how much the row misses it, from the frame before: entries of the rotation and of the position [m].
    """

    a: float
    alpha: float
    d: float
    theta: float
    frame: Pose
    residual: float


def dh_rows(
    modified: bool,
    parents: Sequence[int],
    axes: Sequence[Pose],
    frames: Sequence[Pose],
    parallel: float = PARALLEL,
) -> tuple[Pose, list[DHRow]]:
    """The rows that describe a tree of joints, by new frames in its links.

    By modified parameters z of a link's frame is its joint's axis, and x the common normal to the axes of the joints that it
    carries; by standard ones z is the axis of the joints that it carries, and x the common normal to its own joint's. Of the two
    directions of x the one nearer to the old one is taken. Where axes are parallel, or a link carries no joint, its frame stays
    as near the old one as can be. Several joints on one link may ask for different frames: the first has its way, and rows of
    others have residuals.

    Args:
        modified: Whether modified parameters (Craig's), or standard ones (distal).
        parents: Index of the link that carries each link, -1 for the base.
        axes: A frame at each joint's axis, its z axis, with all joints at position 0; in the base's frame.
        frames: The links' old frames, likewise; they may be those of `axes`.
        parallel: Angle [rad] and distance [m] below which axes count as parallel and as one.

    Returns:
        The new frame of the base in the old one, and a row for each joint.
    """
    found: list[Pose] = []
    for i, old in enumerate([Pose(), *frames], start=-1):
        carried = [axis for axis, parent in zip(axes, parents, strict=True) if parent == i]
        own = [*axes[max(i, 0) : i + 1]]
        along, across = (own, carried) if modified else (carried[:1], own)
        line = next((axis for axis in along if _normal(old, axis, parallel) != (None, None, 1)), old)
        normals = [_normal(line, axis, parallel) for axis in across]
        turn = next((turn for turn, _, _ in normals if turn is not None), 0.0)
        shift = next((shift for _, shift, _ in normals if shift is not None), 0.0)
        turn -= math.pi * round(turn / math.pi)
        found.append(line @ Pose(rotation_z(turn), Vector(0.0, 0.0, shift)))
    return found[0], [
        _row(found[parent + 1], frame, modified) for parent, frame in zip(parents, found[1:], strict=True)
    ]


def _normal(line: Pose, axis: Pose, parallel: float) -> tuple[float | None, float | None, int]:
    """Angle about a frame's z axis and shift along it to the common normal with another axis.

    None where they are not determined, and whether the axis points along z, 1, or against it.
    """
    seen = line.inverse @ axis
    p, u = seen.position, seen.rotation.T.row_z
    sine, along = math.hypot(u.x, u.y), 1 if u.z > 0 else -1
    if sine >= parallel:
        return math.atan2(u.x, -u.y), p.z - u.z * (p.x * u.x + p.y * u.y) / (sine * sine), along
    return math.atan2(p.y, p.x) if math.hypot(p.x, p.y) >= parallel else None, None, along


def _row(before: Pose, frame: Pose, modified: bool) -> DHRow:
    """A row from frame to frame. Modified parameters are standard ones of the way back, with the other sign."""
    step = frame.inverse @ before if modified else before.inverse @ frame
    x, y, z = step.rotation
    theta, alpha, sign = math.atan2(y.x, x.x), math.atan2(z.y, z.z), -1 if modified else 1
    R = rotation_z(theta)
    at = R.T @ step.position  # (a, 0, d)
    turned, shifted = R @ rotation_x(alpha), R @ Vector(at.x, 0.0, at.z)
    missed = (one - two for one, two in zip((*turned, shifted), (*step.rotation, step.position), strict=True))
    residual = max(abs(entry) for vector in missed for entry in vector)
    return DHRow(sign * at.x, sign * alpha, sign * at.z, sign * theta, frame, residual)
