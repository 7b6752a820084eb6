"""`armsim plot`"""

from __future__ import annotations

import click

from armsim.cli.options import Display, flag, quiet_options
from armsim.cli.pictures import OutputFile, picture_name, picture_options
from armsim.terminal.progress import progress_bar


@click.command(
    "plot",
    epilog="""\b
Examples:
  armsim plot runs/arm5_hold-001                 writes arm5_hold-001.png
  armsim plot runs/arm5_hold-001 -o hold.pdf --deg
  armsim plot runs/arm5_hold-001 --columns "q_*,tau_R2*"
  armsim plot runs/arm5_hold-001 runs/arm5_hold-002     how they differ
""",
)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "-o", "--output", "path", metavar="FILE", help="The picture: .png, .svg, .pdf, ... [default: <RUN>.png, here]"
)
@click.option(
    "--columns", metavar="NAME,...", default="", help="Columns, or patterns such as q_*, in place of the usual."
)
@flag("--deg", "degrees", help="Draw joint angles in degrees.")
@picture_options
@quiet_options
def command(runs: tuple[str, ...], output: OutputFile, columns: str, display: Display) -> int:
    """Draw a run over time: positions with references, targets and limits, velocities, torques, voltages and currents with the
    motors' limits, tracking errors, energies.

    RUN is a folder of `armsim simulate` or `armsim record`, or a CSV or Parquet file with a column t_s. Several runs are drawn
    over each other, each quantity with the differences to the first beside it. Runs that ended early are drawn as far as they
    went, and the figure says so. Takes matplotlib: pip install "armsim[plot]".
    """
    from armsim.figures.picture import show
    from armsim.figures.plot import plot

    target = None if output.none else output.path or picture_name(runs[0])
    with progress_bar("reading", display.progress, "reading the run") as progress:
        figure = plot(runs, target, columns, display.degrees, output.force, progress)
    if target is not None:
        display.say(f"drawn    {target}")
    if output.window:
        show(figure)
    return 0
