"""`armsim inertia`"""

from __future__ import annotations

from typing import Any

import click

from armsim.cli.options import SETTINGS, Settings, print_json, quiet_option, set_option, shipped, verbose_option
from armsim.notebook import counted
from armsim.reports.table import Cell, number, numbers, table, wrapped
from armsim.terminal.streams import bold, echo

COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


@click.command(
    "inertia",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim inertia arm5
  armsim inertia my_arm.yaml --set parameters.upper=0.5
  armsim inertia arm5 --json
""",
)
@click.argument("file", shell_complete=shipped("robots"))
@set_option
@click.option("--deg", is_flag=True, expose_value=False, help="Changes nothing here: there are no angles.")
@click.option("--json", "as_json", is_flag=True, help="Print results as JSON, in SI units.")
@quiet_option
@verbose_option
def command(file: str, settings: Settings, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Print every solid of a robot with its inertia, and what each link adds up to.

    FILE is a robot file or the name of a shipped robot. Tensors are about a solid's own centre and about the origin of its
    link's frame, axes parallel to the frame's; xy is -∫xy dm, as it stands in the matrix.
    """
    from armsim.arm.solids import solids
    from armsim.loading import load_robot_file

    found = solids(load_robot_file(file, settings).data)
    if as_json:
        print_json(found)
    elif not quiet:
        echo(report(found, 10 if verbose else 5))
    return 0


def report(found: dict[str, Any], digits: int) -> str:
    """The solids and the sums as text."""
    solids = [(f"{link['name']}[{i}]", s) for link in found["links"] for i, s in enumerate(link["solids"])]
    mass = sum(link["mass"] for link in found["links"])
    parts = [
        f"{found['robot']}: {counted(len(solids), 'solid')} on {counted(len(found['links']), 'link')}, {number(mass)} kg"
    ]
    if found["payload"] is not None:
        solids.append(("payload", found["payload"]))
        parts[0] += f", and a payload of {number(found['payload']['mass'])} kg in the tool's frame"
    parts[0] = wrapped(parts[0])
    described = [(f"{label} {_described(solid)}", solid) for label, solid in solids]
    parts += _section("Solids", "solid", _masses(described, "center", digits))
    parts += _section("Solids about their own centre [kg·m²]", "solid", _tensors(solids, "about_center", digits))
    parts += _section("Solids about their frame's origin [kg·m²]", "solid", _tensors(solids, "about_origin", digits))
    links = [(link["name"], link) for link in found["links"]]
    title = "Links, their solids summed" + ("" if found["payload"] is None else ", without the payload")
    parts += _section(title, "link", _masses(links, "com", digits))
    parts += _section("Links about their centre of mass [kg·m²]", "link", _tensors(links, "about_com", digits))
    parts += _section("Links about their frame's origin [kg·m²]", "link", _tensors(links, "about_origin", digits))
    return "\n\n".join(parts)


def _section(title: str, first: str, filled: tuple[list[str], list[list[Cell]]]) -> list[str]:
    headings, rows = filled
    return [f"{bold(title)}\n{table([first, *headings], rows)}"]


def _masses(items: list[tuple[str, dict[str, Any]]], center: str, digits: int) -> tuple[list[str], list[list[Cell]]]:
    rows: list[list[Cell]] = []
    for label, item in items:
        rows.append([label, (number(item["mass"], digits), "kg"), *((x, "m") for x in numbers(item[center], digits))])
    return ["mass", "x", "y", "z"], rows


def _tensors(items: list[tuple[str, dict[str, Any]]], about: str, digits: int) -> tuple[list[str], list[list[Cell]]]:
    rows: list[list[Cell]] = [[label, *numbers(list(item[about].values()), digits)] for label, item in items]
    return list(COMPONENTS), rows


def _described(solid: dict[str, Any]) -> str:
    """The shape of a solid and its sizes in metres."""
    sizes = dict(solid["sizes"])
    axis = sizes.pop("axis", "")
    listed = ", ".join(f"{key.replace('_radius', '')} {_size(value)}" for key, value in sizes.items())
    return ", ".join(filter(None, [f"{solid['shape']} {axis}".strip(), listed]))


def _size(value: float | list[float]) -> str:
    return " x ".join(number(x) for x in value) if isinstance(value, list) else number(value)
