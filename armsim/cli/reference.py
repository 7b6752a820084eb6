"""`armsim reference`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    SETTINGS,
    Settings,
    deg_option,
    json_option,
    print_json,
    quiet_option,
    read_scenario,
    scenario_argument,
    set_option,
    verbose_option,
)
from armsim.terminal.streams import echo


@click.command(
    "reference",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim reference arm5_move
  armsim reference arm5_move --set "control.reference.times=[0.3]" --deg
  armsim reference my_arm/move.yaml -o reference.csv     q, qd, qdd, torques
  armsim reference arm5_move --plot reference.png
""",
)
@scenario_argument
@set_option
@click.option("-o", "--output", metavar="CSV", help="Write it to a new file, with torques, voltages and currents.")
@click.option("--plot", metavar="FILE", help='Draw it over time. Takes matplotlib: pip install "armsim[plot]".')
@click.option("--force", is_flag=True, help="Let -o and --plot replace files that exist.")
@deg_option
@json_option
@quiet_option
@verbose_option
def command(
    scenario: str,
    settings: Settings,
    output: str | None,
    plot: str | None,
    force: bool,
    degrees: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Print the reference of SCENARIO: how far and how fast its joints go, and what of their limits that exceeds.

    Nothing runs: torques are those of inverse dynamics along the reference. A line says where it leaves a joint's range, and
    where its motor does not give the torque at that speed and supply. The rows of -o are at multiples of `log.every`; another
    scenario can follow them by `reference: {csv: ...}`.
    """
    from armsim.arm.planned import reference
    from armsim.files.new_file import refuse_to_overwrite, unwritable
    from armsim.reports.reference import as_data, report

    if output is not None:
        refuse_to_overwrite(output, [scenario], force)
    if plot is not None:
        from armsim.figures.picture import check_picture

        check_picture(plot, force)
    read, doubts = read_scenario(scenario, settings)
    planned = reference(read)
    if output is not None:
        try:
            planned.save(output, degrees)
        except OSError as error:
            raise unwritable(output, error) from None
    if plot is not None:
        from armsim.figures.motion import plot_reference

        plot_reference(planned, plot, degrees)
    if as_json:
        print_json({**as_data(planned, degrees), "file": output, "doubts": doubts})
    elif not quiet:
        echo(report(planned, degrees, verbose))
        if output is not None:
            echo(f"written {output}: {len(planned.t)} rows")
        if plot is not None:
            echo(f"drawn    {plot}")
    return 0
