"""`armsim identify`"""

from __future__ import annotations

from typing import Any

import click

from armsim.cli.options import (
    Display,
    angle_options,
    feedback_option,
    flag,
    grouped,
    interpolate_option,
    number,
    shipped,
)
from armsim.cli.pictures import check_plot
from armsim.records import record
from armsim.terminal.progress import progress_bar

UNWELL = 1


@record
class FitOptions:
    """How numbers are sought.

    Attributes:
        opened: Paths, patterns and sets.
        trust: How far the file's numbers may be off, as a share of themselves; None for any.
        delay: Whether a delay of the commands is sought.
        offsets: Whether the sensors' zeros are.
        method: The integrator; None for the usual one, likewise what follows.
        dt: Longest step [s].
        window: Length of the windows [s].
        hold_back: Share of the log that is not fitted.
        interpolate: Whether commands change on straight lines between rows.
        feedback: A scenario whose controller sees the logs' positions.
        inputs: Which commands of the logs drive the model.
    """

    opened: tuple[str, ...]
    trust: float | None
    delay: bool
    offsets: bool
    method: str | None
    dt: float | None
    window: float | None
    hold_back: float | None
    interpolate: bool
    feedback: str | None
    inputs: str | None

    @property
    def given(self) -> dict[str, Any]:
        """What is given, as `armsim.identify` takes it."""
        names = {"opened": "open", "hold_back": "held_back"}
        return {names.get(name, name): value for name, value in vars(self).items() if value not in (None, ())}


@record
class IdentifiedFiles:
    """What is written.

    Attributes:
        folder: Of the file with the numbers found; None for none.
        plot: A picture, likewise.
        force: Whether they may replace what is there.
    """

    folder: str | None
    plot: str | None
    force: bool


def share(context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """The number of a share, which may be in percent."""
    if text is None or not text.strip().endswith("%"):
        return number(context, parameter, text)
    found = number(context, parameter, text.strip()[:-1])
    return None if found is None else found / 100.0


@click.command(
    "identify",
    epilog="""\b
Examples:
  armsim identify log.csv --robot my_arm.yaml -o found
  armsim identify log.csv --robot my_arm.yaml --open friction --open motors
  armsim identify a.csv b.csv --robot my_arm.yaml --delay \\
      --open "joints[*].friction.*" --open "joints[R2].motor.Kp"
  armsim identify log.csv --robot my_arm.yaml --open masses --trust 20%
  armsim identify log.csv --robot arm.yaml --columns map.yaml --plot fit.png
""",
)
@click.argument("logs", metavar="LOG...", nargs=-1, required=True)
@click.option(
    "--robot",
    required=True,
    metavar="ROBOT",
    shell_complete=shipped("robots"),
    help="The model: a file, or a shipped robot.",
)
@click.option("--columns", metavar="YAML", help="Which column of the logs is which, as for `armsim replay`.")
@grouped(
    "options",
    FitOptions,
    click.option(
        "--open",
        "opened",
        multiple=True,
        metavar="PATH",
        help="What is sought: a path, a pattern, or friction, motors, payload, masses, base; repeatable. [default: friction]",
    ),
    click.option(
        "--trust", callback=share, metavar="X%", help="How far the file's numbers may be off. [default: any distance]"
    ),
    flag("--delay", help="Seek the time by which commands take effect late."),
    flag("--offsets", help="Seek how far the zeros of the sensors are off."),
    click.option("--method", metavar="METHOD", help="Integrator. [default: rodas]"),
    click.option("--dt", callback=number, metavar="S", help="Longest step. [default: 1e-3]"),
    click.option(
        "--window", callback=number, metavar="S", help="Length of the windows. [default: 1, or a 30th of the log]"
    ),
    click.option(
        "--hold-back",
        callback=share,
        metavar="X%",
        help="The end of each log that tests what was found. [default: 20%]",
    ),
    click.option(
        "--inputs",
        type=click.Choice(["voltage", "torque", "current"]),
        help="The commands that drive the model. [default: of a run's folder what was commanded, else the first that is there]",
    ),
    interpolate_option,
    feedback_option,
)
@grouped(
    "files",
    IdentifiedFiles,
    click.option("-o", "--output", "folder", metavar="DIR", help="Folder for the robot file with the numbers found."),
    click.option("--plot", metavar="FILE", help='Draw the fit. Takes matplotlib: pip install "armsim[plot]".'),
    flag("--force", help="Let -o and --plot replace files that exist."),
)
@angle_options
def command(
    logs: tuple[str, ...],
    robot: str,
    columns: str | None,
    options: FitOptions,
    files: IdentifiedFiles,
    display: Display,
) -> int:
    """Find numbers of ROBOT that explain logs of the real arm, and tell how sure they are.

    LOG is a CSV or Parquet file as `armsim replay` reads it, times, measured positions, and voltages, currents or torques; or
    the folder of a run. The motion is simulated in windows, and the numbers are those that leave the least. Each has a 95 %
    confidence interval; what the log cannot see keeps the file's value, and is named with the motion that would show it. The
    end of each log is held back to test what was found.

    -o writes identified.yaml, the robot file with the numbers found, identification.yaml, which says how, fit.csv, and
    report.html with all of it, plots, and the arm. Exits with 1 where the model does not explain the log: what is left is not
    noise.
    """
    from armsim.identification.identified_file import check_files
    from armsim.identification.identify import identify
    from armsim.reports.identification import report
    from armsim.reports.identification_page import PAGE, write_identification_page

    check_plot(files.plot, files.force)
    if files.folder is not None:
        check_files(files.folder, files.force, [PAGE])
    with progress_bar("fitting", display.progress) as bar:
        tell = (lambda said: None) if bar is None else bar.tell  # no bar: nobody knows how many steps there will be
        found = identify(logs, robot, columns=columns, progress=tell, **options.given)
    display.print(found.data, lambda: report(found, display.degrees, display.verbose))
    written = []
    if files.folder is not None:
        written += found.save(files.folder, files.force)
        written.append(write_identification_page(found, files.folder, written[0], display.degrees))
    if files.plot is not None:
        from armsim.figures.identification import identification_figure
        from armsim.figures.picture import save

        save(identification_figure(found), files.plot)
        written.append(files.plot)
    for name in written:
        display.say(f"wrote    {name}")
    return 0 if found.explained else UNWELL
