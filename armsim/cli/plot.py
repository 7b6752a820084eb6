"""`armsim plot`"""

from __future__ import annotations

import os

import click

from armsim.cli.options import SETTINGS, quiet_option
from armsim.errors import UsageError
from armsim.terminal.progress import progress_bar
from armsim.terminal.streams import echo


@click.command(
    "plot",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim plot runs/arm5_hold-001                 writes arm5_hold-001.png
  armsim plot runs/arm5_hold-001 -o hold.pdf --deg
  armsim plot runs/arm5_hold-001 --columns "q_*,tau_R2*"
  armsim plot runs/arm5_hold-001 runs/arm5_hold-002     how they differ
""",
)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="The picture: .png, .svg, .pdf, ... [default: <RUN>.png, here]")
@click.option(
    "--columns", metavar="NAME,...", default="", help="Columns, or patterns such as q_*, in place of the usual."
)
@click.option("--deg", "degrees", is_flag=True, help="Draw joint angles in degrees.")
@click.option("--show", "window", is_flag=True, help="Open a window; without -o no file is written.")
@click.option("--force", is_flag=True, help="Replace a picture that is there.")
@quiet_option
def command(
    runs: tuple[str, ...], output: str | None, columns: str, degrees: bool, window: bool, force: bool, quiet: bool
) -> int:
    """Draw a run over time: positions with references, targets and limits, velocities, torques, voltages and currents with the
    motors' limits, tracking errors, energies.

    RUN is a folder of `armsim simulate` or `armsim record`, or a CSV or Parquet file with a column t_s. Several runs are drawn
    over each other, each quantity with the differences to the first beside it. Runs that ended early are drawn as far as they
    went, and the figure says so. Takes matplotlib: pip install "armsim[plot]".
    """
    from armsim.figures.picture import show
    from armsim.figures.plot import plot

    target = None if window and output is None else output or picture_name(runs[0])
    with progress_bar("reading", not quiet, "reading the run") as progress:
        figure = plot(runs, target, columns, degrees, force, progress)
    if target is not None and not quiet:
        echo(f"drawn    {target}")
    if window:
        show(figure)
    return 0


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
