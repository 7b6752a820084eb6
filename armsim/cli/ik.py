"""`armsim ik`"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from armsim.cli.options import (
    Display,
    Overrides,
    angle_options,
    flag,
    grouped,
    joint_values,
    number_value,
    print_json,
    robot_argument,
    set_option,
)
from armsim.errors import UsageError
from armsim.model.angles import POSITION, MotionInstant, in_unit
from armsim.records import record
from armsim.reports.state import state_table
from armsim.reports.table import ReportTable, number
from armsim.spatial import quaternion, rotation_rpy

if TYPE_CHECKING:
    from armsim.arm.pose_search import PoseSolutions
    from armsim.model import Arm

PLACE, TURN = ["x_m", "y_m", "z_m"], ["qw", "qx", "qy", "qz"]
ANGLES = ["roll", "pitch", "yaw", "rx", "ry", "rz"]  # how columns begin that would have to be quaternions


@record
class Orientation:
    """How a frame is to stand, in one of three forms, as text.

    Attributes:
        rpy: Roll, pitch and yaw.
        quat: A quaternion.
        axis: An axis of the frame, and its direction in the world.
    """

    rpy: str | None
    quat: str | None
    axis: str | None

    def given(self) -> dict[str, str]:
        """Those that are given, by option."""
        return {f"--{name}": text for name, text in vars(self).items() if text is not None}

    def values(self, degrees: bool) -> tuple[Any, Any]:
        """A quaternion, and an axis with its direction; None where they are not given."""
        letter, _, direction = (self.axis or "").partition("=")
        along = None if self.axis is None else (letter, _numbers("axis", direction, 3))
        if self.rpy is None:
            return None if self.quat is None else _numbers("quat", self.quat, 4), along
        angles = _numbers("rpy", self.rpy, 3, "deg" if degrees else "rad")
        radians = map(math.radians, angles) if degrees else angles
        return [*quaternion(rotation_rpy(*radians))], along


@record
class Poses:
    """Which poses a frame is brought to.

    Attributes:
        frame: Its name.
        xyz: One place, as text.
        csv: A file of many.
        output: Where their joint positions go.
        force: Whether that file may replace one that is there.
    """

    frame: str
    xyz: str | None
    csv: str | None
    output: str | None
    force: bool


@record
class SolutionChoice:
    """Which solutions are wanted.

    Attributes:
        near: Joint positions near which one is, as text.
        every: Whether all are.
        turns: Whether all turns of each are, too.
        no_limits: Whether those beyond limits are, too.
    """

    near: str | None
    every: bool
    turns: bool
    no_limits: bool


@record
class NearestPose:
    """Joint positions next to a pose that cannot be had, and by how much those of the pose are beyond limits, by joint."""

    q: list[float] = field(metadata=POSITION)
    beyond: dict[str, float] = field(metadata=POSITION)


@record
class NamedSolution:
    """Joint positions that bring a frame to a pose.

    Attributes:
        branch: Its name.
        q: The positions, in the unit shown.
        margin: Of the joint nearest to a limit, likewise; None without limits.
    """

    branch: str
    q: list[float]
    margin: float | None


orientation_options = grouped(
    "orientation",
    Orientation,
    click.option("--rpy", metavar="R,P,Y", help="Roll, pitch and yaw of the frame about fixed axes [rad]."),
    click.option("--quat", metavar="W,X,Y,Z", help="Its orientation as a quaternion, of any length."),
    click.option(
        "--axis", metavar="A=X,Y,Z", help="The direction in the world along which its axis A, x, y or z, points."
    ),
)


@click.command(
    "ik",
    epilog="""\b
Examples:
  armsim ik ur5e --xyz 0.4,0.2,0.3                  a place alone
  armsim ik ur5e --xyz 0.4,0.2,0.3 --axis z=0,0,-1  the tool points down
  armsim ik ur5e --xyz 0.4,0.2,0.3 --rpy 180deg,0,0
  armsim ik puma560 --xyz 0.5,0.2,0.3 --deg --near 0,90,-90,0,45,0
  armsim ik ur5e --xyz 0.4,0.2,0.3 --rpy pi,0,0 --all
  armsim ik arm5 --csv places.csv -o q.csv
""",
)
@robot_argument
@click.option("--xyz", metavar="X,Y,Z", help="Where the frame's origin is wanted in the world [m].")
@orientation_options
@click.option("--frame", default="tool", metavar="NAME", help="The frame. [default: tool]")
@grouped(
    "wanted",
    SolutionChoice,
    click.option("--near", metavar="X,X,...", help="Joint positions to begin with, and to stay near [rad or m]."),
    flag("--all", "every", help="All solutions, named by their branches; of arms with as many joints as conditions."),
    flag("--turns", help="With --all: of each all turns of the joints within their limits, too."),
    flag("--no-limits", help="Take solutions beyond the joints' limits, too."),
)
@grouped(
    "poses",
    Poses,
    click.option("--csv", metavar="CSV", help="Many poses: columns x_m, y_m, z_m, for orientations qw, qx, qy, qz."),
    click.option("-o", "--output", metavar="CSV", help="Where their joint positions go: a new file."),
    flag("--force", help="Let -o replace a file that exists."),
)
@set_option
@angle_options
def command(
    robot: str, overrides: Overrides, poses: Poses, orientation: Orientation, wanted: SolutionChoice, display: Display
) -> int:
    """Print joint positions that bring a frame of ROBOT to a pose (inverse kinematics).

    ROBOT is a robot file or the name of a shipped one. Positions are exact to rounding, and within the joints' limits. Without an
    orientation any will do. Where there is no solution, it says why and how far away the nearest pose is; the exit code is 1.
    """
    from armsim.arm.pose_search import NoSolution, PoseSolutions
    from armsim.arm.robot import load_robot
    from armsim.files.new_file import check_output

    frame, output, every, turned = poses.frame, poses.output, wanted.every, orientation.given()
    options = {"--xyz": poses.xyz, "--csv": poses.csv, "-o": output}
    places = {name: text for name, text in options.items() if text is not None}
    given = places | turned
    single = places.keys() == {"--xyz"} and len(turned) < 2
    many = places.keys() == {"--csv", "-o"} and turned.keys() <= {"--axis"}
    if not (single or many) or "=" not in given.get("--axis", "="):
        expected = "--xyz with at most one of --rpy, --quat and --axis z=X,Y,Z; or --csv and -o, with or without --axis"
        stated = ", ".join(f"{name} {text}" for name, text in given.items()) or "neither"
        raise UsageError.of("armsim ik", expected, stated, "write for example --xyz 0.4,0,0.3 --axis z=0,0,-1")
    if wanted.turns and not every:
        raise UsageError.of("--turns", "--all beside it", "none", "write --all --turns")
    if output is not None:
        check_output(output, [str(poses.csv), robot], poses.force)
    arm = load_robot(robot, overrides)
    start = None if wanted.near is None else joint_values("near", wanted.near, arm.arm, display.degrees)
    turn, along = orientation.values(display.degrees)
    pose: Any = _poses(poses.csv, orientation.axis) if poses.csv is not None else _numbers("xyz", poses.xyz or "", 3)
    pose = pose if turn is None else (pose, turn)
    ask: Any = partial(
        arm.inverse_kinematics, pose, start, limits=not wanted.no_limits, frame=frame, axis=along, report=True
    )
    try:
        found = ask(all="turns" if wanted.turns else every)
    except NoSolution as error:
        if display.as_json:
            nearest = in_unit(NearestPose(error.q.tolist(), error.beyond), arm.arm.joints, display.degrees)
            print_json(vars(error) | vars(nearest))
        raise
    if start is not None and single and not every:
        with suppress(UsageError):  # of infinitely many, or joints that are no chain
            rivals = ask(all=True)
            if rivals.branches and math.dist(rivals.q[0], start) < math.dist(found.q, start):
                found = PoseSolutions(rivals.q[0], rivals.distance[0], rivals.angle[0], rivals.branches[:1])
    if output is not None:
        return _write(arm.arm, found, output, display)
    joints = arm.arm.joints
    solutions = []
    for name, q in zip(found.branches or ["-"], found.q.reshape(-1, len(joints)).tolist(), strict=True):
        room = [
            min((abs(x - end) for end in joint.bounds if end is not None), default=math.inf)
            for x, joint in zip(q, joints, strict=True)
        ]
        shown, margins = in_unit([MotionInstant(q), MotionInstant(room)], joints, display.degrees)
        margin = margins.q[room.index(min(room))]
        solutions.append(NamedSolution(name, shown.q, margin if margin < math.inf else None))
    distance, angle = float(found.distance.max()), float(found.angle.max())
    keys = [*map(str, range(1, len(solutions) + 1))] if every else ["q"]
    columns = {key: ("q", one.q) for key, one in zip(keys, solutions, strict=True)}
    rows = [[key, one.branch, number(one.margin)] for key, one in zip(keys, solutions, strict=True)]
    display.print(
        lambda: {
            "robot": arm.arm.name,
            "frame": frame,
            "joints": arm.joints,
            "solutions": solutions,
            "distance": distance,
            "angle": angle,
        },
        lambda: [
            f"{arm.arm.name}: joint positions that bring {frame} there, to {distance:.1g} m and {angle:.1g} rad",
            "",
            *state_table(joints, columns, display.degrees, display.digits),
            "",
            ReportTable(["solution", "branch", "to a limit"], rows),
        ],
    )
    return 0


def _poses(csv: str, axis: str | None) -> Any:
    """Positions, or positions and quaternions, of a file.

    Raises:
        UsageError: A column is missing, or an orientation is in another form, or beside --axis.
    """
    from armsim.files.table_reader import read_table

    columns = read_table(csv)
    turned = [name for name in columns if name.split("_")[0] in ANGLES + TURN]
    headings = PLACE + TURN * bool(turned)
    if (axis and turned) or not {*turned} <= {*TURN}:
        expected = "positions alone with --axis" if axis else "orientations as quaternions: qw, qx, qy, qz"
        raise UsageError.of(
            csv, expected, f"columns {', '.join(turned)}", "leave --axis out" if axis else "write them as quaternions"
        )
    if absent := [heading for heading in headings if heading not in columns]:
        mend = "name the columns x_m, y_m, z_m, and of orientations qw, qx, qy, qz"
        raise UsageError.of(csv, f"columns {', '.join(headings)}", f"no {', '.join(absent)}", mend)
    rows = [*zip(*map(columns.complete, headings), strict=True)]
    return ([row[:3] for row in rows], [row[3:] for row in rows]) if turned else rows


def _write(arm: Arm, found: PoseSolutions, output: str, display: Display) -> int:
    """Write a row for every pose; 1 where one has no solution."""
    import numpy as np

    from armsim.files.csv_writer import write_csv
    from armsim.plant.columns import spellings

    headings = [*(spellings("q", joint)[0][0] for joint in arm.joints), "distance_m", "angle_rad"]
    write_csv(output, headings, np.column_stack(found[:3]).ravel())
    unsolved = int(np.isnan(found.q[:, 0]).sum())
    display.print(
        lambda: {"robot": arm.name, "rows": len(found.q), "unsolved": unsolved, "columns": headings, "file": output},
        lambda: [f"{output}: {len(found.q)} rows, {unsolved} of them without a solution"],
    )
    return int(unsolved > 0)


def _numbers(option: str, text: str, count: int, unit: str = "") -> list[float]:
    """The numbers of an option, separated by commas."""
    parts = text.split(",")
    if len(parts) != count:
        example = f"write for example --{option} {','.join(['0'] * count)}"
        raise UsageError.of(f"--{option} {text}", f"{count} numbers separated by commas", str(len(parts)), example)
    return [number_value(option, part, unit) for part in parts]
