"""A motor's limit of speed as a law on its joint: what drives gives way there, and the joint keeps the speed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim

LOCATING = ["rk4", "rk54", "rodas"]


def scenario(motor, joint=None, method="rk54", gravity=0.0, **keys):
    """A point mass of 1 kg on a prismatic joint, lifted by a motor, for 2 s."""
    row = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 1.0, "center": [0, 0, 0]}}]}
    motor = {"Kp": 0.5, "Ra": 1.0, "gear": 4.0, **motor}
    robot = {"format": "armsim/robot/1", "name": "lift", "gravity": [0, 0, gravity]}
    robot["joints"] = [{**row, "motor": motor, **(joint or {})}]
    integrator = {"method": method, **({"dt": 0.01} if method == "rk4" else {"rtol": 1e-9})}
    return {
        "format": "armsim/scenario/1",
        "name": "lift",
        "robot": robot,
        "duration": 2.0,
        "log": {"every": 0.1},
        "integrator": integrator,
        **keys,
    }


def speed_of(run):
    return run["qd_x_m_s"]


@pytest.mark.parametrize("method", LOCATING)
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("gear", [4.0, -4.0])
@pytest.mark.handful(1)
def test_a_driven_joint_keeps_its_motors_greatest_speed(method, sign, gear):
    # 4 N from rest: 1 m/s after 1/4 s
    made = scenario({"gear": gear, "limits": {"speed": 4.0}}, inputs={"torque": [4.0 * sign]}, method=method)
    run = armsim.simulate(made)
    assert run.q[-1] == pytest.approx([sign * (2.0 - 0.125)], abs=1e-10)
    assert speed_of(run)[3:] == pytest.approx([sign] * 18, abs=1e-13)
    assert run["tau_motor_x_N"][3:] == pytest.approx([0.0] * 18, abs=1e-12)
    assert run.summary()["audit"]["motors"] == pytest.approx(0.5, abs=1e-9)  # the kinetic energy, and no more
    assert (run.steps if run.steps_chosen is None else sum(run.steps_chosen)) < 400


@pytest.mark.parametrize("method", LOCATING)
@pytest.mark.handful(2)
def test_at_its_greatest_speed_a_motor_gives_what_holds_it_against_friction_and_weight(method):
    # 9 N against 4.905 N of weight, 1 N of Coulomb friction and 0.5 N·s/m: 0.5 m/s, then 6.155 N
    motor = {"limits": {"speed": 2.0}}
    joint = {"friction": {"coulomb": 1.0, "viscous": 0.5}}
    made = scenario(motor, joint, method, gravity=-4.905, inputs={"torque": [9.0]})
    run = armsim.simulate(made)
    assert speed_of(run)[-10:] == pytest.approx([0.5] * 10, abs=1e-13)
    assert run["tau_motor_x_N"][-10:] == pytest.approx([4.905 + 1.0 + 0.25] * 10, abs=1e-10)
    assert run["current_x_A"][-1] == pytest.approx(6.155 / 2.0)
    assert run["voltage_x_V"][-1] == pytest.approx(6.155 / 2.0 + 0.5 * 4.0 * 0.5)
    assert run["qdd_x_m_s2"][-1] == 0.0
    rest = run.summary()["audit"]
    assert abs(rest["residual"]) < 1e-8 * rest["motors"]


@pytest.mark.parametrize("method", LOCATING)
@pytest.mark.handful(2)
def test_gear_losses_at_the_greatest_speed_are_those_of_the_torque_that_is_left(method):
    motor = {"efficiency": 0.8, "limits": {"speed": 2.0}}
    run = armsim.simulate(scenario(motor, None, method, gravity=-4.0, inputs={"torque": [9.0]}))
    assert speed_of(run)[-1] == pytest.approx(0.5, abs=1e-13)
    assert run["tau_motor_x_N"][-1] == pytest.approx(4.0 / 0.8)
    assert run["tau_friction_x_N"][-1] == pytest.approx(-4.0 / 0.8 * 0.2)


@pytest.mark.parametrize("method", LOCATING)
@pytest.mark.handful(1)
def test_a_load_that_falls_faster_than_the_limit_is_not_held_and_may_be_braked(method):
    # with the command downwards the motor cannot push on beyond the limit; it cannot hold either
    made = scenario({"limits": {"speed": 2.0}}, None, method, gravity=-5.0, inputs={"torque": [-3.0]})
    run = armsim.simulate(made)
    reached = 0.5 / 8.0  # 8 m/s² up to 0.5 m/s, then 5 m/s²
    left = 2.0 - reached
    assert run.q[-1] == pytest.approx([-(8 * reached**2 / 2 + 0.5 * left + 5 * left**2 / 2)], abs=1e-9)
    braked = armsim.simulate(scenario({"limits": {"speed": 2.0}}, None, method, gravity=-5.0, inputs={"torque": [3.0]}))
    assert braked.q[-1] == pytest.approx([-2 * 2.0**2 / 2], abs=1e-9)


@pytest.mark.parametrize("method", ["rk54", "rodas"])
@pytest.mark.handful(1)
def test_the_limit_lets_go_when_the_command_no_longer_reaches_it(method):
    # 4 cos(pi t) N: at 1 m/s from asin(pi/4)/pi on, and slower again from 0.5 s on
    made = scenario({"limits": {"speed": 4.0}}, None, method, inputs={"torque": ["4*cos(pi*t)"]})
    run = armsim.simulate(made)
    reached = math.asin(math.pi / 4) / math.pi
    first = 4 / math.pi**2 * (1 - math.cos(math.pi * reached))

    def speed(t):
        return 1.0 + 4 / math.pi * (math.sin(math.pi * t) - 1.0)

    back = 1.0 - math.asin(1 - math.pi / 2) / math.pi  # at -1 m/s it is held again
    middle = (1 - 4 / math.pi) * (back - 0.5) + 4 / math.pi**2 * (math.cos(math.pi * 0.5) - math.cos(math.pi * back))
    assert speed(back) == pytest.approx(-1.0)
    free = 1.5  # from where on 4 cos(pi t) pushes upwards
    last = 0.5
    after = -last + 4 / math.pi * (last + (math.cos(math.pi * 2.0) - math.cos(math.pi * free)) / -math.pi)
    exact = first + (0.5 - reached) + middle - (free - back) + after
    assert run.q[-1] == pytest.approx([exact], abs=1e-7)


@pytest.mark.parametrize("method", ["rk54", "rodas"])
@pytest.mark.handful(1)
def test_a_limit_of_speed_costs_no_more_steps_than_what_it_does_takes(method):
    made = scenario({"limits": {"speed": 4.0, "voltage": 24.0}}, {"friction": {"coulomb": 0.5}}, method)
    made |= {"inputs": {"voltage": [20.0]}, "duration": 100.0, "log": {"every": 100.0}}
    run = armsim.simulate(made)
    assert sum(run.steps_chosen) < 500
    assert speed_of(run)[-1] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("method", LOCATING)
@pytest.mark.handful(1)
def test_two_joints_are_held_at_their_greatest_speeds_together(method):
    """Two parallel slides, the second on the first: forces couple through the mass matrix."""
    joints = []
    for name, mass, limit in (("a", 1.0, 2.0), ("b", 2.0, 1.0)):
        body = [{"point": {"mass": mass, "center": [0, 0, 0]}}]
        motor = {"Kp": 1.0, "Ra": 1.0, "gear": 1.0, "limits": {"speed": limit}}
        joints.append({"name": name, "type": "prismatic", "mdh": {}, "bodies": body, "motor": motor})
    made = scenario({}, None, method)
    made["robot"] |= {"joints": joints}
    made |= {"inputs": {"torque": [12.0, 6.0]}, "log": {"every": 0.01}}
    run = armsim.simulate(made)
    va, vb = run["qd_a_m_s"], run["qd_b_m_s"]
    assert (va[-1], vb[-1]) == pytest.approx((2.0, 1.0), abs=1e-12)
    assert np.all(va <= 2.0 + 1e-9)
    assert np.all(vb <= 1.0 + 1e-9)
    a, b = run["tau_motor_a_N"][-1], run["tau_motor_b_N"][-1]
    assert (a, b) == pytest.approx((0.0, 0.0), abs=1e-10)  # nothing resists
