"""Figures of merit as `armsim simulate` prints them: what went wrong, then how well the rest went.

Summaries have their angles as they are shown; see `armsim.model.angles.in_unit`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from armsim.formulas.units import units_of
from armsim.measures.catalog import KINDS
from armsim.measures.figures import OF_JOINT
from armsim.model import JOINT_TYPES
from armsim.notebook import percent
from armsim.reports.state import of_nominal
from armsim.reports.table import Cell, Report, ReportTable, Row, joint_unit, number, wrapped
from armsim.simulation.joint_summary import JointSummary
from armsim.simulation.merit import ArmFigures, TimeAtLimit
from armsim.simulation.problems import HotWinding, LongAtLimit, NotFollowed, OverNominalCurrent, Unsettled
from armsim.simulation.summary import EndState

RESPONSE = attrgetter("figures.settling_time", "figures.rise_time", "figures.overshoot")


def problem_lines(end: EndState, degrees: bool) -> list[str]:
    """What the figures say went wrong, a line for each kind."""
    units = {joint.name: joint_unit(joint.type, degrees) for joint in end.joints}
    found = end.problems or []
    long = [of for of in found if isinstance(of, LongAtLimit)]
    lines = []
    for which in dict.fromkeys(of.which for of in long):
        same = [of for of in long if of.which == which]
        first = min(of.at.first for of in same)
        times = ", ".join(f"{of.joint} for {_lasting(of.at, 2, of.at_end)}" for of in same).removeprefix(same[0].joint)
        lines.append(f"! {same[0].joint} {_limited(which)}{times}, first at {first:.3g} s")
    for of in found:
        joint, unit = of.joint, units[of.joint]
        if isinstance(of, OverNominalCurrent):
            current = f"{number(of.rms, 3)} A root mean square"
            lines.append(f"! {joint} takes {current}, {of_nominal(of.rms, of.nominal)}")
        elif isinstance(of, HotWinding):
            lines.append(
                f"! the winding of {joint} comes to {number(of.peak, 4)} °C, beyond its {number(of.max, 4)} °C"
            )
        elif isinstance(of, NotFollowed):
            off = f"{number(of.rms, 3)} {unit} off, root mean square, on a travel of {number(of.travel, 3)} {unit}"
            lines.append(f"! {joint} does not follow its reference: {off}")
        elif isinstance(of, Unsettled):
            band = f"more than 2 % of its way, {number(of.band, 3)} {unit}"
            lines.append(f"! {joint} has not settled: {number(of.error, 3)} {unit} off at the end, {band}")
    return [wrapped(line) for line in lines]


def _limited(which: str) -> str:
    """What a joint did at a limit, in words."""
    return {"stop": "was outside its range", "command": "saturated"}.get(which, f"was at its {which} limit")


def _lasting(at: TimeAtLimit, digits: int, at_end: bool = False) -> str:
    return f"{number(at.time, digits)} s ({percent(at.share)}{', and at the end' * at_end})"


def figure_lines(joints: Sequence[JointSummary], figures: ArmFigures, degrees: bool) -> list[str]:
    """How well the arm did, in a line each: response, tracking, disturbance, motors; without what does not apply."""
    lines = []
    stepping, tracked = _having(joints, "rise_time"), _having(joints, "peak_error")
    if stepping and not figures.follows:
        slowest = max(stepping, key=RESPONSE)
        lines.append(f"response {slowest.name} {_response(*RESPONSE(slowest))}")
    if tracked and (figures.follows or not stepping):
        errors = _largest(tracked, "rms_error", degrees)
        rms, peak = (number(1e3 * (error or 0.0), 3) for error in (figures.rms_tool_error, figures.peak_tool_error))
        lines.append(f"tracking {errors} root mean square; tool {rms} mm, {peak} mm at most")
    pushed = [joint for joint in _having(joints, "disturbance_peak") if _figure(joint, "disturbance_peak")]
    if pushed:
        lines.append(
            f"pushed   by {_largest(pushed, 'disturbance_peak', degrees)}; {_recovery(_worst(pushed, 'recovery_time'))}"
        )
    if figures.energy_drawn is not None and figures.energy_fed_back is not None:
        parts = [f"{number(figures.energy_drawn, 3)} J drawn, {number(figures.energy_fed_back, 3)} J fed back"]
        if rated := _having(joints, "of_nominal"):
            worst = _worst(rated, "of_nominal")
            share, current = number(100 * _figure(worst, "of_nominal"), 3), number(_figure(worst, "rms_current"), 3)
            parts.append(f"{worst.name} {current} A root mean square, {share} % of nominal")
        if warm := _having(joints, "winding_temperature"):
            worst = _worst(warm, "winding_temperature")
            parts.append(f"winding of {worst.name} at {number(_figure(worst, 'winding_temperature'), 3)} °C")
        lines.append(f"motors   {'; '.join(parts)}")
    near = [(kind, joint.name, at) for joint in joints for kind, at in (_figure(joint, "shares") or {}).items()]
    worst_of = {kind: max((it for it in near if it[0] == kind), key=lambda it: it[2].share) for kind, *_ in near}
    parts = [f"{kind} {number(100 * at.share, 4)} % ({of}, at {at.time:.4g} s)" for kind, of, at in worst_of.values()]
    lines += [f"limits   used at most: {', '.join(parts)}"] if parts else []
    return [wrapped(line) for line in lines]


def _figure(joint: JointSummary, key: str) -> Any:
    return getattr(joint.figures, key)


def _having(joints: Iterable[JointSummary], key: str) -> list[JointSummary]:
    return [joint for joint in joints if _figure(joint, key) is not None]


def _worst(joints: Iterable[JointSummary], key: str) -> JointSummary:
    return max(joints, key=attrgetter(f"figures.{key}"))


def _response(settling: float, rise: float, overshoot: float) -> str:
    if rise == math.inf:
        return "does not come nine tenths of its way"
    over = f"overshoots by {number(100 * overshoot, 2)} %" if overshoot > 0 else "does not overshoot"
    settles = "ends outside 2 % of its way" if settling == math.inf else f"settles in {number(settling, 3)} s"
    return f"rises in {number(rise, 3)} s, {over}, {settles}"


def _recovery(joint: JointSummary) -> str:
    time = _figure(joint, "recovery_time")
    if time == math.inf:
        return f"{joint.name} is not back at the end"
    return f"back within 5 % of it in {number(time, 3)} s"


def _largest(joints: Iterable[JointSummary], key: str, degrees: bool) -> str:
    """The largest of a quantity among joints of each unit, with its joint."""
    same: dict[str, list[JointSummary]] = {}
    for joint in joints:
        same.setdefault(joint_unit(joint.type, degrees), []).append(joint)
    worst = {unit: _worst(of, key) for unit, of in same.items()}
    return ", ".join(f"{number(_figure(joint, key), 3)} {unit} ({joint.name})" for unit, joint in worst.items())


def figure_table(joints: Sequence[JointSummary], figures: ArmFigures, degrees: bool) -> Report:
    """All figures of the joints, for -v."""
    keys = [key for key in OF_JOINT if _having(joints, key)]
    rows: list[Row] = [[joint.name, *(_cell(joint, key, degrees) for key in keys)] for joint in joints]
    lines: Report = [ReportTable(["joint", *(OF_JOINT[key] for key in keys)], rows)] if keys else []
    for joint in joints:
        for kind, at in (joint.figures.limits if joint.figures else {}).items():
            lines.append(f"* {joint.name} {_limited(kind)} for {_lasting(at, 4)}, first at {at.first:.4g} s")
    seen = f"* these figures as seen at {figures.moments} moments, one every {figures.every:.3g} s"
    return [*lines, wrapped(seen), ""]


def _cell(joint: JointSummary, key: str, degrees: bool) -> Cell:
    value = _figure(joint, key)
    if value is None:
        return "-"
    if value == math.inf:
        return ("never", "s")
    if key in ("overshoot", "of_nominal"):
        return number(100 * value, 3), "%"
    (unit,) = units_of(KINDS[key].unit, [JOINT_TYPES[joint.type].turns], None)
    return number(value, 4), unit.replace("rad", "deg") if degrees else unit
