"""The hold as a Python loop over `pinocchio.aba`. As a script: the least program that loads the model and runs it.

Usage: python pinocchio_hold.py FOLDER, with what `peers.write_case` puts there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio


def roll_out(model: pinocchio.Model, data: pinocchio.Data, case: dict[str, Any], steps: int) -> np.ndarray:
    """Joint positions [rad] after so many steps from rest, by semi-implicit Euler. Nothing is kept on the way."""
    stiffness, damping, target = (np.array(case[name]) for name in ("stiffness", "damping", "target"))
    dt = case["dt"]
    q = np.array(case["q"])
    qd = np.zeros(model.nv)
    for _ in range(steps):
        tau = stiffness * (target - q) - damping * qd
        qd += dt * pinocchio.aba(model, data, q, qd, tau)
        q += dt * qd
    return q


def main() -> None:
    """Load, run, done."""
    folder = Path(sys.argv[1])
    case = json.loads((folder / "case.json").read_text())
    model = pinocchio.Model()
    model.loadFromBinary(str(folder / "model.bin"))
    roll_out(model, model.createData(), case, case["steps"])


if __name__ == "__main__":
    main()
