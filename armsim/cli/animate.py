"""`armsim animate`"""

from __future__ import annotations

import re

import click

from armsim.cli.draw import view_option
from armsim.cli.options import Display, flag, grouped, number, quiet_options
from armsim.cli.pictures import OutputFile, picture_name
from armsim.errors import UsageError
from armsim.figures.style import View
from armsim.records import record
from armsim.terminal.progress import progress_bar


def pixels(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, int] | None:
    """Width and height of "640x480".

    Raises:
        UsageError: It is something else.
    """
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,6})[x×](\d{1,6})", text.strip().lower())
    if match is None:
        raise UsageError.of(f"--size {text}", "width x height in pixels", text, "write for example --size 640x480")
    return int(match[1]), int(match[2])


@record
class Film:
    """What of a run a film shows, or a strip of poses.

    Attributes:
        view: From where.
        fps: Frames a second.
        size: Width and height in pixels.
        frames: Poses of a strip.
    """

    view: View
    fps: float | None
    size: tuple[int, int] | None
    frames: int


@click.command(
    "animate",
    epilog="""\b
Examples:
  armsim animate runs/arm5_reach-001                 writes arm5_reach-001.gif
  armsim animate runs/arm5_reach-001 -o reach.mp4 --fps 60 --size 1280x720
  armsim animate runs/arm5_reach-001 -o poses.png --frames 6
  armsim animate runs/arm5_hold-001 runs/arm5_hold-002 --view side
""",
)
@click.argument("runs", metavar="RUN [RUN2]", nargs=-1, required=True)
@click.option(
    "-o", "--output", "path", metavar="FILE", help="A film, .gif or .mp4, or poses, .png. [default: <RUN>.gif, here]"
)
@grouped(
    "film",
    Film,
    view_option,
    click.option(
        "--fps", callback=number, metavar="N", help="Frames a second. [default: 25, or as many as make 500 in all]"
    ),
    click.option(
        "--size",
        callback=pixels,
        metavar="WxH",
        help="Of the film, or of each pose, in pixels. [default: 640x480; 320x240 a pose]",
    ),
    click.option("--frames", metavar="N", type=int, default=6, show_default=True, help="How many poses a .png shows."),
)
@grouped("output", OutputFile, flag("--force", help="Replace a file that is there."))
@quiet_options
def command(runs: tuple[str, ...], output: OutputFile, film: Film, display: Display) -> int:
    """Draw the arm of a run in motion, at real pace: its solids, joint axes, the tool's way, where it is to go, and the time.

    RUN is a folder of `armsim simulate` or `armsim record`; a second one is drawn pale behind the first. A cross marks the tool,
    a ring its target or reference. A mass without a shape is drawn as a ball of steel. A .mp4 takes the program ffmpeg; all
    take matplotlib: pip install "armsim[plot]".
    """
    from armsim.figures.animation import animate

    target = output.path or picture_name(runs[0], "gif")
    with progress_bar("drawing", display.progress, "reading the run") as progress:
        made = animate(runs, target, film.view, film.fps, film.size, film.frames, output.force, progress)
    display.say(f"drawn    {target}" + ("" if made is None else f", {made:.3g} frames a second"))
    return 0
