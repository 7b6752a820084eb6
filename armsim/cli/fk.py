"""`armsim fk`"""

from __future__ import annotations

from typing import Any

import click

from armsim.cli.options import (
    SETTINGS,
    deg_option,
    joint_values,
    json_option,
    print_json,
    q_option,
    quiet_option,
    robot_argument,
    verbose_option,
)
from armsim.reports.table import Cell, fixed, shown, shown_joints, table
from armsim.terminal.streams import echo

RPY = ("roll", "pitch", "yaw")


@click.command(
    "fk",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim fk arm5                         at its initial pose
  armsim fk arm5 --q 0,-pi/2,0,0,0
  armsim fk two_link --deg --q 30,-45 --json
""",
)
@robot_argument
@q_option
@deg_option
@json_option
@quiet_option
@verbose_option
def command(robot: str, q: str | None, degrees: bool, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Print where every link's frame and the tool of ROBOT stand in the world (forward kinematics).

    ROBOT is a robot file or the name of a shipped one. Orientations are quaternions w, x, y, z with w >= 0, and roll about x,
    pitch about y, yaw about z, fixed axes, as in URDF: Rz(yaw) Ry(pitch) Rx(roll).
    """
    from armsim.dynamics import link_poses, tool_pose
    from armsim.loading import read_robot

    arm, _ = read_robot(robot)
    pose = joint_values("q", q, arm, degrees)
    names = arm.joint_names
    frames = [frame.as_data() for frame in (*link_poses(arm, pose), tool_pose(arm, pose))]
    for frame in frames:
        frame["rpy"] = [shown(angle, "revolute", degrees) for angle in frame["rpy"]]
    links = [{"name": name, **frame} for name, frame in zip(names, frames, strict=False)]
    turned = shown_joints(pose, arm.joints, degrees)
    answer = {"robot": arm.name, "joints": names, "q": turned, "links": links, "tool": frames[-1]}
    if as_json:
        print_json(answer)
    elif not quiet:
        where = "its initial pose" if q is None else "this pose"
        echo(f"{arm.name}: frames in the world at {where}\n\n{_tables(answer, degrees, 10 if verbose else 5)}")
    return 0


def _tables(answer: dict[str, Any], degrees: bool, decimals: int) -> str:
    places = [*answer["links"], {"name": "tool", **answer["tool"]}]
    angle = "deg" if degrees else "rad"

    def rows(*keys: tuple[str, str]) -> list[list[Cell]]:
        return [[p["name"], *((fixed(x, decimals), unit) for key, unit in keys for x in p[key])] for p in places]

    position, rpy, quaternion = ("position", "m"), ("rpy", angle), ("quaternion", "")
    tables = [table(["frame", "qw", "qx", "qy", "qz"], rows(quaternion))]
    if decimals > 5:
        return "\n\n".join(
            [table(["frame", "x", "y", "z"], rows(position)), table(["frame", *RPY], rows(rpy)), *tables]
        )
    return "\n\n".join([table(["frame", "x", "y", "z", *RPY], rows(position, rpy)), *tables])
