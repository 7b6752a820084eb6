"""`armsim export`"""

from __future__ import annotations

from typing import Any

import click

from armsim.cli.options import SETTINGS, json_option, number_value, print_json, quiet_option, shipped
from armsim.terminal.streams import echo


@click.command(
    "export",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim export arm5 --to c -o arm5_c             forward dynamics and more
  armsim export arm5 --to c --what step --dt 1e-3 -o model
  armsim export arm5_hold --to fortran -o hold    the steps of a run
  armsim export arm5_hold --to c --open control.kp --float -o hold
  armsim export arm5 --to library -o lib          C, compiled here
""",
)
@click.argument("file", metavar="ROBOT|SCENARIO", shell_complete=shipped("robots", "configs"))
@click.option(
    "--to",
    required=True,
    metavar="LANGUAGE",
    help="c, fortran, python, javascript or casadi; or library: C that is compiled here.",
)
@click.option(
    "--what",
    metavar="NAME,...",
    help="Of a robot fd, id, fk, mass, bias, gravity, limits, jacobian, energy, step; of a scenario step, observe. "
    "[default: fd,id,fk,mass; step,observe]",
)
@click.option(
    "--open",
    "opened",
    multiple=True,
    metavar="PATH",
    help="A number that is left open, such as control.kp; may be repeated.",
)
@click.option("--float", "single", is_flag=True, help="Single precision; c, fortran and library.")
@click.option(
    "--fma",
    metavar="HOW",
    help="exact: fused multiply-adds everywhere, in software where the machine has none; hardware: refused there; none: "
    "product and sum, so that bits differ. [default: exact; none for casadi and --float]",
)
@click.option("--dt", metavar="T", help="Step of a robot's forward model [s]; adds step to the functions.")
@click.option("--method", default="semi_implicit_euler", metavar="NAME", show_default=True, help="Its integrator.")
@click.option(
    "--inputs",
    type=click.Choice(["voltage", "torque"]),
    default="voltage",
    show_default=True,
    help="What its inputs are.",
)
@click.option("-o", "--output", required=True, metavar="DIR", help="The folder for the files: absent or empty.")
@click.option("--force", is_flag=True, help="Replace files of the same names.")
@json_option
@quiet_option
def command(
    file: str,
    to: str,
    what: str | None,
    opened: tuple[str, ...],
    single: bool,
    fma: Any,
    dt: str | None,
    method: str,
    inputs: Any,
    output: str,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Write functions of ROBOT, or the steps of SCENARIO, as source text that needs nothing but a compiler.

    The text computes what armsim computes, to the bit in C and Fortran: friction, stops, limits and implicit methods included.
    Its test program says so where it is compiled. `armsim docs export` tells more.
    """
    from armsim.exporting.export import export
    from armsim.reports.export import as_data, report

    names = None if what is None else [name.strip() for name in what.split(",")]
    step = None if dt is None else number_value("dt", dt)
    done = export(file, to, output, names, opened, single, fma, step, method, inputs, force)
    if as_json:
        print_json(as_data(done))
    elif not quiet:
        echo(report(done))
    return 1 if done.test.wrong else 0
