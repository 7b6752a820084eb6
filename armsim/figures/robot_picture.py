"""`armsim.draw`: a robot at a pose, with its frames, the ranges of its joints, centre of mass and lengths."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from armsim.arm.robot import Robot
from armsim.arrays import Array
from armsim.errors import UsageError
from armsim.figures.drawn_arm import DrawnArm, matrix, vector
from armsim.figures.picture import check_matplotlib, check_picture, save
from armsim.figures.scene import ArmArtists, Camera, Scene, camera, scale_bar
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
from armsim.model.angles import MotionInstant, in_unit
from armsim.notebook import counted
from armsim.text_columns import aligned

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
        return DrawnArm.of(load_robot_file(robot, overrides).document)
    if overrides:
        raise UsageError("overrides go with a robot's path or name, not with one that has been read already")
    return DrawnArm.of_robot(robot)


def draw_arm(drawn: DrawnArm, q: Sequence[float], view: View = "auto", degrees: bool = False) -> Any:
    """A figure of an arm at joint positions q [rad or m]: its picture above, a table of its joints below."""
    arm, frames = drawn.arm, drawn.frames(q)
    scene = Scene(drawn, camera(arm, view))
    flat = scene.seen.flat
    lines = _table(drawn, q, frames, degrees)
    tall = 0.3 + 0.165 * len(lines)
    figure = new_figure(WIDTH, TALL + tall, f"{arm.name}: {counted(len(arm.links), 'joint')}")
    top, bottom = figure.subplots(2, 1, height_ratios=(TALL, tall))
    ArmArtists(top, scene).pose(frames)
    seen = [(look(k).color, _fan(drawn, i, q, frames)) for i, k in enumerate(drawn.looks)]
    fans = [(color, flat(fan)) for color, fan in seen if fan is not None]
    for color, fan in fans:
        top.fill(*fan.T, facecolor=color, alpha=0.25, edgecolor=color, linewidth=1.0, zorder=4)
    own = [pose @ matrix(joint.frame) for pose, joint in zip(frames[1:-1], arm.links, strict=True)]
    for frame, length in [*((pose, TRIAD) for pose in own), (frames[0], 1.5 * TRIAD)]:
        _triad(top, scene.seen, frame, length * drawn.size)
    center = flat(drawn.center_of_mass(frames)[1])
    top.plot(*center, marker="o", markersize=10, markerfacecolor="white", color=BLACK, zorder=6)
    top.plot(*center, marker="+", markersize=10, color=BLACK, zorder=7)
    points = np.concatenate([scene.points(frames), *(fan for _, fan in fans)])
    low, high = points.min(axis=0), points.max(axis=0)
    wide = max(high - low)
    top.set_xlim(low[0] - 0.12 * wide, high[0] + 0.12 * wide)
    top.set_ylim(low[1] - 0.12 * wide, high[1] + 0.06 * wide)
    _label(top, drawn, flat(frames[:, :3, 3]), _lengths(drawn, frames), wide)
    scale_bar(top, drawn.size)
    bottom.set_axis_off()
    text = {"family": "monospace", "fontsize": 9, "va": "top", "ha": "center"}
    bottom.text(0.5, 1.0, worded("\n".join(lines), 200), transform=bottom.transAxes, **text)
    return figure


def _lengths(drawn: DrawnArm, frames: Array) -> Array:
    """Distances of the links and of the tool from what carries them [m], shape (k + 1,)."""
    found: Array = np.linalg.norm(frames[1:, :3, 3] - frames[drawn.carriers, :3, 3], axis=1)
    return found


def _triad(axis: Any, seen: Camera, frame: Array, length: float) -> None:
    """The x, y and z axes of a frame, each with its letter where it is long enough to be told."""
    start, *ends = seen.flat(np.stack([frame[:3, 3], *(frame[:3, 3] + length * frame[:3, :3].T)]))
    for letter, color, end in zip("xyz", FRAME, ends, strict=True):
        axis.plot(*zip(start, end, strict=True), color=color, linewidth=1.6, zorder=5, solid_capstyle="round")
        if np.linalg.norm(end - start) > 0.4 * length:
            place = start + 1.25 * (end - start)
            axis.text(*place, letter, color=color, fontsize=7, ha="center", va="center", zorder=5, clip_on=True)


def _fan(drawn: DrawnArm, i: int, q: Sequence[float], frames: Array) -> Array | None:
    """The range of a joint: a sector about its axis from the way the link points, or a bar along it; None without one."""
    arm, size = drawn.arm, drawn.size
    joint, x = arm.links_in_range[i], arm.positions(q)[i]
    lower, upper = joint.bounds
    if lower is None or upper is None:
        return None
    R, p = frames[i + 1, :3, :3], frames[i + 1, :3, 3]
    if joint.kind.turns:
        carried = frames[1:, :3, 3][np.equal(drawn.carriers, i + 1)]
        along, across, _ = R.T @ (carried[0] - p) if len(carried) else vector(arm.inertias[i].h)
        zero = math.atan2(across, along) if math.hypot(along, across) > 1e-6 * size else 0.0
        angle = zero + lower - x + np.linspace(0.0, min(upper - lower, 2 * math.pi), 49)
        ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1) * FAN * size
        corners = np.concatenate([np.zeros((1, 3)), ring])
    else:
        wide, low, high = 0.01 * size, lower - x, upper - x
        corners = np.array([[-wide, 0.0, low], [wide, 0.0, low], [wide, 0.0, high], [-wide, 0.0, high]])
    return p + corners @ R.T


def _label(axis: Any, drawn: DrawnArm, places: Array, lengths: Array, wide: float) -> None:
    """Names of joints, one label for those that stand together, and the lengths between them that are long enough."""
    links, groups = drawn.arm.link_names, list[list[int]]()
    for i in range(len(links)):
        near = next((g for g in groups if np.linalg.norm(places[g[0] + 1] - places[i + 1]) < NEAR * wide), None)
        groups.append([i]) if near is None else near.append(i)
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    style = {"textcoords": "offset points", "bbox": box}
    for group in groups:
        names = [links[i] for i in group]
        text = worded(", ".join(names) if len(names) < 4 else f"{names[0]} ... {names[-1]}", 30)
        how = {
            "color": look(drawn.looks[group[0]]).color,
            "weight": "bold",
            "fontsize": 9,
            "zorder": 9,
            "annotation_clip": False,
        }
        axis.annotate(text, places[group[0] + 1], xytext=(9, 9), **how, **style)
    for (a, b), length in zip(zip(places[drawn.carriers], places[1:], strict=True), lengths, strict=True):
        if np.linalg.norm(b - a) > LONG * wide:
            how = {"color": GREY, "fontsize": 8, "zorder": 8, "ha": "right"}
            axis.annotate(f"{tick(length, 4)} m", (a + b) / 2, xytext=(-10, -12), **how, **style)


def _table(drawn: DrawnArm, q: Sequence[float], frames: Array, degrees: bool) -> list[str]:
    """The joints in lines of a table, and what holds for the arm."""
    arm, carriers, lengths = drawn.arm, drawn.carriers, _lengths(drawn, frames)
    names = [name if len(name) <= 16 else f"{name[:15]}…" for name in ("base", *arm.link_names)]
    chain = carriers == sorted(set(carriers))
    rows = [("joint", "type", "position", "range", "to the next" if chain else "length")]
    motion = in_unit(MotionInstant(list(arm.positions(q))), arm.links_in_range, degrees)
    for i, (joint, x) in enumerate(zip(arm.links_in_range, motion.q, strict=True)):
        apart = f"{tick(lengths[i + chain], 4)} m" + ("" if chain else f" from {names[carriers[i]]}")
        kind = joint.type + ("" if joint.mimic is None else f", follows {joint.mimic.joint}")
        limit, unit, ends = in_unit(joint.limit, [joint], degrees), joint.kind.unit(degrees), "any"
        if limit is not None and joint.bounds != (None, None):
            ends = f"{tick(limit.lower, 4)} to {tick(limit.upper, 4)} {unit}"
        rows.append((names[i + 1], kind, f"{tick(x, 4)} {unit}", ends, apart))
    mass, center = drawn.center_of_mass(frames)
    places = center, frames[-1, :3, 3]
    at = [", ".join(tick(0.0 if abs(x) < 1e-12 else float(x), 4) for x in place) for place in places]
    lines = aligned(rows)
    wide = max(map(len, lines))  # so that all lines begin below each other
    return [
        line.ljust(wide) for line in (*lines, "", f"⊕ centre of mass {at[0]} m, {tick(mass, 5)} kg;  + tool {at[1]} m")
    ]
