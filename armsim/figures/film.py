"""Pictures one after the other, into a file: GIF by Pillow, MP4 by ffmpeg."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.errors import UsageError, spelled
from armsim.figures.scene import shades, to_rgb
from armsim.figures.style import GREY, PALETTE
from armsim.files.new_file import output_file

Frame = NDArray[np.uint8]
TICK = 0.01  # seconds: in whole ones of these a GIF says how long a frame stays
LEAST = 2  # ticks that a frame stays
FASTEST = {"gif": 50.0, "mp4": 120.0}  # frames a second; browsers show faster GIFs slowly
REST = 1.0  # seconds that a GIF's last frame stays


def check_film(ending: str, fps: float | None, asked: str) -> None:
    """Refuse a film that cannot be made, before anything is drawn.

    Args:
        ending: "gif" or "mp4".
        fps: Frames a second; None for as many as are right.
        asked: What asks for it.

    Raises:
        UsageError: The rate is out of bounds, or ffmpeg is missing.
    """
    if fps is not None and not 0.0 < fps <= FASTEST[ending]:
        where = spelled(f"--fps {fps:g}", "fps")
        raise UsageError.of(
            where, f"more than 0, and at most {FASTEST[ending]:g} for .{ending}", f"{fps:g}", "take --fps 25"
        )
    if ending == "mp4" and shutil.which("ffmpeg") is None:
        mend = "install it (apt install ffmpeg, brew install ffmpeg, ...), or write a .gif"
        raise UsageError.of(asked, "the program ffmpeg, which writes .mp4", "it is not on the PATH", mend)


def write_film(path: str, frames: Iterable[Frame], times: Sequence[float], fps: float) -> None:
    """Write a film, whole or not at all.

    Args:
        path: The file, .gif or .mp4.
        frames: Pictures, each of shape (height, width, 3), all of one size.
        times: Of the frames [s]; a GIF keeps them, the last one may come sooner after the one before.
        fps: Frames a second.

    Raises:
        UsageError: It cannot be written; or ffmpeg failed, says why.
    """
    write = _write_gif if path.lower().endswith(".gif") else _write_mp4
    with output_file(path) as file:
        write(file, iter(frames), times, fps)


def colors() -> list[tuple[float, ...]]:
    """The colours of a GIF, the same in all its frames: greys, and those that joints come out in."""
    greys = [(x, x, x) for x in np.linspace(0.0, 1.0, 18).tolist()]
    full = [to_rgb(color) for color in PALETTE]
    return [*greys, *full, *(tuple(row) for color in (*PALETTE, GREY) for row in shades(color).tolist())]


def _write_gif(file: Any, frames: Iterator[Frame], times: Sequence[float], fps: float) -> None:
    from PIL import Image

    palette = Image.new("P", (1, 1))
    palette.putpalette([round(255 * x) for color in colors() for x in color])
    first = Image.fromarray(next(frames))
    stamps = [round((t - times[0]) / TICK) for t in times]
    stays = [round(1000 * TICK) * max(LEAST, b - a) for a, b in pairwise(stamps)] + [round(1000 * REST)]

    def reduced(image: Any) -> Any:
        return image.quantize(palette=palette, dither=Image.Dither.NONE)

    others = (reduced(Image.fromarray(frame)) for frame in frames)
    reduced(first).save(
        file, "GIF", save_all=True, append_images=others, duration=stays, loop=0, disposal=1, optimize=False
    )


def _write_mp4(file: Any, frames: Iterator[Frame], times: Sequence[float], fps: float) -> None:
    first = next(frames)
    height, width, _ = first.shape
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "-"]
    even = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    with tempfile.TemporaryDirectory(prefix="armsim-") as folder, tempfile.TemporaryFile() as said:
        made = Path(folder, "film.mp4")
        command = ["ffmpeg", "-v", "error", "-y", *raw, "-an", *even, str(made)]
        with (
            suppress(BrokenPipeError),  # why, it says itself
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said) as process,
        ):
            assert process.stdin is not None
            for frame in chain([first], frames):
                process.stdin.write(frame.tobytes())
        if process.returncode:
            said.seek(0)
            found = said.read().decode(errors="replace").strip().splitlines() or [f"exit code {process.returncode}"]
            raise UsageError.of("ffmpeg", "a film", found[-1], "write a .gif, or mend ffmpeg")
        file.write(made.read_bytes())
