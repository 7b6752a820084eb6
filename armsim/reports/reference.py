"""What `armsim reference` prints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from armsim.model.angles import in_unit
from armsim.records import attributes
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
    from armsim.arm.planned import Exceeded, Excursion, PlannedMotion
    from armsim.arm.tool_excursion import ToolExcursion

SHORT = 0.02  # share of the time in which limits bind: shorter ones are counted


def report(planned: PlannedMotion, degrees: bool = False, verbose: bool = False) -> Report:
    """Duration, joints, and a line for every limit that is exceeded."""
    from armsim.arm.planned import AT_ONCE

    scenario = planned.scenario
    told = planned.joints, planned.tool, planned.exceeded
    joints, tool, exceeded = in_unit(told, scenario.arm.joints, degrees)
    run = scenario.clock.end
    lasts = f"goes on; what is told is until {run:g} s" if planned.end is None else f"holds from {planned.end:.6g} s on"
    lines: Report = [
        f"{scenario.name}: the reference of {scenario.arm.name} {lasts}",
        "",
        joint_table(joints, degrees, verbose),
    ]
    if planned.end is not None and planned.end > run * (1 + 1e-9):
        lines.append(wrapped(f"! the run ends before it, at {run:g} s: `--set duration={math.ceil(planned.end)}`"))
    for joint, of in zip(joints, planned.joints, strict=True):
        if abs(of.beside) > AT_ONCE:
            beside = f"{number(joint.beside)} {joint_unit(joint.type, degrees)}"
            lines.append(wrapped(f"* {joint.joint} begins {beside} beside it"))
    lines += rigid_notes(scenario.arm)
    types = {joint.joint: joint.type for joint in joints}
    lines += [] if tool is None else ["", *tool_lines(tool, types, degrees), ""]
    lines += fastest_lines(planned, verbose)
    lines += [wrapped(exceeded_note(found, types[found.joint], degrees)) for found in exceeded]
    endless = [
        joint.joint for joint in planned.joints if not math.isfinite(joint.speed.value + joint.acceleration.value)
    ]
    if endless:
        lines.append(wrapped(f"! {', '.join(endless)}: no finite velocity or acceleration at times"))
    elif not planned.exceeded:
        lines.append("* within all limits of joints and motors that there are")
    return lines


def joint_table(joints: Sequence[Excursion], degrees: bool, verbose: bool) -> ReportTable:
    """From where to where each joint moves, or between which positions if it comes back; and its peaks."""
    returns = any(joint.greatest - joint.least > abs(joint.last - joint.first) + 1e-9 for joint in joints)
    ends = {"first": "from", "last": "to"}
    between = {"least": "least", "greatest": "greatest"}
    places = ends if not returns else {**ends, **between} if verbose else between
    digits = 10 if verbose else 5
    rows: list[Row] = []
    for joint in joints:
        unit = joint_unit(joint.type, degrees)
        row: Row = [joint.joint, *(measured(getattr(joint, key), unit, digits) for key in places)]
        peaks = (joint.speed, f"{unit}/s"), (joint.acceleration, f"{unit}/s²"), (joint.torque, force_unit(joint.type))
        for peak, of in peaks:
            row += [measured(peak.value, of, digits), measured(peak.t, "s", digits)]
        rows.append(row)
    return ReportTable(["joint", *places.values(), "speed", "at", "acceleration", "at", "torque", "at"], rows)


def tool_lines(tool: ToolExcursion, types: Mapping[str, str], degrees: bool) -> list[str]:
    """What the tool does along its path."""
    lines = [
        f"{tool.frame} at most {number(tool.speed.value)} m/s, at t = {number(tool.speed.t)} s",
        f"beside its path by {number(tool.deviation.value, 2)} m at most",
        f"manipulability {number(tool.manipulability.value)} at least, at t = {number(tool.manipulability.t)} s",
    ]
    if tool.joint is not None and tool.margin is not None:
        margin = f"{number(tool.margin.value)} {joint_unit(types[tool.joint], degrees)}"
        lines.append(f"{tool.joint} comes nearest to a limit, {margin}, at t = {number(tool.margin.t)} s")
    return lines


def fastest_lines(planned: PlannedMotion, verbose: bool) -> Report:
    """Which limits bind along the fastest motion, and where the arm could not stop."""
    found = [binding for stage in planned.stages for binding in stage.bindings]
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
        for stage in planned.stages
        for it in stage.unstoppable
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


def as_data(planned: PlannedMotion, degrees: bool) -> dict[str, Any]:
    """The same as plain data."""
    told = planned.joints, planned.tool, planned.exceeded
    joints, tool, exceeded = in_unit(told, planned.scenario.arm.joints, degrees)
    moved = [
        {
            **attributes(joint, "joint", "first", "last", "least", "greatest", "beside"),
            **{f"peak_{key}": _extreme(getattr(joint, key)) for key in ("speed", "acceleration", "torque")},
        }
        for joint in joints
    ]
    run = planned.scenario.clock.end
    of_fastest = (("binding", "bindings"), ("unstoppable", "unstoppable")) if planned.stages else ()
    return {
        "scenario": planned.scenario.name,
        "end": planned.end,
        "duration": run,
        "joints": moved,
        "exceeded": exceeded,
        **{key: [it._asdict() for stage in planned.stages for it in getattr(stage, of)] for key, of in of_fastest},
        **({} if tool is None else {"tool": {key: _extreme(x) for key, x in vars(tool).items()}}),
    }


def _extreme(x: Any) -> Any:
    from armsim.arm.tool_excursion import Extreme

    return {"value": x.value, "t_s": x.t} if isinstance(x, Extreme) else x
