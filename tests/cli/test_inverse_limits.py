"""`armsim inverse` where a motion asks more of the motors than they can do."""

from __future__ import annotations

import json

import pytest

# a point mass of 2 kg at 0.5 m, level at q = 0: 9.81 N·m; without friction and inertia of its own
ARM = """format: armsim/robot/1
name: lever
gravity: [0, -9.81, 0]
joints:
  - name: J1
    type: revolute
    mdh: {}
    bodies: [{point: {mass: 2, center: [0.5, 0, 0]}}]
    motor: {Kp: 0.05, Ra: 2, gear: 50, limits: LIMITS}
"""


@pytest.fixture
def lever(armsim, empty_folder):
    """Runs inverse dynamics of the lever with limits on its motor."""

    def run(limits: str, *args):
        (empty_folder / "lever.yaml").write_text(ARM.replace("LIMITS", limits))
        done = armsim("inverse", "lever.yaml", *args)
        assert (done.code, done.err) == (0, "")
        return done.out

    return run


def notes(text: str) -> list[str]:
    """The warnings of an output, each on one line."""
    return [line.replace("\n  ", " ") for line in text.split("\n! ")[1:]]


# 9.81 N·m / 50 at the shaft is 0.1962 N·m, over 0.05 N·m/A 3.924 A, times 2 ohm 7.848 V


@pytest.mark.parametrize(
    ("limits", "note"),
    [
        ("{torque: 0.15}", "J1 needs 0.1962 N·m at the motor's shaft, more than its limit of 0.15 N·m"),
        ("{current: 3.5}", "J1 needs 3.924 A, more than its limit of 3.5 A"),
        ("{voltage: 7}", "J1 needs 7.848 V, more than its limit of 7 V"),
    ],
)
def test_holding_beyond_a_limit_of_the_motor_is_said_with_need_and_limit(lever, limits, note):
    assert notes(lever(limits).rstrip("\n")) == [note]
    up = lever(limits, "--q", "pi")  # the other way: a magnitude exceeds it
    assert notes(up.rstrip("\n")) == [note]
    assert notes(lever(limits, "--q", "pi/2").rstrip("\n")) == []  # it stands upright


def test_turning_faster_than_the_motor_can_is_said(lever):
    out = lever("{speed: 99}", "--q", "pi/2", "--qd=-2")
    assert notes(out.rstrip("\n")) == ["J1 needs 100 rad/s at the motor's shaft, more than its limit of 99 rad/s"]


def test_what_just_keeps_all_limits_is_not_a_warning(lever):
    exact = "{voltage: 2*9.81/2.5, current: 9.81/2.5, torque: 9.81/50, speed: 1e-9}"
    assert "!" not in lever(exact)
    assert json.loads(lever(exact, "--json"))["exceeded"] == []


def test_a_motor_without_constants_has_a_limit_of_torque_all_the_same(armsim, empty_folder):
    (empty_folder / "bare.yaml").write_text(ARM.replace("Kp: 0.05, Ra: 2, ", "").replace("LIMITS", "{torque: 0.15}"))
    (note,) = notes(armsim("inverse", "bare.yaml").out.rstrip("\n"))
    assert note == "J1 needs 0.1962 N·m at the motor's shaft, more than its limit of 0.15 N·m"


def test_json_lists_every_limit_that_is_exceeded(lever):
    (current, torque) = json.loads(lever("{voltage: 8, current: 3.5, torque: 0.15}", "--json"))["exceeded"]
    assert current == {
        **{"joint": "J1", "quantity": "current", "needed": pytest.approx(3.924, rel=1e-14), "limit": 3.5, "unit": "A"}
    }
    assert torque == {
        **{"joint": "J1", "quantity": "torque", "needed": pytest.approx(0.1962, rel=1e-14), "limit": 0.15},
        "unit": "N·m",
    }


@pytest.fixture
def trajectory(empty_folder):
    """Speeds of 0, 1, 3, 2, 1 rad/s about upright, without acceleration: only back-EMF and speed are asked for."""
    rows = "".join(f"{t},1.5707963267948966,{v},0\n" for t, v in ((0, 0), (0.1, 1), (0.2, -3), (0.3, 2), (0.4, 1)))
    (empty_folder / "path.csv").write_text("t_s,q_J1_rad,qd_J1_rad_s,qdd_J1_rad_s2\n" + rows)
    return "--trajectory", "path.csv", "-o", "tau.csv"


def test_along_a_trajectory_the_worst_row_is_named_and_how_many_there_are(lever, trajectory, read_table, empty_folder):
    out = lever("{voltage: 4, speed: 110}", *trajectory)
    volts, speed = notes(out.rstrip("\n"))
    # back-EMF 0.05 * 50 V·s/rad
    assert volts == (
        "J1 needs 7.5 V at t = 0.2 s (line 4), more than its limit of 4 V; too much in 2 of 5 rows, from t = 0.2 s on"
    )
    assert speed.startswith("J1 needs 150 rad/s at the motor's shaft at t = 0.2 s (line 4), more than its limit of 110")
    assert speed.endswith("too much in 1 of 5 rows, from t = 0.2 s on")
    written = read_table(empty_folder / "tau.csv")
    line = (empty_folder / "tau.csv").read_text().splitlines()[4 - 1]
    assert line.startswith("0.2,")
    assert abs(written["voltage_J1_V"]).max() == pytest.approx(7.5)  # unlimited: it is what the motion needs


def test_json_of_a_trajectory_says_where_its_motors_are_overloaded(lever, trajectory):
    found = json.loads(lever("{voltage: 4}", *trajectory, "--json"))["exceeded"]
    assert found == [
        {
            **{"joint": "J1", "quantity": "voltage", "needed": pytest.approx(7.5), "limit": 4.0, "unit": "V"},
            **{"t_s": 0.2, "line": 4, "from_s": 0.2, "rows": 2},
        }
    ]
    assert json.loads(lever("{voltage: 8}", *trajectory, "--json", "--force"))["exceeded"] == []


def test_a_run_that_limits_have_bounded_needs_no_more_than_them(armsim, lever, empty_folder, read_table):
    limits = "{voltage: 12, current: 4.5}"
    lever(limits)  # writes lever.yaml
    (empty_folder / "swing.yaml").write_text(
        "format: armsim/scenario/1\nrobot: lever.yaml\nduration: 1\ninitial: {q: [-1]}\n"
        "integrator: {method: rk4, dt: 1e-3}\nlog: {every: 1e-3}\n"
        "control: {law: pd, output: voltage, kp: 200, kd: 1, target: [0.5]}\n"
    )
    assert armsim("simulate", "swing.yaml", "-o", "run").code == 0
    current = abs(read_table(empty_folder / "run/torque.csv")["current_J1_A"])
    assert sum(current == 4.5) > 10  # the limit has acted
    out = lever(limits, "--trajectory", "run/trajectory.csv", "-o", "tau.csv")
    assert notes(out.rstrip("\n")) == []
    tight = lever("{current: 4.4}", "--trajectory", "run/trajectory.csv", "-o", "tau.csv", "--force")
    assert len(notes(tight.rstrip("\n"))) == 1


def test_torques_beyond_a_limit_are_said_by_forward_too(armsim, lever, empty_folder):
    lever("{torque: 0.15}")  # writes the arm
    out = armsim("forward", "lever.yaml", "--torque", "9.81").out
    assert notes(out.rstrip("\n")) == ["J1 needs 0.1962 N·m at the motor's shaft, more than its limit of 0.15 N·m"]
    found = json.loads(armsim("forward", "lever.yaml", "--torque", "9.81", "--json").out)["exceeded"]
    assert [(each["joint"], each["quantity"], each["limit"]) for each in found] == [("J1", "torque", 0.15)]
    assert notes(armsim("forward", "lever.yaml", "--torque", "7.4").out) == []
    assert notes(armsim("forward", "lever.yaml", "--voltage", "12").out) == []  # the motor sees to that itself
