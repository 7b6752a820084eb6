"""`armsim workspace`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from armsim.cli.ik import PLACE, axis_option, orientation, quat_option, rpy_option
from armsim.cli.options import Display, Overrides, angle_options, number, robot_argument, set_option
from armsim.cli.pictures import check_plot
from armsim.errors import UsageError
from armsim.reports.table import number as shown

if TYPE_CHECKING:
    from armsim.arm.workspace import Workspace

COLUMNS = [*PLACE, "reachable", "manipulability", "payload_kg"]


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
@rpy_option
@quat_option
@axis_option
@click.option("-o", "--output", metavar="CSV", help="A new file with a row for every point.")
@click.option("--plot", metavar="FILE", help='Draw the plane. Takes matplotlib: pip install "armsim[plot]".')
@click.option(
    "--show",
    default="manipulability",
    type=click.Choice(["reach", "manipulability", "payload"]),
    help="What the colours of --plot tell. [default: manipulability]",
)
@click.option("--force", is_flag=True, help="Let -o and --plot replace files that exist.")
@set_option
@angle_options
def command(
    robot: str,
    overrides: Overrides,
    plane: Literal["xz", "xy", "yz"],
    at: float | None,
    resolution: int,
    rpy: str | None,
    quat: str | None,
    axis: str | None,
    output: str | None,
    plot: str | None,
    show: Any,
    force: bool,
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

    if sum(text is not None for text in (rpy, quat, axis)) > 1:
        raise UsageError.of("armsim workspace", "at most one of --rpy, --quat and --axis", "several", "leave one")
    if output is not None:
        check_output(output, [robot], force)
    check_plot(plot, force)
    arm = load_robot(robot, overrides)
    towards: Any = orientation(rpy, quat, axis, display)
    found = arm.workspace(plane, at, resolution, *towards)
    normal = ({0, 1, 2} - {*PLANES[plane]}).pop()
    where = f"{arm.arm.name}: the tool in the plane {'xyz'[normal]} = {shown(found.position[0, 0, normal])} m"
    if plot is not None:
        from armsim.figures.workspace import plot_workspace

        plot_workspace(plot, found, show, plane, where)
    if output is not None:
        columns = (found.position, found.reachable, found.manipulability, found.payload)
        write_csv(output, COLUMNS, np.dstack(columns).ravel())
    facts = _facts(found, plane)
    lines = [f"{where}, {resolution} x {resolution} points", f"reached         {facts['share']:.1%} of them"]
    for name, (low, high) in facts["extent"].items():
        lines.append(f"                {name} from {shown(low)} to {shown(high)} m")
    for name, unit in (("manipulability", ""), ("payload", " kg")):
        for end, there in (facts[name] or {}).items():
            place = ", ".join(map(shown, there["position"]))
            lines.append(f"{name:15} {end} {shown(there['value'])}{unit} at {place} m")
    lines += [] if facts["payload"] else ["payload         not limited by the motors"] * bool(facts["extent"])
    lines += [f"{verb:15} {file}" for verb, file in (("written", output), ("drawn", plot)) if file is not None]
    display.print(lambda: {"robot": arm.arm.name, "plane": plane, **facts}, lambda: "\n".join(lines))
    return 0


def _facts(found: Workspace, plane: str) -> dict[str, Any]:
    """Share and extent of what is reached; least and greatest manipulability and payload, each with its place."""
    import numpy as np

    from armsim.arm.workspace import PLANES

    places = found.position[found.reachable]
    axes = zip(plane, PLANES[plane], strict=True)
    extent = {name: [places[:, i].min(), places[:, i].max()] for name, i in axes} if len(places) else {}
    facts: dict[str, Any] = {"share": float(found.reachable.mean()), "extent": extent}
    for name in ("manipulability", "payload"):
        values = getattr(found, name)
        finite = np.isfinite(values)
        ordered = sorted(zip(values[finite].tolist(), found.position[finite].tolist(), strict=True))
        facts[name] = None
        if ordered:
            ends = {"least": ordered[0], "greatest": ordered[-1]}
            facts[name] = {end: {"value": value, "position": place} for end, (value, place) in ends.items()}
    return facts
