"""Motions whose true course is known: tests/data/hold_truth.csv and swing_truth.csv, and what makes armsim run them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
SCENARIO = "arm5_hold"
HOLD = {
    "initial.q": [0, -1.1, 0.3, 0, 0],
    "control.target": [0.3, -0.8, 0, 0.5, -0.4],
    "control.kp": [100, 100, 100, 20, 20],
    "control.kd": [1, 1, 1, 0.1, 0.1],
}
SWING = {
    **{f"robot.joints[{i}].{key}": None for i in range(5) for key in ("motor", "limits")},
    "initial.q": [0.3, -0.4, 0.2, 0.5, -0.3],
    "control": None,
}
PREDICTABLE = 1.5  # s: later the swing is too sensitive to compare methods on


@dataclass(frozen=True)
class Case:
    """A motion and its truth.

    Attributes:
        name: Of the case.
        overrides: Of `SCENARIO`, integrator left out; rows at the times of the truth.
        t: Times [s], evenly spaced, shape (rows,).
        q: True joint positions then [rad], shape (rows, 5).
    """

    name: str
    overrides: dict[str, Any]
    t: np.ndarray
    q: np.ndarray


def cases() -> list[Case]:
    """The hold, stiff, over 10 s; and the free swing, not stiff, as long as it can be predicted."""
    return [_case("hold", HOLD, np.inf), _case("swing", SWING, PREDICTABLE)]


def _case(name: str, overrides: dict[str, Any], end: float) -> Case:
    with open(DATA / f"{name}_truth.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if float(row["t_s"]) <= end]
    t = np.array([float(row["t_s"]) for row in rows])
    q = np.array([[float(row[f"q{i}"]) for i in range(1, 6)] for row in rows])
    return Case(name, {**overrides, "duration": float(t[-1]), "log.every": float(t[1])}, t, q)
