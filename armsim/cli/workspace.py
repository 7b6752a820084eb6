"""`armsim workspace`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from armsim.cli.ik import PLACE, Orientation, orientation_options
from armsim.cli.options import Display, Overrides, angle_options, flag, grouped, number, robot_argument, set_option
from armsim.cli.pictures import OutputFiles, check_plot
from armsim.errors import UsageError
from armsim.records import Json, record
from armsim.reports.table import number as shown
from armsim.text_columns import aligned

if TYPE_CHECKING:
    from armsim.arm.workspace import Workspace

COLUMNS = [*PLACE, "reachable", "manipulability", "payload_kg"]


@record
class WorldPlane:
    """A plane of the world, and what of it is drawn.

    Attributes:
        plane: Its axes.
        at: Where it lies along the third one [m]; None for the first joint's place.
        resolution: Points along each side.
        show: What colours tell.
    """

    plane: Literal["xz", "xy", "yz"]
    at: float | None
    resolution: int
    show: Any


@click.command(
    "workspace",
    epilog="""\b
Examples:
  armsim workspace ur5e                         the plane y = 0
  armsim workspace ur5e --axis z=0,0,-1         where the tool points down
  armsim workspace two_link --plane xy --plot reach.png
  armsim workspace ur20 --show payload --plot payload.png -o map.csv
""",
)
@robot_argument
@click.option("--plane", default="xz", type=click.Choice(["xz", "xy", "yz"]), help="Of the world. [default: xz]")
@click.option(
    "--at", callback=number, metavar="X", help="Where it lies along the third axis [m]. [default: the first joint]"
)
@click.option("--resolution", default=61, metavar="N", help="Points along each side. [default: 61]")
@orientation_options
@click.option("-o", "--output", metavar="CSV", help="A new file with a row for every point.")
@click.option("--plot", metavar="FILE", help='Draw the plane. Takes matplotlib: pip install "armsim[plot]".')
@click.option(
    "--show",
    default="manipulability",
    type=click.Choice(["reach", "manipulability", "payload"]),
    help="What the colours of --plot tell. [default: manipulability]",
)
@flag("--force", help="Let -o and --plot replace files that exist.")
@grouped("world", WorldPlane)
@grouped("files", OutputFiles)
@set_option
@angle_options
def command(
    robot: str,
    overrides: Overrides,
    world: WorldPlane,
    orientation: Orientation,
    files: OutputFiles,
    display: Display,
) -> int:
    """Map a plane of the world: where ROBOT's tool can be, its manipulability, and the payload that the motors hold.

    Manipulability is the product of the singular values of the Jacobian (Yoshikawa). The payload is a point mass at the tool,
    besides those of the file, held at rest within the motors' limits of torque, current and voltage. Both are of the
    solution next to the middle of the joints' ranges, not the best of all. Without an orientation any will do.
    """
    import numpy as np

    from armsim.arm.robot import load_robot
    from armsim.arm.workspace import PLANES
    from armsim.files.csv_writer import write_csv
    from armsim.files.new_file import check_output

    if len(orientation.given()) > 1:
        raise UsageError.of("armsim workspace", "at most one of --rpy, --quat and --axis", "several", "leave one")
    plane, output, plot = world.plane, files.output, files.plot
    if output is not None:
        check_output(output, [robot], files.force)
    check_plot(plot, files.force)
    arm = load_robot(robot, overrides)
    found = arm.workspace(plane, world.at, world.resolution, *orientation.values(display.degrees))
    normal = ({0, 1, 2} - {*PLANES[plane]}).pop()
    where = f"{arm.arm.name}: the tool in the plane {'xyz'[normal]} = {shown(found.position[0, 0, normal])} m"
    if plot is not None:
        from armsim.figures.workspace import plot_workspace

        plot_workspace(plot, found, world.show, plane, where)
    if output is not None:
        columns = (found.position, found.reachable, found.manipulability, found.payload)
        write_csv(output, COLUMNS, np.dstack(columns).ravel())
    facts = _facts(found, plane)
    rows = [("reached", f"{facts['share']:.1%} of them")]
    rows += [("", f"{name} from {shown(low)} to {shown(high)} m") for name, (low, high) in facts["extent"].items()]
    for name, unit in (("manipulability", ""), ("payload", " kg")):
        for end, there in (facts[name] or {}).items():
            place = ", ".join(map(shown, there["position"]))
            rows.append((name, f"{end} {shown(there['value'])}{unit} at {place} m"))
    rows += [] if facts["payload"] else [("payload", "not limited by the motors")] * bool(facts["extent"])
    rows += [(verb, file) for verb, file in (("written", output), ("drawn", plot)) if file is not None]
    display.print(
        lambda: {"robot": arm.arm.name, "plane": plane, **facts},
        lambda: [f"{where}, {world.resolution} x {world.resolution} points", *aligned(rows)],
    )
    return 0


def _facts(found: Workspace, plane: str) -> Json:
    """Share and extent of what is reached; least and greatest manipulability and payload, each with its place."""
    import numpy as np

    from armsim.arm.workspace import PLANES

    places = found.position[found.reachable]
    axes = zip(plane, PLANES[plane], strict=True)
    extent = {name: [places[:, i].min(), places[:, i].max()] for name, i in axes} if len(places) else {}
    facts: Json = {"share": float(found.reachable.mean()), "extent": extent}
    for name in ("manipulability", "payload"):
        values = getattr(found, name)
        finite = np.isfinite(values)
        ordered = sorted(zip(values[finite].tolist(), found.position[finite].tolist(), strict=True))
        facts[name] = None
        if ordered:
            ends = {"least": ordered[0], "greatest": ordered[-1]}
            facts[name] = {end: {"value": value, "position": place} for end, (value, place) in ends.items()}
    return facts
