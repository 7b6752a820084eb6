"""Fastest motions along random paths of random arms with full motors: none ends with a traceback or exceeds a limit.

    python -m tests.surveys.fastest --count 1000 --first 0

prints a line for each that does, and in the end how many there were, the greatest excess and the processor time. With
`--paths 50` each of the arms has six joints and follows so many paths, whose processor time is that of the planning alone:
without files to be read, and without limits to be compiled.
"""

from __future__ import annotations

import argparse
import math
import random
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from armsim import FileFaults
from armsim.arm.robot import Robot, load_robot
from armsim.loading import read_scenario
from armsim.loading.fastest_reference import FastestReference
from armsim.references.recorded import Recorded

PARTS = np.linspace(0.003, 0.997, 9)  # of a piece of the motion, where limits are looked at
HELD = 1e-6  # relative
KINDS = ("torque", "voltage", "current", "speed")


def case(seed: int, n: int | None = None, stronger: float = 1.0) -> dict:
    """A scenario with an arm of one to six joints, or n, whose motors can lift it in most cases."""
    rng = random.Random(seed)
    n = n or rng.randint(1, 6)
    joints, moved = [], 0.0
    for i in reversed(range(n)):
        length, mass = rng.uniform(0.1, 0.6), rng.uniform(0.3, 4)
        moved += mass * length
        gear = rng.choice([1.0, rng.uniform(20, 150), -rng.uniform(20, 150)])
        strength = stronger * 9.81 * moved * rng.uniform(1.5, 8) + 0.5
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
    start, reference = path(rng, n)
    reference |= {"speed": [rng.uniform(0.5, 5)] * n} if rng.random() < 0.3 else {}
    reference |= {"acceleration": [rng.uniform(1, 50)] * n} if rng.random() < 0.3 else {}
    reference |= {"margin": rng.uniform(0, 0.2)} if rng.random() < 0.3 else {}
    return of(robot, start, {**reference, "fastest": True})


def path(rng: random.Random, n: int) -> tuple[list[float], dict]:
    """Joint positions from which it leads, and the keys that tell where: a line or two, or a spline."""
    points = [[rng.uniform(-1.5, 1.5) for _ in range(n)] for _ in range(rng.randint(2, 6))]
    if rng.random() < 0.5:
        return points[0], {"via": points[1 : rng.randint(2, 3)]}
    return points[0], {"via": points[1:], "profile": "spline"}


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
    return shares(given, Robot(read.arm.heaviest), *sampled(read.command.reference))


def shares(given: dict, robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> dict[str, float]:
    """The same of any motion of the scenario's arm, shape (m, n) each."""
    control, arm = given["control"], robot.arm
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


Case = tuple[
    str, dict, Robot, Callable[[], Recorded]
]  # its name, a scenario with its limits, its arm, and its planning


def each_arm(seeds: range) -> Iterator[Case]:
    """The path of each arm, planned with its file."""
    for seed in seeds:
        given = case(seed)
        yield f"{seed}", given, load_robot(given["robot"]), partial(fastest_of, given)


def fastest_of(given: dict) -> Recorded:
    """The reference of a scenario."""
    return read_scenario(given).command.reference


def each_path(seeds: range, count: int) -> Iterator[Case]:
    """So many paths of each arm with six joints, some from or to a speed."""
    for seed in seeds:
        given, rng = case(seed, 6, stronger=3.0), random.Random(seed)
        asked = given["control"]["reference"]
        timed = {**given["control"], "reference": {"via": asked["via"][:1], "times": [1]}}
        read = read_scenario({**given, "control": timed})
        limits = {key: asked[key] for key in ("speed", "acceleration", "margin") if key in asked}
        x = read.file.document.control.reference.replaced(**limits, fastest=True)
        fastest, robot = FastestReference(x, read.arm, "torque", [None] * 6), Robot(read.arm)
        for k in range(count):
            start, reference = path(rng, 6)
            points = [start, *reference["via"]]
            fastest.speeds = tuple(rng.uniform(0, 0.5) if rng.random() < 0.1 else 0.0 for _ in range(2))
            yield f"{seed}/{k}", given, robot, partial(fastest.along, points, "profile" in reference, None)


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--count", type=int, default=100)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--paths", type=int, default=0)
    asked = asked.parse_args()
    seeds = range(asked.first, asked.first + asked.count)
    spent, excess, refused, broken = [], [], 0, 0
    for name, given, robot, plan in each_path(seeds, asked.paths) if asked.paths else each_arm(seeds):
        began = time.process_time()
        try:
            motion = plan()
            spent.append(time.process_time() - began)
            left = 1.0 - given["control"]["reference"].get("margin", 0.0)
            excess.append(max(shares(given, robot, *sampled(motion)).values()) / left - 1.0)
            if excess[-1] > HELD:
                print(f"{name}: exceeds a limit by {excess[-1]:.2g}", flush=True)
        except FileFaults as faults:
            refused += 1
            print(f"{name}: refused: {' '.join(str(faults).split())[:250]}", flush=True)
        except Exception:
            broken += 1
            print(f"{name}: {traceback.format_exc()}", flush=True)
    print(f"{len(excess)} planned, {refused} refused, {broken} with a traceback;")
    if excess:
        print(f"greatest excess {max(excess):.2g}, beyond {HELD}: {sum(x > HELD for x in excess)};")
        median, most = np.quantile(spent, [0.5, 0.99])
        print(f"processor time: median {median:.3g} s, 99 %: {most:.3g} s, most {max(spent):.3g} s")


if __name__ == "__main__":
    main()
