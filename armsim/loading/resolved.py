"""Robots written out in full: defaults filled in, formulas evaluated; they read back to the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from armsim.formulas.quantity import plain


def resolved_robot(data: dict[str, Any], written: Callable[[Any], Any] = plain) -> dict[str, Any]:
    """A robot as plain data, in the unit of its file.

    Args:
        data: As `armsim.loading.load_robot_file` reads it.
        written: Makes plain data of it, by which formulas may be kept.
    """
    robot: dict[str, Any] = written(data)
    for joint in robot["joints"]:
        if "motor" in joint:
            motor = joint["motor"]
            if "Kp" in motor:
                motor.setdefault("Ke", motor["Kp"])
            if not motor["limits"]:
                del motor["limits"]
    if not robot["parameters"]:
        del robot["parameters"]
    return robot
