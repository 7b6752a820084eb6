"""`armsim export`"""

from __future__ import annotations

from typing import Any

import click

from armsim.cli.options import Display, file_argument, flag, grouped, json_options, number
from armsim.files.destination import Destination
from armsim.records import record


@record
class TargetLanguage:
    """How text is printed.

    Attributes:
        to: The language.
        single: Whether in single precision.
        fma: How fused multiply-adds are computed.
    """

    to: str
    single: bool
    fma: Any  # checked by the export


@record
class Selection:
    """What is exported.

    Attributes:
        what: Names of functions, as text.
        opened: Paths of numbers that are left open.
    """

    what: str | None
    opened: tuple[str, ...]


@record
class StepOptions:
    """The steps of a robot's forward model.

    Attributes:
        dt: Length of a step [s]; None for no steps.
        method: The integrator.
        inputs: What they are.
        creep: Of their derivatives.
    """

    dt: float | None
    method: str
    inputs: Any  # a choice
    creep: float | None


@click.command(
    "export",
    epilog="""\b
Examples:
  armsim export arm5 --to c -o arm5_c             forward dynamics and more
  armsim export arm5 --to c --what step --dt 1e-3 -o model
  armsim export arm5_hold --to fortran -o hold    the steps of a run
  armsim export arm5_hold --to c --open control.kp --float -o hold
  armsim export arm5 --to library -o lib          C, compiled here
  armsim export arm5 --to urdf -o arm5.urdf       or mjcf, for other programs
""",
)
@file_argument
@click.option(
    "--to",
    required=True,
    metavar="LANGUAGE",
    help="c, fortran, python, javascript or casadi; or library: C that is compiled here. Or a description of ROBOT: urdf, mjcf; "
    "mdh, dh: a robot file by that convention.",
)
@grouped(
    "selection",
    Selection,
    click.option(
        "--what",
        metavar="NAME,...",
        help="Of a robot fd, id, fk, mass, bias, gravity, limits, jacobian, energy, step; of a scenario step, observe; of both "
        "derivatives of the step. [default: fd,id,fk,mass; step,observe]",
    ),
    click.option(
        "--open",
        "opened",
        multiple=True,
        metavar="PATH",
        help="A number that is left open, such as control.kp; may be repeated.",
    ),
)
@grouped(
    "language",
    TargetLanguage,
    flag("--float", "single", help="Single precision; c, fortran and library."),
    click.option(
        "--fma",
        metavar="HOW",
        help="exact: fused multiply-adds everywhere, in software where the machine has none; hardware: refused there; none: "
        "product and sum, so that bits differ. [default: exact; none for casadi and --float]",
    ),
)
@grouped(
    "steps",
    StepOptions,
    click.option(
        "--dt",
        callback=number,
        metavar="T",
        help="Step of a robot's forward model [s]; adds step to the functions. With mjcf MuJoCo's.",
    ),
    click.option("--method", default="semi_implicit_euler", metavar="NAME", show_default=True, help="Its integrator."),
    click.option(
        "--inputs",
        type=click.Choice(["voltage", "torque"]),
        default="voltage",
        show_default=True,
        help="What its inputs are.",
    ),
    click.option(
        "--creep",
        callback=number,
        metavar="V",
        help="In its derivatives dry friction c is the damping c / sqrt(v² + V²) at velocity v [rad/s or m/s].",
    ),
)
@grouped(
    "destination",
    Destination,
    click.option(
        "-o",
        "--output",
        "folder",
        required=True,
        metavar="PATH",
        help="The folder for the files: absent or empty. Of a description the file.",
    ),
    flag("--force", help="Replace files of the same names."),
)
@json_options
def command(
    file: str,
    selection: Selection,
    language: TargetLanguage,
    steps: StepOptions,
    destination: Destination,
    display: Display,
) -> int:
    """Write functions of ROBOT, or the steps of SCENARIO, as source text that needs nothing but a compiler.

    The text computes what armsim computes, to the bit in C and Fortran: friction, stops, limits and implicit methods included.
    Its test program says so where it is compiled. Or write ROBOT as URDF, as MJCF or by another convention of frames; what is
    lost by it is listed. `armsim docs export` tells more.
    """
    from armsim.exporting.export import export
    from armsim.reports.export import as_data, report

    done = export(
        file,
        language.to,
        str(destination.folder),
        None if selection.what is None else [name.strip() for name in selection.what.split(",")],
        selection.opened,
        language.single,
        language.fma,
        steps.dt,
        steps.method,
        steps.inputs,
        destination.force,
        steps.creep,
    )
    display.print(lambda: as_data(done), lambda: report(done))
    return 1 if done.test.wrong else 0
