"""Options of commands that write pictures or pages."""

from __future__ import annotations

import os
from collections.abc import Callable

import click

from armsim.cli.options import Command, Display, flag, grouped
from armsim.errors import UsageError
from armsim.records import record


@record
class OutputFile:
    """Where a picture or a page goes.

    Attributes:
        path: The file; None for one in the working folder.
        window: Whether it is opened in a window.
        force: Whether it may replace one that is there.
    """

    path: str | None
    force: bool
    window: bool = False

    @property
    def none(self) -> bool:
        """Whether there is no file, but a window alone."""
        return self.window and self.path is None


@record
class OutputFiles:
    """A file of numbers and a picture.

    Attributes:
        output: The file; None for none.
        plot: The picture, likewise.
        force: Whether they may replace files that are there.
    """

    output: str | None
    plot: str | None
    force: bool


@record
class Pictures:
    """Pictures of a run that a command writes.

    Attributes:
        plot: Of the run over time; None for none.
        animate: Of the arm in motion, a film or poses, likewise.
    """

    plot: str | None
    animate: str | None = None

    def check(self, force: bool) -> None:
        """Refuse pictures that cannot be drawn, before the work begins; with force they may replace files that are there."""
        check_plot(self.plot, force)
        if self.animate is not None:
            from armsim.figures.animation import check_animation

            check_animation(self.animate, force, "--animate")

    def draw(self, folder: object, display: Display) -> None:
        """Draw the run in a folder."""
        if self.plot is not None:
            from armsim.figures.picture import save
            from armsim.figures.plot import plot

            save(plot(str(folder), degrees=display.degrees), self.plot)
        if self.animate is not None:
            from armsim.figures.animation import animate
            from armsim.terminal.progress import progress_bar

            with progress_bar("drawing", display.progress) as progress:
                animate(str(folder), self.animate, force=True, progress=progress, option="--animate")
        for name in filter(None, (self.plot, self.animate)):
            display.say(f"drawn    {name}")


def check_plot(plot: str | None, force: bool) -> str | None:
    """A picture, tried before the work begins; with force it may replace one that is there."""
    if plot is not None:
        from armsim.figures.picture import check_picture

        check_picture(plot, force)
    return plot


def plot_option(what: str) -> Callable[[Command], Command]:
    """Adds --plot, and --force, by which it may replace a file that is there."""
    return grouped(
        "plot",
        check_plot,
        click.option("--plot", metavar="FILE", help=f'{what} Takes matplotlib: pip install "armsim[plot]".'),
        flag("--force", help="Let --plot replace a file that is there."),
    )


def picture_name(run: str, ending: str = "png") -> str:
    """The name of a picture in the working folder, after the run that it shows.

    Raises:
        UsageError: The run has no name, as the root of a file system.
    """
    path = os.path.dirname(os.path.abspath(run)) if os.path.basename(run) == "run.yaml" else os.path.abspath(run)
    name = os.path.splitext(os.path.basename(path))[0] if os.path.isfile(path) else os.path.basename(path)
    if not name:
        raise UsageError.of(run, "the folder of a run", "no name to call the picture by", "name it with -o")
    return f"{name}.{ending}"


plot_run_option = click.option(
    "--plot",
    metavar="FILE",
    help='Draw the run over time, as `armsim plot` does. Takes matplotlib: pip install "armsim[plot]".',
)
picture_options = grouped(
    "output",
    OutputFile,
    flag("--show", "window", help="Open a window; without -o no file is written."),
    flag("--force", help="Replace a picture that is there."),
)
page_option = click.option(
    "-o", "--output", "path", metavar="FILE", help="The page, .html. [default: <its name>.html, here]"
)
replace_page_option = flag("--force", help="Replace a page that is there.")
