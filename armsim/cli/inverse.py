"""`armsim inverse`"""

from __future__ import annotations

import json
from typing import Any

import click

from armsim.cli.options import (
    SETTINGS,
    deg_option,
    joint_option,
    joint_values,
    json_option,
    number_value,
    q_option,
    qd_option,
    quiet_option,
    robot_argument,
    verbose_option,
)
from armsim.cli.state_report import demand_table, friction_notes, outside_notes
from armsim.cli.table import shown
from armsim.errors import UsageError


@click.command(
    "inverse",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim inverse arm5                    what holds it at its initial pose
  armsim inverse arm5 --q 0,-1.1,0.3,0,0 --payload 0.5
  armsim inverse two_link --deg --q 30,-45 --qd 10,0 --qdd 0,5
  armsim inverse rr --trajectory runs/rr_config1-001/trajectory.csv -o tau.csv
""",
)
@robot_argument
@q_option
@qd_option
@joint_option("qdd", "Joint accelerations [rad/s² or m/s²]. [default: 0]")
@click.option("--payload", metavar="KG", help="Point mass at the tool, in place of the robot's payload.")
@click.option("--trajectory", metavar="CSV", help="Do it for every row of a file with the columns of trajectory.csv.")
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

    ROBOT is a robot file or the name of a shipped one. Rotor inertia and friction are included (dry friction where a joint
    moves: at rest it may hold as well as hinder), and what a joint's stop pushes is taken off. Numbers may be formulas such
    as -pi/2.
    """
    from armsim.run.answers import demand, slipping
    from armsim.spec import read_robot

    overrides = {} if payload is None else _payload(payload)
    if trajectory is not None:
        if any(text is not None for text in (q, qd, qdd)):
            raise UsageError(
                "--trajectory\n  expected: the motion from the file alone\n  found:    --q, --qd or --qdd as well\n"
                "  mend:     leave them out"
            )
        if output is None:
            raise UsageError(
                "--trajectory\n  expected: a file for the torques\n  found:    no -o\n  mend:     add for example -o torques.csv"
            )
        return _along(robot, overrides, trajectory, output, as_json, quiet)
    if output is not None:
        raise UsageError(
            f"-o {output}\n  expected: --trajectory with it\n  found:    a single pose\n  mend:     take --json > {output}"
        )
    arm, _ = read_robot(robot, overrides)
    motion = [
        joint_values(option, text, arm, degrees) if text else [0.0] * arm.n
        for option, text in (("qd", qd), ("qdd", qdd))
    ]
    pose = [float(x) for x in arm.initial] if q is None else joint_values("q", q, arm, degrees)
    answer = demand(arm, pose, *motion)
    holding = not any(x for values in motion for x in values)
    answer["slipping"] = slipping(arm, pose) if holding else None
    answer["q"] = [shown(x, joint.type, degrees) for x, joint in zip(answer["q"], arm.joints, strict=True)]
    if as_json:
        click.echo(json.dumps(answer))
    elif not quiet:
        what = "torques that hold it" if holding else "torques for this motion"
        where = " at its initial pose" if q is None else ""
        remarks = [*friction_notes(answer["slipping"], arm.n), *outside_notes(arm, pose, motion[0], degrees)]
        notes = "".join(f"\n{note}" for note in remarks)
        rows = demand_table([joint.type for joint in arm.joints], answer, degrees, 10 if verbose else 5)
        click.echo(f"{arm.name}: {what}{where}\n\n{rows}{notes}")
    return 0


def _payload(text: str) -> dict[str, Any]:
    """The override of a payload: a point mass at the tool."""
    mass = number_value("payload", text)
    if mass < 0:
        raise UsageError(
            f"--payload\n  expected: a mass in kg, 0 or more\n  found:    {text}\n  mend:     write for example --payload 0.5"
        )
    return {"payload": {"mass": mass}}


def _along(robot: str, overrides: dict[str, Any], trajectory: str, output: str, as_json: bool, quiet: bool) -> int:
    from armsim.files.csv_reader import read_csv
    from armsim.files.csv_writer import write_csv
    from armsim.run.inverse import demand_table, motion_of
    from armsim.run.robot import load_robot

    arm = load_robot(robot, overrides)
    t, q, qd, qdd = motion_of(arm, read_csv(trajectory).columns)
    headings, rows = demand_table(arm, t, q, qd, qdd)
    try:
        write_csv(output, headings, rows.ravel())
    except OSError as error:
        raise UsageError(
            f"-o {output}\n  expected: a file that can be written\n  found:    {error.strerror or error}\n"
            "  mend:     check the folder and its permissions"
        ) from None
    if as_json:
        click.echo(json.dumps({"robot": arm.arm.name, "rows": len(rows), "columns": headings, "file": output}))
    elif not quiet:
        click.echo(f"{output}: {len(rows)} rows of {', '.join(headings[:3])}{', ...' if len(headings) > 3 else ''}")
    return 0
