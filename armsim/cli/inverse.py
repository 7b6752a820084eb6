"""`armsim inverse`"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from armsim.cli.options import (
    Display,
    JointState,
    Overrides,
    angle_options,
    flag,
    grouped,
    joint_option,
    joint_values,
    number_value,
    read_robot,
    robot_argument,
    set_option,
    state_options,
)
from armsim.errors import UsageError
from armsim.records import record

if TYPE_CHECKING:
    from armsim.arm.robot import Robot
    from armsim.reports.table import Report, ReportTable


@record
class TrajectoryFiles:
    """A trajectory, and the torques along it.

    Attributes:
        trajectory: The file that is read; None for a single pose.
        output: The file that is written.
        force: Whether it may replace one that is there.
        columns: Which column of the trajectory is which, by formulas too; None where they have armsim's names.
    """

    trajectory: str | None
    output: str | None
    force: bool
    columns: str | None


def carrying(overrides: Overrides, payload: str | None) -> dict[str, object]:
    """Overrides, and that of a payload: a point mass at the tool.

    Raises:
        UsageError: It is negative.
    """
    if payload is None:
        return {**overrides}
    mass = number_value("payload", payload)
    if mass < 0:
        raise UsageError.of("--payload", "a mass in kg, 0 or more", payload, "write for example --payload 0.5")
    return {**overrides, "payload": {"mass": mass}}


@click.command(
    "inverse",
    epilog="""\b
Examples:
  armsim inverse arm5                    what holds it at its initial pose
  armsim inverse arm5 --q 0,-1.1,0.3,0,0 --payload 0.5
  armsim inverse two_link --deg --q 30,-45 --qd 10,0 --qdd 0,5
  armsim inverse arm5 --wrenches --payload 0.5
  armsim inverse rr --trajectory runs/rr_config1-001/trajectory.csv -o tau.csv
""",
)
@robot_argument
@state_options
@joint_option("qdd", "Joint accelerations [rad/s² or m/s²]. [default: 0]")
@click.option("--payload", metavar="KG", help="Point mass at the tool, in place of all that the robot carries.")
@flag("--wrenches", help="Tell what base, joints and force-torque sensors carry, too.")
@grouped(
    "files",
    TrajectoryFiles,
    click.option(
        "--trajectory",
        metavar="CSV",
        help="Do it for every row of a file with the columns of trajectory.csv, CSV or Parquet.",
    ),
    click.option("--columns", metavar="YAML", help="Which column of the trajectory is which, as for `armsim replay`."),
    click.option("-o", "--output", metavar="CSV", help="Where the torques along the trajectory go: a new file."),
    flag("--force", help="Let -o replace a file that exists."),
)
@set_option
@grouped("overrides", carrying)
@angle_options
def command(
    robot: str,
    overrides: dict[str, object],
    state: JointState,
    wrenches: bool,
    files: TrajectoryFiles,
    display: Display,
) -> int:
    """Print the joint torques that hold ROBOT or move it, and the motor voltages and currents they ask for.

    ROBOT is a robot file or the name of a shipped one. Torques include rotor inertia, friction (dry friction where a joint
    moves; at rest it may hold as well as hinder), and the force of stops. A line says where a motor would have to exceed its
    limits. Numbers may be formulas such as -pi/2. The columns of a trajectory name their units (q_R1_rad or
    q_R1_deg); --deg is not for them. Absent velocities and accelerations are derivatives of the polynomials through five rows;
    a line says by how much that may falsify the torques.

    Behind an elastic coupling it tells where the rotor stands, and along a trajectory the torque of the motor that turns it so. A
    coupling with backlash, or of a joint with dry friction of its own, does so at rest only; in motion it counts as rigid.

    With --wrenches: of the base, what the ground exerts on the arm, in the base's frame; of a joint, what the link before exerts
    on its link, bearing and drive together, in the joint's own frame, z its axis; of the tool and other frames that carry a
    payload, what a sensor there exerts on it, in that frame. Force and moment about the frame's origin, along its axes.
    """
    if files.trajectory is not None:
        if any(text is not None for text in (state.q, state.qd, state.qdd)):
            raise UsageError.of(
                "--trajectory", "the motion from the file alone", "--q, --qd or --qdd as well", "leave them out"
            )
        if display.degrees:
            raise UsageError.of(
                "--trajectory",
                "angles in the units that the file's columns name",
                "--deg as well",
                "leave --deg out, and name columns in degrees q_<joint>_deg",
            )
        if files.output is None:
            raise UsageError.of("--trajectory", "a file for the torques", "no -o", "add for example -o torques.csv")
        from armsim.files.new_file import check_output

        check_output(files.output, [files.trajectory, robot], files.force)
        from armsim.arm.robot import load_robot

        return _along(load_robot(robot, overrides), files, wrenches, display)
    if files.columns is not None:
        raise UsageError.of(f"--columns {files.columns}", "--trajectory with it", "a single pose", "leave it out")
    if files.output is not None:
        raise UsageError.of(
            f"-o {files.output}", "--trajectory with it", "a single pose", f"take --json > {files.output}"
        )
    from armsim.actuation import any_sticks, drive_torques, motor_demands
    from armsim.actuation.elastic_drive import rotor_positions
    from armsim.arm.overload import above_nominal, overloads
    from armsim.dynamics import contact_wrenches
    from armsim.dynamics.internal import InternalWrenches, carriers
    from armsim.model.angles import MotionInstant, in_unit
    from armsim.reports.state import (
        elastic_notes,
        friction_notes,
        nominal_notes,
        outside_notes,
        overload_notes,
        state_table,
        wrench_table,
    )

    arm = read_robot(robot, overrides)
    pose, rates = state.values(arm, display.degrees)
    changes = joint_values("qdd", state.qdd, arm, display.degrees)
    holding = not any([*rates, *changes])
    torque = drive_torques(arm, pose, rates, changes)
    voltage, current = motor_demands(arm, rates, torque)
    slips = None
    if holding and any_sticks(arm):
        from armsim.plant import slipping

        slips = slipping(arm, pose)
    exceeded = overloads(arm, rates, torque, voltage, current)
    internal = InternalWrenches(arm, pose, rates, changes, partial(contact_wrenches, arm, pose, rates))
    carried = {name: internal.at(name) for name in carriers(arm)} if wrenches else {}
    lasting = above_nominal(arm, current) if holding else []
    ahead = rotor_positions(arm, pose, rates, changes)
    links, rotors = in_unit([MotionInstant(pose), MotionInstant(ahead)], arm.joints, display.degrees)
    shown: dict[str, Sequence[float | None]] = {"q": links.q}
    if any(x is not None for x in ahead):
        shown |= {"q motor": rotors.q}
    shown |= {"torque": torque, "voltage": voltage, "current": current}
    told = {key.replace(" ", "_"): values for key, values in shown.items()}
    about: dict[str, object] = {"robot": arm.name, "joints": arm.joint_names, **told}
    if wrenches:
        about["wrenches"] = {name: {"moment": [*n], "force": [*f]} for name, (n, f) in carried.items()}
    what = "torques that hold it" if holding else "torques for this motion"
    where = " at its initial pose" if state.q is None else ""
    rigid = [] if holding else elastic_notes(arm, instant=True)
    remarks = [*rigid, *friction_notes(slips, arm.n), *outside_notes(arm, pose, rates, display.degrees)]
    remarks += [*overload_notes(exceeded), *nominal_notes(lasting, "this pose")]
    columns = {key: (key, values) for key, values in shown.items()}
    more: Report = ["", wrench_table(carried, display.digits)] if wrenches else []
    display.print(
        lambda: {**about, "slipping": slips, "exceeded": exceeded, "above_nominal": lasting},
        lambda: [
            f"{arm.name}: {what}{where}",
            "",
            *state_table(arm.joints, columns, display.degrees, display.digits, remarks),
            *more,
        ],
    )
    return 0


def _along(arm: Robot, files: TrajectoryFiles, wrenches: bool, display: Display) -> int:
    from armsim.arm.inverse import demand_table, derived, motors_along, with_motors, with_wrenches
    from armsim.arm.overload import above_nominal_along, overloads_along
    from armsim.files.csv_writer import write_csv
    from armsim.files.table_reader import read_table
    from armsim.plant.columns import spellings
    from armsim.recording.column_map import renamed
    from armsim.recording.state_vector import MOTION
    from armsim.reports.state import derived_notes, elastic_notes, nominal_notes, overload_notes

    trajectory, output = files.trajectory, files.output
    assert trajectory is not None
    assert output is not None
    known = ["t_s", *(text for kind in MOTION for joint in arm.arm.joints for text, _ in spellings(kind, joint))]
    columns = renamed(read_table(trajectory), files.columns, known, arm.arm.name)
    t, q, qd, qdd, motors = motors_along(arm, columns)
    made = derived(arm, columns)
    skipped = len(columns["t_s"]) - len(t)
    tau = motors.torque
    voltage, current = arm.motor_demand(motors.qd, tau)
    headings, rows = with_motors(arm.arm, *demand_table(arm.arm, t, tau, voltage, current), motors)
    if wrenches:
        headings, rows = with_wrenches(arm, headings, rows, q, qd, qdd)
    exceeded = overloads_along(arm.arm, t, motors.qd, tau, voltage, current)
    lasting = above_nominal_along(arm.arm, t, current)
    write_csv(output, headings, rows.ravel())
    extremes: Report = ["", _extremes(headings, rows)] if display.verbose else []
    about = {"robot": arm.arm.name, "rows": len(rows), "skipped": skipped, "columns": headings, "file": output}
    display.print(
        lambda: {**about, "derived": made, "exceeded": exceeded, "above_nominal": lasting},
        lambda: [
            f"{output}: {len(rows)} rows of {', '.join(headings[:3])}{', ...' if len(headings) > 3 else ''}",
            *([f"* {skipped} of {len(columns['t_s'])} rows skipped, with a cell missing"] if skipped else []),
            *elastic_notes(arm.arm, instant=False),
            *derived_notes(arm.arm, made),
            *overload_notes(exceeded, len(rows)),
            *nominal_notes(lasting, "this motion (root mean square)"),
            *extremes,
        ],
    )
    return 0


def _extremes(headings: list[str], rows: Any) -> ReportTable:
    """The extremes of every column but the time, and their times."""
    from armsim.reports.table import ReportTable, measured, number

    t = rows[:, 0]
    cells = []
    for heading, column in zip(headings[1:], rows.T[1:], strict=True):
        ends = [column.argmin(), column.argmax()]
        cells.append([heading, *(part for k in ends for part in (number(column[k], 10), measured(t[k], "s", 10)))])
    return ReportTable(["column", "least", "at", "greatest", "at"], cells)
