"""`armsim fk`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from armsim.cli.options import (
    Display,
    Overrides,
    angle_options,
    joint_values,
    q_option,
    read_robot,
    robot_argument,
    set_option,
)

if TYPE_CHECKING:
    from armsim.reports.table import Report, Row
    from armsim.spatial import Frame

RPY = ("roll", "pitch", "yaw")


@click.command(
    "fk",
    epilog="""\b
Examples:
  armsim fk arm5                         at its initial pose
  armsim fk arm5 --q 0,-pi/2,0,0,0
  armsim fk two_link --deg --q 30,-45 --json
""",
)
@robot_argument
@q_option
@set_option
@angle_options
def command(robot: str, overrides: Overrides, q: str | None, display: Display) -> int:
    """Print where every link's frame, the tool and all other frames of ROBOT stand in the world (forward kinematics).

    ROBOT is a robot file or the name of a shipped one. Orientations are quaternions w, x, y, z with w >= 0, and roll about x,
    pitch about y, yaw about z, fixed axes, as in URDF: Rz(yaw) Ry(pitch) Rx(roll).
    """
    from armsim.dynamics import frame_pose, link_poses
    from armsim.model.angles import MotionInstant, in_unit

    arm = read_robot(robot, overrides)
    at = joint_values("q", q, arm, display.degrees)
    poses = [*zip(arm.link_names, link_poses(arm, at), strict=True)]
    poses += [(frame.name, frame_pose(arm, at, frame)) for frame in arm.frames]
    found = MotionInstant(at), [(name, pose.frame()) for name, pose in poses]
    motion, frames = in_unit(found, arm.joints, display.degrees)
    about = {"robot": arm.name, "joints": arm.joint_names, "q": motion.q}
    named = [{"name": name, **vars(frame)} for name, frame in frames]
    where = "its initial pose" if q is None else "this pose"
    display.print(
        lambda: {
            **about,
            "links": named[: len(arm.links)],
            "tool": frames[len(arm.links)][1],
            "frames": named[len(arm.links) + 1 :],
        },
        lambda: [
            f"{arm.name}: frames in the world at {where}",
            *_tables(frames, "deg" if display.degrees else "rad", display.digits),
        ],
    )
    return 0


def _tables(frames: list[tuple[str, Frame]], angle: str, decimals: int) -> Report:
    """The frames by name, in one table or, with more decimals, in one for each part."""
    from armsim.reports.table import ReportTable, fixed

    def rows(*parts: tuple[str, str]) -> list[Row]:
        return [
            [name, *((fixed(x, decimals), unit) for part, unit in parts for x in getattr(frame, part))]
            for name, frame in frames
        ]

    position, rpy, quaternion = ("position", "m"), ("rpy", angle), ("quaternion", "")
    tables: Report = ["", ReportTable(["frame", "qw", "qx", "qy", "qz"], rows(quaternion))]
    if decimals > 5:
        return [
            "",
            ReportTable(["frame", "x", "y", "z"], rows(position)),
            "",
            ReportTable(["frame", *RPY], rows(rpy)),
            *tables,
        ]
    return ["", ReportTable(["frame", "x", "y", "z", *RPY], rows(position, rpy)), *tables]
