"""Figures of merit as `armsim simulate` prints them: what went wrong, then how well the rest went."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from armsim.reports.table import Cell, force_unit, joint_unit, number, shown, table, wrapped

Entry = dict[str, Any]


def problem_lines(summary: Entry, degrees: bool) -> list[str]:
    """What the figures say went wrong, a line for each kind."""
    types = {joint["name"]: joint["type"] for joint in summary.get("joints", ())}

    def position(of: Entry, key: str) -> str:
        type = types[of["joint"]]
        return f"{number(shown(of[key], type, degrees), 3)} {joint_unit(type, degrees)}"

    found = summary.get("problems", ())
    lines = []
    for which in dict.fromkeys(of["which"] for of in found if of["kind"] == "limit"):
        what = "the limit of its command" if which == "command" else f"its limit of {which}"
        same = [of for of in found if of["kind"] == "limit" and of["which"] == which]
        first = min(of["first"] for of in same)
        lines.append(f"! at {what}: {', '.join(map(_limit, same))}, first at {first:.3g} s")
    for of in found:
        joint = of["joint"]
        if of["kind"] == "nominal_current":
            share = number(100 * of["rms"] / of["nominal"], 3)
            lines.append(
                f"! {joint} takes {number(of['rms'], 3)} A root mean square, {share} % of its nominal {number(of['nominal'])} A"
            )
        elif of["kind"] == "winding":
            lines.append(
                f"! the winding of {joint} comes to {number(of['peak'], 4)} °C, beyond its {number(of['max'], 4)} °C"
            )
        elif of["kind"] == "not_followed":
            off = f"{position(of, 'rms')} off, root mean square, on a travel of {position(of, 'travel')}"
            lines.append(f"! {joint} does not follow its reference: {off}")
        elif of["kind"] == "unsettled":
            band = f"more than 2 % of its way, {position(of, 'band')}"
            lines.append(f"! {joint} has not settled: {position(of, 'error')} off at the end, {band}")
    return [wrapped(line) for line in lines]


def _limit(of: Entry) -> str:
    end = ", and at the end" if of["at_end"] else ""
    return f"{of['joint']} for {number(of['time'], 2)} s ({number(100 * of['share'], 2)} %{end})"


def figure_lines(summary: Entry, degrees: bool) -> list[str]:
    """How well the arm did, in a line each: response, tracking, disturbance, motors; without what does not apply."""
    joints, figures = summary.get("joints", []), summary.get("figures")
    if figures is None:
        return []
    lines = []
    stepping = [joint for joint in joints if joint["rise_time"] is not None]
    tracked = [joint for joint in joints if joint["peak_error"] is not None]
    if stepping and not figures["follows"]:
        lines.append(f"response {_response(max(stepping, key=_slowness))}")
    if tracked and (figures["follows"] or not stepping):
        errors = [_largest(same, "rms_error", degrees) for same in _by_unit(tracked)]
        tool = f"tool {number(1e3 * figures['rms_tool_error'], 3)} mm, {number(1e3 * figures['peak_tool_error'], 3)} mm at most"
        lines.append(f"tracking {', '.join(errors)} root mean square; {tool}")
    pushed = [joint for joint in joints if joint["disturbance_peak"]]
    if pushed:
        peaks = ", ".join(_largest(same, "disturbance_peak", degrees) for same in _by_unit(pushed))
        slowest = max(pushed, key=lambda joint: joint["recovery_time"])
        lines.append(f"pushed   by {peaks}; {_recovery(slowest)}")
    if "energy_drawn" in figures:
        parts = [f"{number(figures['energy_drawn'], 3)} J drawn, {number(figures['energy_fed_back'], 3)} J fed back"]
        rated = [joint for joint in joints if joint["of_nominal"] is not None]
        if rated:
            worst = max(rated, key=lambda joint: joint["of_nominal"])
            share = number(100 * worst["of_nominal"], 3)
            parts.append(f"{worst['name']} {number(worst['rms_current'], 3)} A root mean square, {share} % of nominal")
        warm = [joint for joint in joints if joint["winding_temperature"] is not None]
        if warm:
            worst = max(warm, key=lambda joint: joint["winding_temperature"])
            parts.append(f"winding of {worst['name']} at {number(worst['winding_temperature'], 3)} °C")
        lines.append(f"motors   {'; '.join(parts)}")
    return [wrapped(line) for line in lines]


def _slowness(joint: Entry) -> tuple[float, float, float]:
    return joint["settling_time"], joint["rise_time"], joint["overshoot"]


def _response(joint: Entry) -> str:
    name, rise = joint["name"], joint["rise_time"]
    if rise == math.inf:
        return f"{name} does not come nine tenths of its way"
    over = f"overshoots by {number(100 * joint['overshoot'], 2)} %" if joint["overshoot"] > 0 else "does not overshoot"
    settles = f"settles in {number(joint['settling_time'], 3)} s"
    settles = "ends outside 2 % of its way" if joint["settling_time"] == math.inf else settles
    return f"{name} rises in {number(rise, 3)} s, {over}, {settles}"


def _recovery(joint: Entry) -> str:
    if joint["recovery_time"] == math.inf:
        return f"{joint['name']} is not back at the end"
    return f"back within 5 % of it in {number(joint['recovery_time'], 3)} s"


def _by_unit(joints: Iterable[Entry]) -> list[list[Entry]]:
    same: dict[str, list[Entry]] = {}
    for joint in joints:
        same.setdefault(joint_unit(joint["type"], False), []).append(joint)
    return [*same.values()]


def _largest(joints: list[Entry], key: str, degrees: bool) -> str:
    """The largest of a quantity, with its joint."""
    worst = max(joints, key=lambda joint: joint[key])
    type = worst["type"]
    return f"{number(shown(worst[key], type, degrees), 3)} {joint_unit(type, degrees)} ({worst['name']})"


COLUMNS = {
    **{"rise_time": "rise", "overshoot": "overshoot", "settling_time": "settles in"},
    **{"rms_error": "rms error", "peak_error": "peak error", "iae": "IAE", "ise": "ISE", "itae": "ITAE"},
    **{
        "disturbance_peak": "pushed by",
        "recovery_time": "back in",
        "rms_torque": "rms torque",
        "rms_current": "rms current",
    },
    **{"of_nominal": "of nominal", "winding_temperature": "winding", "peak_winding_temperature": "hottest"},
    **{"energy_drawn": "drawn", "energy_fed_back": "fed back"},
}


def figure_table(summary: Entry, degrees: bool) -> list[str]:
    """All figures of the joints, for -v."""
    joints, figures = summary.get("joints", []), summary.get("figures")
    if figures is None:
        return []
    keys = [key for key in COLUMNS if any(joint[key] is not None for joint in joints)]
    rows: list[list[Cell]] = [[joint["name"], *(_cell(joint, key, degrees) for key in keys)] for joint in joints]
    lines = ["", table(["joint", *(COLUMNS[key] for key in keys)], rows)] if keys else []
    for joint in joints:
        for kind, of in joint["limits"].items():
            what = {"stop": "outside its range", "command": "at the limit of its command"}.get(
                kind, f"at its limit of {kind}"
            )
            share = number(100 * of["share"], 3)
            lines.append(
                f"* {joint['name']} {what} for {number(of['time'], 4)} s, {share} %, first at {of['first']:.4g} s"
            )
    return [
        *lines,
        wrapped(f"* these figures as seen at {figures['moments']} moments, one every {figures['every']:.3g} s"),
        "",
    ]


def _cell(joint: Entry, key: str, degrees: bool) -> Cell:
    value, type = joint[key], joint["type"]
    if value is None:
        return "-"
    position, force = joint_unit(type, degrees), force_unit(type)
    if value == math.inf:
        return ("never", "s")
    if key in ("overshoot", "of_nominal"):
        return number(100 * value, 3), "%"
    if key in IN_POSITIONS:
        value = shown(shown(value, type, degrees), type, degrees) if key == "ise" else shown(value, type, degrees)
    units = {
        **{"rms_error": position, "peak_error": position, "disturbance_peak": position},
        **{"iae": f"{position}·s", "ise": f"{position}²·s", "itae": f"{position}·s²"},
        **{"rms_torque": force, "rms_current": "A", "energy_drawn": "J", "energy_fed_back": "J"},
        **{"winding_temperature": "°C", "peak_winding_temperature": "°C"},
    }
    return number(value, 4), units.get(key, "s")


IN_POSITIONS = ("rms_error", "peak_error", "iae", "ise", "itae", "disturbance_peak")  # ise in their square


def figures_in_degrees(entry: Entry) -> Entry:
    """An entry of a joint that turns with its figures in degrees."""
    turned = {key: math.degrees(entry[key]) for key in IN_POSITIONS if entry.get(key) is not None}
    if "ise" in turned:
        turned["ise"] = math.degrees(turned["ise"])
    return {**entry, **turned}
