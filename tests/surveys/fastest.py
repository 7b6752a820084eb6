"""Fastest motions along random paths of random arms with full motors: none ends with a traceback or exceeds a limit.

    python -m tests.surveys.fastest --count 1000 --first 0

prints a line for each that does, and in the end how many there were, the greatest excess and the processor time.
"""

from __future__ import annotations

import argparse
import math
import random
import time
import traceback

import numpy as np

from armsim import FileFaults
from armsim.arm.robot import Robot
from armsim.loading import read_scenario
from armsim.model import Arm

PARTS = np.linspace(0.003, 0.997, 9)  # of a piece of the motion, where limits are looked at
HELD = 1e-6  # relative
KINDS = ("torque", "voltage", "current", "speed")


def case(seed: int) -> dict:
    """A scenario with an arm of one to six joints, whose motors can lift it in most cases."""
    rng = random.Random(seed)
    n = rng.randint(1, 6)
    joints, moved = [], 0.0
    for i in reversed(range(n)):
        length, mass = rng.uniform(0.1, 0.6), rng.uniform(0.3, 4)
        moved += mass * length
        gear = rng.choice([1.0, rng.uniform(20, 150), -rng.uniform(20, 150)])
        strength = 9.81 * moved * rng.uniform(1.5, 8) + 0.5
        Kp, Ra = rng.uniform(0.03, 0.2) * (20 if gear == 1.0 else 1), rng.uniform(0.2, 2)
        amperes = strength / abs(Kp * gear)
        limits = {"voltage": amperes * Ra * rng.uniform(1.0, 3) + rng.uniform(0, 20)}
        limits |= {"current": amperes} if rng.random() < 0.5 else {}
        limits |= {"torque": Kp * amperes * rng.uniform(0.7, 1.2)} if rng.random() < 0.5 else {}
        limits |= {"speed": rng.uniform(1, 8) * abs(gear)} if rng.random() < 0.5 else {}
        motor = {"Kp": Kp, "Ra": Ra, "gear": gear, "rotor_inertia": rng.uniform(1e-5, 1e-4) if gear != 1.0 else 0.0}
        motor |= {"viscous": rng.uniform(0, 2e-4), "coulomb": strength / abs(gear) * rng.uniform(0, 0.1)}
        motor |= {"efficiency": rng.uniform(0.6, 1)} if rng.random() < 0.5 and gear != 1.0 else {}
        friction = {"viscous": rng.uniform(0, 0.5), "coulomb": rng.uniform(0, 0.05) * strength}
        joints.append({
            "name": f"j{i}", "type": "revolute", "friction": friction if rng.random() < 0.7 else {"viscous": 0},
            "mdh": {"a": rng.uniform(0.1, 0.6), "alpha": rng.choice([0, math.pi / 2, -math.pi / 2]), "d": rng.uniform(0, 0.3)},
            "bodies": [{"rod": {"axis": "x", "length": length, "mass": mass, "center": [length / 2, 0, 0]}}],
            "motor": {**motor, "limits": limits},
        })  # fmt: skip
    robot = {"format": "armsim/robot/1", "name": "random", "gravity": [0, 0, -9.81], "joints": joints[::-1]}
    points = [[rng.uniform(-1.5, 1.5) for _ in range(n)] for _ in range(rng.randint(2, 6))]
    if rng.random() < 0.5:
        reference = {"via": points[1 : rng.randint(2, 3)]}
    else:
        reference = {"via": points[1:], "profile": "spline"}
    reference |= {"speed": [rng.uniform(0.5, 5)] * n} if rng.random() < 0.3 else {}
    reference |= {"acceleration": [rng.uniform(1, 50)] * n} if rng.random() < 0.3 else {}
    reference |= {"margin": rng.uniform(0, 0.2)} if rng.random() < 0.3 else {}
    return of(robot, points[0], {**reference, "fastest": True})


def of(robot, q, reference, output="torque", limit=None) -> dict:
    """A scenario of a reference alone."""
    control = {"law": "computed_torque", "output": output, "kp": 100, "kd": 20, "reference": reference}
    control |= {} if limit is None else {"limit": limit}
    integrator = {"method": "rk4", "dt": 1e-3}
    return {"format": "armsim/scenario/1", "robot": robot, "duration": 1, "integrator": integrator,
            "initial": {"q": q}, "control": control}  # fmt: skip


def sampled(motion) -> tuple[np.ndarray, ...]:
    """Joint positions, velocities and accelerations within all pieces of a table of polynomials, shape (m, n) each."""
    begins = np.array(motion.origin.y)[1:-1]
    h = np.diff(np.append(begins, motion.knots[-1]))
    t = (h[:, None] * PARTS).ravel()
    c = np.array([[np.repeat(np.array(table.y)[1:-1], len(PARTS)) for table in joint] for joint in motion.coefficients])
    k = np.arange(c.shape[1])[:, None]
    found = []
    for order in range(3):
        falling = np.prod([k - i for i in range(order)], axis=0) if order else np.ones_like(k)
        found.append((c * falling * t ** np.maximum(k - order, 0)).sum(axis=1).T)
    return tuple(found)


def used(given: dict) -> dict[str, float]:
    """The greatest share of every kind of limit that the motion takes between and at its points, by inverse dynamics."""
    read = read_scenario(given)
    return shares(given, read.arm.heaviest, *sampled(read.command.reference))


def shares(given: dict, arm: Arm, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> dict[str, float]:
    """The same of any motion of the scenario's arm, shape (m, n) each."""
    control, robot = given["control"], Robot(arm)
    tau = robot.inverse_dynamics(q, qd, qdd)
    volts, amperes = robot.motor_demand(qd, tau)
    found: dict[str, float] = {}

    def take(name, values, most):
        if most is not None:
            found[name] = max(found.get(name, 0.0), float(np.abs(values).max()) / most)

    for i, joint in enumerate(arm.joints):
        reference = control["reference"]
        for key, values in (("speed", qd), ("acceleration", qdd)):
            take(key, values[:, i], np.broadcast_to(reference[key], arm.n)[i] if key in reference else None)
        asked = {"torque": tau, "voltage": volts, "current": amperes}[control["output"]]
        take("command", asked[:, i], np.broadcast_to(control["limit"], arm.n)[i] if "limit" in control else None)
        if joint.motor is not None:
            gear = joint.motor.gear
            for key, values in zip(KINDS, (tau[:, i] / gear, volts[:, i], amperes[:, i], qd[:, i] * gear), strict=True):
                take("motor's " + key, values, getattr(joint.motor.limits, key))
    return found


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--count", type=int, default=100)
    asked.add_argument("--first", type=int, default=0)
    asked = asked.parse_args()
    spent, excess, refused, broken = [], [], 0, 0
    for seed in range(asked.first, asked.first + asked.count):
        given, began = case(seed), time.process_time()
        try:
            read_scenario(given)
            spent.append(time.process_time() - began)
            left = 1.0 - given["control"]["reference"].get("margin", 0.0)
            excess.append(max(used(given).values()) / left - 1.0)
            if excess[-1] > HELD:
                print(f"{seed}: exceeds a limit by {excess[-1]:.2g}", flush=True)
        except FileFaults as faults:
            refused += 1
            print(f"{seed}: refused: {' '.join(str(faults).split())[:250]}", flush=True)
        except Exception:
            broken += 1
            print(f"{seed}: {traceback.format_exc()}", flush=True)
    print(f"{asked.count} paths: {len(excess)} planned, {refused} refused, {broken} with a traceback;")
    print(f"greatest excess {max(excess):.2g}, beyond {HELD}: {sum(x > HELD for x in excess)};")
    print(
        f"processor time: median {np.median(spent):.3g} s, 95 %: {np.quantile(spent, 0.95):.3g} s, most {max(spent):.3g} s"
    )


if __name__ == "__main__":
    main()
