"""What a user reads when a scenario file or an override is wrong, word for word."""

import pytest

from armsim.errors import FileFaults
from armsim.loading import read_scenario
from armsim.spec.control import ControlKeys

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
    "voltage without a motor": (
        [("output: torque", "output: voltage")],
        """\
s.yaml:6:28: control.output
  expected: a motor on every joint, to put a voltage on
  found:    no motor on R2
  mend:     give every joint a `motor` in the robot file, or write `output: torque`""",
    ),
    "voltage inputs without a motor": (
        [(CONTROL, "inputs: {voltage: [1, 2]}")],
        """\
s.yaml:6:10: inputs.voltage
  expected: a motor on every joint, to put a voltage on
  found:    no motor on R2
  mend:     give every joint a `motor` in the robot file, or write `torque` for `voltage`""",
    ),
    "unknown robot": (
        [("bots/two.yaml", "bots/tow.yaml")],
        """\
s.yaml:2:8: robot
  expected: a YAML file
  found:    "bots/tow.yaml": no file of this name
  mend:     did you mean `bots/two.yaml`?""",
    ),
    "unknown shipped robot": (
        [("bots/two.yaml", "arm6")],
        """\
s.yaml:2:8: robot
  expected: a robot file, or the name of a shipped robot
  found:    "arm6"
  mend:     did you mean `arm5`?""",
    ),
    "wrong length": (
        [("q: [0, 0]", "q: [0, 0, 0]")],
        """\
s.yaml:5:14: initial.q
  expected: 2 numbers (one per joint: R1, R2)
  found:    3 numbers
  mend:     give one number for each joint""",
    ),
    "one number where there should be a list": (
        [("q: [0, 0]", "q: 0")],
        """\
s.yaml:5:14: initial.q
  expected: 2 numbers (one per joint: R1, R2)
  found:    0
  mend:     write a list in square brackets, with commas""",
    ),
    "far away": (
        [("q: [0, 0]", "q: [0, 2e6]")],
        """\
s.yaml:5:18: initial.q[1]
  expected: a number of rad or m
  found:    2e6
  mend:     write a number between -1e+06 and 1e+06""",
    ),
    "period not a multiple of dt": (
        [("kp: 10", "kp: 10, period: 2.5e-3")],
        """\
s.yaml:6:52: control.period
  expected: a whole multiple of dt, 0.001 s
  found:    0.0025
  mend:     write 0.002 or 0.003""",
    ),
    "period below dt": (
        [("kp: 10", "kp: 10, period: 1e-4")],
        """\
s.yaml:6:52: control.period
  expected: a whole multiple of dt, 0.001 s
  found:    0.0001
  mend:     write 0.001""",
    ),
    "duration, log and time of a force off the grid": (
        [("duration: 1", "duration: 1.0004"), ("every: 1e-2", "every: 0.0105"), ("from: 0.5", "from: 0.5001")],
        """\
s.yaml:3:11: duration
  expected: a whole multiple of dt, 0.001 s
  found:    1.0004
  mend:     write 1 or 1.001
s.yaml:7:47: external[0].from
  expected: a whole multiple of dt, 0.001 s
  found:    0.5001
  mend:     write 0.5 or 0.501
s.yaml:8:14: log.every
  expected: a whole multiple of dt, 0.001 s
  found:    0.0105
  mend:     write 0.01 or 0.011""",
    ),
    "too many steps": (
        [
            ("dt: 1e-3", "dt: 1e-12"),
            ("duration: 1\n", "duration: 100\n"),
            (", from: 0.5", ""),
            ("log: {every: 1e-2}", ""),
        ],
        """\
s.yaml:3:11: duration
  expected: at most 1e+13 steps of dt
  found:    100
  mend:     make it shorter, or dt longer""",
    ),
    "step that is not given": (
        [(", dt: 1e-3", "")],
        """\
s.yaml:4:13: integrator.dt
  expected: a positive number of s
  found:    nothing, and rk4 takes steps of a given length
  mend:     add `dt: 1e-4`, or take a method that chooses its steps: rk54, rodas""",
    ),
    "tolerance of a method without": (
        [("dt: 1e-3", "dt: 1e-3, rtol: 1e-6")],
        """\
s.yaml:4:37: integrator.rtol
  expected: no tolerance with rk4
  found:    `rtol`
  mend:     take it out, or write `method: rk54`""",
    ),
    "step that only tiny steps share": (
        [("{method: rk4, dt: 1e-3}", "{}"), ("duration: 1", "duration: 1.23456789")],
        """\
s.yaml:3:11: duration
  expected: a whole multiple of 0.01 s, the longest step for log.every and external[0].from, or of a round part of it
  found:    1.23456789
  mend:     write 1.23 or 1.24""",
    ),
    "gain that the law does not have": (
        [("kp: 10", "kp: 10, ki: 3")],
        """\
s.yaml:6:44: control.ki
  expected: the gains of pd: kp and kd
  found:    `ki`
  mend:     take it out, or write `law: pid`""",
    ),
    "gain of a function": (
        [("law: pd", "law: python"), (", kd: [1, 1]", "")],
        """\
s.yaml:6:40: control.kp
  expected: no gains with python
  found:    `kp`
  mend:     take it out, or write `law: pid`""",
    ),
    "gain that the law needs": (
        [(", kd: [1, 1]", "")],
        """\
s.yaml:6:10: control.kd
  expected: 2 numbers (one per joint: R1, R2)
  found:    nothing: the key is missing
  mend:     add `kd: 10`""",
    ),
    "no output": (
        [("output: torque, ", "")],
        """\
s.yaml:6:10: control.output
  expected: voltage, current or torque
  found:    nothing: the key is missing
  mend:     add `output: voltage`""",
    ),
    "no control, in a word": (
        [("{law: pd, output: torque, kp: 10, kd: [1, 1]}", "none")],
        """\
s.yaml:6:10: control
  expected: a mapping with the keys law
  found:    "none"
  mend:     to switch it off, set `control.law` to `none`""",
    ),
    "control and inputs": (
        [("log:", "inputs: {torque: [1, 2], period: 1e-2}\nlog:")],
        """\
s.yaml:8:26: inputs.period
  expected: the period of `control`, for both
  found:    another one
  mend:     take it out, and write `period` under `control`""",
    ),
    "torque and voltage": (
        [(CONTROL, "inputs: {torque: [1, 2], voltage: [1, 2]}"), ("bots/two.yaml", "two_link")],
        """\
s.yaml:6:9: inputs
  expected: one of torque, voltage and current
  found:    torque and voltage
  mend:     keep one of them
s.yaml:6:26: inputs.voltage
  expected: a motor on every joint, to put a voltage on
  found:    no motor on shoulder, elbow
  mend:     give every joint a `motor` in the robot file, or write `torque` for `voltage`
s.yaml:7:19: external[0].link
  expected: the name of a joint
  found:    "R2"
  mend:     joints are: shoulder, elbow""",
    ),
    "bad expression of time": (
        [(CONTROL, "inputs: {torque: [sn(t), 0]}")],
        """\
s.yaml:6:19: inputs.torque[0]
  expected: a number of N·m or N, or an expression of the time t
  found:    "sn(t)" (there is no function `sn`)
  mend:     functions are sin, cos, tan, sqrt, exp, log, abs, min, max, sign, step, pulse, where""",
    ),
    "time where there is none": (
        [("duration: 1", "duration: 2*t")],
        """\
s.yaml:3:11: duration
  expected: a positive number of s
  found:    "2*t" (`t` is the time, which has no value here)
  mend:     only `inputs` and `control.reference.q` may depend on the time""",
    ),
    "unknown link": (
        [("link: R2", "link: R3")],
        """\
s.yaml:7:19: external[0].link
  expected: the name of a joint
  found:    "R3"
  mend:     did you mean `R2`?""",
    ),
    "end before start": (
        [("from: 0.5", "from: 0.5, to: 0.2")],
        """\
s.yaml:7:56: external[0].to
  expected: a time after `from`, 0.5 s
  found:    0.2
  mend:     swap them""",
    ),
    "CSV file that is not there": (
        [(CONTROL, "inputs: {torque: [{csv: rum.csv, column: tau}, 0]}")],
        """\
s.yaml:6:25: inputs.torque[0].csv
  expected: a CSV file
  found:    rum.csv: no file of this name
  mend:     check the name and the folder""",
    ),
    "CSV column that is not there": (
        [(CONTROL, "inputs: {torque: [{csv: run.csv, column: tua}, 0]}")],
        """\
s.yaml:6:42: inputs.torque[0].column
  expected: a column of run.csv
  found:    "tua"
  mend:     did you mean `tau`?""",
    ),
    "payload by its mass alone": (
        [("log:", "payload: 0.5\nlog:")],
        """\
s.yaml:8:10: payload
  expected: a mapping with the keys mass and center, or with one key out of cylinder, box, sphere, tube, rod, point, \
inertia
  found:    0.5
  mend:     write for example `payload: {mass: 0.5}`""",
    ),
    "faults of scenario and robot at once": (
        [
            ("robot: bots/two.yaml", "robot: {format: armsim/robot/1, nam: x, joints: 3}"),
            ("duration: 1", "duration: -1"),
        ],
        """\
s.yaml:2:8: robot.name
  expected: text
  found:    nothing: the key is missing
  mend:     add `name: arm5`
s.yaml:2:33: robot.nam
  expected: one of the keys format, name, gravity, convention, units, parameters, base, joints, tool, payload
  found:    the unknown key `nam`
  mend:     did you mean `name`?
s.yaml:2:49: robot.joints
  expected: a list with at least one item, 100 at most
  found:    3
  mend:     write for example `joints: [{name: R1, type: revolute, mdh: {...}, bodies: [...]}]`
s.yaml:3:11: duration
  expected: a positive number of s
  found:    -1
  mend:     write the duration without its sign, for example `duration: 1`""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_faulty_scenario_file_is_explained(message, name):
    replacements, expected = CASES[name]
    assert message(*replacements) == expected


OVERRIDES = {
    "unknown key": (
        {"control.kq[0]": "80"},
        """\
--set control.kq[0]: control.kq
  expected: KEYS
  found:    the unknown key `kq`
  mend:     did you mean `kp`?""",
    ),
    "unknown joint": (
        {"robot.joints[R9].motor.Kp": "8"},
        """\
--set robot.joints[R9].motor.Kp: joints[R9]
  expected: an index from 0 to 1, or one of R1, R2
  found:    R9
  mend:     did you mean `R2`?""",
    ),
    "index out of range": (
        {"control.kd[2]": 3},
        """\
--set control.kd[2]: control.kd[2]
  expected: an index from 0 to 1, or one of R1, R2
  found:    2
  mend:     correct the index""",
    ),
    "not a path": (
        {"control kp": 3},
        """\
--set control kp
  expected: a path like control.kp[0] or robot.joints[R2].motor.Kp
  found:    control kp
  mend:     correct the path""",
    ),
    "bad value": (
        {"robot.joints[R2].bodies[0].point.mass": -1, "control.kd": "[1, x]"},
        """\
--set robot.joints[R2].bodies[0].point.mass: joints[1].bodies[0].point.mass
  expected: a number of kg, 0 or more
  found:    -1
  mend:     write the mass without its sign, for example `mass: 1`
--set control.kd: control.kd[1]
  expected: a number of V·s/rad or N·m·s/rad
  found:    "x" (there is no `x`)
  mend:     give the number, or name it under `parameters`""",
    ),
    "value that is not YAML": (
        {"control.kd": "[1, 2"},
        """\
--set control.kd
  expected: YAML
  found:    expected ',' or ']', but got '<stream end>'
  mend:     put commas between the items, and close every bracket""",
    ),
    "index of a single number": (
        {"duration[0]": 3},
        """\
--set duration[0]: duration[0]
  expected: a path that ends where the values end
  found:    a single value at duration
  mend:     set `duration` as a whole""",
    ),
}


@pytest.mark.parametrize("name", OVERRIDES)
def test_a_faulty_override_is_explained(message, name):
    overrides, expected = OVERRIDES[name]
    assert message(overrides=overrides) == expected.replace("KEYS", f"one of the keys {', '.join(ControlKeys.fields)}")


def test_a_csv_file_that_has_changed_since_the_run_is_refused(message):
    expected = message((CONTROL, "inputs: {torque: [{csv: run.csv, column: tau, sha256: 0123456789abcdef}, 0]}"))
    assert expected.startswith(
        "s.yaml:6:55: inputs.torque[0].sha256\n"
        "  expected: the file that was used before, sha256 0123456789ab...\n"
        "  found:    run.csv: sha256 "
    )
    assert expected.endswith("\n  mend:     restore the file, or take `sha256` out to use it as it is")


def test_an_unknown_scenario_names_the_nearest_shipped_one():
    with pytest.raises(FileFaults) as caught:
        read_scenario("arm5_hodl")
    assert str(caught.value) == (
        "arm5_hodl\n"
        "  expected: a scenario file, or the name of a shipped scenario\n"
        "  found:    neither of them\n"
        "  mend:     did you mean `arm5_hold`?"
    )
