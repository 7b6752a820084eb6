"""What contacts cost, and what they give, beside MuJoCo.

    python benchmarks/contacts.py

Nanoseconds a step of a five-joint arm by four methods without contacts, and with ten candidate spheres that do not touch; then a
block that sticks on an incline for a minute, here and in MuJoCo: drift, penetration and microseconds a step. MuJoCo is optional.
"""

from __future__ import annotations

import math
import os
import time

import armsim

POINTS = 10
TAN, MU, MASS, G = 0.3, 0.5, 2.0, 9.81


def ns_a_step(contacts: list[dict], method: str) -> list[float]:
    """Nanoseconds a step without contacts, with frictionless ones and with friction: the least of 20 runs, taken in turn."""
    surface = {"plane": {"point": [0, 0, -10]}, "stiffness": 1e5, "damping": 60}
    adaptive = method in ("rk54", "rodas")
    integrator = {"method": method} if adaptive else {"method": method, "dt": 1e-4}
    changes = {"integrator": integrator, "duration": 2, "log.every": 2}
    closed = [
        {"world": {"floor": {**surface, **more}}, "contacts": contacts} for more in ({}, {"friction": {"static": 0.5}})
    ]
    kinds = [{**changes, **more} for more in ({}, *closed)]
    runs = [[armsim.simulate("arm5_hold", kind) for kind in kinds] for _ in range(20)]
    steps = [sum(run.steps_chosen or (run.steps,)) for run in runs[0]]
    seconds = [min(run.seconds["loop_s"] for run in column) for column in zip(*runs, strict=True)]
    return [1e9 * spent / count for spent, count in zip(seconds, steps, strict=True)]


def sticking() -> tuple[float, float, float]:
    """Drift [m] of a block on an incline from 1 s to 60 s, penetration [m], and microseconds a step of rk4 with 1 ms."""
    angle = math.atan(TAN)
    axes = {"x": [1, 0, 0], "z": [0, 0, 1]}
    rails = [{"name": k, "type": "prismatic", "origin": {"axis": axis}, "bodies": []} for k, axis in axes.items()]
    rails[1]["bodies"] = [{"point": {"mass": MASS}}]
    gravity = [G * math.sin(angle), 0, -G * math.cos(angle)]
    robot = {"format": "armsim/robot/1", "name": "block", "convention": "origin", "gravity": gravity, "joints": rails}
    floor = {"plane": {}, "stiffness": 1e5, "damping": 400, "friction": {"static": MU}}
    run = armsim.simulate(
        {
            "format": "armsim/scenario/1",
            "robot": robot,
            "duration": 60,
            "integrator": {"method": "rk4", "dt": 1e-3},
            "initial": {"q": [0, 0]},
            "world": {"floor": floor},
            "contacts": [{"frame": "tool", "with": "floor"}],
            "log": {"every": 1},
        }
    )
    drift = run.q[-1, 0] - run.q[1, 0]
    return drift, -run["gap_tool_floor_m"][-1], 1e6 * run.seconds["loop_s"] / 60_000


MJCF = """
<mujoco>
  <option timestep="1e-3" gravity="{x} 0 {z}" cone="elliptic"/>
  <worldbody>
    <geom type="plane" size="5 5 1" friction="{mu} 0 0"/>
    <body pos="0 0 0.01">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
      <geom type="sphere" size="0.01" mass="{mass}" friction="{mu} 0 0"/>
    </body>
  </worldbody>
</mujoco>
"""


def in_mujoco() -> tuple[float, float, float]:
    """The same in MuJoCo, its contact as soft as by default."""
    import mujoco

    angle = math.atan(TAN)
    text = MJCF.format(x=G * math.sin(angle), z=-G * math.cos(angle), mu=MU, mass=MASS)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    begin, first = time.perf_counter(), 0.0
    for k in range(60_000):
        mujoco.mj_step(model, data)
        if k == 999:
            first = data.qpos[0]
    seconds = time.perf_counter() - begin
    return data.qpos[0] - first, -data.qpos[1], 1e6 * seconds / 60_000


def main() -> None:
    """Print the figures."""
    os.environ.setdefault("ARMSIM_OPTIMISATION", "1")  # as long runs have it: short ones do without
    places = [[0.05 * i, 0.02 * (i % 3), 0.04] for i in range(POINTS)]
    links = [f"R{2 + i % 4}" for i in range(POINTS)]
    contacts = [
        {"name": f"c{i}", "link": link, "sphere": {"center": at, "radius": 0.01}, "with": "floor"}
        for i, (link, at) in enumerate(zip(links, places, strict=True))
    ]
    for method in ("rk4", "semi_implicit_euler", "rk54", "rodas"):
        bare, smooth, rough = ns_a_step(contacts, method)
        print(f"{method}: {bare:.0f} ns a step without contacts")
        print(f"  {POINTS} spheres apart, frictionless: {smooth:.0f} ns, {smooth / bare:.2f} times")
        print(f"  {POINTS} spheres apart, with friction: {rough:.0f} ns, {rough / bare:.2f} times")
    print("a minute on an incline    drift [m]   penetration [m]   µs a step")
    for name, run in (("armsim", sticking), ("mujoco", in_mujoco)):
        try:
            print(f"{name:<22}  {'{:11.2g}  {:15.3g}  {:10.2f}'.format(*run())}")
        except ImportError:
            print(f"{name:<22}  not installed")


if __name__ == "__main__":
    main()
