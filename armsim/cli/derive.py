"""`armsim derive`"""

from __future__ import annotations

import click

from armsim.cli.options import (
    Display,
    Overrides,
    display_options,
    flag,
    grouped,
    robot_argument,
    set_option,
)
from armsim.errors import UsageError
from armsim.records import record

FORMS = ("text", "latex", "markdown", "python", "c", "fortran")


@record
class BaseParametersFile:
    """Whether base parameters are asked for, and the robot file that is made of them; None for none."""

    base: bool
    output: str | None


@click.command(
    "derive",
    epilog="""\b
Examples:
  armsim derive two_link                  M, C, g, energies, and two programs
  armsim derive two_link --to c > arm.c   its programs, compiled anywhere
  armsim derive rr --symbols m1,m2        the other parameters as numbers
  armsim derive arm5 --symbols "m=joints[R2].bodies[0].cylinder.mass"
  armsim derive arm5 --base-parameters    what the motion can tell of masses
  armsim derive puma560 --base-parameters -o puma.yaml    links that can exist
""",
)
@robot_argument
@set_option
@click.option(
    "--symbols",
    metavar="NAME,NAME=PATH,...",
    help="What stays a symbol: parameters of the file, or other numbers by their path; none for no symbols. "
    "[default: all parameters]",
)
@click.option(
    "--to",
    "form",
    type=click.Choice(FORMS),
    default="text",
    show_default=True,
    help="What to print, and in which language.",
)
@grouped(
    "wanted",
    BaseParametersFile,
    flag("--base-parameters", "base", help="Print the inertial parameters that the motion can tell apart."),
    click.option(
        "-o", "--output", metavar="FILE", help="With --base-parameters: write links that can exist and have them."
    ),
)
@display_options
def command(
    robot: str, overrides: Overrides, symbols: str | None, form: str, wanted: BaseParametersFile, display: Display
) -> int:
    """Derive the equations of motion of ROBOT in symbols, twice, and compare.

    One derivation is Newton and Euler's recursion, the text that simulates; the other is Lagrange's equations from energies. The
    printed equations are compared with the compiled engine, too. Programs share common factors and sums, for few operations.
    Friction, springs and stops are left out. It takes SymPy: pip install "armsim[symbolic]".
    """
    from armsim.derivation.extra import require_sympy

    require_sympy()
    kept = (
        None if symbols is None else [part.strip() for part in symbols.split(",") if part.strip() not in ("", "none")]
    )
    output = wanted.output
    if wanted.base:
        from armsim.derivation.base import base_parameters
        from armsim.files.new_file import check_output
        from armsim.identification.consistent import write_consistent
        from armsim.reports.derivation import base_report

        if output is not None:
            check_output(output, [robot])
        found = base_parameters(robot, kept, overrides)
        changed = None if output is None else write_consistent(robot, overrides, output)
        display.print(lambda: {**found.summary(), "changed": changed}, lambda: base_report(found, output, changed))
        return 0
    if output is not None:
        raise UsageError.of(
            f"-o {output}", "-o with --base-parameters", "it alone", "add --base-parameters, or redirect"
        )
    from armsim.derivation.derive import derive

    derivation = derive(robot, kept, overrides)
    display.print(derivation.summary, lambda: [derivation.to(form, everything=display.verbose).removesuffix("\n")])
    return 0
