"""The log of a real arm: times, commands and measured joint positions."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial, reduce
from os import PathLike

import numpy as np

from armsim.actuation.motor import torque
from armsim.arrays import Array
from armsim.files.faults import refuse
from armsim.files.run_record import recorded
from armsim.files.table import TIME, DataTable
from armsim.files.table_reader import read_table
from armsim.loading.voltage import check_motors
from armsim.model import Arm
from armsim.plant.columns import spellings
from armsim.plant.driven import Output
from armsim.recording.column_hint import Wanted, missing_columns
from armsim.recording.column_map import Columns, renamed
from armsim.recording.command_history import CommandHistory
from armsim.recording.logged_feedback import LoggedFeedback
from armsim.recording.time_units import HOPELESS, scaling, unit_by_spacing, unit_by_speeds
from armsim.records import record

# kinds of columns of inputs; of several, those that a run's folder says were commanded count, or else the first
INPUTS: dict[Output, str] = {"voltage": "voltage", "torque": "motor", "current": "current"}
HELD = ", each row's held until the next"
FIT = 5  # rows of the parabola that a velocity is estimated by


@record
class MeasuredLog:
    """A log in SI units and radians.

    Attributes:
        name: The file.
        t: Times [s], shape (m,), m at least 2; they need not be evenly spaced.
        q: Joint positions [rad or m], shape (m, n).
        qd: Joint velocities [rad/s or m/s], shape (m, n); None where the log has none.
        commands: Voltages [V], currents [A] or torques [N·m or N].
        output: What the commands are.
        inputs_from: Where they come from, in words.
        notes: What was left out, and what is doubtful, in words.
    """

    name: str
    t: Array = field(repr=False)
    q: Array = field(repr=False)
    qd: Array | None = field(repr=False)
    commands: CommandHistory = field(repr=False)
    output: Output
    inputs_from: str = ""
    notes: tuple[str, ...] = ()

    @property
    def inputs(self) -> Array:
        """The commands at its rows, shape (m, n)."""
        return self.commands.at(self.t)

    @property
    def inputs_told(self) -> str:
        """What drives the arm between rows, in words."""
        held = HELD if self.commands.t is self.t else ""
        return self.inputs_from + (", on straight lines between rows" if self.commands.lines else held)

    def under(self, feedback: LoggedFeedback) -> MeasuredLog:
        """The same log driven by what a controller commands that sees its positions."""
        commands, output = feedback.commands(self.t, self.q, self.qd), feedback.controller.output
        return replace(self, commands=commands, output=output, inputs_from=feedback.told)

    def by_torques(self, arm: Arm) -> MeasuredLog:
        """The same log driven by torques at the joints, if it was by currents."""
        if self.output != "current":
            return self
        factors = [torque(joint.electric_motor, 1.0) for joint in arm.joints if joint.electric_motor is not None]
        each = ", ".join(f"{joint.name} {factor:.4g}" for joint, factor in zip(arm.joints, factors, strict=True))
        told = f"torque at the joints, gear Kp i of the motors' currents (N·m/A: {each})"
        commands = replace(self.commands, u=self.commands.u * np.array(factors))
        return replace(self, commands=commands, output="torque", inputs_from=told)

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
    path: str | PathLike[str],
    arm: Arm,
    columns: Columns | None = None,
    interpolate: bool = False,
    feedback: LoggedFeedback | None = None,
    inputs: Output | None = None,
) -> MeasuredLog:
    """Read a log whose columns are named as in armsim's files, or as a mapping says; other columns may hold anything.

    Rows in which a cell is missing are left out.

    Args:
        path: A CSV or Parquet file with t_s (or t), q_<joint>_rad (or _deg, _m), perhaps qd_<joint>_rad_s, and voltage_<joint>_V,
            tau_motor_<joint>_Nm or current_<joint>_A; or the folder of a run that has them in its tables.
        arm: The arm that was logged.
        columns: From these names to columns of the log, or to formulas of them: a YAML file, its text in braces, or a mapping.
        interpolate: Whether commands change on straight lines between rows; else each is held until the next row.
        feedback: A controller whose commands count where the log has none.
        inputs: Which columns drive the arm where there are several; unless given, what was commanded in the run of a folder, or
            else voltages before torques before currents.

    Raises:
        FileFaults: A file cannot be read, is damaged, or lacks a column; or the times are no seconds; says where and why.
        UsageError: There are voltages or currents for a joint without a motor.
    """
    name = os.fspath(path)
    run = recorded(name) if os.path.isdir(name) else None
    tables = map(read_table, [name] if run is None else run.tables)
    table = reduce(partial(DataTable.beside, path=name), tables)
    named = renamed(table, columns, list(_known(arm)), arm.name)
    kinds = ["q"] + [kind for kind in ("qd",) if _any(named, arm, kind)]
    first = inputs or (None if run is None else run.commanded)
    order = [inputs] if inputs else sorted(INPUTS, key=lambda output: output != first)
    of = next((output for output in order if _any(named, arm, INPUTS[output])), None)
    lacking = [] if any(time in named for time in TIME) else [Wanted("t")]
    driven = [] if of is None and feedback is not None else [INPUTS[of or inputs or "voltage"]]
    for kind in (*kinds, *driven):
        spelled = [_spellings(arm, i, kind) for i in range(arm.n)]
        lacking += [Wanted(kind, i) for i, names in enumerate(spelled) if not any(name in named for name in names)]
    if lacking:
        raise missing_columns(table, arm, lacking, any_input=of is None and inputs is None)
    if of is not None:
        check_motors(arm, of, name)
    t = np.array(named[next(time for time in TIME if time in named)])
    values = [_joint_columns(named, arm, kind) for kind in (*kinds, *driven)]
    rows = np.flatnonzero(np.isfinite(np.column_stack([t, *values])).all(axis=1))
    gaps = np.setdiff1d(np.arange(len(t)), rows)
    notes = [table.skipped(gaps.tolist())] if len(gaps) else []
    t, (q, *rest) = t[rows], [x[rows] for x in values]
    if len(t) < 2:
        raise refuse(table.place(0), "", "at least two rows", f"{len(t)}", "check that it is the right file")
    steps = np.diff(t) > 0
    if not steps.all():
        k = int(np.argmax(~steps))
        found, mend = f"{t[k + 1]:.12g} after {t[k]:.12g}", "sort the rows, and leave each time once"
        raise refuse(table.place(int(rows[k + 1])), "t_s", "times that increase from row to row", found, mend)
    qd = rest.pop(0) if "qd" in kinds else None
    notes += _clock_notes(table, t, q, qd, columns is not None)
    if feedback is not None and of is None:
        log = MeasuredLog(name, t, q, qd, CommandHistory(t, np.zeros(q.shape)), "torque", "", tuple(notes))
        return log.under(feedback)
    (u,) = rest
    assert of is not None
    told = {"voltage": "voltage", "torque": "torque at the joints", "current": "the motors' currents"}[of]
    return MeasuredLog(name, t, q, qd, CommandHistory(t, u, interpolate), of, told, tuple(notes))


def _known(arm: Arm) -> Iterator[str]:
    """The names of a log's columns."""
    yield from TIME
    for i in range(arm.n):
        for kind in ("q", "qd", *INPUTS.values()):
            yield from _spellings(arm, i, kind)


def _spellings(arm: Arm, i: int, kind: str) -> list[str]:
    return [text for text, _ in spellings(kind, arm.joints[i])]


def _any(named: Mapping[str, Sequence[float]], arm: Arm, kind: str) -> bool:
    """Whether some joint has a column of a kind."""
    return any(name in named for i in range(arm.n) for name in _spellings(arm, i, kind))


def _joint_columns(named: Mapping[str, Sequence[float]], arm: Arm, kind: str) -> Array:
    """One quantity of all joints in SI units, shape (m, n)."""
    values = []
    for i in range(arm.n):
        names = _spellings(arm, i, kind)
        name = next(name for name in names if name in named)
        turn = math.radians(1.0) if len(names) > 1 and name == names[1] else 1.0
        values.append(np.array(named[name]) * turn)
    return np.stack(values, axis=1)


def _clock_notes(table: DataTable, t: Array, q: Array, qd: Array | None, mapped: bool) -> list[str]:
    """What is doubtful about the unit of the times, in words.

    Raises:
        FileFaults: The logged velocities, or rows minutes apart, tell that they are no seconds.
    """
    source = next((time for time in TIME if time in table and not mapped), None)

    found = None if qd is None else unit_by_speeds(t, q, qd)
    if found is not None:
        unit, ratio = found
        what = f"q changing {1.0 / ratio:.0f} times as slowly as the logged velocities say: the times seem to be {unit}"
        raise refuse(table.place(0), "t_s", "times in seconds", what, f"scale them, with {scaling(source, unit)}")
    wide = unit_by_spacing(t)
    if wide is None:
        return []
    unit, spacing = wide
    if spacing >= HOPELESS:
        what = f"rows {spacing:.4g} s apart: the times seem to be {unit}"
        raise refuse(table.place(0), "t_s", "times in seconds", what, f"scale them, with {scaling(source, unit)}")
    return [
        f"rows are {spacing:.3g} s apart, {t[-1] - t[0]:.4g} s in all, and inputs are held as long; "
        f"if the times are {unit}, scale them, with {scaling(source, unit)}"
    ]
