"""Headings and units of what a run writes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from armsim.model import Arm
from armsim.plant import Column, Plant

TRAJECTORY = ("q", "qd", "qdd", "pose")
TORQUE = ("tau", "motor", "friction", "limit", "voltage", "current", "power")
ANGULAR = {"q": "rad", "qd": "rad_s", "qdd": "rad_s2"}
DEGREES = {"q": "deg", "qd": "deg_s", "qdd": "deg_s2"}
LINEAR = {"q": "m", "qd": "m_s", "qdd": "m_s2"}
ELECTRICAL = {"voltage": "V", "current": "A", "power": "W"}
PREFIX = {"motor": "tau_motor", "friction": "tau_friction", "limit": "tau_limit"}


@dataclass(frozen=True)
class Heading:
    """A column of a file.

    Attributes:
        text: Its heading, with the unit at the end.
        index: Its place in a row of `Plant.observe`.
        factor: What the row's number is multiplied by; 1 but for degrees.
    """

    text: str
    index: int
    factor: float = 1.0


def heading(arm: Arm, column: Column, degrees: bool = False) -> str:
    """The heading of a column, with its unit."""
    if column.quantity == "pose":
        return f"{column.of}_m" if column.of in "xyz" else column.of
    if column.quantity == "energy":
        return f"{column.of}_energy_J"
    if column.quantity in ELECTRICAL:
        return f"{column.quantity}_{column.of}_{ELECTRICAL[column.quantity]}"
    assert column.joint is not None
    revolute = arm.joints[column.joint].type == "revolute"
    if column.quantity in ANGULAR:
        units = (DEGREES if degrees else ANGULAR) if revolute else LINEAR
        return f"{column.quantity}_{column.of}_{units[column.quantity]}"
    return f"{PREFIX.get(column.quantity, column.quantity)}_{column.of}_{'Nm' if revolute else 'N'}"


def headings(plant: Plant, quantities: tuple[str, ...], degrees: bool = False) -> list[Heading]:
    """The columns of a file, in order, without the time."""
    found = []
    for index, column in enumerate(plant.columns):
        if column.quantity in quantities:
            text = heading(plant.arm, column, degrees)
            found.append(Heading(text, index, math.degrees(1.0) if "_deg" in text[-7:] and degrees else 1.0))
    return found
