"""A robot's joints as a table in HTML, for notebooks."""

from __future__ import annotations

from armsim.arm.robot_overview import arm_overview
from armsim.model import JOINT_TYPES, Arm
from armsim.notebook import Cell, counted, html_table

HEADINGS = ("joint", "type", "unit", "initial", "lower", "upper", "mass [kg]", "gear", "Kp [N·m/A]", "Ra [ohm]")


def robot_html(arm: Arm) -> str:
    """The joints, their ranges, links' masses and motors; below them gravity, and mass and payload of the arm."""
    facts = arm_overview(arm, None, arm.initial)
    rows: list[list[Cell]] = []
    for joint, link in zip(facts.joints, facts.links, strict=True):
        where: list[Cell] = [joint.name, joint.type, JOINT_TYPES[joint.type].length]
        numbers: list[Cell] = [joint.initial, joint.lower, joint.upper, link.mass]
        motor = joint.motor
        rows.append([*where, *numbers, *((None,) * 3 if motor is None else (motor.gear, motor.Kp, motor.Ra))])
    carried = "" if facts.payload is None else f", a payload of {facts.payload.mass:.5g} kg included"
    notes = [
        f"mass {facts.mass:.5g} kg{carried}",
        f"gravity {', '.join(f'{x:.5g}' for x in facts.gravity)} m/s²",
    ]
    return html_table(f"{arm.name}: {counted(len(arm.links), 'joint')}", HEADINGS, rows, notes)
