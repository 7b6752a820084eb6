"""`armsim.animate`: the arm of a run in motion, as a film, or as a strip of poses."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from armsim.arrays import Array
from armsim.errors import UsageError, spelled
from armsim.figures.drawn_arm import DrawnArm
from armsim.figures.drawn_run import Drawable, DrawnRun, drawn, each
from armsim.figures.film import Frame, check_film, write_film
from armsim.figures.joint_motion import followed, positions, sampled, time_span
from armsim.figures.picture import DPI, check_picture, ending_of, save
from armsim.figures.scene import ArmArtists, Camera, Scene, camera, scale_bar
from armsim.figures.style import BLACK, BLUE, GREY, VERMILION, View, check_view, new_figure, tick, worded
from armsim.progress import Progress
from armsim.records import record

FPS, MOST, LONGEST = 25.0, 500, 5000  # frames a second, but not more in all unless asked; and what may be asked for
FINE, SMOOTH = 4, 1200  # points of a trail: from frame to frame of a film, and in a strip
SIZE, POSE = (640, 480), (320, 240)  # pixels of a film, and of a pose of a strip
LARGEST = 4096  # pixels of an edge
FILMS = ("gif", "mp4")
ENDINGS = (*FILMS, "png", "svg", "pdf")
FRESH = 1.0  # seconds that a trail stays dark in a film; in a strip, since the pose before


@record
class MovingArm:
    """A run as poses.

    Attributes:
        drawn: The arm.
        name: Of the run, with how it ended if not well.
        times: Of the frames [s], shape (frames,).
        q: Joint positions then [rad or m], shape (frames, n).
        trail: The tool's way, `fine` points from frame to frame [m], shape (points, 3).
        reference: The tool's way by the references, or its place at the target [m], shape (points, 3); None where there is none.
        last: Time of its last row [s].
        fine: See trail.
        fresh: Points of the trail that are drawn dark.
    """

    drawn: DrawnArm
    name: str
    times: Array
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
    given = each(runs)
    if not 1 <= len(given) <= 2:
        raise UsageError.of("animate", "one run, or two", f"{len(given)}", "draw them two by two")
    shown = [drawn(run) for run in given]
    spans = [time_span(run) for run in shown]
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
    motions = [motion(run, times, fine, fresh, last) for run, (_, last) in zip(shown, spans, strict=True)]
    if len({one.name for one in motions}) < len(motions):
        motions = [replace(one, name=run.name) for one, run in zip(motions, shown, strict=True)]
    seen = camera(motions[0].drawn.arm, view)
    if film:
        write_film(name, film_frames(motions, times, seen, size, progress), times.tolist(), rate)
        return rate
    save(strip(motions, times, seen, size), name, option)
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
    found = run.known_arm()
    between = np.interp(np.arange(1 + fine * (len(times) - 1)) / fine, np.arange(len(times)), times)
    q = sampled(run, positions(run, found.arm, "draw"), between)
    goal = followed(run, found.arm, between)
    assert run.scenario is not None  # or its arm would not be known
    name = run.scenario.name + (f", {run.status}" if run.status in ("interrupted", "diverged") else "")
    reference = None if goal is None else found.way(goal)
    return MovingArm(found, name, times, q[::fine], found.way(q), reference, last, fine, fresh)


class MotionArtists:
    """A run in a panel: its arm, the tool's way, and a ring where the tool is to be.

    Args:
        axis: Panel of matplotlib.
        motion: The run.
        seen: From where.
        second: Whether it is a second run, which is pale.
        goal: Whether what is followed is drawn.
    """

    def __init__(self, axis: Any, motion: MovingArm, seen: Camera, second: bool, goal: bool) -> None:
        self.motion, self.seen = motion, seen
        color, alpha = (VERMILION, 0.3) if second else (BLUE, None)
        self.rings = []
        if motion.reference is not None and goal:
            way = seen.flat(motion.reference)
            axis.plot(*way.T, zorder=1, linestyle=(0, (4, 3)), linewidth=1.0, color=GREY)
            ring = {"marker": "o", "markersize": 11, "markerfacecolor": "none", "color": BLACK, "zorder": 5}
            self.rings = axis.plot(*way[:1].T, **ring, alpha=alpha)
        line = {"color": color, "linewidth": 1.2, "linestyle": "--" if second else "-", "zorder": 2}
        self.old, self.trail = axis.plot([], [], [], [], **line)
        self.old.set_alpha(0.25)
        self.arm = ArmArtists(axis, Scene(motion.drawn, seen, not second), color, alpha)

    @property
    def artists(self) -> list[Any]:
        """All that moves."""
        return [self.old, self.trail, self.arm.solids, self.arm.axes, *self.rings, self.arm.tool]

    def pose(self, k: int) -> None:
        """Put all where it is at frame k."""
        motion = self.motion
        self.arm.pose(motion.drawn.frames(motion.q[k].tolist()), float(motion.times[k]))
        way = self.seen.flat(motion.trail[: motion.fine * k + 1])
        self.trail.set_data(way[-motion.fresh - 1 :].T)
        self.old.set_data(way[: -motion.fresh or None].T)
        for ring in self.rings:
            assert motion.reference is not None
            goal = motion.reference[min(motion.fine * k, len(motion.reference) - 1)]
            ring.set_data(self.seen.flat(goal[None]).T)

    @property
    def points(self) -> list[Array]:
        """What has to fit into the panel at all times [m], arrays of shape (m, 2)."""
        motion = self.motion
        some = motion.q[:: max(1, len(motion.q) // 40)].tolist()
        ways = [motion.trail] if motion.reference is None else [motion.trail, motion.reference]
        return [*(self.arm.scene.points(motion.drawn.frames(q)) for q in some), *map(self.seen.flat, ways)]


def staged(axis: Any, motions: Sequence[MovingArm], seen: Camera, shape: tuple[float, float]) -> list[MotionArtists]:
    """Runs in a panel of some width and height, the first one in front; its limits are such that all fits at all times."""
    goals = [motion.reference for motion in motions]
    wanted = [True, not (len(motions) > 1 and _alike(*goals))]
    made = [MotionArtists(axis, motions[k], seen, k > 0, wanted[k]) for k in reversed(range(len(motions)))]
    points = np.concatenate([part for one in made for part in one.points])
    low, high = points.min(axis=0), points.max(axis=0)
    low = low - [0.0, 0.09 * max(high - low)]  # room for the scale
    middle, half = (low + high) / 2, 0.54 * np.maximum(high - low, 1e-6)
    half = np.maximum(half, half[::-1] * [shape[0] / shape[1], shape[1] / shape[0]])
    axis.set(xlim=(middle[0] - half[0], middle[0] + half[0]), ylim=(middle[1] - half[1], middle[1] + half[1]))
    return made


def film_frames(
    motions: Sequence[MovingArm],
    times: Array,
    seen: Camera,
    size: tuple[int, int],
    progress: Progress | None = None,
) -> Iterator[Frame]:
    """The frames of a film, each of shape (height, width, 3); what stands still is drawn once."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI)
    canvas = FigureCanvasAgg(figure)
    top = 34 / size[1]
    axis = figure.add_axes((0.0, 0.0, 1.0, 1.0 - top))
    stage = staged(axis, motions, seen, (size[0], size[1] * (1.0 - top)))
    scale_bar(axis, motions[0].drawn.size)
    figure.text(0.015, 1.0 - top / 2, worded(_title(motions), size[0] // 10), va="center", fontsize=10)
    clock = figure.text(0.985, 1.0 - top / 2, "", va="center", ha="right", fontsize=11, family="monospace")
    moving = sorted([artist for one in stage for artist in one.artists], key=lambda artist: artist.get_zorder())
    for artist in (*moving, clock):
        artist.set_animated(True)
    canvas.draw()
    still = canvas.copy_from_bbox(figure.bbox)
    digits = max(1, min(3, 1 - math.floor(math.log10(max(times[-1] - times[0], 1e-3)))))
    for k, t in enumerate(times):
        canvas.restore_region(still)
        for one in stage:
            one.pose(k)
        over = all(t > motion.last + 1e-9 for motion in motions)
        clock.set_text(f"t = {t:.{digits}f} s" + (" (no more rows)" if over else ""))
        for artist in (*moving, clock):
            figure.draw_artist(artist)
        yield np.asarray(canvas.buffer_rgba())[..., :3].copy()
        if progress is not None:
            progress(k + 1, len(times))


def strip(motions: Sequence[MovingArm], times: Array, seen: Camera, size: tuple[int, int]) -> Any:
    """Poses beside each other, each with its time; a figure."""
    columns = min(len(times), max(2, math.ceil(math.sqrt(len(times)))))
    rows = math.ceil(len(times) / columns)
    shape = size[0] / DPI, size[1] / DPI
    tall = rows * (shape[1] + 0.25) + 0.4
    figure = new_figure(columns * shape[0], tall, _title(motions), "medium")
    axes = figure.subplots(rows, columns, squeeze=False)
    for k, axis in enumerate(axes.flat):
        axis.set_axis_off()
        if k < len(times):
            for one in staged(axis, motions, seen, shape):
                one.pose(k)
            axis.set_title(f"t = {tick(float(times[k]), 4)} s", fontsize="small")
    scale_bar(axes[0, 0], motions[0].drawn.size)
    return figure


def _title(motions: Sequence[MovingArm]) -> str:
    return "; pale: ".join(motion.name for motion in motions)


def _alike(a: Array | None, b: Array | None) -> bool:
    return a is not None and b is not None and a.shape == b.shape and bool(np.allclose(a, b))
