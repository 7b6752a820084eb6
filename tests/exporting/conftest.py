"""Models that are exported, their libraries, and machine code's own steps of them."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

import armsim
from armsim.clock import NEVER
from armsim.loading import read_scenario
from armsim.plant import Plant, make_plant
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.simulation.runner import Job, Runner
from armsim.stability.method_choice import with_method
from tests.dynamics.test_recursion import large

STRICT = ("-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-fno-math-errno")
FORTRAN = ("-O1", "-std=f2018", "-ffp-contract=off", "-shared", "-fPIC")
MOTOR = {
    "Kp": 0.05,
    "Ra": 0.8,
    "gear": 25,
    "rotor_inertia": 4e-4,
    "viscous": 2e-3,
    "coulomb": {"positive": 0.01, "negative": 0.03},
    "efficiency": 0.75,
    "inductance": 1e-3,
    "brush_drop": {"max": 0.7, "half": 0.4},
    "limits": {"voltage": 22, "current": 9, "torque": 0.4, "speed": 90},
}
JOINT = {
    "limits": {"lower": -0.9, "upper": 0.9, "stiffness": 400, "damping": 2},
    "friction": {"viscous": 0.2, "coulomb": {"positive": 0.3, "negative": 0.2}},
    "motor": MOTOR,
}
ROBOT = {
    "format": "armsim/robot/1",
    "name": "odd",
    "base": {"rpy": [0.4, -0.7, 1.1]},
    "joints": [
        {"name": "R1", "type": "revolute", "mdh": {"d": 0.3}, **JOINT},
        {"name": "P2", "type": "prismatic", "mdh": {"a": 0.2, "alpha": 1.2}, **JOINT},
    ],
}
ROBOT["joints"][0]["bodies"] = [{"box": {"size": [0.1, 0.2, 0.3], "mass": 2, "center": [0.1, 0, 0.02]}}]
ROBOT["joints"][1]["bodies"] = [{"sphere": {"radius": 0.1, "mass": 1.5, "center": [0.1, 0.3, 0]}}]
PID = {"law": "pid", "output": "voltage", "kp": 80, "ki": 40, "kd": 2, "integral_limit": 0.3, "limit": 20}
PUSH = {"link": "P2", "point": [0.1, 0, 0], "force": [3, -8, 1], "moment": [0, 0.4, 0], "from": 0.5, "to": 20}
EVERYTHING = {
    "format": "armsim/scenario/1",
    "name": "everything",
    "robot": ROBOT,
    "duration": 50,
    "integrator": {"method": "semi_implicit_euler", "dt": 5e-4},
    "initial": {"q": [0.7, -0.4], "qd": [1.0, -2.0]},
    "control": {**PID, "target": [-0.95, 0.5], "period": 2e-3},
    "external": [PUSH],
    "payload": {"mass": 0.5},
    "log": {"every": 0.01},
}
PENDULUM = {"name": "R1", "type": "revolute", "mdh": {}, "bodies": [{"point": {"mass": 1, "center": [0.4, 0, 0]}}]}
AHEAD = {  # an adaptive method, which runs ahead of the steps and meets a stop
    "format": "armsim/scenario/1",
    "name": "ahead",
    "robot": {
        "format": "armsim/robot/1",
        "name": "pendulum",
        "gravity": [0, -9.81, 0],
        "joints": [{**PENDULUM, "limits": {"lower": -2, "upper": 2, "stiffness": 300, "damping": 0.1}}],
    },
    "duration": 50,
    "integrator": {"method": "rk54", "rtol": 1e-6},
    "initial": {"q": [1], "qd": [1]},
    "log": {"every": 0.01},
}
BARE = [{key: joint[key] for key in ("name", "type", "mdh", "bodies", "limits")} for joint in ROBOT["joints"]]
SLIDING = {  # an implicit method, a formula of time and a file of inputs
    **{key: EVERYTHING[key] for key in ("format", "duration", "initial")},
    "name": "sliding",
    "robot": {**ROBOT, "joints": BARE},
    "integrator": {"method": "implicit_midpoint", "dt": 5e-4},
    "inputs": {"torque": ["4*sin(3*t)*exp(-t/40)", {"csv": "push.csv", "column": "F", "hold": "linear"}]},
    "log": {"every": 0.01},
}

FINGER = {"type": "prismatic", "bodies": [{"sphere": {"radius": 0.02, "mass": 0.3, "center": [0.1, 0.02, 0]}}]}
FINGER |= {"parent": "R1", "friction": {"viscous": 2, "coulomb": 0.5}}
GRIPPER = {  # two fingers of unequal strokes, with motor and stops at the one that follows, which an arm carries
    **EVERYTHING,
    "name": "gripper",
    "robot": {
        **ROBOT,
        "joints": [
            ROBOT["joints"][0],
            {**FINGER, "name": "leading", "mdh": {"a": 0.3, "alpha": 1.2}},
            {
                **FINGER,
                "name": "following",
                "mdh": {"a": 0.3, "alpha": 1.2},
                "mimic": {"joint": "leading", "ratio": -0.8, "offset": 0.01},
                "limits": {"lower": -0.1, "upper": 0.1, "stiffness": 2e4, "damping": 20},
                "motor": {**MOTOR, "gear": 300, "rotor_inertia": 1e-6},
            },
        ],
    },
    "initial": {"q": [0.7, 0.05], "qd": [1.0, -0.2]},
    "control": {  # a positive voltage moves the leading finger back; the other one is held against its stop
        **PID,
        "kp": [80, -800],
        "ki": [40, -40],
        "kd": [2, -2],
        "target": [0.5, -0.14],
        "period": 2e-3,
    },
    "external": [{**PUSH, "link": "following"}],
}


def written(content: dict, folder: Path) -> str:
    """A scenario file with that content."""
    (folder / "push.csv").write_text("t_s,F\n0,5\n1,-9\n2.5,14\n7,-3\n30,6\n")
    path = folder / f"{content['name']}.yaml"
    path.write_text(yaml.safe_dump(content))
    return str(path)


def needs(*tools: str):
    """Skips a test where one of the programs is not installed."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed")


def succeeds(command: Sequence[str], folder: Path) -> str:
    """What a command prints; a failure shows what it said."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def c_library(folder: Path, name: str, compiler: str = "gcc", *flags: str) -> ctypes.CDLL:
    """An exported model in C, compiled."""
    flags = flags or ("-O1", "-march=native")
    succeeds([compiler, "-std=c99", *flags, *STRICT, "-shared", "-fPIC", "-o", "lib.so", f"{name}.c", "-lm"], folder)
    return ctypes.CDLL(str(folder / "lib.so"))


def fortran_library(folder: Path, name: str) -> ctypes.CDLL:
    """An exported model in Fortran, compiled."""
    succeeds(["gfortran", *FORTRAN, "-o", "lib.so", f"{name}.f90", "-lm"], folder)
    return ctypes.CDLL(str(folder / "lib.so"))


@dataclass
class Steps:
    """A scenario, and machine code's steps of it.

    Attributes:
        path: The file, or a shipped name.
        plant: Its plant.
        start: The state at the start.
        runner: Carries out steps.
    """

    path: str
    plant: Plant
    start: list[float]
    runner: Runner

    @classmethod
    def of(cls, path: str) -> Steps:
        """Of a scenario file, or a shipped scenario."""
        scenario = with_method(read_scenario(path))
        plant = replace(make_plant(scenario), ahead=scenario.land_every > 1)
        plan = LoopPlan(plant, scenario.dt)
        start = plant.initial_state(scenario.initial_q, scenario.initial_qd, scenario.landing)
        clock = replace(scenario.clock, log_every=NEVER)
        return cls(path, plant, start, Runner(NativeEngine(plan), Job(plan, clock, start)))

    def reach(self, k: int) -> list[float]:
        """The state after k steps; empty if one left its bounds."""
        for _ in self.runner.until(k):
            pass
        return self.runner.state if self.runner.lanes.alive else []

    def row(self) -> list[float]:
        """The row of the state that was reached."""
        return [*self.runner.row().run(0)]


LARGE = {  # 17 joints of a tree, whose recursions are scans
    "format": "armsim/scenario/1",
    "name": "large",
    "robot": {**large(17, "tree"), "name": "large"},
    "duration": 10,
    "integrator": {"method": "semi_implicit_euler", "dt": 1e-4},
    "control": {"law": "pd", "output": "torque", "kp": [9] * 17, "kd": [2] * 17, "target": [0.2] * 17},
    "log": {"every": 0.01},
}


@pytest.fixture(scope="session")
def scenarios(tmp_path_factory):
    """Scenarios by name."""
    folder = tmp_path_factory.mktemp("scenarios")
    return {
        "everything": written(EVERYTHING, folder),
        "sliding": written(SLIDING, folder),
        "puma560_hold": "puma560_hold",
        "arm5_hold": "arm5_hold",
        "ahead": written(AHEAD, folder),
        "gripper": written(GRIPPER, folder),
        "large": written(LARGE, folder),
    }


@pytest.fixture(scope="session")
def exported(tmp_path_factory, scenarios):
    """Exports a scenario once for each language, and gives its folder."""
    made: dict[tuple[str, str], Path] = {}

    def export(name: str, to: str) -> Path:
        if (name, to) not in made:
            folder = tmp_path_factory.mktemp(f"{name}_{to}")
            armsim.export(scenarios[name], to, folder)
            made[name, to] = folder
        return made[name, to]

    return export
