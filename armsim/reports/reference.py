"""What `armsim reference` prints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from armsim.model.angles import in_unit
from armsim.reports.state import rigid_notes
from armsim.reports.table import (
    Report,
    ReportTable,
    Row,
    force_unit,
    joint_unit,
    measured,
    number,
    wrapped,
)

if TYPE_CHECKING:
    from armsim.arm.planned import Exceeded, Excursion, PlannedMotion, ReferenceSummary
    from armsim.arm.tool_excursion import ToolExcursion

SHORT = 0.02  # share of the time in which limits bind: shorter ones are counted


def report(planned: PlannedMotion, degrees: bool = False, verbose: bool = False) -> Report:
    """Duration, joints, and a line for every limit that is exceeded."""
    from armsim.arm.planned import AT_ONCE

    arm = planned.scenario.arm
    facts, types = in_unit(planned.facts, arm.joints, degrees), {joint.name: joint.type for joint in arm.joints}
    end, run = facts.end, facts.duration
    lasts = f"goes on; what is told is until {run:g} s" if end is None else f"holds from {end:.6g} s on"
    lines: Report = [
        f"{facts.scenario}: the reference of {arm.name} {lasts}",
        "",
        joint_table(facts.joints, types, degrees, verbose),
    ]
    if end is not None and end > run * (1 + 1e-9):
        lines.append(wrapped(f"! the run ends before it, at {run:g} s: `--set duration={math.ceil(end)}`"))
    for joint, of in zip(facts.joints, planned.joints, strict=True):
        if abs(of.beside) > AT_ONCE:
            beside = f"{number(joint.beside)} {joint_unit(types[joint.joint], degrees)}"
            lines.append(wrapped(f"* {joint.joint} begins {beside} beside it"))
    lines += rigid_notes(arm)
    lines += [] if facts.tool is None else ["", *tool_lines(facts.tool, types, degrees)]
    lines += fastest_lines(facts, verbose) or [""] * (facts.tool is not None)
    lines += [wrapped(exceeded_note(found, types[found.joint], degrees)) for found in facts.exceeded]
    peaks = {joint.joint: joint.peak_speed.value + joint.peak_acceleration.value for joint in facts.joints}
    endless = [joint for joint, peak in peaks.items() if not math.isfinite(peak)]
    if endless:
        lines.append(wrapped(f"! {', '.join(endless)}: no finite velocity or acceleration at times"))
    elif not facts.exceeded:
        lines.append("* within all limits of joints and motors that there are")
    return lines


def joint_table(joints: Sequence[Excursion], types: Mapping[str, str], degrees: bool, verbose: bool) -> ReportTable:
    """From where to where each joint moves, or between which positions if it comes back; and its peaks."""
    returns = any(joint.greatest - joint.least > abs(joint.last - joint.first) + 1e-9 for joint in joints)
    ends = {"first": "from", "last": "to"}
    between = {"least": "least", "greatest": "greatest"}
    places = ends if not returns else {**ends, **between} if verbose else between
    digits = 10 if verbose else 5
    rows: list[Row] = []
    for joint in joints:
        type = types[joint.joint]
        unit = joint_unit(type, degrees)
        row: Row = [joint.joint, *(measured(getattr(joint, key), unit, digits) for key in places)]
        peaks = joint.peak_speed, joint.peak_acceleration, joint.peak_torque
        for peak, of in zip(peaks, (f"{unit}/s", f"{unit}/s²", force_unit(type)), strict=True):
            row += [measured(peak.value, of, digits), measured(peak.t_s, "s", digits)]
        rows.append(row)
    return ReportTable(["joint", *places.values(), "speed", "at", "acceleration", "at", "torque", "at"], rows)


def tool_lines(tool: ToolExcursion, types: Mapping[str, str], degrees: bool) -> list[str]:
    """What the tool does along its path."""
    lines = [
        f"{tool.frame} at most {number(tool.speed.value)} m/s, at t = {number(tool.speed.t_s)} s",
        f"beside its path by {number(tool.deviation.value, 2)} m at most",
        f"manipulability {number(tool.manipulability.value)} at least, at t = {number(tool.manipulability.t_s)} s",
    ]
    if tool.joint is not None and tool.margin is not None:
        margin = f"{number(tool.margin.value)} {joint_unit(types[tool.joint], degrees)}"
        lines.append(f"{tool.joint} comes nearest to a limit, {margin}, at t = {number(tool.margin.t_s)} s")
    return lines


def fastest_lines(facts: ReferenceSummary, verbose: bool) -> Report:
    """Which limits bind along the fastest motion, and where the arm could not stop."""
    found = facts.binding
    if not found:
        return []
    least = 0.0 if verbose else SHORT * sum(binding.to_s - binding.from_s for binding in found)
    told = [binding for binding in found if binding.to_s - binding.from_s >= least]
    rows: list[Row] = [
        [f"{it.quantity} of {it.joint}", measured(it.from_s, "s"), measured(it.to_s, "s")] for it in told
    ]
    more = f"and {len(found) - len(told)} more, shorter: --verbose" if len(told) < len(found) else ""
    lines: Report = ["", ReportTable(["limit that binds", "from", "to"], rows), *([more] if more else []), ""]
    return lines + [
        wrapped(
            f"! {it.joint} could not stand still from t = {number(it.from_s)} s to {number(it.to_s)} s: the limit of its "
            f"{it.quantity} does not let it"
        )
        for it in facts.unstoppable or ()
    ]


def exceeded_note(found: Exceeded, type: str, degrees: bool) -> str:
    """Which limit is exceeded, by how much and when."""
    when = f"at t = {number(found.t_s)} s, from t = {number(found.from_s)} s on"
    joint, quantity = found.joint, found.quantity
    if quantity == "position":
        return f"! {joint} leaves its range: {number(found.needed)} {found.unit}, beyond {number(found.limit)}, {when}"
    needed, limit = (f"{number(x)} {found.unit}" for x in (found.needed, found.limit))
    if found.torque is not None and found.speed is not None and found.available is not None:
        torque, available = (f"{number(x)} {force_unit(type)}" for x in (found.torque, found.available))
        speed = f"{number(found.speed)} {joint_unit(type, degrees, '/s')}"
        most = "most" if found.available < found.torque else "least"
        return f"! {joint} needs {torque} at {speed}, where its motor gives {available} at {most} with {limit}, {when}"
    if quantity == "command":
        return f"! {joint} needs {needed}, more than `control.limit` of {limit}, {when}"
    shaft = " at the motor's shaft" if quantity in ("torque", "speed") else ""
    return f"! {joint} needs {needed}{shaft}, more than its motor's limit of {limit}, {when}"
