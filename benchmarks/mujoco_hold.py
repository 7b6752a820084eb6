"""The hold by `mujoco.rollout`. As a script: the least program that loads the model and runs it.

Usage: python mujoco_hold.py FOLDER, with what `peers.write_case` puts there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import mujoco
import mujoco.rollout
import numpy as np


def roll_out(model: mujoco.MjModel, data: mujoco.MjData, q: list[float], steps: int) -> np.ndarray:
    """Joint positions [rad] after so many steps from rest at q. All states are kept: rollout knows no other way."""
    mujoco.mj_resetData(model, data)
    data.qpos[:] = q
    start = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data, start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states, _ = mujoco.rollout.rollout(model, data, start, nstep=steps)
    return states[0, -1, 1 : 1 + model.nq]


def main() -> None:
    """Load, run, done."""
    folder = Path(sys.argv[1])
    case = json.loads((folder / "case.json").read_text())
    model = mujoco.MjModel.from_xml_path(str(folder / "model.xml"))
    roll_out(model, mujoco.MjData(model), case["q"], case["steps"])


if __name__ == "__main__":
    main()
