"""What a user reads when a scenario file or an override is wrong, word for word in tests/messages."""

import pytest

from armsim.errors import FileFaults
from armsim.loading import read_scenario

ROBOT = """\
format: armsim/robot/1
name: two
joints:
  - {name: R1, type: revolute, mdh: {a: 0}, bodies: [{point: {mass: 1, center: [1, 0, 0]}}], motor: {Kp: 10, Ra: 1}}
  - {name: R2, type: revolute, mdh: {a: 1}, bodies: [{point: {mass: 1, center: [1, 0, 0]}}]}
"""
SCENARIO = """\
format: armsim/scenario/1
robot: bots/two.yaml
duration: 1
integrator: {method: rk4, dt: 1e-3}
initial: {q: [0, 0]}
control: {law: pd, output: torque, kp: 10, kd: [1, 1]}
external: [{link: R2, force: [0, 0, 1], from: 0.5}]
log: {every: 1e-2}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "two.yaml").write_text(ROBOT)
    (tmp_path / "run.csv").write_text("t_s,tau\n0,1\n0.5,2\n")
    return tmp_path


@pytest.fixture
def message(folder):
    """The message for the scenario above with some of its text replaced, or with overrides."""

    def read(*replacements, overrides=None):
        text = SCENARIO
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        (folder / "s.yaml").write_text(text)
        with pytest.raises(FileFaults) as caught:
            read_scenario("s.yaml", overrides)
        return str(caught.value)

    return read


CONTROL = "control: {law: pd, output: torque, kp: 10, kd: [1, 1]}"
CASES = {
    "a frame to log that the robot lacks": [("log: {every: 1e-2}", "log: {every: 1e-2, frames: [tool, tip]}")],
    "voltage without a motor": [("output: torque", "output: voltage")],
    "voltage inputs without a motor": [(CONTROL, "inputs: {voltage: [1, 2]}")],
    "unknown robot": [("bots/two.yaml", "bots/tow.yaml")],
    "unknown shipped robot": [("bots/two.yaml", "arm6")],
    "wrong length": [("q: [0, 0]", "q: [0, 0, 0]")],
    "one number where there should be a list": [("q: [0, 0]", "q: 0")],
    "far away": [("q: [0, 0]", "q: [0, 2e6]")],
    "period not a multiple of dt": [("kp: 10", "kp: 10, period: 2.5e-3")],
    "period below dt": [("kp: 10", "kp: 10, period: 1e-4")],
    "duration, log and time of a force off the grid": [
        ("duration: 1", "duration: 1.0004"),
        ("every: 1e-2", "every: 0.0105"),
        ("from: 0.5", "from: 0.5001"),
    ],
    "too many steps": [
        ("dt: 1e-3", "dt: 1e-12"),
        ("duration: 1\n", "duration: 100\n"),
        (", from: 0.5", ""),
        ("log: {every: 1e-2}", ""),
    ],
    "step that is not given": [(", dt: 1e-3", "")],
    "tolerance of a method without": [("dt: 1e-3", "dt: 1e-3, rtol: 1e-6")],
    "step that only tiny steps share": [("{method: rk4, dt: 1e-3}", "{}"), ("duration: 1", "duration: 1.23456789")],
    "gain that the law does not have": [("kp: 10", "kp: 10, ki: 3")],
    "gain of a function": [("law: pd", "law: python"), (", kd: [1, 1]", "")],
    "gain that the law needs": [(", kd: [1, 1]", "")],
    "no output": [("output: torque, ", "")],
    "no control, in a word": [("{law: pd, output: torque, kp: 10, kd: [1, 1]}", "none")],
    "control and inputs": [("log:", "inputs: {torque: [1, 2], period: 1e-2}\nlog:")],
    "torque and voltage": [(CONTROL, "inputs: {torque: [1, 2], voltage: [1, 2]}"), ("bots/two.yaml", "two_link")],
    "bad expression of time": [(CONTROL, "inputs: {torque: [sn(t), 0]}")],
    "time where there is none": [("duration: 1", "duration: 2*t")],
    "unknown link": [("link: R2", "link: R3")],
    "end before start": [("from: 0.5", "from: 0.5, to: 0.2")],
    "CSV file that is not there": [(CONTROL, "inputs: {torque: [{csv: rum.csv, column: tau}, 0]}")],
    "CSV column that is not there": [(CONTROL, "inputs: {torque: [{csv: run.csv, column: tua}, 0]}")],
    "payload by its mass alone": [("log:", "payload: 0.5\nlog:")],
    "faults of scenario and robot at once": [
        ("robot: bots/two.yaml", "robot: {format: armsim/robot/1, nam: x, joints: 3}"),
        ("duration: 1", "duration: -1"),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_a_faulty_scenario_file_is_explained(message, told, name):
    told(message(*CASES[name]))


OVERRIDES = {
    "unknown key": {"control.kq[0]": "80"},
    "unknown joint": {"robot.joints[R9].motor.Kp": "8"},
    "index out of range": {"control.kd[2]": 3},
    "not a path": {"control kp": 3},
    "bad value": {"robot.joints[R2].bodies[0].point.mass": -1, "control.kd": "[1, x]"},
    "value that is not YAML": {"control.kd": "[1, 2"},
    "index of a single number": {"duration[0]": 3},
}


@pytest.mark.parametrize("name", OVERRIDES)
def test_a_faulty_override_is_explained(message, told, name):
    told(message(overrides=OVERRIDES[name]))


def test_a_csv_file_that_has_changed_since_the_run_is_refused(message, told):
    told(message((CONTROL, "inputs: {torque: [{csv: run.csv, column: tau, sha256: 0123456789abcdef}, 0]}")))


def test_an_unknown_scenario_names_the_nearest_shipped_one(told):
    with pytest.raises(FileFaults) as caught:
        read_scenario("arm5_hodl")
    told(caught.value)
