"""Random scenarios around their limits: motors, friction, stops, feedback of either sign, steps about the largest stable one."""

from __future__ import annotations

import math
import random
from typing import Any

from armsim.integrate import METHODS
from armsim.loading import read_scenario
from armsim.plant import Linearizer, make_plant
from armsim.stability.step_modes import stable_steps

from .cases import Case

FIXED = [name for name, method in METHODS.items() if method.step is not None]
FACTORS = (0.3, 4.0)  # of the largest stable step at the start
PARTS = (1, 2, 4, 5, 10, 20, 40, 50, 100, 200, 400, 500, 1000, 2000, 5000, 10000)  # that the longest step is divided by
ROWS = 20  # of a run
TICKS = 10**6  # a second, of which all times are whole numbers
ADAPTIVE = 0.1  # of the scenarios leave the method to armsim


def limits(seed: int) -> Case:
    """The case of a seed."""
    rng = random.Random(f"limits {seed}")
    n, voltage = rng.choice([1, 2, 3]), rng.random() < 0.4
    joints = [_joint(rng, i, voltage) for i in range(n)]
    scenario: dict[str, Any] = {
        "format": "armsim/scenario/1",
        "name": "random",
        "robot": {"format": "armsim/robot/1", "name": "random", "gravity": [0, 0, -9.81], "joints": joints},
        "duration": 2,
        "initial": {"q": [_short(rng.uniform(-0.7, 0.7)) for _ in joints], "qd": [0.0] * n},
    }
    kind = rng.random()
    if kind < 0.6:
        scenario["control"] = _control(rng, joints, voltage)
    elif kind < 0.85:
        turn = _log(rng, 0.5, 10)
        sizes = [_log(rng, 1, 24) if voltage else _log(rng, 0.3, 20) for _ in joints]
        drives = [f"{size}*sin({turn}*t)" if rng.random() < 0.5 else size for size in sizes]
        scenario["inputs"] = {"voltage" if voltage else "torque": drives}
    return Case("limits", seed, scenario)


def integrator(case: Case) -> dict[str, Any]:
    """An integrator for a case: most often a method of fixed steps, its step about the largest stable one at the start."""
    rng = random.Random(f"integrator of {case.family} {case.seed}")
    if rng.random() < ADAPTIVE:
        return {"method": "auto"}
    method, factor = rng.choice(FIXED), _log(rng, *FACTORS)
    read = read_scenario({**case.scenario, "integrator": {"method": method, "dt": 1e-3}, "log": {"every": 0.1}})
    plant = make_plant(read)
    state = plant.initial_state(read.initial_q, read.initial_qd)
    about = Linearizer(plant).at(0.0, plant.sample(0.0, state) if plant.sampled else state)
    most = stable_steps(about)[method]
    wanted = factor * (most if 0.0 < most < math.inf else 0.01)
    return {"method": method, "dt": min(_steps(case), key=lambda dt: abs(math.log(dt / wanted)))}


def _steps(case: Case) -> list[float]:
    """Steps of which rows, samples and the times of forces are multiples [s]."""
    scenario = case.scenario
    times = [scenario["duration"] / ROWS, scenario.get("control", {}).get("period", 0.0)]
    times += [push.get(key, 0.0) for push in scenario.get("external", []) for key in ("from", "to")]
    whole = [round(time * TICKS) for time in times if time]
    largest = math.gcd(*whole)
    return [largest / (TICKS * part) for part in PARTS]


def _joint(rng: random.Random, i: int, voltage: bool) -> dict[str, Any]:
    size, mass = _log(rng, 0.1, 0.6), _log(rng, 0.1, 5)
    moments = {f"{c}{c}": _short(mass * size**2 / 4) for c in "xyz"}
    joint: dict[str, Any] = {
        "name": f"J{i + 1}",
        "type": "revolute",
        "mdh": {"a": size if i else 0.0, "alpha": rng.choice([0.0, _short(math.pi / 2)]), "d": 0.0},
        "bodies": [{"inertia": {"mass": mass, "center": [size, 0.0, 0.0], "about": "com", **moments}}],
    }
    if voltage or rng.random() < 0.6:
        joint["motor"] = _motor(rng)
    friction = {}
    if rng.random() < 0.4:
        friction["viscous"] = _log(rng, 0.01, 5)
    if rng.random() < 0.35:
        friction["coulomb"] = _log(rng, 0.01, 5)
    if friction:
        joint["friction"] = friction
    if rng.random() < 0.25:
        joint["limits"] = {"lower": -0.8, "upper": 0.8, "stiffness": _log(rng, 100, 1e5), "damping": _log(rng, 1, 300)}
    return joint


def _motor(rng: random.Random) -> dict[str, Any]:
    motor: dict[str, Any] = {
        "Kp": _log(rng, 0.01, 0.1),
        "Ra": _log(rng, 0.3, 5),
        "gear": round(_log(rng, 5, 120)),
        "rotor_inertia": _log(rng, 1e-6, 1e-4),
    }
    bounds = {}
    if rng.random() < 0.7:
        bounds["voltage"] = 24.0
    if rng.random() < 0.3:
        bounds["current"] = _log(rng, 0.5, 10)
    if rng.random() < 0.15:
        bounds["speed"] = _log(rng, 100, 1000)
    return {**motor, "limits": bounds} if bounds else motor


def _control(rng: random.Random, joints: list[dict[str, Any]], voltage: bool) -> dict[str, Any]:
    motors = [joint.get("motor", {}) for joint in joints]
    units = [m["Ra"] / m["Kp"] / m["gear"] if voltage else 1.0 for m in motors]  # of a gain per N·m
    law, sign = rng.choice(["pd", "pd", "pid"]), -1.0 if rng.random() < 0.05 else 1.0

    def sized(low: float, high: float) -> list[float]:
        return [_short(_log(rng, low, high) * unit) for unit in units]

    control: dict[str, Any] = {
        "law": law,
        "output": "voltage" if voltage else "torque",
        "kp": [sign * gain for gain in sized(3, 1000)],
        "kd": sized(0.3, 100),
        "target": [_short(rng.uniform(-0.6, 0.6)) for _ in joints],
    }
    if law == "pid":
        control["ki"] = sized(1, 100)
    if rng.random() < 0.5:
        control["limit"] = sized(0.5, 50)
    if rng.random() < 0.3:
        control["period"] = rng.choice([1e-3, 5e-3, 2e-2])
    return control


def _log(rng: random.Random, low: float, high: float) -> float:
    """A number between two, evenly in the logarithm."""
    return _short(math.exp(rng.uniform(math.log(low), math.log(high))))


def _short(x: float) -> float:
    return float(f"{x:.4g}")
