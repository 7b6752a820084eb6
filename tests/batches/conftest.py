"""Scenarios with many features at once, whose numbers are varied."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

ARM = {
    "format": "armsim/robot/1",
    "name": "mixed",
    "gravity": [0, 0, -9.81],
    "parameters": {"upper": 0.4, "grip": "0.2*upper"},
    "joints": [
        {
            "name": "turn",
            "type": "revolute",
            "mdh": {"a": 0, "alpha": "pi/2", "d": 0.3, "theta": 0},
            "limits": {"lower": -2.5, "upper": 0.3, "stiffness": 300, "damping": 4},
            "friction": {"viscous": 0.1, "coulomb": {"positive": 0.6, "negative": 0.5}},
            "bodies": [
                {"cylinder": {"axis": "x", "height": "upper", "radius": 0.05, "mass": 2.0, "center": ["upper/2", 0, 0]}}
            ],
            "motor": {
                "Kp": 0.06,
                "Ra": 0.9,
                "gear": 40,
                "rotor_inertia": 2e-5,
                "viscous": 1e-4,
                "coulomb": 0.004,
                "efficiency": 0.8,
                "brush_drop": {"max": 0.5, "half": 0.3},
                "limits": {"voltage": 24, "current": 9},
            },
        },
        {
            "name": "elbow",
            "type": "revolute",
            "mdh": {"a": "upper", "alpha": 0, "d": 0, "theta": 0.2},
            "friction": {"viscous": 0.05},
            "bodies": [{"box": {"size": [0.3, 0.06, 0.06], "mass": 1.1, "center": [0.15, 0, 0.02]}}],
            "motor": {"Kp": 0.05, "Ra": 1.2, "gear": -30, "rotor_inertia": 1e-5, "inductance": 4e-3},
        },
        {
            "name": "slide",
            "type": "prismatic",
            "mdh": {"a": 0.3, "alpha": "-pi/2", "d": 0.05, "theta": 0},
            "limits": {"lower": -0.2, "upper": 0.25, "stiffness": 2000, "damping": 30},
            "friction": {"coulomb": 0.8},
            "bodies": [{"point": {"mass": 0.6, "center": [0.01, "grip", 0]}}],
            "motor": {"Kp": 0.08, "Ra": 1.0, "gear": 60, "rotor_inertia": 1e-5},
        },
    ],
    "tool": {"xyz": [0, 0.1, 0], "rpy": [0.1, 0, 0.3]},
}

SCENARIO = {
    "format": "armsim/scenario/1",
    "name": "mixed_hold",
    "robot": ARM,
    "duration": 2.0,
    "integrator": {"method": "semi_implicit_euler", "dt": 1e-3},
    "initial": {"q": [-0.4, 0.6, 0.05], "qd": [0.5, -0.3, 0.1]},
    "control": {
        "law": "pid",
        "output": "voltage",
        "kp": [40, 30, 60],
        "ki": [20, 10, 5],
        "kd": [1.0, 0.5, 2.0],
        "target": [0.25, 0.1, -0.1],
        "period": 4e-3,
        "limit": 20,
    },
    "external": [
        {"link": "slide", "point": [0, 0, 0.1], "force": [0, 4, -6], "moment": [0.1, 0, 0], "from": 0.3, "to": 0.9}
    ],
    "payload": {"mass": 0.4, "center": [0, 0, 0.05]},
    "log": {"every": 0.05},
}

# of the numbers that are varied: path and spread about the file's
VARIED = {
    "control.kp": 0.3,
    "control.kd[1]": 0.5,
    "control.target[0]": 0.4,
    "initial.q[1]": 0.5,
    "initial.qd": 0.8,
    "payload.mass": 0.9,
    "external[0].force[2]": 0.7,
    "robot.parameters.upper": 0.2,
    "robot.joints[*].motor.Kp": 0.1,
    "robot.joints[turn].friction.coulomb.positive": 0.4,
    "robot.joints[turn].limits.upper": 0.3,
    "robot.joints[elbow].motor.inductance": 0.3,
    "robot.joints[elbow].bodies[0].box.size[1]": 0.4,
}


@pytest.fixture(scope="session")
def mixed():
    """A copy of the scenario with changes by path."""

    def make(**changes: Any) -> dict[str, Any]:
        made = copy.deepcopy(SCENARIO)
        for path, value in changes.items():
            here: Any = made
            *way, last = path.split("__")
            for step in way:
                here = here[int(step) if step.isdigit() else step]
            if value is None:
                here.pop(last, None)
            else:
                here[int(last) if last.isdigit() else last] = value
        return made

    return make


@pytest.fixture(scope="session")
def varied():
    """Values of numbers about those of the file, by path, for m runs; those of lists as (m, k)."""
    from armsim.loading.open_numbers import open_numbers

    def make(scenario, m: int, seed: int, paths=VARIED) -> dict[str, np.ndarray]:
        random = np.random.default_rng(seed)
        opened = open_numbers(scenario, list(paths))
        made = {}
        for path, places in opened.asked.items():
            file = np.array([opened.number(opened.places[i]) for i in places])
            made[path] = file * (1 + paths[path] * random.uniform(-1, 1, (m, len(file))))
            if len(places) == 1:
                made[path] = made[path][:, 0]
        return made

    return make


def written(values: dict[str, np.ndarray], run: int) -> dict[str, Any]:
    """The values of a run as overrides of a file."""
    overrides: dict[str, Any] = {}
    for path, array in values.items():
        if array.ndim == 1:
            overrides[path] = float(array[run])
        elif "[*]" in path:
            overrides |= {path.replace("[*]", f"[{i}]"): float(x) for i, x in enumerate(array[run])}
        else:
            overrides[path] = array[run].tolist()
    return overrides
