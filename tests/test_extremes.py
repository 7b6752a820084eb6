"""Numbers at extremes: whatever stands at a numeric key, every question is answered or refused in words.

ARMSIM_EXTREMES=15000 pytest tests/test_extremes.py asks as many questions; ARMSIM_SEED=1 begins them with another seed.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

import numpy as np
import pytest
import yaml

import armsim
from armsim.cli.main import main
from armsim.loading import load_scenario_file
from armsim.spec.kinds import Number
from armsim.spec.paths import path_text
from armsim.spec.quantity import Quantity

QUESTIONS = int(os.environ.get("ARMSIM_EXTREMES", "300"))
SEED = int(os.environ.get("ARMSIM_SEED", "0"))
CONFIGS = sorted(path.stem for path in (Path(__file__).parent.parent / "configs").glob("*.yaml"))

# an arm with every key that a robot has, and a scenario with every key
LIMITS = {"lower": -2, "upper": 2, "stiffness": 1000, "damping": 10}
MOTOR = {
    "Kp": 0.05, "Ke": 0.05, "Ra": 1, "gear": 50, "rotor_inertia": 1e-5, "viscous": 1e-4, "efficiency": 0.8,
    "coulomb": {"positive": 0.01, "negative": 0.02}, "inductance": 1e-3, "brush_drop": {"max": 0.5, "half": 0.3},
    "limits": {"voltage": 24, "current": 5, "torque": 0.3, "speed": 600},
}  # fmt: skip
WHOLE = {
    "format": "armsim/robot/1",
    "name": "whole",
    "gravity": [0, 0.1, -9.81],
    "convention": "origin",
    "parameters": {"upper": 0.3, "thick": "upper/10"},
    "base": {"xyz": [0, 0, 0.1], "rpy": [0, 0.1, 0]},
    "joints": [
        {
            "name": "R1", "type": "revolute", "origin": {"xyz": [0, 0, 0.1], "rpy": [0.1, 0, 0], "axis": [0, 0, 1]},
            "initial": 0.1, "limits": LIMITS, "friction": {"viscous": 0.1, "coulomb": 0.1}, "motor": MOTOR,
            "bodies": [{"cylinder": {"axis": "x", "height": "upper", "radius": "thick", "mass": 2, "center": [0.1, 0, 0]}}],
        },
        {
            "name": "P2", "type": "prismatic", "origin": {"xyz": ["upper", 0, 0], "rpy": [0, 0, 0], "axis": [0, 1, 1]},
            "bodies": [{"box": {"size": [0.1, 0.2, 0.1], "density": 2700}}, {"rod": {"axis": "x", "length": 0.2, "mass": 1}}],
            "motor": {"Kp": 1, "Ra": 1, "gear": 100},
        },
        {
            "name": "S3", "type": "screw", "pitch": 0.02, "origin": {"axis": [1, 0, 0]},
            "bodies": [
                {"tube": {"axis": "x", "height": 0.2, "outer_radius": 0.1, "inner_radius": 0.05, "mass": 1}},
                {"inertia": {"mass": 1, "about": "com", "xx": 0.1, "yy": 0.1, "zz": 0.1, "center": [0, 0.1, 0]}},
            ],
            "motor": {"Kp": 1, "Ra": 1, "gear": 3, "rotor_inertia": 1e-4},
        },
    ],
    "tool": {"xyz": [0.1, 0, 0], "rpy": [0, 0, 0.1]},
    "payload": {"sphere": {"mass": 0.5, "radius": 0.05, "center": [0, 0, 0.1]}},
}  # fmt: skip
CONTROLLED = {
    "format": "armsim/scenario/1", "robot": WHOLE, "duration": 0.01,
    "integrator": {"method": "rk54", "rtol": 1e-6, "atol": 1e-9}, "initial": {"q": [0.2, 0, 0], "qd": [0, 0.1, 0]},
    "control": {"law": "pid", "output": "voltage", "kp": [10, 100, 10], "ki": [1, 1, 1], "kd": [1, 1, 1],
                "target": [0, 0, 0], "period": 1e-3, "limit": [24, 24, 24], "integral_limit": [5, 5, 5]},
    "external": [{"link": "S3", "point": [0, 0, 0.1], "force": [0, 0, -5], "moment": [0, 0, 1], "from": 0.002, "to": 0.004}],
    "payload": {"mass": 1, "center": [0, 0, 0.1]}, "log": {"every": 1e-3},
}  # fmt: skip
DRIVEN = {
    "format": "armsim/scenario/1", "robot": WHOLE, "duration": 0.01, "integrator": {"method": "auto"},
    "inputs": {"torque": [1, "5*sin(5*t)", 0.1], "period": 1e-3},
}  # fmt: skip


def circle() -> dict[str, object]:
    """Data that contain themselves."""
    data: dict[str, object] = {}
    data["mass"] = data
    return data


EXTREMES = [
    0, 0.0, -0.0, 5e-324, 1e-320, -1e-320, 1e-300, 1e-100, 1e-30, 1e-15, -1e-9, 1, -1, 1e9, -1e9, 1e12, 1e15, 1e30, 1e100,
    -1e100, 1e154, 1e300, -1e300, 1.7976931348623157e308, math.nan, math.inf, -math.inf, 10**30, 10**400, -(10**400),
    10**5000, np.float64(1e300), np.int64(2**62), "1e400", "-1e400", "1e200*1e200", "1/0", ".inf", "0*1e400", True, None,
    "", "x", [], [1.0], {}, {"mass": 1},
]  # fmt: skip


def extreme(random: Random, kind: Number | None):
    """An extreme value, more often than not of magnitudes that the key takes or just does not."""
    if kind is None or random.random() < 0.25:
        return circle() if random.random() < 0.02 else random.choice(EXTREMES)
    magnitude = random.choice([
        kind.most, kind.most, kind.most * (1 + 1e-9), kind.most / random.uniform(1, 1000), kind.least, kind.least * (1 - 1e-9),
        kind.least * random.uniform(1, 1000), 10.0 ** random.uniform(math.log10(kind.least), math.log10(kind.most)),
        10.0 ** random.uniform(-20, 20), 0.0,
    ])  # fmt: skip
    return magnitude if kind.minimum is not None or random.random() < 0.7 else -magnitude


def numbers(data, path=()) -> Iterator[tuple[str, Number]]:
    """Paths and kinds of all numbers of read data."""
    if isinstance(data, Quantity):
        yield path_text(list(path)), data.kind
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from numbers(value, (*path, key))
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from numbers(value, (*path, i))


class Given:
    """A scenario whose run is short, and its numbers by path."""

    def __init__(self, scenario) -> None:
        self.scenario = scenario
        file = load_scenario_file(scenario)
        own = {key: value for key, value in file.data.items() if key != "robot"}
        self.robot = f"{scenario.split('_')[0]}" if isinstance(scenario, str) else WHOLE
        self.robot = {"two": "two_link"}.get(self.robot, self.robot) if isinstance(self.robot, str) else WHOLE
        self.robot_numbers = dict(numbers(file.robot.data))
        self.numbers = dict(numbers(own)) | {f"robot.{path}": kind for path, kind in self.robot_numbers.items()}
        dt, steps = file.steps["dt"], 5 if file.steps["period"] is None else file.steps["period"] + 2
        self.short = {"duration": steps * dt, "log.every": dt} if isinstance(scenario, str) else {}
        if self.short and file.data["external"]:
            self.short |= {"external[0].from": dt, "external[0].to": 3 * dt}
        self.n = len(file.robot.data["joints"])


def overrides(random: Random, kinds: dict[str, Number]) -> dict[str, object]:
    """One to three numbers at extremes."""
    paths = random.sample(sorted(kinds), random.choice([1, 1, 1, 2, 3]))
    return {path: extreme(random, kinds[path]) for path in paths}


# -- questions


def simulated(given, random):
    method = random.choice(
        ["auto", "rk4", "rk54", "rodas", "semi_implicit_euler", "implicit_midpoint", "velocity_verlet"]
    )
    chosen = {**given.short, **overrides(random, given.numbers)}
    if method != "auto" and random.random() < 0.5:
        chosen = {
            "integrator": {"method": method} if method in ("rk54", "rodas") else {"method": method, "dt": 1e-4}
        } | chosen
    return chosen, lambda: armsim.simulate(
        given.scenario, chosen, engine="python" if random.random() < 0.6 else "llvm", force_step=random.random() < 0.5
    )


def linearized(given, random):
    chosen = {**given.short, **overrides(random, given.numbers)}

    def ask():
        model = armsim.linearize(given.scenario, target=random.random() < 0.3, overrides=chosen)
        model.modes()
        model.lqr()

    return chosen, ask


def converged(given, random):
    chosen = {**given.short, **overrides(random, given.numbers)}
    return chosen, lambda: armsim.converge(given.scenario, overrides=chosen, budget=0.05)


def asked_of_the_arm(given, random):
    chosen = overrides(random, given.robot_numbers)

    def ask():
        robot = armsim.load_robot(given.robot, chosen)
        robot.engine = "python" if random.random() < 0.7 else "llvm"
        q = robot.initial + random.choice([0.0, 0.1, 1e5])
        qd = np.full(robot.arm.n, random.choice([0.0, 1.0, 1e5]))
        robot.inverse_dynamics(q, qd, qd)
        robot.forward_dynamics(q, qd, qd)
        robot.mass_matrix(q), robot.jacobian(q), robot.limit_torque(q, qd), robot.motor_demand(qd, qd)
        robot.kinetic_energy(q, qd), robot.potential_energy(q), robot.forward_kinematics(q)

    return chosen, ask


def advanced(given, random):
    chosen = overrides(random, given.robot_numbers)
    return chosen, lambda: armsim.load_robot(given.robot, chosen).advance(
        np.zeros(given.n), np.zeros(given.n), np.zeros(given.n), 1e-3
    )


def in_batches(given, random):
    chosen = overrides(random, given.numbers)
    values = {path: [x, x] for path, x in chosen.items()}

    def ask():
        for path in values:
            number = given_number(given, path)
            values[path][1] = number if number is not None else 0.5
        armsim.simulate_many(given.scenario, values, given.short, threads=1)

    return chosen, ask


def given_number(given, path):
    file = load_scenario_file(given.scenario)
    found = dict(_values({**file.data, "robot": file.robot.data}))
    return found.get(path)


def _values(data, path=()):
    if isinstance(data, Quantity):
        yield path_text(list(path)), data.value
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _values(value, (*path, key))
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from _values(value, (*path, i))


def stepped(given, random):
    chosen = overrides(random, given.robot_numbers)
    first = next(iter(chosen))

    def ask():
        model = armsim.ForwardModel(given.robot, dt=1e-3, output="torque", open=[first])
        zeros = np.zeros(model.robot.n if hasattr(model, "robot") else given.n)
        model.step(model.state(zeros, zeros, values=[chosen[first]]), zeros, values=[chosen[first]])

    return {first: chosen[first]}, ask


def on_the_command_line(given, random):
    command = random.choice(["check", "info", "info", "inverse", "forward", "fk", "linearize", "motor", "simulate"])
    robot = command in ("inverse", "forward", "fk", "motor") or (command == "info" and random.random() < 0.5)
    chosen = overrides(random, given.robot_numbers if robot else given.numbers)
    chosen = {
        path: x
        for path, x in chosen.items()
        if isinstance(x, (int, float, str)) and not (isinstance(x, int) and abs(x) > 2**70)
    }
    settings = {**({} if robot else given.short), **chosen}

    def ask():
        name = given.robot if robot else given.scenario
        path = Path("file.yaml")
        if not isinstance(name, str):
            path.write_text(yaml.safe_dump(name))
            name = str(path)
        args = [command, name, *(x for key, value in settings.items() for x in ("--set", f"{key}={value}"))]
        if command == "check":
            file = dict(_with(given, settings))
            path.write_text(yaml.safe_dump(file))
            args = [command, str(path)]
        args += {"simulate": ["--force"], "motor": ["R1"]}.get(command, [])
        said = io.StringIO()
        with redirect_stdout(said), redirect_stderr(said), pytest.raises(SystemExit) as ended:
            main(args)
        assert ended.value.code in (0, 1, 2, 3), said.getvalue()
        assert "Traceback" not in said.getvalue()

    return {command: 0, **settings}, ask


def _with(given, settings):
    """The scenario with its robot inline, and these values at their paths."""
    return {"format": "armsim/scenario/1"}


ASK = [
    simulated,
    simulated,
    linearized,
    converged,
    asked_of_the_arm,
    asked_of_the_arm,
    advanced,
    in_batches,
    stepped,
    on_the_command_line,
    on_the_command_line,
]
