"""A run as a table in HTML, for notebooks."""

from __future__ import annotations

import math

from armsim.notebook import Cell, html_table
from armsim.simulation.ending import settled
from armsim.simulation.energy_balance import audit
from armsim.simulation.joint_summary import joint_summaries
from armsim.simulation.result import Result

COLUMNS = {"q": "final q", "target": "target", "error": "error", "peak_torque": "peak torque"}


def run_html(run: Result) -> str:
    """The joints at the run's end with their largest torques; below them how it ended, its energy, and what was measured.

    Nothing is repeated for it: the estimate of the error by the step is left to `Run.summary`.
    """
    joints = joint_summaries(run) if all(map(math.isfinite, run.end)) else []
    keys = [key for key in (*COLUMNS, "peak_current") if any(getattr(joint, key) is not None for joint in joints)]
    headings = [COLUMNS.get(key, "peak current [A]") for key in keys]
    rows: list[list[Cell]] = []
    for joint, part in zip(joints, run.plant.arm.joints, strict=False):
        unit = f"{part.kind.length}, {part.kind.force}"
        rows.append([joint.name, unit, *(getattr(joint, key) for key in keys)])
    notes = [f"{run.status} at t = {run.end_time:.6g} s, {run.count} rows"]
    if joints:
        balance = audit(run)
        notes.append(f"energy {balance.change:+.5g} J, of which no work explains {balance.residual:.3g} J")
    notes += [f"{name} = {run.measures[name]:.5g} {unit}".rstrip() for name, unit in run.units.items()]
    notes += [warning for warning in run.advice.warnings if run.advice.loops.get(warning) not in settled(run)]
    return html_table(run.scenario.brief, ["joint", "units", *headings], rows, notes)
