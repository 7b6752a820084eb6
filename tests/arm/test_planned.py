"""What a reference asks for: closed forms on a slider, and on one joint with a motor."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.errors import UsageError

MASS = 2.0


def scenario(reference, joint=None, **control):
    slider = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": MASS}}], **(joint or {})}
    return {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "slider", "gravity": [0, 0, 0], "joints": [slider]},
        "duration": 2,
        "integrator": {"method": "rk4", "dt": 1e-3},
        "control": {"law": "pd", "output": "torque", "kp": 100, "kd": 10, "reference": reference, **control},
        "log": {"every": 0.1},
    }


MOVE = {"via": [[0.6]], "times": [1.5]}


def test_peaks_are_those_of_the_closed_form_and_forces_those_of_newton():
    planned = armsim.reference(scenario(MOVE))
    (joint,) = planned.joints
    assert (planned.end, joint.first, joint.last, joint.beside) == (1.5, 0.0, 0.6, 0.0)
    assert joint.peak_speed.value == pytest.approx(15 / 8 * 0.6 / 1.5, rel=1e-14)
    assert joint.peak_speed.t_s == pytest.approx(0.75, abs=1e-7)
    assert joint.peak_acceleration.value == pytest.approx(10 / math.sqrt(3) * 0.6 / 1.5**2, rel=1e-12)
    assert joint.peak_torque.value == pytest.approx(
        MASS * joint.peak_acceleration.value, rel=1e-5
    )  # at the best of 2000 instants
    assert planned.tau == pytest.approx(MASS * planned.qdd, rel=1e-14, abs=1e-14)
    assert planned.exceeded == ()
    assert planned.t.tolist() == pytest.approx([0.1 * k for k in range(16)])


def test_a_motion_that_leaves_a_joints_range_is_told_with_its_extreme_and_its_beginning():
    limits = {"limits": {"lower": -1, "upper": 0.5}}
    planned = armsim.reference(scenario({"via": [[0.6]], "times": [1], "profile": "cubic"}, limits))
    (found,) = planned.exceeded
    assert (found.joint, found.quantity, found.needed, found.limit) == ("x", "position", 0.6, 0.5)
    assert found.t_s == 1.0
    s = next(x.real for x in np.roots([-2, 3, 0, -0.5 / 0.6]) if 0 < x.real < 1)
    assert found.from_s == pytest.approx(s, abs=1e-3)  # of 2000 instants


MOTOR = {"Kp": 4.0, "Ra": 2.0}


def test_a_voltage_that_does_not_suffice_is_told_as_the_torque_that_the_motor_gives_at_that_speed():
    # by a trapezoid, the voltage is greatest as it ends its ramp: V = Ra F / Kp + Kp v
    move = {"via": [[1.2]], "speed": 1.5, "acceleration": 3}
    force, speed = MASS * 3, 1.5
    needed = MOTOR["Ra"] * force / MOTOR["Kp"] + MOTOR["Kp"] * speed
    joint = {"motor": {**MOTOR, "limits": {"voltage": 8}}}
    (found,) = armsim.reference(scenario(move, joint)).exceeded
    assert (found.quantity, found.limit, found.unit) == ("voltage", 8.0, "V")
    assert found.needed == pytest.approx(needed, rel=1e-9)
    assert (found.torque, found.speed) == pytest.approx((force, speed), rel=1e-9)
    assert found.available == pytest.approx(MOTOR["Kp"] * (8 - MOTOR["Kp"] * speed) / MOTOR["Ra"], rel=1e-9)
    assert found.t_s == pytest.approx(0.5, abs=1e-12)
    # the voltage Ra F / Kp + Kp a t passes 8 V at
    assert found.from_s == pytest.approx((8 - 3) / (MOTOR["Kp"] * 3), abs=1e-3)


def test_the_limit_of_a_controller_of_voltages_counts_where_it_is_below_that_of_the_motor():
    move = {"via": [[1.2]], "speed": 1.5, "acceleration": 3}
    joint = {"motor": {**MOTOR, "limits": {"voltage": 20}}}
    more = {"output": "voltage", "limit": 7}
    (found,) = armsim.reference(scenario(move, joint, **more)).exceeded
    assert (found.quantity, found.limit) == ("voltage", 7.0)
    assert armsim.reference(scenario(move, joint, output="voltage", limit=10)).exceeded == ()
    joint = {"motor": {**MOTOR, "limits": {"voltage": 8}}}
    (found,) = armsim.reference(scenario(move, joint, output="voltage", limit=30)).exceeded
    assert found.limit == 8.0


def test_a_limit_of_commanded_forces_and_one_of_the_motors_speed_are_told():
    move = {"via": [[1.2]], "speed": 1.5, "acceleration": 3}
    joint = {"motor": {**MOTOR, "limits": {"speed": 1.2}}}
    speed, command = armsim.reference(scenario(move, joint, limit=5)).exceeded
    assert (speed.quantity, speed.needed, speed.limit) == ("speed", pytest.approx(1.5), 1.2)
    assert (command.quantity, command.needed, command.limit, command.unit) == (
        "command", pytest.approx(6.0), 5.0, "N",
    )  # fmt: skip


@pytest.mark.slow
def test_its_rows_are_a_file_that_another_scenario_follows(tmp_path):
    planned = armsim.reference(scenario({"profile": "sinusoid", "amplitude": 0.3, "frequency": 0.7}))
    planned.save(tmp_path / "moves.csv")
    assert (tmp_path / "moves.csv").read_text().startswith("t_s,q_x_m,qd_x_m_s,qdd_x_m_s2,tau_motor_x_N\n")
    again = armsim.reference(scenario({"csv": str(tmp_path / "moves.csv")}))
    assert np.abs(again.q - planned.q[: len(again.q)]).max() < 1e-15
    # between the rows, quintics of 0.1 s, whose error is at most h⁶ / 46080 of the sixth derivative
    bound = 0.3 * (math.tau * 0.7) ** 6 * 0.1**6 / 46080
    motions = [x.scenario.command.reference for x in (again, planned)]
    for t in np.linspace(0, 1.99, 333):
        a, b = (motion.at(float(t)).q[0] for motion in motions)
        assert abs(a - b) <= bound * 1.01 + 1e-15


@pytest.mark.parametrize("reference", [None])
def test_a_scenario_without_a_reference_is_refused(reference):
    with pytest.raises(UsageError, match="a motion to follow"):
        armsim.reference(scenario(reference))
    with pytest.raises(UsageError, match="inputs or nothing"):
        armsim.reference("arm5_fall")
