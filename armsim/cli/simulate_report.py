"""What `armsim simulate` prints about a run."""

from __future__ import annotations

import math
from typing import Any

from armsim.cli.table import number, table

LAWS = {"complete": "", "interrupted": " (interrupted)", "diverged": " (diverged)"}


def report(summary: dict[str, Any], degrees: bool, verbose: bool) -> str:
    """The summary of a run as text."""
    lines = [
        f"{summary['scenario']}: {summary['duration']:g} s of {summary['robot']}, {summary['steps']} steps of "
        f"{summary['dt']:g} s by {summary['method']}{LAWS[summary['status']]}"
    ]
    if "joints" in summary:
        lines += ["", _joint_table(summary["joints"], degrees), *_notes(summary, degrees), ""]
        x, y, z = summary["tool"]["position"]
        lines.append(f"tool     x {x:.6f}  y {y:.6f}  z {z:.6f} m")
        energy = {when: sum(parts.values()) for when, parts in summary["energy"].items()}
        lines.append(f"energy   {number(energy['start'], 6)} J at the start, {number(energy['end'], 6)} J at the end")
    else:
        lines.append("")
    seconds = summary["seconds"]
    lines.append(
        f"speed    {_speed(summary['steps_per_second'])} steps a second, {seconds['loop_s'] * 1e3:.3g} ms in all"
    )
    if verbose:
        parts = ", ".join(f"{name[:-2]} {value * 1e3:.3g} ms" for name, value in seconds.items())
        lines.append(f"detail   {summary['algorithm']} forward dynamics, {summary['engine']} engine; {parts}")
    lines.append(f"written  {summary['folder']}: trajectory.csv ({summary['rows']} rows), torque.csv, run.yaml")
    return "\n".join(lines)


def _speed(rate: float) -> str:
    return f"{rate / 1e6:.1f} million" if rate >= 1e6 else f"{rate:.0f}"


def _joint_table(joints: list[dict[str, Any]], degrees: bool) -> str:
    controlled = "target" in joints[0]
    drooping = any(joint.get("droop") is not None for joint in joints)
    powered = any(joint["peak_current"] is not None for joint in joints)
    headings = ["joint", "final q"]
    if controlled:
        headings += ["target", "error"]
    if drooping:
        headings.append("droop*")
    headings.append("peak torque")
    if powered:
        headings.append("peak current")
    rows = []
    for joint in joints:
        revolute = joint["type"] == "revolute"
        unit = ("deg" if degrees else "rad") if revolute else "m"
        scale = math.degrees(1.0) if degrees and revolute else 1.0
        cells = [joint["name"], f"{number(joint['q'] * scale)} {unit}"]
        if controlled:
            cells += [f"{number(joint['target'] * scale)} {unit}", f"{number(joint['error'] * scale, 3)} {unit}"]
        if drooping:
            droop = joint["droop"]
            cells.append("-" if droop is None else f"{number(droop * scale, 3)} {unit}")
        cells.append(f"{number(joint['peak_torque'], 4)} {'N·m' if revolute else 'N'}")
        if powered:
            current = joint["peak_current"]
            cells.append("-" if current is None else f"{number(current, 4)} A")
        rows.append(cells)
    return table(headings, rows)


def _notes(summary: dict[str, Any], degrees: bool) -> list[str]:
    notes = []
    if any(joint.get("droop") is not None for joint in summary["joints"]):
        notes.append(
            "* the steady droop that gravity leaves under pd control: gravity torque / (Kp kp / Ra); pi has none"
        )
    types = {joint["name"]: joint["type"] for joint in summary["joints"]}
    for outside in summary["outside_limits"]:
        revolute = types[outside["joint"]] == "revolute"
        scale, unit = (math.degrees(1.0), "deg") if degrees and revolute else (1.0, "rad" if revolute else "m")
        act = "its stop pushed back" if outside["stop"] else "its limits have no stiffness, so nothing pushed back"
        notes.append(
            f"! {outside['joint']} was outside its range, first at {outside['since']:g} s, "
            f"by {number(outside['most'] * scale, 3)} {unit} at most; {act}"
        )
    return notes
