"""Times at limits of drives and outside joints' ranges, of motions for which they are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim.control import OpenLoop
from armsim.model import Limit, Motor, MotorLimits
from armsim.plant import Plant
from tests.controllers import feedback

STEPS = 1000
MOTOR = Motor(Kp=0.5, Ke=0.5, Ra=2.0, gear=10.0)
TORQUE_ONLY = Motor(gear=-3.0)  # 7 / -3 * -3 is not 7 in doubles, for many numbers


def wheel(arms, motor, output, command, **limits):
    """A plant of one joint under an open-loop command of the time."""
    (joint,) = arms.serial("R").joints
    motor = replace(motor, limits=MotorLimits(**limits))
    return Plant(replace(arms.serial("R"), links=(replace(joint, motor=motor),)), OpenLoop(output, (command,)))


def back_emf_speed(volts):
    return volts / (MOTOR.Ke * MOTOR.gear)


@pytest.mark.parametrize(
    ("motor", "output", "command", "qd", "limits", "acts"),
    [
        # a ramp of voltage, current or torque meets its limit at a known share of the second
        (MOTOR, "voltage", lambda t: 20 * t, lambda t: 0.0, {"voltage": 12.0}, 0.4),
        (MOTOR, "voltage", lambda t: -20 * t, lambda t: 0.0, {"current": 6.0}, 0.4),  # u / Ra
        (MOTOR, "voltage", lambda t: 20 * t, lambda t: 0.0, {"torque": 4.0}, 0.2),  # Kp u / Ra, at the shaft
        (MOTOR, "voltage", lambda t: 8.0, lambda t: 2 * t, {"speed": 15.0}, 0.8 - 0.75),  # back-EMF is 8 V at 1.6 rad/s
        (MOTOR, "torque", lambda t: 50 * t, lambda t: 0.0, {"torque": 4.0}, 0.2),  # 40 N·m at the joint
        (MOTOR, "torque", lambda t: 50 * t, lambda t: 0.0, {"current": 8.0}, 0.2),
        (MOTOR, "torque", lambda t: 50 * t, lambda t: 0.0, {"voltage": 16.0}, 0.2),  # Ra i
        (MOTOR, "torque", lambda t: 7.0, lambda t: back_emf_speed(20 * t), {"voltage": 12.8}, 0.5),  # Ra i is 2.8
        (TORQUE_ONLY, "torque", lambda t: 50 * t, lambda t: 0.0, {"torque": 10.0}, 0.4),
        (TORQUE_ONLY, "torque", lambda t: 7.0, lambda t: -4 * t, {"speed": 9.0}, 0.0),  # a gear that reverses: it brakes
        (TORQUE_ONLY, "torque", lambda t: 7.0, lambda t: 4 * t, {"speed": 9.0}, 0.25),
        (MOTOR, "voltage", lambda t: 20 * t, lambda t: 3 * t, {}, 0.0),
    ],
)  # fmt: skip
@pytest.mark.handful(1)
def test_a_limit_acts_from_where_the_command_exceeds_it(
    arms, given, gathered, motor, output, command, qd, limits, acts
):
    moments = given(wheel(arms, motor, output, command, **limits), 1.0, STEPS, lambda t: 0.0, qd=[qd])
    found = gathered(["time_at_limit", "time_at_limit_R1", "first_at_limit"], moments)
    assert found["time_at_limit"] == found["time_at_limit_R1"] == pytest.approx(acts, abs=1 / STEPS)
    # each acts from some time on to the end, or until the back-EMF is 8 V; and it is the one limit that there is
    end = 0.8 if motor is MOTOR and "speed" in limits else 1.0
    first = pytest.approx(end - acts, abs=2 / STEPS) if acts else np.inf
    kinds = ("command", "voltage", "current", "torque", "speed")
    assert found["first_at_limit"] == first
    for kind in kinds:
        own = gathered([f"time_at_{kind}_limit_R1", f"first_at_{kind}_limit_R1"], moments)
        expected = [found["time_at_limit"], found["first_at_limit"]] if kind in limits else [0.0, np.inf]
        assert [*own.values()] == expected, kind


@pytest.mark.parametrize("period", [None, 0.01])
def test_a_command_at_its_bound_is_at_a_limit(arms, given, gathered, period):
    command = feedback("pd", "torque", (8.0,), (0.0,), (0.0,), (1.0,), (2.0,), (None,), period)
    plant = Plant(arms.serial("R"), command)
    moments = given(plant, 1.0, STEPS, lambda t: t)  # 8 (1 - t) is above 2 until 0.75 s
    if period is not None:
        for now in moments:
            now._state = plant.sample(now.t, now._state)
    found = gathered(["time_at_limit", "time_at_command_limit", "first_at_command_limit_R1"], moments)
    assert found["time_at_limit"] == found["time_at_command_limit"] == pytest.approx(0.75, abs=1 / STEPS)
    assert found["first_at_command_limit_R1"] == 0


def test_without_a_command_no_limit_acts(arms, given, gathered):
    plant = replace(wheel(arms, MOTOR, "voltage", None, voltage=1.0), command=None)
    moments = given(plant, 1.0, 10, lambda t: 0.0, qd=[lambda t: 100.0])
    assert gathered(["time_at_limit"], moments)["time_at_limit"] == 0


def test_a_limit_of_an_inductive_motor_acts_where_the_amplifier_holds_the_current(moments, gathered):
    changes = {
        "integrator": {"method": "semi_implicit_euler", "dt": 1e-4},
        "duration": 0.05,
        "log.every": 1e-4,
        "robot.joints[R1].motor.inductance": 1e-3,
        "robot.joints[R1].motor.limits": {"current": 0.8},
    }
    run = armsim.simulate("arm5_hold", changes)
    at = abs(run["current_R1_A"]) == 0.8
    assert 30 < at.sum() < len(at) - 30
    _, seen = moments("arm5_hold", changes)
    found = gathered(["time_at_limit_R1", "time_at_limit_R2"], seen)
    # at the last moment at 0.8 A the command asks for less already
    assert found["time_at_limit_R1"] == pytest.approx(np.sum(at[1:] + 0.0 + at[:-1]) / 2 * 1e-4, abs=1.01e-4)
    assert found["time_at_limit_R2"] == 0


def test_the_arm_is_at_a_limit_while_any_joint_is(arms, given, gathered):
    n = (0.0, 0.0)
    plant = Plant(arms.serial("RR"), feedback("pd", "torque", (1.0, 1.0), n, n, (0.0, 0.0), (0.3, 0.6), (None, None)))
    moments = given(plant, 1.0, STEPS, lambda t: t, lambda t: 1 - t)
    found = gathered(["time_at_limit", "time_at_limit_R1", "time_at_limit_R2"], moments)
    assert found["time_at_limit_R1"] == pytest.approx(0.7, abs=1 / STEPS)
    assert found["time_at_limit_R2"] == pytest.approx(0.4, abs=1 / STEPS)
    assert found["time_at_limit"] == pytest.approx(1.0, abs=1 / STEPS)


@pytest.mark.parametrize("stiffness", [None, 1e3])
def test_time_at_a_stop_is_time_outside_the_range(arms, given, gathered, stiffness):
    arm = arms.serial("RRR")
    limits = (Limit(-0.2, 0.7, stiffness), Limit(-np.inf, 0.9, stiffness), None)
    arm = replace(arm, links=tuple(replace(j, limit=limit) for j, limit in zip(arm.joints, limits, strict=True)))
    moments = given(Plant(arm, None), 1.0, STEPS, lambda t: t, lambda t: t - 0.5, lambda t: 9.0)
    found = gathered([f"time_at_stop{of}" for of in ("", "_R1", "_R2", "_R3")], moments)
    assert [*found.values()] == pytest.approx([0.3, 0.3, 0, 0], abs=1 / STEPS)
    first = gathered([f"first_at_stop{of}" for of in ("", "_R1", "_R2")], moments)
    assert [*first.values()] == [pytest.approx(0.7, abs=2 / STEPS)] * 2 + [np.inf]
    below = given(Plant(arm, None), 1.0, STEPS, lambda t: -t, lambda t: 1.0 - t, lambda t: 9.0)
    found = gathered([f"time_at_stop{of}" for of in ("", "_R1", "_R2")], below)
    assert [*found.values()] == pytest.approx([0.9, 0.8, 0.1], abs=1 / STEPS)


def test_the_tighter_of_two_limits_is_the_one_that_acts(arms, given, gathered):
    # 8 A let through 4 N·m at the shaft, so a limit of 3 N·m acts before
    moments = given(wheel(arms, MOTOR, "torque", lambda t: 50 * t, torque=3.0, current=8.0), 1.0, STEPS, lambda t: 0.0)
    found = gathered(["time_at_torque_limit", "time_at_current_limit", "time_at_limit"], moments)
    assert found["time_at_torque_limit"] == found["time_at_limit"] == pytest.approx(0.4, abs=1 / STEPS)
    assert found["time_at_current_limit"] == 0


def test_a_command_that_is_just_the_supplys_voltage_is_not_at_its_limit(arms, given, gathered):
    # 12 V let 6 A through at rest, of which the amplifier lets 5 A
    moments = given(wheel(arms, MOTOR, "voltage", lambda t: 12.0, voltage=12.0, current=5.0), 1.0, 10, lambda t: 0.0)
    found = gathered(["time_at_voltage_limit", "time_at_current_limit"], moments)
    assert found == pytest.approx({"time_at_voltage_limit": 0, "time_at_current_limit": 1})


def test_the_largest_share_of_every_limit_and_when_it_is_used(arms, given, gathered):
    # 20 V/s of 40 V: Kp u / Ra at the shaft, u / Ra through the winding; the joint turns fastest at 0.5 s
    limits = {"voltage": 40.0, "current": 16.0, "torque": 8.0, "speed": 15.0}
    plant = wheel(arms, MOTOR, "voltage", lambda t: 20 * t, **limits)
    moments = given(plant, 1.0, STEPS, lambda t: 0.0, qd=[lambda t: t * (1 - t)])
    shares = {"voltage": 0.5, "speed": 0.25 * MOTOR.gear / 15, "current": 10 / 16, "torque": 5 / 8, "command": 0.0}
    for kind, share in shares.items():
        found = gathered([f"share_of_{kind}_limit_R1", f"share_of_{kind}_limit", f"nearest_{kind}_limit"], moments)
        assert found[f"share_of_{kind}_limit_R1"] == found[f"share_of_{kind}_limit"] == pytest.approx(share)
        at = {"speed": 0.5, "command": 0.0}.get(kind, 1.0)
        assert found[f"nearest_{kind}_limit"] == pytest.approx(at, abs=1e-9)


def test_a_drive_without_a_command_uses_shares_of_its_limits_too(arms, given, gathered):
    plant = replace(wheel(arms, MOTOR, "voltage", None, speed=80.0), command=None)
    moments = given(plant, 1.0, 10, lambda t: 0.0, qd=[lambda t: 4.0])
    assert gathered(["share_of_speed_limit"], moments)["share_of_speed_limit"] == 0.5
