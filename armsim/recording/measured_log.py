"""The log of a real arm: times, commands and measured joint positions."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from armsim.errors import FileFaults, UsageError
from armsim.files.document import Map, Place, Scalar, clipped, shown
from armsim.files.faults import Report, nearest, refuse, suggestion
from armsim.files.table_reader import read_table
from armsim.files.yaml_reader import read_yaml
from armsim.loading.voltage import voltage_refusal
from armsim.model import Arm
from armsim.plant.columns import spellings
from armsim.plant.driven import Output
from armsim.recording.state_vector import INPUTS

Array = NDArray[np.float64]
TIME = ("t_s", "t")
FIT = 5  # rows of the parabola that a velocity is estimated by


@dataclass(frozen=True)
class MeasuredLog:
    """A log in SI units and radians.

    Attributes:
        name: The file.
        t: Times [s], shape (m,), m at least 2; they need not be evenly spaced.
        q: Joint positions [rad or m], shape (m, n).
        qd: Joint velocities [rad/s or m/s], shape (m, n); None where the log has none.
        inputs: Voltages [V] or torques [N·m or N], shape (m, n), each held until the next row.
        output: What the inputs are.
    """

    name: str
    t: Array = field(repr=False)
    q: Array = field(repr=False)
    qd: Array | None = field(repr=False)
    inputs: Array = field(repr=False)
    output: Output

    def velocities(self, k: int) -> Array:
        """Joint velocities at row k [rad/s or m/s], shape (n,): logged, or fitted by parabolas to the nearest rows."""
        if self.qd is not None:
            return self.qd[k]
        count = min(FIT, len(self.t))
        first = min(max(k - count // 2, 0), len(self.t) - count)
        rows = slice(first, first + count)
        span = float(self.t[rows][-1] - self.t[rows][0])
        x = (self.t[rows] - self.t[k]) / span
        powers = np.vander(x, min(3, count), increasing=True)
        slopes: Array = np.linalg.lstsq(powers, self.q[rows] - self.q[k], rcond=None)[0][1] / span
        return slopes

    @property
    def velocities_from(self) -> str:
        """Where velocities come from, in words."""
        if self.qd is not None:
            return "from the log"
        count = min(FIT, len(self.t))
        return f"estimated from {count} rows of q, by {'a parabola' if count > 2 else 'a straight line'}"


def read_log(
    path: str | PathLike[str], arm: Arm, columns: str | PathLike[str] | Mapping[str, str] | None = None
) -> MeasuredLog:
    """Read a log whose columns are named as in armsim's files, or as a mapping says.

    Args:
        path: A CSV file with t_s (or t), q_<joint>_rad (or _deg, _m), perhaps qd_<joint>_rad_s, and voltage_<joint>_V or
            tau_motor_<joint>_Nm.
        arm: The arm that was logged.
        columns: A YAML file or a mapping from these names to those of the log, where its columns are named otherwise.

    Raises:
        FileFaults: A file cannot be read, is damaged, or lacks a column; says where and why.
        UsageError: There are voltages for a joint without a motor.
    """
    name = os.fspath(path)
    report = Report()
    found = read_table(name).columns
    named = _renamed(found, columns, arm, name, report)
    report.raise_if_any()
    t = _first(named, TIME)
    if t is None:
        raise _missing(name, found, "t_s")
    q = _joint_columns(named, arm, "q", name, found)
    if q is None:
        raise _missing(name, found, _spellings(arm, 0, "q")[0])
    qd = _joint_columns(named, arm, "qd", name, found)
    output: Output | None = None
    for kind in ("voltage", "torque"):
        inputs = _inputs(named, arm, kind, name, found)
        if inputs is not None:
            output = kind
            break
    if output is None or inputs is None:
        raise _missing(name, found, f"{_input(arm, 0, 'voltage')} or {_input(arm, 0, 'torque')}")
    refusal = voltage_refusal(arm) if output == "voltage" else None
    if refusal is not None:
        raise UsageError.of(name, refusal.expected, refusal.found, f"{refusal.mend} in the robot file")
    times = np.array(t)
    if len(times) < 2:
        raise refuse(Place(name), "", "at least two rows", f"{len(times)}", "check that it is the right file")
    steps = np.diff(times) > 0
    if not steps.all():
        k = int(np.argmax(~steps))
        what, mend = f"{times[k + 1]:.12g} after {times[k]:.12g}", "sort the rows, and leave each time once"
        raise refuse(Place(name, k + 3, 1), "t_s", "times that increase from row to row", what, mend)
    return MeasuredLog(name, times, q, qd, inputs, output)


def _spellings(arm: Arm, i: int, quantity: str) -> list[str]:
    return [text for text, _ in spellings(quantity, arm.joints[i])]


def _input(arm: Arm, i: int, output: Output) -> str:
    return spellings(INPUTS[output], arm.joints[i])[0][0]


def _first(named: Mapping[str, Sequence[float]], names: tuple[str, ...]) -> Sequence[float] | None:
    return next((named[name] for name in names if name in named), None)


def _joint_columns(
    named: Mapping[str, Sequence[float]], arm: Arm, quantity: str, path: str, found: Mapping[str, Sequence[float]]
) -> Array | None:
    """One quantity of all joints in SI units, shape (m, n); None if no joint has it."""
    spellings = [_spellings(arm, i, quantity) for i in range(arm.n)]
    if not any(name in named for names in spellings for name in names):
        return None
    values = []
    for names in spellings:
        name = next((name for name in names if name in named), None)
        if name is None:
            raise _missing(path, found, names[0])
        turn = math.radians(1.0) if len(names) > 1 and name == names[1] else 1.0
        values.append(np.array(named[name]) * turn)
    return np.stack(values, axis=1)


def _inputs(
    named: Mapping[str, Sequence[float]], arm: Arm, output: Output, path: str, found: Mapping[str, Sequence[float]]
) -> Array | None:
    """The inputs of all joints, shape (m, n); None if no joint has one."""
    names = [_input(arm, i, output) for i in range(arm.n)]
    if not any(name in named for name in names):
        return None
    for name in names:
        if name not in named:
            raise _missing(path, found, name)
    return np.stack([np.array(named[name]) for name in names], axis=1)


def _renamed(
    found: Mapping[str, Sequence[float]],
    columns: str | PathLike[str] | Mapping[str, str] | None,
    arm: Arm,
    log: str,
    report: Report,
) -> Mapping[str, Sequence[float]]:
    """The columns under armsim's names; faults in the mapping go to the report."""
    if columns is None:
        return found
    known = list(TIME)
    for i in range(arm.n):
        known += [
            *_spellings(arm, i, "q"),
            *_spellings(arm, i, "qd"),
            _input(arm, i, "voltage"),
            _input(arm, i, "torque"),
        ]
    named = dict(found)
    for name, (place, column) in _map_of(columns).items():
        if name not in known:
            mend = suggestion(name, known, "for example")
            report.add(place, "", f"a name of armsim's for a column of {arm.name}", f"`{clipped(name)}`", mend)
        elif column not in found:
            mend = suggestion(column, found, "columns are")
            report.add(place, name, f"a column of {log}", f"`{clipped(column)}`", mend)
        else:
            named[name] = found[column]
    return named


def _map_of(columns: str | PathLike[str] | Mapping[str, str]) -> dict[str, tuple[Place, str]]:
    """The entries of a mapping of columns, with their places in its file."""
    if isinstance(columns, Mapping):
        return {name: (Place("columns"), str(column)) for name, column in columns.items()}
    path = os.fspath(columns)
    root, _ = read_yaml(path)
    mend = "write lines such as `q_R1_rad: theta1`, armsim's name first"
    if not isinstance(root, Map):
        raise refuse(root.place, "", "a mapping from armsim's names to columns of the log", shown(root), mend)
    entries = {}
    for name, (place, node) in root.entries.items():
        if not isinstance(node, Scalar):
            raise refuse(node.place, name, "the name of a column", shown(node), mend)
        entries[name] = (place, node.text)
    return entries


def _missing(path: str, found: Mapping[str, Sequence[float]], name: str) -> FileFaults:
    missing = name.split(" ")[0]
    columns = [column for column in found if column not in TIME] or list(found)
    example = f"{missing}: {nearest(missing, columns) or columns[0]}"
    mend = f"rename the columns, or say with --columns which is which: a file with lines such as `{example}`"
    return refuse(Place(path, 1, 1), "", f"a column {name}", clipped(", ".join(found)), mend)
