"""`armsim reference`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    Display,
    Overrides,
    angle_options,
    flag,
    grouped,
    read_scenario,
    scenario_argument,
    set_option,
)
from armsim.cli.pictures import OutputFiles, check_plot


@click.command(
    "reference",
    epilog="""\b
Examples:
  armsim reference arm5_move
  armsim reference arm5_move --set "control.reference.times=[0.3]" --deg
  armsim reference ur5e_path                   along a path of the tool
  armsim reference my_arm/move.yaml -o reference.csv     q, qd, qdd, torques
  armsim reference arm5_move --plot reference.png
""",
)
@scenario_argument
@set_option
@grouped(
    "files",
    OutputFiles,
    click.option("-o", "--output", metavar="CSV", help="Write it to a new file, with torques, voltages and currents."),
    click.option(
        "--plot",
        metavar="FILE",
        help='Draw it over time, a fastest one in its phase plane. Takes matplotlib: pip install "armsim[plot]".',
    ),
    flag("--force", help="Let -o and --plot replace files that exist."),
)
@angle_options
def command(scenario: str, overrides: Overrides, files: OutputFiles, display: Display) -> int:
    """Print the reference of SCENARIO: how far and how fast its joints go, and which limits that exceeds.

    Nothing is simulated: torques are those of inverse dynamics along the reference. A line says where it leaves a joint's range,
    and where the motor cannot give the torque at that speed and supply. Of a path of the tool: its speed, how far it is beside
    the path, the least manipulability, and the joint nearest to a limit. Of a fastest motion: which limit binds. -o writes a
    row at every multiple of `log.every`; another scenario follows them by `reference: {csv: ...}`.
    """
    from armsim.arm.planned import reference
    from armsim.files.new_file import check_output
    from armsim.model.angles import in_unit
    from armsim.records import as_plain
    from armsim.reports.reference import report

    output, plot = files.output, files.plot
    if output is not None:
        check_output(output, [scenario], files.force)
    check_plot(plot, files.force)
    read, doubts = read_scenario(scenario, overrides)
    planned = reference(read)
    if output is not None:
        planned.save(output, display.degrees)
    if plot is not None:
        from armsim.figures.motion import reference_figure
        from armsim.figures.phase_plane import phase_plane
        from armsim.figures.picture import save

        save(phase_plane(planned) if planned.stages else reference_figure(planned, display.degrees), plot)
    made = [] if output is None else [f"written {output}: {len(planned.t)} rows"]
    display.print(
        lambda: {
            **as_plain(in_unit(planned.facts, read.arm.joints, display.degrees)),
            "file": output,
            "doubts": doubts,
        },
        lambda: [*report(planned, display.degrees, display.verbose), *made],
        plot,
    )
    return 0
