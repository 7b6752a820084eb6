"""Robots for tests: rods in a vertical plane."""

from __future__ import annotations

from typing import Any

ROD = {"rod": {"axis": "x", "length": 0.4, "mass": 1.5, "center": [0.2, 0, 0]}}


def planar(*motors: dict[str, Any], names: str = "R", first: int = 1) -> dict[str, Any]:
    """An arm in a vertical plane, a rod and a motor on every joint."""
    joints = [
        {
            "name": f"{names}{first + i}",
            "type": "revolute",
            "mdh": {"a": 0.4 * (i > 0)},
            "bodies": [ROD],
            "motor": motor,
        }
        for i, motor in enumerate(motors)
    ]
    return {"format": "armsim/robot/1", "name": "plane", "gravity": [0, -9.81, 0], "joints": joints}
