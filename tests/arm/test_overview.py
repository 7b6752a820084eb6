"""What `info` says of gains and motors at the joint, against the motion that follows from them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.arm.overview import PidJoint, scenario_overview
from armsim.arm.robot_overview import robot_overview

MOTOR = {"Kp": 0.05, "Ke": 0.06, "Ra": 0.8, "gear": 30, "rotor_inertia": 2e-5}
REVERSED = {"Kp": 0.03, "Ra": 1.7, "gear": -50, "rotor_inertia": 1e-5}
GAINS = {"kp": [40, -25], "kd": [0.3, -0.5]}  # with the sign of the gear


def scenario(*motors, gravity=0.0, law="pd", **control) -> dict:
    """Two joints that a voltage holds at an angle."""
    rod = {"rod": {"axis": "x", "length": 0.4, "mass": 1.5, "center": [0.2, 0, 0]}}
    joints = [
        {"name": f"J{i}", "type": "revolute", "mdh": {"a": 0.4 * (i > 0)}, "bodies": [rod], "motor": motor}
        for i, motor in enumerate(motors)
    ]
    return {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "plane", "gravity": [0, -gravity, 0], "joints": joints},
        "duration": 6,
        "integrator": {"method": "velocity_implicit", "dt": 1e-3},
        "control": {"law": law, "output": "voltage", "target": [0.3, -0.5], **GAINS, **control},
        "log": {"every": 1},
    }


def told(asked) -> list[PidJoint]:
    return scenario_overview(asked).command.joints


@pytest.mark.parametrize("L", [0.0, 2e-3])
def test_stiffness_and_damping_are_those_of_the_closed_loop(L):
    asked = scenario({**MOTOR, "inductance": L}, {**REVERSED, "inductance": L})
    lin = armsim.linearize(asked, target=True)
    A = lin.closed_loop.A
    if L:  # currents at what they settle to
        A = A[:4, :4] - A[:4, 4:] @ np.linalg.solve(A[4:, 4:], A[4:, :4])
    forces = lin.mass_matrix @ A[2:]
    for i, joint in enumerate(told(asked)):
        # a handful of roundings, and of the mass matrix's inverse, of condition 50
        assert joint.stiffness == pytest.approx(-forces[i, i], rel=1e-12)
        assert joint.damping == pytest.approx(-forces[i, 2 + i], rel=1e-12)
        assert joint.stiffness > 0
        assert joint.damping > joint.back_emf > 0


def test_back_emf_is_the_damping_that_is_left_without_gains():
    asked = scenario(MOTOR, REVERSED, kd=[0, 0])
    with_gains = told(scenario(MOTOR, REVERSED))
    for joint, more, motor in zip(told(asked), with_gains, (MOTOR, REVERSED)):
        closed = motor["gear"] ** 2 * motor["Kp"] * motor.get("Ke", motor["Kp"]) / motor["Ra"]
        assert joint.damping == joint.back_emf == more.back_emf == pytest.approx(closed, rel=1e-14)


@pytest.mark.parametrize("L", [0.0, 2e-3])
@pytest.mark.handful(1)
def test_the_droop_is_what_a_settled_arm_lacks_of_its_target(L):
    # gravity, weak here, is taken at the target: the square of the droop is left, of 3e-3 rad
    asked = scenario({**MOTOR, "inductance": L}, {**REVERSED, "inductance": L}, gravity=0.2)
    run = armsim.simulate(asked)
    assert np.abs(run.qd[-1]).max() < 1e-6  # it has come to rest, but for 1e-6 rad
    for joint, entry, q in zip(told(asked), run.summary()["joints"], run.q[-1]):
        assert joint.target - q == pytest.approx(joint.droop, rel=0.01)
        assert entry["droop"] == joint.droop
        assert entry["error"] == joint.target - q
        assert abs(joint.droop) > 5e-4


@pytest.mark.parametrize("gear", [30, -30])
def test_what_a_motor_is_at_its_joint_is_what_the_arms_answers_say(gear):
    asked = scenario({**MOTOR, "gear": gear}, REVERSED, gravity=9.81)["robot"]
    facts = robot_overview(asked)
    bare = [{**joint, "motor": {**joint["motor"], "rotor_inertia": 0}} for joint in asked["joints"]]
    without = robot_overview({**asked, "joints": bare})
    for i, joint in enumerate(facts.joints):
        motor = joint.motor
        rotor = facts.pose.mass_matrix[i][i] - without.pose.mass_matrix[i][i]
        assert motor.armature == pytest.approx(rotor, rel=1e-12)
        torque, volts, current = (values[i] for values in (facts.pose.torque, facts.pose.voltage, facts.pose.current))
        assert motor.torque_per_volt == pytest.approx(torque / volts, rel=1e-12)
        assert motor.Kp * motor.gear == pytest.approx(torque / current, rel=1e-12)
    assert facts.pose.torque[1] == pytest.approx(1.5 * 9.81 * 0.2, rel=1e-12)
    assert math.copysign(1, facts.joints[0].motor.torque_per_volt) == math.copysign(1, gear)


@pytest.mark.parametrize("gear", [30, -30])
@pytest.mark.handful(1)
def test_the_peak_of_the_current_is_that_of_the_rows(gear):
    control = {"kp": [math.copysign(40, gear), -25], "kd": [0, 0]}
    asked = {**scenario({**MOTOR, "gear": gear}, REVERSED, **control), "duration": 0.1, "log": {"every": 1e-3}}
    run = armsim.simulate(asked)
    for i, entry in enumerate(run.summary()["joints"]):
        assert entry["peak_current"] == pytest.approx(np.abs(run[f"current_J{i}_A"]).max(), rel=1e-14)
        assert abs(entry["peak_torque"]) == pytest.approx(np.abs(run[f"tau_motor_J{i}_Nm"]).max(), rel=1e-14)
