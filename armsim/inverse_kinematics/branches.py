"""Names of the branches of inverse kinematics: shoulder, elbow and wrist, by the geometry of the axes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from armsim.dynamics import frame_position, own_poses
from armsim.model import Arm, LinkFrame
from armsim.spatial import Z, cross

PARALLEL = 1e-12  # squared sine of the angle between axes


def branch_names(arm: Arm, frame: LinkFrame, found: Sequence[Sequence[float]]) -> list[str]:
    """Names of joint configurations, shape (n,) each, that put a frame at one place.

    The elbow is the second of the first two axes in a row that are parallel. It is up where it lies above the straight line from
    the first of them to the wrist, along the z axis of the base; left and right stand for that where the axes are vertical. The
    shoulder is right where the wrist lies ahead, along the common normal of the axis before them and the first. The wrist is
    where axes 4 and 5 meet or come nearest, or the frame's origin where there are fewer; it is flipped where the last three
    axes are a left-handed system. Where two configurations have one name, as on arms of general geometry, all are numbered.
    """
    names = [_branch(arm, frame, q) for q in found]
    return names if len(set(names)) == len(names) and all(names) else [str(i + 1) for i in range(len(names))]


def _branch(arm: Arm, frame: LinkFrame, q: Sequence[float]) -> str:
    poses, parts = own_poses(arm, q), []
    links = [i for i in arm.path(arm.link_of(frame))[::-1] if arm.links[i].turns]
    axes, points = [poses[i].rotation @ Z for i in links], [poses[i].position for i in links]
    wrist = frame_position(arm, q, frame)
    if len(links) > 4:
        across = cross(axes[3], axes[4])
        along = cross(points[4] - points[3], axes[4]).dot(across) / max(across.dot(across), PARALLEL)
        wrist = points[3] + axes[3] * along
    for i, (axis, other) in enumerate(pairwise(axes)):
        if cross(axis, other).dot(cross(axis, other)) < PARALLEL:
            if i > 0:
                ahead = cross(axes[i - 1], axis).dot(wrist - points[i - 1])
                parts.append("shoulder right" if ahead > 0.0 else "shoulder left")
            normal = cross(axis, wrist - points[i])
            above, up = normal.dot(points[i + 1] - points[i]), normal.dot(arm.base.rotation @ Z)
            level = abs(up) < PARALLEL
            first, second = ("left", "right") if level else ("up", "down")
            parts.append(f"elbow {first if above * (1.0 if level else up) > 0.0 else second}")
            break
    if len(links) == 6:
        parts.append("wrist flipped" if cross(axes[3], axes[4]).dot(axes[5]) < 0.0 else "wrist not flipped")
    return ", ".join(parts)
