"""Random scenes of contact: the energy balance against the method's error, and no run that stops.

    python -m tests.surveys.contacts --cases 200

Each is a block or a ball on rails that falls on, slides along or is thrown at a random shape, by a random method. What is asked:
it is complete; the residual of the energy balance is within the method's error; the contact takes energy and gives no more than
its spring has where a scene begins inside the shape.
"""

from __future__ import annotations

import argparse
import math
import random
from typing import Any

import armsim

SHAPES: list[dict[str, Any]] = [
    {"plane": {}},
    {"plane": {"normal": [0.2, -0.1, 1]}},
    {"box": {"size": [0.5, 0.5, 0.4]}, "xyz": [0, 0, -0.2], "rpy": [0.1, 0.2, 0.3]},
    {"sphere": {"radius": 0.5}, "xyz": [0.02, 0.01, -0.5]},
    {"cylinder": {"radius": 0.4, "height": 0.4}, "xyz": [0, 0, -0.2]},
]
DIRECTIONS = {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]}
RESIDUAL = {
    "rk54": 1e-5,
    "rodas": 1e-5,
    "rk4": 1e-4,
}  # relative; of the others the order is 1 or 2, and the steps are not cut


def scene(pick: random.Random) -> dict[str, Any]:
    """A scenario."""
    mass, stiffness = 10 ** pick.uniform(-1, 1), 10 ** pick.uniform(3, 5)
    ratio, method = pick.uniform(0.05, 1.0), pick.choice([*RESIDUAL])
    damping = 2 * ratio * math.sqrt(stiffness * mass)
    surface: dict[str, Any] = {"stiffness": stiffness, "damping": damping}
    if pick.random() < 0.3:
        surface = {"law": "hunt_crossley", "stiffness": stiffness, "dissipation": pick.uniform(0, 0.8)}
    if pick.random() < 0.8:
        static = pick.uniform(0.05, 1.0)
        surface["friction"] = {"static": static, "damping": damping}
        if pick.random() < 0.6:
            surface["friction"]["kinetic"] = static * pick.uniform(0.3, 1.0)
    joints = [
        {"name": k, "type": "prismatic", "origin": {"axis": axis}, "bodies": []} for k, axis in DIRECTIONS.items()
    ]
    body = {"point": {"mass": mass}}
    joints[-1]["bodies"] = [body]
    gravity = [pick.uniform(-4, 4), pick.uniform(-4, 4), -9.81]
    q = [pick.uniform(-0.05, 0.05), pick.uniform(-0.05, 0.05), pick.uniform(0.05, 0.2)]
    qd = [pick.uniform(-1, 1), pick.uniform(-1, 1), pick.uniform(-2, 1)]
    contact: dict[str, Any] = {"frame": "tool"}
    if pick.random() < 0.3:
        tilt = {"name": "turn", "type": "revolute", "origin": {"axis": [0.3, 1, 0.1]}}
        bob = {"point": {"mass": mass, "center": [0.1, 0, 0]}}
        ball = {"inertia": {"mass": 0.1, "center": [0, 0, 0], "about": "com", "xx": 1e-3, "yy": 1e-3, "zz": 1e-3}}
        joints.append({**tilt, "bodies": [bob, ball]})
        q, qd = [*q, pick.uniform(-3, 3)], [*qd, pick.uniform(-5, 5)]
        contact = {"name": "ball", "link": "turn", "sphere": {"center": [0.1, 0, 0], "radius": 0.02}}
    slow = math.sqrt(mass / stiffness) / 20
    dt = float(f"{min(1e-3, slow):.0e}")
    integrator = {"method": method, **({"dt": dt} if method == "rk4" else {"rtol": 1e-8, "atol": 1e-11})}
    robot = {"format": "armsim/robot/1", "name": "block", "convention": "origin", "gravity": gravity, "joints": joints}
    duration = round(0.5 / dt) * dt if method == "rk4" else 0.5
    return {
        "format": "armsim/scenario/1",
        "robot": robot,
        "duration": duration,
        "integrator": integrator,
        "initial": {"q": q, "qd": qd},
        "world": {"floor": {**pick.choice(SHAPES), **surface}},
        "contacts": [{**contact, "with": "floor"}],
        "log": {"every": duration},
    }


def faults(asked: dict[str, Any]) -> list[str]:
    """What is wrong with a run."""
    method = asked["integrator"]["method"]
    run = armsim.simulate(asked)
    if run.status != "complete":
        return [f"{method}: {run.status}"]
    audit, found = run.summary()["audit"], []
    if audit["relative"] > RESIDUAL[method]:
        found.append(f"{method}: a residual of {audit['relative']:.1e} of the energy exchanged")
    (contact,), floor = asked["contacts"], asked["world"]["floor"]
    gap = run[f"gap_{contact.get('name', 'tool_floor')}_m"][0]
    start = floor["stiffness"] * min(gap, 0.0) ** 2 / 2
    if audit["others"]["contacts"] > start + 1e-6 * abs(audit["change"]) + 1e-9:
        found.append(f"{method}: the contact gave {audit['others']['contacts']:.2g} J")
    return found


def main() -> None:
    """Print the faults of random scenes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given, count = parser.parse_args(), 0
    for case in range(given.seed, given.seed + given.cases):
        for fault in faults(scene(random.Random(case))):
            count += 1
            print(f"{case}: {fault}", flush=True)
    print(f"{given.cases} scenes, {count} faults")


if __name__ == "__main__":
    main()
