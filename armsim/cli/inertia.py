"""`armsim inertia`"""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

import click

from armsim.cli.options import Display, Overrides, display_options, flag, set_option, shipped
from armsim.notebook import counted
from armsim.reports.table import Report, ReportTable, Row, measured, number, numbers, sections, wrapped
from armsim.terminal.streams import bold

if TYPE_CHECKING:
    from armsim.arm.solids import RobotSolids, Solid
    from armsim.spatial import Symmetric

MASS = ("mass", "x", "y", "z")
COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


@click.command(
    "inertia",
    epilog="""\b
Examples:
  armsim inertia arm5
  armsim inertia my_arm.yaml --set parameters.upper=0.5
  armsim inertia arm5 --json
""",
)
@click.argument("file", shell_complete=shipped("robots"))
@set_option
@flag("--deg", expose_value=False, help="Changes nothing here: there are no angles.")
@display_options
def command(file: str, overrides: Overrides, display: Display) -> int:
    """Print every solid of a robot with its inertia, and what each link adds up to.

    FILE is a robot file or the name of a shipped robot. Tensors are about a solid's own centre and about the origin of its
    link's frame, axes parallel to the frame's; xy is -∫xy dm, as it stands in the matrix.
    """
    from armsim.arm.solids import solids
    from armsim.loading import load_robot_file

    found = solids(load_robot_file(file, overrides).document)
    display.print(lambda: found, lambda: report(found, display.digits))
    return 0


def report(found: RobotSolids, digits: int) -> Report:
    """The solids and the sums as text."""
    links = found.links
    solids = [(f"{link.name}[{i}]", solid) for link in links for i, solid in enumerate(link.solids)]
    mass = sum(link.mass for link in links)
    title = f"{found.robot}: {counted(len(solids), 'solid')} on {counted(len(links), 'link')}, {number(mass)} kg"
    for payload in found.payloads:
        solids.append((payload.path, payload))
        title += f", and a payload of {number(payload.mass)} kg in the {payload.frame}'s frame"
    rows = [_mass(f"{label} {_described(solid)}", solid.mass, solid.center, digits) for label, solid in solids]
    parts: list[Report] = [[wrapped(title)], _section("Solids", "solid", MASS, rows)]
    rows = [_tensor(label, solid.about_center, digits) for label, solid in solids]
    parts.append(_section("Solids about their own centre [kg·m²]", "solid", COMPONENTS, rows))
    rows = [_tensor(label, solid.about_origin, digits) for label, solid in solids]
    parts.append(_section("Solids about their frame's origin [kg·m²]", "solid", COMPONENTS, rows))
    title = "Links, their solids summed" + (", without the payload" if found.payloads else "")
    parts.append(_section(title, "link", MASS, [_mass(link.name, link.mass, link.com, digits) for link in links]))
    rows = [_tensor(link.name, link.about_com, digits) for link in links]
    parts.append(_section("Links about their centre of mass [kg·m²]", "link", COMPONENTS, rows))
    rows = [_tensor(link.name, link.about_origin, digits) for link in links]
    parts.append(_section("Links about their frame's origin [kg·m²]", "link", COMPONENTS, rows))
    return sections(*parts)


def _section(title: str, first: str, headings: tuple[str, ...], rows: list[Row]) -> Report:
    return [bold(title), ReportTable([first, *headings], rows)]


def _mass(label: str, mass: float, center: list[float], digits: int) -> Row:
    return [label, measured(mass, "kg", digits), *((x, "m") for x in numbers(center, digits))]


def _tensor(label: str, tensor: Symmetric, digits: int) -> Row:
    return [label, *numbers(astuple(tensor), digits)]


def _described(solid: Solid) -> str:
    """The shape of a solid and its sizes in metres."""
    sizes = dict(solid.sizes)
    axis = sizes.pop("axis", "")
    listed = ", ".join(f"{key.replace('_radius', '')} {_size(value)}" for key, value in sizes.items())
    return ", ".join(filter(None, [f"{solid.shape} {axis}".strip(), listed]))


def _size(value: float | list[float]) -> str:
    return " x ".join(number(x) for x in value) if isinstance(value, list) else number(value)
