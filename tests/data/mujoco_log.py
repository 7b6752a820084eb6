"""Writes mujoco_log.csv: voltages and positions of a double pendulum with motors, by MuJoCo.

A motor's torque Kp (V - Kp qd) / Ra is a gain Kp/Ra and a bias -Kp²/Ra qd: Kp 0.8 and 0.45 N·m/A at 0.5 ohm.
"""

from pathlib import Path

import mujoco
import numpy as np

XML = """
<mujoco model="double">
  <option timestep="0.0002" integrator="implicitfast" gravity="0 0 -9.81" cone="elliptic" tolerance="1e-12" iterations="200"/>
  <default>
    <joint type="hinge" axis="0 -1 0" solreffriction="0.0004 1" solimpfriction="0.9999 0.9999 0.001 0.5 2"/>
  </default>
  <worldbody>
    <body name="upper">
      <inertial pos="0.25 0 0" mass="1.5" diaginertia="0.0005 0.03175 0.03175"/>
      <joint name="A" damping="0.12" frictionloss="0.4"/>
      <body name="fore" pos="0.5 0 0">
        <inertial pos="0.2 0 0" mass="0.8" diaginertia="0.0003 0.010967 0.010967"/>
        <joint name="B" damping="0.05" frictionloss="0.15"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <general joint="A" gainprm="1.6" biastype="affine" biasprm="0 0 -1.28"/>
    <general joint="B" gainprm="0.9" biastype="affine" biasprm="0 0 -0.405"/>
  </actuator>
</mujoco>
"""


def main():
    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    data.qpos[:] = [-1.5, 0.2]
    draw = np.random.default_rng(7)
    rows, rate = 1000, 125
    steps = round(1 / rate / model.opt.timestep)
    t = np.arange(rows) / rate
    u = np.zeros((rows, 2))
    for i, size in enumerate((7.0, 3.0)):
        for frequency in (0.23, 0.51, 0.97, 1.63):
            u[:, i] += size / 3 * np.sin(2 * np.pi * frequency * (1 + 0.17 * i) * t + draw.uniform(0, 6.28))
    u = u.round(4)
    q = np.zeros((rows, 2))
    for k in range(rows):
        q[k] = data.qpos
        data.ctrl[:] = u[k]
        for _ in range(steps):
            mujoco.mj_step(model, data)
    q += 1e-4 * draw.standard_normal(q.shape)
    heading = "t_s,q_A_rad,q_B_rad,voltage_A_V,voltage_B_V"
    form = ["%.3f", "%.5f", "%.5f", "%.4f", "%.4f"]
    np.savetxt(Path(__file__).with_suffix(".csv"), np.column_stack([t, q, u]), form, ",", header=heading, comments="")


if __name__ == "__main__":
    main()
