"""`armsim forward`"""

from __future__ import annotations

from typing import Any

import click

from armsim.cli.options import (
    SETTINGS,
    deg_option,
    joint_option,
    joint_values,
    json_option,
    print_json,
    q_option,
    qd_option,
    quiet_option,
    robot_argument,
    verbose_option,
)
from armsim.errors import UsageError
from armsim.model import Arm
from armsim.reports.state import outside_notes, overload_notes
from armsim.reports.table import Cell, force_unit, joint_unit, number, numbers, shown, table
from armsim.terminal.streams import echo


@click.command(
    "forward",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim forward arm5                    let go at its initial pose
  armsim forward rr --q 0,pi/2 --torque 47,15.7
  armsim forward arm5 --voltage 0,-0.81,-0.31,0,-0.06
  armsim forward two_link --deg --q 30,-45 --qd 10,0 --torque 20,5
""",
)
@robot_argument
@q_option
@qd_option
@joint_option("torque", "What the drives give the joints [N·m or N]. [default: 0]")
@joint_option("voltage", "Motor voltages [V], in place of torques; every joint needs a motor.")
@deg_option
@json_option
@quiet_option
@verbose_option
def command(
    robot: str,
    q: str | None,
    qd: str | None,
    torque: str | None,
    voltage: str | None,
    degrees: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Print the joint accelerations of ROBOT under torques of its drives, or under voltages of its motors.

    ROBOT is a robot file or the name of a shipped one. Gravity, rotor inertia, viscous friction and stops act as well.
    Without --torque and --voltage nothing drives the joints: no current flows. Torques are taken as they are given; a line says
    where a motor would have to exceed its limits for them. Numbers may be formulas such as -pi/2.
    """
    from armsim.arm.answers import motion
    from armsim.arm.overload import overloads
    from armsim.loading import read_robot

    if torque is not None and voltage is not None:
        raise UsageError.of("--torque and --voltage", "one of them", "both", "leave one of them out")
    arm, _ = read_robot(robot)
    pose = [float(x) for x in arm.initial] if q is None else joint_values("q", q, arm, degrees)
    rates = [0.0] * arm.n if qd is None else joint_values("qd", qd, arm, degrees)
    tau = None if torque is None else joint_values("torque", torque, arm)
    volts = None if voltage is None else joint_values("voltage", voltage, arm)
    answer = motion(arm, pose, rates, tau, volts)
    answer["exceeded"] = [] if tau is None else overloads(arm, rates, answer)
    for key in ("q", "qd", "qdd"):
        answer[key] = [shown(x, joint.type, degrees) for x, joint in zip(answer[key], arm.joints, strict=True)]
    if as_json:
        print_json(answer)
    elif not quiet:
        drive = (
            "these voltages" if volts is not None else "these torques" if tau is not None else "no torque of its drives"
        )
        where = ", at its initial pose" if q is None else ""
        remarks = [*outside_notes(arm, pose, rates, degrees), *overload_notes(answer["exceeded"])]
        notes = "".join(f"\n{note}" for note in remarks)
        shown_table = _table(arm, answer, degrees, 10 if verbose else 5)
        echo(f"{arm.name}: accelerations under {drive}{where}\n\n{shown_table}{notes}")
    return 0


def _table(arm: Arm, answer: dict[str, Any], degrees: bool, digits: int) -> str:
    powered = any(current is not None for current in answer["current"])
    accelerations = numbers(answer["qdd"], digits)
    rows = []
    for i, joint in enumerate(arm.joints):
        row: list[Cell] = [joint.name]
        for key, rate in (("q", ""), ("qd", "/s")):
            row.append((number(answer[key][i], digits), joint_unit(joint.type, degrees, rate)))
        for key, sign in (("voltage", "V"), ("current", "A")) if powered else ():
            value = answer[key][i]
            row.append("-" if value is None else (number(value, digits), sign))
        row.append((number(answer["torque"][i], digits), force_unit(joint.type)))
        row.append((accelerations[i], joint_unit(joint.type, degrees, "/s²")))
        rows.append(row)
    return table(["joint", "q", "qd", *(["voltage", "current"] if powered else []), "torque", "acceleration"], rows)
