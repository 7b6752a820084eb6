"""`armsim.plot`: runs as figures, and into files."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from armsim.errors import UsageError, spelled
from armsim.figures.drawn_run import Drawable, drawn, each
from armsim.figures.overlay import draw_runs
from armsim.figures.picture import check_matplotlib, check_picture, save
from armsim.figures.run import draw_run
from armsim.progress import Progress


def plot(
    runs: Drawable | Sequence[Drawable],
    path: str | PathLike[str] | None = None,
    columns: str | Sequence[str] = (),
    degrees: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> Any:
    """Draw a run, or several over each other with their differences.

    Of many rows the extremes are kept, so that nothing is lost in a picture; memory does not grow with them.

    Args:
        runs: `armsim.Run`, the folder of a run or a recording, or a CSV or Parquet file with a column t_s; or several of these.
        path: The picture; its suffix gives the format. None: no file is written.
        columns: Headings or patterns such as "q_*", with or without units; all that a run is usually asked for if none is given.
        degrees: Draw angles in degrees.
        force: Replace a picture that is there.
        progress: Called with bytes read and bytes in all.

    Returns:
        The figure, of matplotlib; a notebook shows it.

    Raises:
        UsageError: matplotlib is missing, a pattern names no column, or the picture must not or cannot be written.
        FileFaults: A file of a run cannot be read; says where and why.
    """
    if path is None:
        check_matplotlib("plot")
    else:
        check_picture(path, force, "-o")
    patterns = columns.split(",") if isinstance(columns, str) else columns
    wanted = [pattern.strip() for pattern in patterns if pattern.strip()]
    given = each(runs)
    if not given:
        raise UsageError.of("plot", "one run or more", "none", spelled("name a folder", "give one"))
    read = [0]
    sizes: list[int] = []

    def told(count: int) -> None:
        read[0] += count
        if progress is not None:
            progress(min(read[0], sum(sizes)), max(1, sum(sizes)))

    seen = [drawn(run, told) for run in given]
    passes = [1] if len(seen) == 1 else [len(seen), *[2] * (len(seen) - 1)]  # curves, and differences to the first
    sizes += [n * table.size for n, run in zip(passes, seen, strict=True) for table in run.tables]
    figure = draw_run(seen[0], wanted, degrees) if len(seen) == 1 else draw_runs(seen, wanted, degrees)
    if path is not None:
        save(figure, path, "-o")
    return figure
