"""`armsim inverse`"""

from __future__ import annotations

import json
import math
from typing import Any

import click

from armsim.cli.options import (
    SETTINGS,
    deg_option,
    joint_option,
    joint_values,
    json_option,
    number_value,
    quiet_option,
    robot_argument,
    verbose_option,
)
from armsim.cli.table import number, table
from armsim.errors import UsageError
from armsim.model import Arm


@click.command(
    "inverse",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim inverse arm5                                  what holds it at its initial pose
  armsim inverse arm5 --q 0,-1.1,0.3,0,0 --payload 0.5
  armsim inverse two_link --deg --q 30,-45 --qd 10,0 --qdd 0,5
  armsim inverse rr --trajectory runs/rr_config1-001/trajectory.csv -o torques.csv
""",
)
@robot_argument
@joint_option("q", "Joint positions [rad or m]; the robot's initial pose if not given")
@joint_option("qd", "Joint velocities [rad/s or m/s]; 0 if not given")
@joint_option("qdd", "Joint accelerations [rad/s² or m/s²]; 0 if not given")
@click.option("--payload", metavar="KG", help="Mass carried at the tool, in place of the robot's payload.")
@click.option("--trajectory", metavar="CSV", help="Do it for every row of a file with trajectory.csv's columns.")
@click.option("-o", "--output", metavar="CSV", help="Where the torques along the trajectory go.")
@deg_option
@json_option
@quiet_option
@verbose_option
def command(
    robot: str,
    q: str | None,
    qd: str | None,
    qdd: str | None,
    payload: str | None,
    trajectory: str | None,
    output: str | None,
    degrees: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Print the joint torques that hold ROBOT or move it, and the motor voltages and currents they ask for.

    Rotor inertia and viscous friction are included, and what a joint's stop pushes is taken off.
    """
    from armsim.spec import read_robot

    overrides = {}
    if payload is not None:
        mass = number_value("payload", payload)
        if mass < 0:
            raise UsageError(f"--payload {payload}\n  expected: a mass in kg, 0 or more\n  found:    {mass:g}")
        overrides["payload.mass"] = mass
    if trajectory is not None:
        if any(text is not None for text in (q, qd, qdd)):
            raise UsageError("--trajectory gives the motion; leave out --q, --qd and --qdd")
        if output is None:
            raise UsageError("--trajectory needs -o, the file for the torques")
        return _along(robot, overrides, trajectory, output, quiet)
    if output is not None:
        raise UsageError("-o goes with --trajectory; for one pose use --json")
    arm, _ = read_robot(robot, overrides)
    state = {
        option: joint_values(option, text, arm, degrees) if text is not None else [0.0] * arm.n
        for option, text in (("qd", qd), ("qdd", qdd))
    }
    pose = joint_values("q", q, arm, degrees) if q is not None else [float(x) for x in arm.initial]
    answer = demand(arm, pose, state["qd"], state["qdd"])
    if degrees:
        turn = [math.degrees(1.0) if joint.type == "revolute" else 1.0 for joint in arm.joints]
        answer["q"] = [x * factor for x, factor in zip(answer["q"], turn, strict=True)]
    if as_json:
        click.echo(json.dumps(answer))
    elif not quiet:
        holding = not any([*state["qd"], *state["qdd"]])
        click.echo(_report(arm, answer, holding, q is None, degrees, verbose))
    return 0


def demand(arm: Arm, q: list[float], qd: list[float], qdd: list[float]) -> dict[str, Any]:
    """Torques, voltages and currents for one state, as plain data."""
    from armsim.actuation import drive_torques
    from armsim.actuation import motor as dc

    torque = [float(tau) for tau in drive_torques(arm, q, qd, qdd)]
    voltage: list[float | None] = []
    current: list[float | None] = []
    for joint, tau, rate in zip(arm.joints, torque, qd, strict=True):
        i = None if joint.motor is None else dc.current_for(joint.motor, tau)
        current.append(i)
        voltage.append(None if joint.motor is None else dc.voltage_for(joint.motor, i, rate))
    names = [joint.name for joint in arm.joints]
    return {"robot": arm.name, "joints": names, "q": q, "torque": torque, "voltage": voltage, "current": current}


def _along(robot: str, overrides: dict[str, Any], trajectory: str, output: str, quiet: bool) -> int:
    from armsim.files.csv_reader import read_csv
    from armsim.files.csv_writer import write_csv
    from armsim.run.inverse import demand_table, motion_of
    from armsim.run.robot import load_robot

    arm = load_robot(robot, overrides)
    t, q, qd, qdd = motion_of(arm, read_csv(trajectory).columns)
    headings, rows = demand_table(arm, t, q, qd, qdd)
    write_csv(output, headings, rows.ravel())
    if not quiet:
        click.echo(f"{output}: {len(rows)} rows of {', '.join(headings[:3])}, ...")
    return 0


def _report(arm: Arm, answer: dict[str, Any], holding: bool, initial: bool, degrees: bool, verbose: bool) -> str:
    what = "torques that hold it" if holding else "torques for this motion"
    where = " at its initial pose" if initial else ""
    digits = 10 if verbose else 5
    rows = []
    powered = any(current is not None for current in answer["current"])
    for i, joint in enumerate(arm.joints):
        revolute = joint.type == "revolute"
        unit = ("deg" if degrees else "rad") if revolute else "m"
        cells = [joint.name, f"{number(answer['q'][i], digits)} {unit}"]
        cells.append(f"{number(answer['torque'][i], digits)} {'N·m' if revolute else 'N'}")
        for key, sign in (("voltage", "V"), ("current", "A")) if powered else ():
            value = answer[key][i]
            cells.append("-" if value is None else f"{number(value, digits)} {sign}")
        rows.append(cells)
    headings = ["joint", "q", "torque", *(["voltage", "current"] if powered else [])]
    return f"{arm.name}: {what}{where}\n\n{table(headings, rows)}"
