"""The same log and unknowns by `armsim identify` and by MuJoCo's own `mujoco.sysid`, which has the engine that made the log.

python -m tests.surveys.mujoco_sysid        takes pip install "mujoco[sysid]"
"""

from __future__ import annotations

import time

import mujoco
import numpy as np
from mujoco import sysid

import armsim
from tests.data.mujoco_log import XML
from tests.identification.test_other_logs import DATA, TRUE, double

RESISTANCE, OFF = 0.5, 0.7
SENSORS = '<sensor><jointpos name="qA" joint="A"/><jointpos name="qB" joint="B"/></sensor></mujoco>'


def _modifier(path):
    """How a number of the robot file enters the model of MuJoCo."""
    i, joint = (0, "A") if "[A]" in path else (1, "B")

    def modify(spec, parameter):
        x = float(parameter.value[0])
        if path.endswith("Kp"):
            spec.actuators[i].gainprm[0] = x / RESISTANCE
            spec.actuators[i].biasprm[2] = -(x**2) / RESISTANCE
        elif path.endswith("viscous"):
            spec.joint(joint).damping[0] = x
        else:
            spec.joint(joint).frictionloss = x

    return modify


def by_mujoco():
    """Numbers by path, and processor time [s]."""
    table = np.loadtxt(DATA / "mujoco_log.csv", delimiter=",", skiprows=1)
    t, q, u = table[:, 0], table[:, 1:3], table[:, 3:5]
    began = time.process_time()
    spec = mujoco.MjSpec.from_string(XML.replace("</mujoco>", SENSORS))
    model = spec.compile()
    parameters = sysid.ParameterDict()
    for path, x in TRUE.items():
        one = sysid.Parameter(path, nominal=x, min_value=0.1 * x, max_value=10.0 * x, modifier=_modifier(path))
        parameters.add(one)
        one.value[:] = OFF * x
    dt = model.opt.timestep
    fine = np.arange(round(t[-1] / dt) + 1) * dt  # MuJoCo resamples linearly, and a row's voltage is held
    held = u[np.minimum(np.searchsorted(t, fine + 1e-9, side="right") - 1, len(u) - 1)]
    sequences = sysid.ModelSequences(
        "double",
        spec,
        "log",
        sysid.create_initial_state(model, np.array([-1.5, 0.2])),  # the true one, which `armsim identify` seeks
        sysid.TimeSeries(fine, held),
        sysid.TimeSeries.from_names(t, q, model),
    )
    residual = sysid.build_residual_fn(models_sequences=[sequences])
    found, _ = sysid.optimize(initial_params=parameters, residual_fn=residual, optimizer="mujoco", verbose=False)
    return {path: float(found[path].value[0]) for path in TRUE}, time.process_time() - began


def main():
    theirs, seconds = by_mujoco()
    began = time.process_time()
    found = armsim.identify(DATA / "mujoco_log.csv", double(OFF), ["friction", "joints[*].motor.Kp"])
    own = time.process_time() - began
    print(f"{'':30} {'true':>8} {'mujoco':>10} {'armsim':>10}")
    for path, x in TRUE.items():
        print(f"{path:30} {x:8.4f} {theirs[path]:10.5f} {found[path].value:10.5f} ± {found[path].within:.5f}")
    print(f"processor time {seconds:.1f} s and {own:.1f} s")


if __name__ == "__main__":
    main()
