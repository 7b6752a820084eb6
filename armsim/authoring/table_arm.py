"""An arm from a Denavit-Hartenberg table, or in a plane: its lengths and masses are parameters, l1 and m1."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from armsim.errors import LF, FileFaults
from armsim.files.faults import refuse
from armsim.files.nodes import Place
from armsim.files.source import open_table
from armsim.formulas.formula import constant_value
from armsim.formulas.quantity import plain_number

MOST_BYTES = 100_000
HEADINGS = {  # of a table's columns, as books name them
    "a": r"a|r|length",
    "alpha": r"alpha|α|twist",
    "d": r"d",
    "theta": r"theta|θ|ϑ|angle|q",
    "mass": r"m|mass",
}
ANGLES, OPTIONAL = ("alpha", "theta"), ("mass",)
COUNTS = re.compile(r"|i|n|no|nr|#|joint|link|frame", re.IGNORECASE)  # headings of columns that number the rows
UNITS = {
    "m": 1.0,
    "cm": 0.01,
    "mm": 0.001,
    "rad": 1.0,
    "deg": math.radians(1),
    "°": math.radians(1),
    "kg": 1.0,
    "g": 0.001,
}
WITH_UNIT = re.compile(rf"(.*[^a-z])({'|'.join(UNITS)})", re.IGNORECASE)
VARIABLE = re.compile(r"(?<![a-z])(variable|var|theta|θ|ϑ|q|d)[_ ]?\{?[0-9₀-₉i]*\}?\*?(?![a-z])|^\*$", re.IGNORECASE)
LENGTH = 0.5  # m, of a link in a plane, to begin with
NEGATED = re.compile(rf"-\s*(?:{VARIABLE.pattern})", re.IGNORECASE)


class Row(NamedTuple):
    """A row of a table.

    Attributes:
        a: Length [m].
        alpha: Twist [rad].
        d: Offset [m].
        theta: Angle [rad].
        slides: Whether d is the variable, theta otherwise.
        mass: Of the link [kg].
    """

    a: float
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    slides: bool = False
    mass: float = 1.0


class DhTable(NamedTuple):
    """A table as it was read.

    Attributes:
        rows: One for each joint.
        others: Headings of columns that are left out.
    """

    rows: list[Row]
    others: tuple[str, ...]


class DhColumn(NamedTuple):
    """A column of a table.

    Attributes:
        place: Which it is, from 0.
        unit: Of its cells that have none, in SI units; None if its heading has none either.
    """

    place: int
    unit: float | None


def planar(joints: int, convention: str) -> list[Row]:
    """The rows of an arm in a plane."""
    rows = [Row(LENGTH)] * joints
    return [Row(0.0), *rows[1:]] if convention == "mdh" else rows


def is_planar(rows: list[Row], convention: str) -> bool:
    """Whether a table is that of rods in a plane: axes that are parallel, joints that turn, links with a length."""
    links = rows[1:] if convention == "mdh" else rows
    return not any(row.alpha or row.d or row.slides for row in rows) and all(row.a for row in links)


def read_table(path: str, degrees: bool) -> DhTable:
    """The DH table of a file: a heading with `a`, `alpha`, `d` and `theta`, each with its unit if it has one, and a row a joint.

    Columns are separated by bars, tabs, semicolons, commas or blanks. There may be one of masses. A cell may have a unit of its
    own. The variable's cell may be empty, or a name such as `q1`, with an offset `q1 + 90`. A joint slides where `d` has such a
    name and `theta` has none.

    Args:
        path: The file.
        degrees: Whether angles without a unit are degrees, rather than radians.

    Raises:
        FileFaults: A column or a cell is missing, a cell is no number, or angles look like degrees and nothing says so.
    """
    with open_table(path, "a DH table", MOST_BYTES) as file:
        text = file.read().decode("utf-8-sig", "replace").replace("−", "-").replace("π", "pi")
    heading = text.lstrip().partition(LF)[0]
    separator = next((sign for sign in "|\t;," if sign in heading), None)
    lines = [(f"{path}:{i}", line) for i, line in enumerate(text.splitlines(), 1) if re.search(r"\w", line)]
    table = [(source, [cell.strip(' \t"$') for cell in line.split(separator)]) for source, line in lines]
    headings = table[0][1] if table else []
    columns = _columns(headings, degrees)
    missing = HEADINGS.keys() - columns.keys() - set(OPTIONAL)
    if missing or len(table) < 2:
        found = f"columns {', '.join(columns) or 'of other names'}; rows: {len(table[1:])}"
        mend = "write a first line such as `a [mm], alpha [deg], d [mm], theta [deg]`"
        raise refuse(Place(path), "", "a heading with a, alpha, d and theta, and a row a joint", found, mend)
    for source, cells in table:
        if len(cells) != len(headings):
            expected, mend = f"{len(headings)} cells, as the heading has", "write 0 for nothing, and q1 for a variable"
            raise refuse(Place(source), "", expected, str(len(cells)), mend)
    known = {column.place for column in columns.values()}
    others = (text for k, text in enumerate(headings) if k not in known and not COUNTS.fullmatch(text))
    return DhTable([_row(source, cells, columns) for source, cells in table[1:]], tuple(others))


def _columns(headings: list[str], degrees: bool) -> dict[str, DhColumn]:
    """The columns by their keys."""
    columns: dict[str, DhColumn] = {}
    for k, heading in enumerate(headings):
        words = re.sub(r"[\[\](){}_/]", " ", heading.lower()).split() or [""]
        for key, names in HEADINGS.items():
            if re.fullmatch(rf"({names})[i0-9-]*", words[0]):
                default = math.radians(1) if degrees and key in ANGLES else None
                columns[key] = DhColumn(k, next((UNITS[word] for word in words[1:] if word in UNITS), default))
    return columns


def _row(source: str, cells: list[str], columns: dict[str, DhColumn]) -> Row:
    texts = {key: cells[x.place] for key, x in columns.items()}
    slides = bool(VARIABLE.search(texts["d"])) and not VARIABLE.search(texts["theta"])
    variable = "d" if slides else "theta"
    if NEGATED.search(texts[variable]):
        mend = "turn the axis over in the rows, or count the joint the other way"
        raise refuse(Place(source), variable, "a joint variable with the sign +", texts[variable], mend)
    texts[variable] = VARIABLE.sub("0", texts[variable])
    values = {key: _number(text, key, columns[key].unit, source) for key, text in texts.items()}
    if values.get("mass", 1.0) <= 0.0:
        raise refuse(Place(source), "mass", "a mass above 0", texts["mass"] or "an empty cell", "correct it")
    return Row(**values, slides=slides)


def _number(text: str, key: str, unit: float | None, source: str) -> float:
    """The value of a cell in SI units; without a unit of its own it has the column's."""
    written = WITH_UNIT.fullmatch(text)
    number, unit = (written[1], UNITS[written[2].lower()]) if written else (text, unit)
    try:
        value = constant_value(number.strip() or "0", source)
    except FileFaults:
        mend = "write its value; the robot file makes a parameter of it, such as l1, which `armsim derive` keeps as a symbol"
        raise refuse(Place(source), key, "a number, or a formula such as pi/2", text.strip(), mend) from None
    if unit is None and key in ANGLES and abs(value) > math.tau:
        mend = f"write the heading `{key} [deg]`, or give --deg; or `{key} [rad]` if they are radians"
        raise refuse(Place(source), key, "an angle in radians, as the heading has no unit", text.strip(), mend)
    return round((1.0 if unit is None else unit) * value, 15)


def robot_text(name: str, rows: list[Row], convention: str, flat: bool) -> str:
    """A robot file of such rows: every link a ball halfway to the next frame, or a rod where all is in a plane.

    Args:
        name: Of the robot, as YAML has it.
        rows: Of its table.
        convention: Of the rows.
        flat: Whether the arm is in a vertical plane.
    """
    n, ahead = len(rows), convention == "mdh"  # there a row has the length of the link before
    parameters = {f"l{i - ahead}": row.a for i, row in enumerate(rows, 1)}
    parameters |= {f"l{n}": LENGTH} if flat and ahead else {}
    parameters |= {f"d{i}": row.d for i, row in enumerate(rows, 1)}
    lengths = [parameter for parameter, value in parameters.items() if value]

    def times(factor: float, length: str) -> str:
        return f"{factor:.12g}*{length}" if length in lengths and abs(factor) > 1e-9 else "0"

    joints = ""
    for i, row in enumerate(rows, 1):
        step, half = i + ahead, 0.5 if ahead else -0.5  # the row that leads along the link, and which way
        alpha = rows[step - 1].alpha if step <= n else 0.0
        x, y, z = (
            times(half, f"l{i}"),
            times(-0.5 * math.sin(alpha), f"d{step}"),
            times(half * math.cos(alpha), f"d{step}"),
        )
        a, d = (length if length in lengths else "0" for length in (f"l{i - ahead}", f"d{i}"))
        shape = f"rod: {{axis: x, length: l{i}" if flat else "sphere: {radius: r"
        joints += f"""\
  - name: J{i}
    type: {"prismatic" if row.slides else "revolute"}
    {convention}: {{a: {a}, alpha: {_degrees(row.alpha)}, d: {d}, theta: {_degrees(row.theta)}}}
    bodies: [{{{shape}, mass: m{i}, center: [{x}, {y}, {z}]}}}}]
"""
    return f"""\
# yaml-language-server: $schema=robot.schema.json
# {"Rods in a plane" if flat else "Balls halfway between frames"}: change masses and their places to yours.
# A key that is left out (a motor, limits, friction) is absent. `armsim derive` keeps parameters as symbols.
format: armsim/robot/1
name: {name}
gravity: {"[0, -g, 0]               # in the plane of the arm; [0, 0, -g] if that lies level" if flat else "[0, 0, -g]"}
convention: {convention}
units: {{angle: deg}}
parameters:                         # m, kg, m/s²
  g: 9.81{"" if flat else f"{LF}  r: 0.05"}
{LF.join(f"  {length}: {plain_number(parameters[length])}" for length in lengths)}
{LF.join(f"  m{i}: {plain_number(row.mass)}" for i, row in enumerate(rows, 1))}
joints:                             # from base to tip
{joints}{f"tool: {{xyz: [l{n}, 0, 0]}}{LF}" if flat and ahead else ""}"""


def _degrees(angle: float) -> str:
    return plain_number(round(math.degrees(angle), 12))


def scenario_text(name: str, rows: list[Row]) -> str:
    """A scenario beside the robot's file: computed torque takes the arm to another pose and holds it there."""
    return f"""\
# yaml-language-server: $schema=scenario.schema.json
format: armsim/scenario/1
name: {name}
robot: robot.yaml                   # beside this file
duration: 3 s
control:                            # by the model of the arm; kp and kd are those of each joint by itself
  law: computed_torque
  output: torque
  kp: 25
  kd: 10
  target: [{", ".join("0.1" if row.slides else "0.5" for row in rows)}]
log: {{every: 10 ms}}
"""
