"""`armsim.draw`: a robot at a pose, with its frames, the ranges of its joints, centre of mass and lengths."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np

from armsim.arm.robot import Robot
from armsim.errors import UsageError
from armsim.figures.drawn_run import DrawnArm
from armsim.figures.picture import check_matplotlib, check_picture, save
from armsim.figures.scene import Array, Camera, Scene, camera, scale_bar
from armsim.figures.style import (
    BLACK,
    GREEN,
    GREY,
    SKY,
    VERMILION,
    WIDTH,
    View,
    check_view,
    look,
    new_figure,
    tick,
    worded,
)
from armsim.loading import load_robot_file
from armsim.notebook import counted

TRIAD, FAN = 0.06, 0.11  # of the arm's size: the axes of a frame, the radius of a range
FRAME = (VERMILION, GREEN, SKY)  # of x, y and z
NEAR = 0.05  # of the picture: joints so close together share a label
LONG = 0.12  # of the picture: lengths from here on are written at the arm
TALL = 4.6  # inches of the arm's picture


def draw(
    robot: str | PathLike[str] | Mapping[str, Any] | Robot,
    path: str | PathLike[str] | None = None,
    q: Sequence[float] | None = None,
    overrides: Mapping[str, Any] | None = None,
    view: View = "auto",
    degrees: bool = False,
    force: bool = False,
) -> Any:
    """Draw a robot at a pose.

    Args:
        robot: A file, the name of a shipped robot, a file's content as plain data, or `armsim.Robot`.
        path: The picture; its suffix gives the format. None: no file is written.
        q: Joint positions [rad or m], n of them; the initial pose if None.
        overrides: Values in place of the file's, by path.
        view: "iso", "top", "side" or "front"; "auto" looks along the axes of a planar arm, else it is "iso".
        degrees: Write angles in degrees.
        force: Replace a picture that is there.

    Returns:
        The figure, of matplotlib; a notebook shows it.

    Raises:
        UsageError: matplotlib is missing, the pose has another length, or the picture must not or cannot be written.
        FileFaults: The file cannot be used; says where and why.
    """
    if path is None:
        check_matplotlib("draw")
    else:
        check_picture(path, force, "-o")
    check_view(view)
    drawn = _of_robot(robot, overrides)
    n = drawn.arm.n
    pose = [float(x) for x in (drawn.arm.initial if q is None else q)]
    if len(pose) != n or not all(map(math.isfinite, pose)):
        raise UsageError.of("q", f"{n} finite numbers, one per joint", f"{pose}", "leave q out for the initial pose")
    figure = draw_arm(drawn, pose, view, degrees)
    if path is not None:
        save(figure, path, "-o")
    return figure


def _of_robot(robot: Any, overrides: Mapping[str, Any] | None) -> DrawnArm:
    if not isinstance(robot, Robot):
        return DrawnArm.of(load_robot_file(robot, overrides).data)
    if overrides:
        raise UsageError("overrides go with a robot's path or name, not with one that has been read already")
    return DrawnArm.of_robot(robot)


def draw_arm(drawn: DrawnArm, q: Sequence[float], view: View = "auto", degrees: bool = False) -> Any:
    """A figure of an arm at joint positions q [rad or m]: its picture above, a table of its joints below."""
    from matplotlib.collections import LineCollection, PolyCollection

    scene = Scene(drawn)
    arm, seen = drawn.arm, camera(drawn.arm, view)
    lines = _table(scene, q, degrees)
    tall = 0.3 + 0.165 * len(lines)
    figure = new_figure(WIDTH, TALL + tall)
    figure.suptitle(worded(f"{arm.name}: {counted(arm.n, 'joint')}"))
    top, bottom = figure.subplots(2, 1, height_ratios=(TALL, tall))
    top.set_aspect("equal")
    top.set_axis_off()
    corners, colors = scene.painted(q, seen)
    top.add_collection(PolyCollection(list(corners), facecolors=colors, edgecolors=colors, linewidths=0.6, zorder=2))
    axes = seen.flat(scene.axes(q))
    top.add_collection(LineCollection(list(axes), colors=BLACK, linewidths=0.8, linestyles="-.", zorder=3))
    fans = [_fan(scene, i, q) for i in range(arm.n)]
    for i, fan in enumerate(fans):
        if fan is not None:
            color = look(i).color
            top.fill(*seen.flat(fan).T, facecolor=color, alpha=0.25, edgecolor=color, linewidth=1.0, zorder=4)
    for frame, length in [*((pose, TRIAD) for pose in scene.frames(q)), (scene.base, 1.5 * TRIAD)]:
        _triad(top, seen, frame, length * scene.size)
    center = seen.flat(scene.center_of_mass(q)[1])
    top.plot(*center, marker="o", markersize=10, markerfacecolor="white", color=BLACK, zorder=6)
    top.plot(*center, marker="+", markersize=10, color=BLACK, zorder=7)
    tool = seen.flat(scene.tool(q))
    top.plot(*tool, marker="+", markersize=12, markeredgewidth=1.8, color=VERMILION, zorder=7)
    low, high = scene.extent([q], seen)
    reach = [seen.flat(fan) for fan in fans if fan is not None]
    low, high = (
        np.min([low, *(x.min(axis=0) for x in reach)], axis=0),
        np.max([high, *(x.max(axis=0) for x in reach)], axis=0),
    )
    wide = max(high - low)
    top.set_xlim(low[0] - 0.12 * wide, high[0] + 0.12 * wide)
    top.set_ylim(low[1] - 0.12 * wide, high[1] + 0.06 * wide)
    _label(top, scene, seen, q, wide)
    scale_bar(top, scene.size)
    bottom.set_axis_off()
    bottom.text(
        0.5,
        1.0,
        worded("\n".join(lines), 200),
        family="monospace",
        fontsize=9,
        va="top",
        ha="center",
        transform=bottom.transAxes,
    )
    return figure


def _triad(axis: Any, seen: Camera, frame: tuple[Array, Array], length: float) -> None:
    """The x, y and z axes of a frame, each with its letter where it is long enough to be told."""
    R, p = frame
    for k, color in enumerate(FRAME):
        ends = seen.flat(np.stack([p, p + length * R[:, k]]))
        axis.plot(*ends.T, color=color, linewidth=1.6, zorder=5, solid_capstyle="round")
        if np.linalg.norm(ends[1] - ends[0]) > 0.4 * length:
            place = ends[0] + 1.25 * (ends[1] - ends[0])
            axis.text(*place, "xyz"[k], color=color, fontsize=7, ha="center", va="center", zorder=5, clip_on=True)


def _fan(scene: Scene, i: int, q: Sequence[float]) -> Array | None:
    """The range of a joint: a sector about its axis from the way the link points, or a bar along it; None without one."""
    joint = scene.arm.joints[i]
    ends = [] if joint.limit is None else [float(joint.limit.lower), float(joint.limit.upper)]
    if not ends or not all(map(math.isfinite, ends)):
        return None
    R, p = scene.poses(q)
    R_i, p_i = R[i + 1], p[i + 1]
    if not joint.kind.turns:
        along = [p_i + (end - q[i]) * R_i[:, 2] for end in ends]
        across = 0.01 * scene.size * R_i[:, 0]
        return np.array([along[0] - across, along[0] + across, along[1] + across, along[1] - across])
    beyond = p[i + 2] if i + 1 < scene.arm.n else scene.tool(q)
    points = R_i.T @ (beyond - p_i)
    zero = math.atan2(points[1], points[0]) if math.hypot(points[0], points[1]) > 1e-6 * scene.size else 0.0
    span = min(ends[1] - ends[0], 2 * math.pi)
    angle = zero + ends[0] - q[i] + np.linspace(0.0, span, 49)
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1) * FAN * scene.size
    return np.concatenate([[p_i], p_i + ring @ R_i.T])


def _label(axis: Any, scene: Scene, seen: Camera, q: Sequence[float], wide: float) -> None:
    """Names of joints, one label for those that stand together, and the lengths between them that are long enough."""
    _, p = scene.poses(q)
    places = seen.flat(p)
    groups: list[list[int]] = []
    for i in range(scene.arm.n):
        near = next((g for g in groups if np.linalg.norm(places[g[0] + 1] - places[i + 1]) < NEAR * wide), None)
        groups.append([i]) if near is None else near.append(i)
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    for group in groups:
        names = [scene.arm.joints[i].name for i in group]
        text = ", ".join(names) if len(names) < 4 else f"{names[0]} ... {names[-1]}"
        style = {"xytext": (9, 9), "textcoords": "offset points", "bbox": box, "zorder": 9, "annotation_clip": False}
        axis.annotate(
            worded(text, 30), places[group[0] + 1], color=look(group[0]).color, weight="bold", fontsize=9, **style
        )
    ends = [*places, seen.flat(scene.tool(q))]
    for (a, b), length in zip(pairwise(ends), scene.lengths(q), strict=True):
        if np.linalg.norm(b - a) > LONG * wide:
            style = {"xytext": (-10, -12), "textcoords": "offset points", "bbox": box, "zorder": 8, "ha": "right"}
            axis.annotate(f"{tick(length, 4)} m", (a + b) / 2, fontsize=8, color=GREY, **style)


def _table(scene: Scene, q: Sequence[float], degrees: bool) -> list[str]:
    """The joints in lines of a table, and what holds for the arm."""
    arm = scene.arm
    rows = [("joint", "type", "position", "range", "to the next")]
    lengths = scene.lengths(q)
    for i, joint in enumerate(arm.joints):
        turn = math.degrees(1.0) if degrees and joint.kind.turns else 1.0
        unit = "deg" if turn != 1.0 else joint.kind.length
        limit = joint.limit
        ends = "any" if limit is None else f"{_end(limit.lower, turn)} to {_end(limit.upper, turn)} {unit}"
        name = joint.name if len(joint.name) <= 16 else f"{joint.name[:15]}…"
        rows.append((name, joint.type, f"{tick(turn * q[i], 4)} {unit}", ends, f"{tick(lengths[i + 1], 4)} m"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    mass, center = scene.center_of_mass(q)
    at = [", ".join(tick(0.0 if abs(x) < 1e-12 else float(x), 4) for x in place) for place in (center, scene.tool(q))]
    return [*lines, "", f"⊕ centre of mass {at[0]} m, {tick(mass, 5)} kg;  + tool {at[1]} m".ljust(len(lines[0]))]


def _end(x: Any, turn: float) -> str:
    value = float(x)
    return tick(turn * value, 4) if math.isfinite(value) else ("∞" if value > 0 else "−∞")
