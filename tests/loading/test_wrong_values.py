"""Every value of scenario, robot and study files, replaced by values of other kinds: a fault with its place, or a sound file."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from armsim.errors import FileFaults
from armsim.loading import read_robot, read_scenario
from armsim.studies.study_file import load_study_file
from tests.cli.conftest import ROOT

WRONG = [1, -1.5, True, None, "text", "t", "", "x" * 70, float("inf"), 10**400, [], [None], [1], [1, 2], [1, 2, 3],
         ["a", "b"], [[]], [[1, 2]], [{}], {}, {"a": 1}, {"csv": 1}, {"csv": ["moves.csv"]}, {"q": 1}, {"via": 1}]  # fmt: skip
TRIED = 100  # of each document, drawn from all
VIA = {"via": [[0.2, 0.3], [0.1, -0.1]]}
PD = {"law": "pd", "output": "torque", "kp": [60, 60], "kd": 9}
WAVES = {"amplitude": 0.1, "offset": [0, 0]}
CONTROLS = {
    "target": {**PD, "target": [0.1, 0.2], "limit": 9},
    "times": {**PD, "reference": {**VIA, "times": [0.005, 0.01], "profile": "spline", "ends": "natural"}},
    "limits": {**PD, "reference": {**VIA, "speed": 2, "acceleration": [3, 4], "jerk": [40, 50], "start": 0.001}},
    "sinusoid": {**PD, "reference": {"profile": "sinusoid", **WAVES, "frequency": [1, 2], "phase": [1, 2]}},
    "chirp": {**PD, "reference": {"profile": "chirp", **WAVES, "frequency": 1, "end_frequency": 5, "duration": 1}},
    "multisine": {**PD, "reference": {"profile": "multisine", **WAVES, "frequencies": [0.5, 1]}},
    "formulas": {**PD, "reference": ["0.3*sin(2*t)", 0]},
    "file": {**PD, "reference": {"csv": "moves.csv", "interpolation": "linear", "sha256": None}},
    "model": {**PD, "model": "two_link", "feedforward": "gravity", "target": [0, 0]},
    "encoder": {**PD, "period": 2e-3, "delay": 2e-3, "encoder": {"counts": [4096, 4096], "noise": 1e-4, "seed": 7}},
    "pid": {**PD, "law": "pid", "ki": [1, 1], "integral_limit": [9, 9], "anti_windup": "back_calculation", "limit": 9},
    "state feedback": {
        "law": "state_feedback",
        "output": "torque",
        "K": [[60, 0, 9, 0], [0, 60, 0, 9]],
        "target": [0, 0],
    },
    "expression": {"law": "expression", "output": "torque", "command": ["40*e", "9*e - ed"], "target": [0, 0]},
}
SCENARIO = {
    "format": "armsim/scenario/1",
    "name": "x",
    "robot": "two_link",
    "units": {"angle": "deg"},
    "parameters": {"depth": 0.3},
    "duration": 0.02,
    "integrator": {"method": "rk4", "dt": 1e-3},
    "initial": {"q": [0, 0], "qd": [0, 0]},
    "external": [
        {"link": "elbow", "point": [0, 0, 0], "force": [0, 0, -5], "moment": [0, 0, 0], "axes": "world", "from": 0.001}
    ],
    "payload": {"mass": 0.5, "center": [0, 0, 0]},
    "inputs": {"torque": [{"csv": "moves.csv", "column": "q_elbow_rad", "hold": "linear"}, "sin(t)"], "period": 2e-3},
    "log": {"every": 1e-3, "format": "csv"},
}
STUDIES = {
    "sweep": {
        "vary": {"control.kp[0]": [1, 2], "payload.mass": "uniform:0:1"},
        "sample": {"method": "sobol", "runs": 8, "seed": 1},
        "measure": ["iae"],
        "table": "csv",
    },
    "tune": {
        "tune": {
            "open": {"control.kp": "0:200", "control.kd": "0:20"},
            "minimise": {"iae": 1, "overshoot": 0.1},
            "subject_to": ["iae < 9"],
            "stages": [["control.kp"], ["control.kd"]],
            "holds": ["iae < 9"],
            "test": {"vary": {"payload.mass": [0, 1]}, "sample": {"method": "sobol", "runs": 3}},
        },
        "cases": {"vary": {"payload.mass": [0, 1]}},
    },
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("moves.csv").write_text("t_s,q_shoulder_rad,q_elbow_rad\n0,0,0\n0.01,1,0\n0.02,0,0\n")


def places(data: Any, path: tuple = ()) -> Iterator[tuple]:
    """The paths of all values."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def changed(data: Any, path: tuple, value: Any) -> Any:
    """The document with another value."""
    made = copy.deepcopy(data)
    here = made
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = value
    return made


def faults_of(read, document) -> tuple[Any, ...]:
    """The faults of a document; anything else that is raised fails the test."""
    try:
        read(document)
    except FileFaults as refused:
        return refused.faults
    return ()


def check_all(read, document, under: tuple = ()) -> None:
    """Hold that wrong values, of all that there are some, give faults, each with where, expected and found."""
    read(document)  # it is sound
    draws = random.Random(str(document))
    tried = [(path, value) for path in places(document) if path[: len(under)] == under for value in WRONG]
    for path, value in draws.sample(tried, min(len(tried), TRIED)):
        faults = faults_of(read, changed(document, path, value))
        assert all(fault.expected and fault.found for fault in faults), (path, value)


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.handful(2)
def test_a_controller_with_a_wrong_value_is_a_fault(control):
    without = {key: value for key, value in SCENARIO.items() if key not in ("inputs", "external", "payload")}
    check_all(read_scenario, {**without, "control": CONTROLS[control]}, ("control",))


def test_a_scenario_with_a_wrong_value_is_a_fault():
    check_all(read_scenario, SCENARIO)


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "robots").glob("*.yaml")))
@pytest.mark.handful(1)
def test_a_robot_with_a_wrong_value_is_a_fault(name):
    check_all(read_robot, yaml.safe_load((ROOT / f"robots/{name}.yaml").read_text()))


@pytest.mark.parametrize("kind", STUDIES)
@pytest.mark.handful(1)
def test_a_study_with_a_wrong_value_is_a_fault(kind):
    def read(document) -> None:
        Path("study.yaml").write_text(yaml.safe_dump(document))
        load_study_file("study.yaml")

    head = {"format": "armsim/study/1", "scenario": "two_link_hold", "set": {"duration": 0.02}, "force_step": False}
    check_all(read, {**head, **STUDIES[kind]})


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("key", ["times", "via", "speed", "frequencies", "q", "csv", "amplitude", "ends"])
@pytest.mark.handful(35)
def test_a_reference_of_a_wrong_value_alone_is_a_fault(key, value):
    scenario = {**SCENARIO, "inputs": None, "control": {**PD, "reference": {key: value}}}
    assert all("control.reference" in f"{fault.path}{fault.where}" for fault in faults_of(read_scenario, scenario))


def test_a_fault_in_what_joints_share_by_an_alias_is_told_once_with_all_their_paths(tmp_path, told):
    motor, others = (
        "motor: &m {Kpp: 0.05, Ra: 1, gear: 0}",
        "".join(f"  - {{name: j{i}, motor: *m}}\n" for i in (1, 2, 3)),
    )
    path = tmp_path / "r.yaml"
    path.write_text(f"format: armsim/robot/1\nname: r\nconvention: mdh\njoints:\n  - {{name: j0, {motor}}}\n{others}")
    with pytest.raises(FileFaults) as caught:
        read_robot(path)
    shared = [str(fault) for fault in caught.value.faults if "motor" in fault.path]
    told("\n".join(shared).replace(str(tmp_path), "."))
    assert len(shared) == 3
    assert all(f"joints[{i}].motor.Kpp" in shared[1] for i in range(4))
    data = yaml.safe_load(path.read_text())
    with pytest.raises(FileFaults) as caught:  # data have no lines, and each joint a motor of its own
        read_robot(data)
    assert sum("Kpp" in fault.path for fault in caught.value.faults) == 4
