"""`armsim.animate`: the arm of a run in motion, as a film, or as a strip of poses."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from armsim.errors import UsageError, spelled
from armsim.figures.drawn_run import Drawable, DrawnRun, drawn
from armsim.figures.envelope import Array, Sum, at_same_times, sums_of
from armsim.figures.film import Frame, check_film, write_film
from armsim.figures.picture import DPI, check_picture, ending_of, save
from armsim.figures.scene import Camera, Scene, camera, scale_bar
from armsim.figures.style import BLACK, BLUE, GREY, VERMILION, View, check_view, new_figure, tick, worded
from armsim.model import Arm
from armsim.plant.columns import heading_of, spellings
from armsim.simulation.result import Result

FPS, MOST, LONGEST = 25.0, 500, 5000  # frames a second, but not more in all unless asked; and what may be asked for
FINE, SMOOTH = 4, 1200  # points of a trail: from frame to frame of a film, and in a strip
SIZE, POSE = (640, 480), (320, 240)  # pixels of a film, and of a pose of a strip
LARGEST = 4096  # pixels of an edge
FILMS = ("gif", "mp4")
ENDINGS = (*FILMS, "png", "svg", "pdf")
Progress = Callable[[int, int], object]
FRESH = 1.0  # seconds that a trail stays dark in a film; in a strip, since the pose before
TRAILS = (BLUE, VERMILION)


@dataclass(frozen=True)
class MovingArm:
    """A run as poses.

    Attributes:
        scene: The arm.
        name: Of the run, with how it ended if not well.
        q: Joint positions at the frames' times [rad or m], shape (frames, n).
        trail: The tool's way, `fine` points from frame to frame [m], shape (points, 3).
        reference: The tool's way by the references, or its place at the target [m], shape (points, 3); None where there is none.
        last: Time of its last row [s].
        fine: See trail.
        fresh: Points of the trail that are drawn dark.
    """

    scene: Scene
    name: str
    q: Array
    trail: Array
    reference: Array | None
    last: float
    fine: int
    fresh: int


def animate(
    runs: Drawable | Sequence[Drawable],
    path: str | PathLike[str],
    view: View = "auto",
    fps: float | None = None,
    size: tuple[int, int] | None = None,
    frames: int = 6,
    force: bool = False,
    progress: Progress | None = None,
    option: str = "-o",
) -> float | None:
    """Draw the arm of a run in motion, at real pace: its solids, joint axes, tool and the tool's way.

    Args:
        runs: `armsim.Run`, or the folder of a run or a recording; or two of these, the second drawn pale.
        path: A film, .gif or .mp4; or a strip of poses, .png, .svg or .pdf.
        view: "iso", "top", "side" or "front"; "auto" looks along the axes of a planar arm, else it is "iso".
        fps: Frames a second; 25 unless given, or as many as make 500 in all.
        size: Width and height of a film, or of each pose of a strip [pixels]; 640 by 480, or 320 by 240.
        frames: Poses of a strip.
        force: Replace a file that is there.
        progress: Called with frames drawn and frames in all.
        option: That names the file on the command line.

    Returns:
        Frames a second of a film; None for a strip.

    Raises:
        UsageError: matplotlib or ffmpeg is missing, a run has no rows or no robot, or the file must not or cannot be written.
        FileFaults: A file of a run cannot be read; says where and why.
    """
    name = os.fspath(path)
    film = check_animation(name, force, option, fps)
    check_view(view)
    size = check_size(size or (SIZE if film else POSE))
    given = [runs] if isinstance(runs, (str, os.PathLike, Result, DrawnRun)) else list(runs)
    if not 1 <= len(given) <= 2:
        raise UsageError.of("animate", "one run, or two", f"{len(given)}", "draw them two by two")
    seen = [drawn(run) for run in given]
    spans = [time_span(run) for run in seen]
    start, end = min(a for a, _ in spans), max(b for _, b in spans)
    if film:
        rate = fps or min(FPS, MOST / max(end - start, 1e-9))
        count = max(2, 1 + math.ceil((end - start) * rate - 1e-6))
        if count > LONGEST:
            found, mend = f"{count} frames", f"take at most --fps {tick(LONGEST / (end - start), 2)}"
            raise UsageError.of(spelled(f"--fps {rate:g}", "fps"), f"a film of at most {LONGEST} frames", found, mend)
        times = np.minimum(start + np.arange(count) / rate, end)
    else:
        if not 1 <= frames <= 100:
            raise UsageError.of(
                spelled(f"--frames {frames}", "frames"), "1 to 100 poses", f"{frames}", "take --frames 6"
            )
        times = np.linspace(start, end, frames) if frames > 1 else np.array([end])
    fine = FINE if film else math.ceil(SMOOTH / len(times))
    fresh = math.ceil(FRESH * rate) * fine if film else fine
    motions = [motion(run, times, fine, fresh, last) for run, (_, last) in zip(seen, spans, strict=True)]
    if len({one.name for one in motions}) < len(motions):
        motions = [replace(one, name=run.name) for one, run in zip(motions, seen, strict=True)]
    from_where = camera(motions[0].scene.arm, view)
    if film:
        write_film(name, film_frames(motions, times, from_where, size), times.tolist(), rate, progress)
        return rate
    save(strip(motions, times, from_where, size), name, option)
    return None


def check_animation(path: str, force: bool, option: str = "-o", fps: float | None = None) -> bool:
    """Refuse a film or a strip that cannot be made, before anything else is done.

    Args:
        path: The file.
        force: Whether it may replace one that is there.
        option: That names it on the command line.
        fps: Frames a second; None for as many as are right.

    Returns:
        Whether it is a film.

    Raises:
        UsageError: It cannot be made; says why.
    """
    check_picture(path, force, option, ENDINGS)
    ending = ending_of(path)
    if ending in FILMS:
        check_film(ending, fps, spelled(f"{option} {path}", path))
    return ending in FILMS


def check_size(size: tuple[int, int]) -> tuple[int, int]:
    """A size of pictures [pixels].

    Raises:
        UsageError: It is too small or too large.
    """
    if not all(64 <= edge <= LARGEST for edge in size):
        found = "x".join(map(str, size))
        raise UsageError.of(spelled(f"--size {found}", "size"), f"64 to {LARGEST} pixels", found, "take --size 640x480")
    return size


def motion(run: DrawnRun, times: Array, fine: int, fresh: int, last: float) -> MovingArm:
    """A run as poses at some times [s], and its way by `fine` points from each to the next; beyond its rows it stands still."""
    found = run.drawn_arm()
    if found is None:
        mend = "name the folder that the run was written to"
        raise UsageError.of(run.name, "a run with its robot, in run.yaml", "no run.yaml", mend)
    scene = Scene(found)
    arm, count = scene.arm, 1 + fine * (len(times) - 1)
    between = np.interp(np.arange(count) / fine, np.arange(len(times)), times)
    positions = joint_sums(run, arm, "q")
    if positions is None:
        mend = "draw a run of armsim, whose trajectory has every joint"
        raise UsageError.of(
            run.name, f"columns of positions such as {spellings('q', arm.joints[0])[0][0]}", "none", mend
        )
    q = sampled(run, positions, between)
    references = joint_sums(run, arm, "q_ref")
    target = run.control("target", arm.n)
    reference = None
    if references is not None:
        reference = np.array([scene.tool(list(row)) for row in sampled(run, references, between)])
    elif target is not None:
        reference = scene.tool(target)[None]
    trail = np.array([scene.tool(list(row)) for row in q])
    name = run.scenario["name"] + (f", {run.status}" if run.status in ("interrupted", "diverged") else "")
    return MovingArm(scene, name, q[::fine], trail, reference, last, fine, fresh)


def sampled(run: DrawnRun, sums: Sequence[Sum], times: Array) -> Array:
    """Sums of columns at some times, shape (times, sums), by straight lines between rows; the ends hold on."""
    table = next(t for t in run.tables if all(heading in t.headings for one in sums for heading, _ in one.terms))
    first, last = time_span(run)
    inside = np.clip(times, first, last)
    asked = np.unique(inside)
    rows = [values for _, values in at_same_times([asked[:, None]], _finite(sums_of(table, sums)))]
    return np.concatenate(rows)[np.searchsorted(asked, inside)]


def _finite(blocks: Iterator[Array]) -> Iterator[Array]:
    """Blocks without rows that lack a number."""
    for block in blocks:
        rows = block[np.isfinite(block).all(axis=1)]
        if len(rows):
            yield rows


def joint_sums(run: DrawnRun, arm: Arm, prefix: str) -> list[Sum] | None:
    """The joints' columns of a prefix, in SI units; None where one is missing."""
    found = []
    for joint in arm.joints:
        named = [heading_of(prefix, joint.name, joint.kind.length, degrees) for degrees in (False, True)]
        known = [Sum(((heading, 1.0 / factor),)) for heading, factor in named if heading in run.headings]
        found += known[:1]
    return found if len(found) == arm.n else None


def time_span(run: DrawnRun) -> tuple[float, float]:
    """The times of the first and the last row [s].

    Raises:
        UsageError: There are no rows.
    """
    table = run.tables[0]
    first = last = math.nan
    for block in table.blocks([table.time]):
        times = block[np.isfinite(block[:, 0]), 0]
        if len(times):
            first, last = (first if first == first else float(times[0])), float(times[-1])
    if first != first:
        raise UsageError.of(run.name, "a run with rows", "none", "run it for longer")
    return first, last


class Stage:
    """A picture of arms that is drawn again and again: what stands still is drawn once.

    Args:
        axis: Panel of matplotlib.
        motions: What is drawn, the first one in front.
        seen: From where.
    """

    def __init__(self, axis: Any, motions: Sequence[MovingArm], seen: Camera) -> None:
        from matplotlib.collections import LineCollection, PolyCollection

        self.axis, self.motions, self.seen = axis, motions, seen
        self.moving: list[Any] = []
        self._arms, self._axes, self._trails, self._old, self._tools = [], [], [], [], []
        self._goals: list[tuple[MovingArm, Any]] = []  # rings around where tools are to be
        axis.set_aspect("equal")
        axis.set_axis_off()
        for k, motion in reversed(list(enumerate(motions))):
            pale: dict[str, Any] = {"alpha": 0.3} if k else {}
            color = TRAILS[k]
            if motion.reference is not None and (not k or not _alike(motion.reference, motions[0].reference)):
                way = self.seen.flat(motion.reference)
                axis.plot(*way.T, zorder=1, linestyle=(0, (4, 3)), linewidth=1.0, color=GREY)
                ring = {"marker": "o", "markersize": 11, "markerfacecolor": "none", "color": BLACK, "zorder": 5}
                self._goals.append((motion, axis.plot(*way[:1].T, **ring, **pale)[0]))
            line = {"color": color, "linewidth": 1.2, "linestyle": "--" if k else "-", "zorder": 2}
            self._trails.append(axis.plot([], [], **line)[0])
            self._old.append(axis.plot([], [], **line, alpha=0.25)[0])
            self._arms.append(axis.add_collection(PolyCollection([], linewidths=0.6, zorder=3, **pale), autolim=False))
            lines = LineCollection([], colors=BLACK, linewidths=0.8, linestyles="-.", zorder=4, **pale)
            self._axes.append(axis.add_collection(lines, autolim=False))
            cross = {"marker": "+", "markersize": 10, "markeredgewidth": 1.8, "linestyle": "", "color": color}
            self._tools.append(axis.plot([], [], zorder=6, **cross)[0])
        self._order = list(reversed(motions))
        self.moving = [
            *self._old,
            *self._trails,
            *self._arms,
            *self._axes,
            *(ring for _, ring in self._goals),
            *self._tools,
        ]

    def pose(self, k: int) -> None:
        """Put all arms where they are at frame k."""
        for motion, trail, old, arm, axes, tool in zip(
            self._order, self._trails, self._old, self._arms, self._axes, self._tools, strict=True
        ):
            q = list(motion.q[k])
            corners, colors = motion.scene.painted(q, self.seen)
            arm.set_verts(corners)
            arm.set(facecolors=colors, edgecolors=colors)
            axes.set_segments(self.seen.flat(motion.scene.axes(q)))
            way = self.seen.flat(motion.trail[: motion.fine * k + 1])
            trail.set_data(way[-motion.fresh - 1 :].T)
            old.set_data(way[: -motion.fresh or None].T)
            tool.set_data(way[-1:, 0], way[-1:, 1])
        for motion, ring in self._goals:
            assert motion.reference is not None
            goal = self.seen.flat(motion.reference[min(motion.fine * k, len(motion.reference) - 1)])
            ring.set_data(goal[:1], goal[1:])

    def frame(self, shape: tuple[float, float]) -> None:
        """Set the panel's limits so that everything fits at all times, in a panel of this width and height."""
        corners = []
        for motion in self.motions:
            some = motion.q[:: max(1, len(motion.q) // 40)]
            corners += [*motion.scene.extent([list(q) for q in some], self.seen)]
            corners += [*self.seen.flat(motion.trail)]
            corners += [] if motion.reference is None else [*self.seen.flat(motion.reference)]
        low, high = np.min(corners, axis=0), np.max(corners, axis=0)
        low = low - [0.0, 0.09 * max(high - low)]  # room for the scale
        middle, half = (low + high) / 2, 0.54 * np.maximum(high - low, 1e-6)
        half = np.maximum(half, half[::-1] * [shape[0] / shape[1], shape[1] / shape[0]])
        self.axis.set_xlim(middle[0] - half[0], middle[0] + half[0])
        self.axis.set_ylim(middle[1] - half[1], middle[1] + half[1])


def film_frames(motions: Sequence[MovingArm], times: Array, seen: Camera, size: tuple[int, int]) -> Iterator[Frame]:
    """The frames of a film, each of shape (height, width, 3)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI)
    canvas = FigureCanvasAgg(figure)
    top = 34 / size[1]
    axis = figure.add_axes((0.0, 0.0, 1.0, 1.0 - top))
    stage = Stage(axis, motions, seen)
    stage.frame((size[0], size[1] * (1.0 - top)))
    scale_bar(axis, motions[0].scene.size)
    title = motions[0].name if len(motions) == 1 else f"{motions[0].name}; pale: {motions[1].name}"
    figure.text(0.015, 1.0 - top / 2, worded(title, size[0] // 10), va="center", fontsize=10)
    clock = figure.text(0.985, 1.0 - top / 2, "", va="center", ha="right", fontsize=11, family="monospace")
    for artist in (*stage.moving, clock):
        artist.set_animated(True)
    canvas.draw()
    still = canvas.copy_from_bbox(figure.bbox)
    digits = max(1, min(3, 1 - math.floor(math.log10(max(times[-1] - times[0], 1e-3)))))
    for k, t in enumerate(times):
        canvas.restore_region(still)
        stage.pose(k)
        clock.set_text(f"t = {t:.{digits}f} s" + _ended(motions, t))
        for artist in stage.moving:
            axis.draw_artist(artist)
        figure.draw_artist(clock)
        yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def strip(motions: Sequence[MovingArm], times: Array, seen: Camera, size: tuple[int, int]) -> Any:
    """Poses beside each other, each with its time; a figure."""
    columns = min(len(times), max(2, math.ceil(math.sqrt(len(times)))))
    rows = math.ceil(len(times) / columns)
    shape = size[0] / DPI, size[1] / DPI
    figure = new_figure(columns * shape[0], rows * (shape[1] + 0.25) + 0.4)
    title = motions[0].name if len(motions) == 1 else f"{motions[0].name}; pale: {motions[1].name}"
    figure.suptitle(worded(title), fontsize="medium")
    axes = figure.subplots(rows, columns, squeeze=False)
    for k, axis in enumerate(axes.flat):
        axis.set_axis_off()
        if k < len(times):
            stage = Stage(axis, motions, seen)
            stage.frame(shape)
            stage.pose(k)
            axis.set_title(f"t = {tick(float(times[k]), 4)} s", fontsize="small")
    scale_bar(axes[0, 0], motions[0].scene.size)
    return figure


def _alike(a: Array, b: Array | None) -> bool:
    return b is not None and a.shape == b.shape and bool(np.allclose(a, b))


def _ended(motions: Sequence[MovingArm], t: float) -> str:
    return " (no more rows)" if all(t > motion.last + 1e-9 for motion in motions) else ""
