"""Random scenarios around their limits: motors, friction, stops, feedback of any sign, steps about the largest stable one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import armsim
from armsim.errors import UsageError
from armsim.integrate import METHODS
from armsim.loading import read_scenario
from armsim.plant import Linearizer, make_plant
from armsim.stability.step_modes import stable_steps

FIXED = [name for name, method in METHODS.items() if method.step is not None]
NICE = (1.0, 2.0, 5.0)
OFF = 0.05  # of a joint's motion: an answer farther from the truth is wrong
AGREED = 0.01  # of it: what two truths may differ by
SMALL = 0.1  # of the largest motion of a joint: one that moves less is compared with that


@dataclass(frozen=True)
class Verdict:
    """What became of a scenario.

    Attributes:
        off: Largest error of a joint's position over its motion; infinite if the run diverged.
        refused: Whether its step is refused.
        said: What is said of the run.
    """

    off: float
    refused: bool
    said: tuple[str, ...]

    @property
    def is_silently_wrong(self) -> bool:
        return self.off > OFF and not self.said and not self.refused

    @property
    def is_falsely_refused(self) -> bool:
        return self.refused and self.off <= OFF


def random_scenario(seed: int) -> dict[str, Any]:
    """The scenario of a seed, its step at the end about the largest stable one of its method."""
    chance = np.random.default_rng(seed)

    def log(low: float, high: float) -> float:
        return float(f"{math.exp(chance.uniform(math.log(low), math.log(high))):.3g}")

    def often(share: float) -> bool:
        return bool(chance.random() < share)

    n = int(chance.integers(1, 4))
    voltage = often(0.4)
    joints: list[dict[str, Any]] = []
    for i in range(n):
        size = log(0.1, 0.6)
        body = {"mass": log(0.1, 5), "center": [size, 0, 0]}
        alpha = float(chance.choice([0.0, math.pi / 2]))
        joint = {
            "name": f"J{i}",
            "type": "revolute",
            "mdh": {"a": size if i else 0, "alpha": alpha},
            "bodies": [{"point": body}, {"sphere": {"radius": 0.1, "mass": 0.2}}],
        }
        if voltage or often(0.6):
            Kp, Ra, gear = log(0.01, 0.1), log(0.3, 5), round(log(5, 120))
            motor: dict[str, Any] = {"Kp": Kp, "Ra": Ra, "gear": gear, "rotor_inertia": log(1e-6, 1e-4)}
            limits = {}
            if often(0.7):
                limits["voltage"] = 24
            if often(0.3):
                limits["current"] = log(0.5, 10)
            if often(0.15):
                limits["speed"] = log(100, 1000)
            if limits:
                motor["limits"] = limits
            if voltage and often(0.2):
                motor["inductance"] = log(1e-4, 5e-3)
            joint["motor"] = motor
        friction = {}
        if often(0.4):
            friction["viscous"] = log(0.01, 5)
        if often(0.35):
            friction["coulomb"] = log(0.01, 5)
        if friction:
            joint["friction"] = friction
        if often(0.25):
            joint["limits"] = {"lower": -0.8, "upper": 0.8, "stiffness": log(100, 1e5), "damping": log(1, 300)}
        joints.append(joint)
    scenario: dict[str, Any] = {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "random", "joints": joints},
        "duration": 2,
        "initial": {"q": chance.uniform(-0.7, 0.7, n).round(3).tolist()},
        "log": {"every": 0.1},
    }
    kind = chance.random()
    if kind < 0.6:
        units = [1.0 if not voltage else j["motor"]["Ra"] / j["motor"]["Kp"] / j["motor"]["gear"] for j in joints]
        law = str(chance.choice(["pd", "pd", "pid"]))
        sign = -1.0 if often(0.05) else 1.0
        control: dict[str, Any] = {
            "law": law,
            "output": "voltage" if voltage else "torque",
            "kp": [sign * float(f"{log(3, 1000) * unit:.3g}") for unit in units],
            "kd": [float(f"{log(0.3, 100) * unit:.3g}") for unit in units],
            "target": chance.uniform(-0.6, 0.6, n).round(3).tolist(),
        }
        if law == "pid":
            control["ki"] = [float(f"{log(1, 100) * unit:.3g}") for unit in units]
        if often(0.5):
            control["limit"] = [float(f"{log(0.5, 50) * unit:.3g}") for unit in units]
        if often(0.3):
            control["period"] = float(chance.choice([1e-3, 5e-3, 2e-2]))
        scenario["control"] = control
    elif kind < 0.85:
        size = [log(1, 24) if voltage else log(0.3, 20) for _ in joints]
        turn = log(0.5, 10)
        scenario["inputs"] = {
            "voltage" if voltage else "torque": [f"{x:g}*sin({turn:g}*t)" if often(0.5) else x for x in size]
        }
    if often(0.1):
        return {**scenario, "integrator": {}}
    method = str(chance.choice(FIXED))
    factor = float(np.exp(chance.uniform(math.log(0.3), math.log(4))))
    return {**scenario, "integrator": {"method": method, "dt": step(scenario, method, factor)}}


def step(scenario: dict[str, Any], method: str, factor: float) -> float:
    """A step of about that many times the largest stable one at the start, of which all times are multiples [s]."""
    read = read_scenario({**scenario, "integrator": {"method": method, "dt": 1e-3}})
    plant = make_plant(read)
    state = plant.initial_state(read.initial_q, read.initial_qd)
    about = Linearizer(plant).at(0.0, plant.sample(0.0, state) if plant.sampled else state)
    most = stable_steps(about)[method]
    wanted = factor * (most if 0.0 < most < math.inf else 0.01)
    period = scenario.get("control", {}).get("period", 0.1)
    steps = [0.1 / k for k in (2, 4, 5, 10, 20, 40, 50, 100, 200, 400, 500, 1000, 2000, 5000, 10000)]
    steps = [dt for dt in steps if abs(period / dt - round(period / dt)) < 1e-9 and dt <= period * (1 + 1e-9)]
    return float(f"{min(steps, key=lambda dt: abs(math.log(dt / wanted))):.6g}")


def truth(scenario: dict[str, Any]) -> np.ndarray | None:
    """Joint positions in rows, shape (rows, n), that two methods agree on; None where they do not."""
    found = []
    for method, rtol in (("rodas", 1e-8), ("rk54", 1e-8)):
        tight = {"method": method, "rtol": rtol, "atol": 1e-11}
        run = armsim.simulate({**scenario, "integrator": tight}, force_step=True)
        if run.status != "complete":
            return None
        found.append(run.q)
    return found[0] if share(*found) < AGREED else None


def share(q: np.ndarray, true: np.ndarray) -> float:
    """The largest error of a joint over its motion."""
    motion = np.ptp(true, axis=0)
    scale = np.maximum(np.maximum(motion, SMALL * motion.max()), 1e-6)
    return float((np.abs(q - true) / scale).max())


def verdict(scenario: dict[str, Any], true: np.ndarray) -> Verdict:
    """What armsim says of a scenario, and how far its answer is off."""
    refused = False
    try:
        run = armsim.simulate(scenario)
    except UsageError:
        refused = True
        run = armsim.simulate(scenario, force_step=True)
    summary = run.summary()
    if run.status != "complete":
        return Verdict(math.inf, refused, ("diverged",))
    notes = [*summary["advice"], summary["audit"]["note"], (summary.get("step_error") or {"note": None})["note"]]
    return Verdict(share(run.q, true), refused, tuple(note for note in notes if note))
