"""An arm to begin with: a robot and a scenario as commented text, which run as they stand."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from armsim.authoring import table_arm
from armsim.authoring.table_arm import Row
from armsim.document.kinds import NAME
from armsim.document.robot import FORMAT as ROBOT_FORMAT
from armsim.document.scenario import FORMAT as SCENARIO_FORMAT
from armsim.errors import LF, UsageError, refusing
from armsim.files.new_file import write_files
from armsim.files.shipped import KINDS, shipped_folder
from armsim.files.yaml_reader import parse_value

MOST = 10  # joints
CONVENTIONS = ("mdh", "dh")
MOTOR = """\
    motor: &motor                   # by its data sheet; all at the motor, before the gear
      Kp: 50 mN*m/A                 # torque constant; the back-EMF constant Ke is the same unless given
      Ra: 0.5 ohm                   # armature resistance
      gear: 100                     # turns of the motor per turn of the joint
      rotor_inertia: 100 g*cm^2
      limits: {voltage: 24 V, current: 10 A}"""
LINKS = {1: 400, 2: 400, 3: 400, 4: 270, 5: 200, 6: 160, 7: 130, 8: 110, 9: 100, 10: 90}  # mm, by the number of joints
COLUMN = 300  # mm, of arms with more than one joint
DENSITY = 3  # kg per m of link
FILES = ("robot.yaml", "scenario.yaml", "robot.schema.json", "scenario.schema.json")


def write_starter(
    folder: str, joints: int, convention: str, flat: bool = False, table: list[Row] | None = None
) -> list[str]:
    """Write a new folder with a robot, a scenario and their schemas for editors; its name is the robot's.

    Args:
        folder: The folder, which must not exist.
        joints: Their number, 1 to `MOST`.
        convention: Of the robot's frames, one of `CONVENTIONS`.
        flat: Whether its links are rods in a vertical plane.
        table: The rows of its DH table, if there is one.

    Returns:
        The files' paths.

    Raises:
        UsageError: The folder exists, cannot be made, or its name cannot be a robot's.
    """
    folder = folder.rstrip("/" + os.sep) or folder
    name = os.path.basename(folder)
    if not NAME.fullmatch(name) or len(name) > 60:
        expected = "a name of letters, digits, `_`, `-` and `.`, starting with a letter"
        raise UsageError.of("NAME", expected, repr(name or folder), "choose another name, for example my_arm")
    rows = table_arm.planar(joints, convention) if flat else table
    flat = flat or (rows is not None and table_arm.is_planar(rows, convention))
    made = (robot_text(name, joints, convention), scenario_text(name, joints))
    if rows is not None:
        written = _as_text(name)
        made = table_arm.robot_text(written, rows, convention, flat), table_arm.scenario_text(written, rows)
    texts = (
        *made,
        *(_schema_text(folder, kind) for folder, kind in KINDS.items()),
    )
    if os.path.lexists(folder):
        raise UsageError.of(folder, "a new folder", "one that exists", "choose another name, or move it away")
    with refusing(folder, "a folder that can be made", "check the folder above it"):
        return write_files(folder, dict(zip(FILES, texts, strict=True)))


def _schema_text(folder: str, kind: str) -> str:
    """A schema that refers to the one of this installation."""
    there = Path(shipped_folder(folder) or folder, f"{kind}.schema.json").absolute().as_uri()
    return json.dumps({"title": f"armsim {kind}", "$ref": there}, indent=2) + "\n"


def robot_text(name: str, joints: int, convention: str) -> str:
    """A robot file: a turning column and a chain of links in a vertical plane; of one joint, a pendulum.

    Args:
        name: Of the robot.
        joints: Their number.
        convention: Of its frames.
    """
    length = LINKS[joints]
    where = {
        "mdh": "Craig's modified DH: a and alpha lead from the link before to the joint; a link's frame is at its joint",
        "dh": "standard DH: a and alpha lead beyond the joint; a link's frame is at its far end",
    }
    tilted = (
        ""
        if joints > 1
        else f"""\
base:                               # tilted, so that the joint's axis lies flat
  xyz: [0, 0, {COLUMN} mm]
  rpy: [90 deg, 0, 0]
"""
    )
    tip = f"tool: {{xyz: [{_far(length, convention)}, 0, 0]}}"
    return f"""\
# yaml-language-server: $schema=robot.schema.json
# {_arm_in_words(joints)}
# Change the numbers to those of your arm. A key that is left out (a motor, limits, friction) is not there.
# Numbers are SI, or have their unit behind them: 35 mm, 90 deg, 69 g*cm^2, 3000 rpm.
# `armsim check {FILES[0]}` says what is wrong or doubtful, `armsim info {FILES[0]}` what follows.
format: {ROBOT_FORMAT}
name: {_as_text(name)}
gravity: [0, 0, -9.81]              # m/s²: the world's z axis points up
# {where[convention]}
convention: {convention}
{tilted}
joints:                             # from base to tip
{"".join(_joint(i, joints, convention) for i in range(1, joints + 1))}\
{tip:36}# in the last link's frame
payload: {{mass: 500 g}}              # at the tool
"""


def _far(length: int, convention: str) -> str:
    """Where a link ends in its own frame."""
    return f"{length} mm" if convention == "mdh" else "0"


def _as_text(name: str) -> str:
    """A name as YAML reads it as text: `no` and `null` in quotes."""
    return name if isinstance(getattr(parse_value(name, ""), "value", None), str) else f'"{name}"'


def _arm_in_words(joints: int) -> str:
    length, links = LINKS[joints], joints - 1
    if joints == 1:
        return f"A pendulum of {length} mm with a motor."
    several = f"{links} links of {length} mm" if links > 1 else f"a link of {length} mm"
    return f"An arm of {joints} joints: a turning column, and {several} in a vertical plane."


def _joint(i: int, joints: int, convention: str) -> str:
    """The lines of joint i, counted from 1; where a key comes first, a comment says what it means."""
    moves = "turns the arm about the vertical" if i == 1 and joints > 1 else "lifts all that is beyond it"
    keys = f"""
    type: revolute                  # or prismatic, screw
    {convention}: {_row(i, joints, convention)}
{f"    initial: {_pose(joints)[i - 1]} deg":36}# where the arm is given
    limits: {{lower: -170 deg, upper: 170 deg}}  # with a stiffness, they are stops
    friction: {{viscous: 0.1 N*m*s/rad}}  # and `coulomb`, which is dry
    bodies:                         # what the link is made of, in its own frame
      - cylinder: {_link(i, joints, convention)}
"""
    point = f"      - point: {{mass: 400 g, center: [{_far(LINKS[joints], convention)}, 0, 0]}}  # the next joint's motor{LF}"
    last = "    motor: *motor                   # the same; write its own keys where it differs"
    last = last if i == joints else point + last
    keys = keys if i == 1 else re.sub(" +#.*", "", keys)
    last = MOTOR if i == 1 else last if i == 2 else re.sub(" +#.*", "", last)
    return f"{f'  - name: J{i}':36}# {moves}{keys}{last}{LF}{LF}"


def _row(i: int, joints: int, convention: str) -> str:
    """The DH parameters of joint i."""
    length, column = f"{LINKS[joints]} mm", i == 1 and joints > 1
    d = f"{COLUMN} mm" if column else 0
    if convention == "dh":
        a, alpha = (0, "90 deg") if column else (length, 0)
    else:
        a, alpha = length if i > 2 else 0, "90 deg" if i == 2 else 0
    return f"{{a: {a}, alpha: {alpha}, d: {d}, theta: 0}}"


def _link(i: int, joints: int, convention: str) -> str:
    """The cylinder of link i in its frame."""
    if i == 1 and joints > 1:
        axis, center = ("z", f"0, 0, -{COLUMN // 2} mm") if convention == "mdh" else ("y", f"0, -{COLUMN // 2} mm, 0")
        return f"{{axis: {axis}, height: {COLUMN} mm, radius: 50 mm, mass: 2 kg, center: [{center}]}}"
    length = LINKS[joints]
    middle = length // 2 if convention == "mdh" else -(length // 2)
    return f"{{axis: x, height: {length} mm, radius: 30 mm, mass: {DENSITY * length} g, center: [{middle} mm, 0, 0]}}"


def _pose(joints: int) -> list[int]:
    """Joint positions at which the arm is given [deg]."""
    return [-60] if joints == 1 else [0, 60, *[-round(90 / (joints - 2)) for _ in range(joints - 2)]]


def _target(joints: int) -> list[int]:
    """Joint positions that the controller is to reach [deg]."""
    return [30] if joints == 1 else [20, 30, *[-round(45 / (joints - 2)) for _ in range(joints - 2)]]


def scenario_text(name: str, joints: int) -> str:
    """A scenario file beside the robot's: a controller takes the arm to another pose and holds it."""
    target = ", ".join(f"{angle} deg" for angle in _target(joints))
    voltages = ", ".join(['"6*step(t - 0.5)"', *["0"] * (joints - 1)])
    return f"""\
# yaml-language-server: $schema=scenario.schema.json
# A controller takes {name} to another pose and holds it there. Run it with `armsim simulate {FILES[1]}`.
format: {SCENARIO_FORMAT}
name: {_as_text(name)}
robot: {FILES[0]}                   # beside this file
duration: 3 s
control:                            # of every joint by itself: u = kp e + ki integral of e - kd qd, e = target - q
  law: pid
  output: voltage                   # of the motors; or torque, at the joints
  kp: 100 V/rad                     # one for all joints, or a list with one for each
  ki: 100 V/(rad*s)
  kd: 5 V*s/rad
  limit: 24 V
  target: [{target}]
  # period: 2 ms                    # of a controller that samples; without it, it is continuous
# in place of `control`, voltages as functions of time, without feedback:
# inputs: {{voltage: [{voltages}]}}
log: {{every: 10 ms}}
"""
