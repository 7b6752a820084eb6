"""Torques, currents, heat and electrical energy of motors, against their closed forms."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import armsim
from armsim.actuation.winding import rise_after, steady_rise
from armsim.control import OpenLoop
from armsim.measures import measures_of
from armsim.model import Motor, MotorLimits, Thermal
from armsim.plant import Plant

MOTOR = Motor(Kp=0.5, Ke=0.5, Ra=2.0, gear=10.0)
THERMAL = Thermal(resistance=3.0, time_constant=8.0, ambient=25.0)
STEPS = 1000


def driven(arms, output, *commands, motors=(MOTOR,), **limits):
    """A plant whose motors commands of the time drive."""
    arm = arms.serial("R" * len(motors))
    joints = [
        replace(joint, motor=replace(motor, limits=MotorLimits(**limits))) for joint, motor in zip(arm.joints, motors)
    ]
    return Plant(replace(arm, links=tuple(joints)), OpenLoop(output, commands))


def still(t):
    return 0.0


def test_a_sinusoidal_torque_has_the_root_mean_square_of_its_amplitude_over_root_two(arms, given, gathered):
    moments = given(driven(arms, "torque", lambda t: 6 * math.sin(20 * math.pi * t)), 1.0, STEPS, still)
    found = gathered(["rms_torque", "rms_torque_R1", "rms_current", "rms_current_R1"], moments)
    assert found["rms_torque_R1"] == pytest.approx(6 / math.sqrt(2), rel=1e-12)  # over whole periods the rule is exact
    assert found["rms_current_R1"] == pytest.approx(6 / math.sqrt(2) / (MOTOR.Kp * MOTOR.gear), rel=1e-12)
    assert len(found) == 2


def test_a_winding_heats_up_exponentially_under_a_constant_current(arms, given, gathered):
    motor = replace(MOTOR, thermal=THERMAL)
    moments = given(driven(arms, "voltage", lambda t: 6.0, motors=(motor,)), 5.0, STEPS, still)
    found = gathered(["winding_temperature", "peak_winding_temperature_R1"], moments)
    steady = THERMAL.resistance * 6.0**2 / motor.Ra  # K
    expected = 25.0 + steady * (1 - math.exp(-5.0 / THERMAL.time_constant))
    assert found["winding_temperature_R1"] == pytest.approx(expected, rel=1e-13)
    assert found["peak_winding_temperature_R1"] == found["winding_temperature_R1"]


def test_a_winding_that_cools_keeps_its_highest_temperature_in_mind(arms, given, gathered):
    motor = replace(MOTOR, thermal=THERMAL)
    moments = given(driven(arms, "voltage", lambda t: 6.0 if t < 2.0 else 0.0, motors=(motor,)), 10.0, 5 * STEPS, still)
    found = gathered(["winding_temperature", "peak_winding_temperature"], moments)
    peak = THERMAL.resistance * 18.0 * (1 - math.exp(-2.0 / THERMAL.time_constant))
    # the last moment with a current is followed by a step of half its loss: an error of half a step's heating
    error = 2e-3 * THERMAL.resistance * 18.0 / THERMAL.time_constant
    assert found["peak_winding_temperature_R1"] == pytest.approx(25 + peak, abs=error)
    assert found["winding_temperature_R1"] == pytest.approx(25 + peak * math.exp(-8 / THERMAL.time_constant), abs=error)


def test_heating_does_not_depend_on_how_finely_it_is_cut():
    x = 40.0
    for _ in range(7):
        x = rise_after(THERMAL, x, 11.0, 0.3)
    assert x == pytest.approx(rise_after(THERMAL, 40.0, 11.0, 2.1), rel=1e-14)
    assert rise_after(THERMAL, 40.0, 11.0, 1e3) == steady_rise(THERMAL, 11.0) == 33.0


def test_a_braking_motor_regenerates_what_its_current_and_voltage_say(arms, given, gathered):
    # a torque against the motion: i = -T / (Kp n), V = Ra i + Ke n qd, and V i is negative above 1.6 rad/s
    tau, qd = -8.0, lambda t: 4.0 * t
    moments = given(driven(arms, "torque", lambda t: tau), 1.0, STEPS, still, qd=[qd])
    i = tau / (MOTOR.Kp * MOTOR.gear)
    turn = -MOTOR.Ra * i / (MOTOR.Ke * MOTOR.gear * 4.0)  # s, where the voltage changes its sign
    slope = MOTOR.Ke * MOTOR.gear * 4.0  # V/s
    found = gathered(["energy_drawn_R1", "energy_fed_back_R1", "energy_fed_back"], moments)
    assert found["energy_drawn_R1"] == pytest.approx(-i * slope * turn**2 / 2, rel=1e-5)
    assert found["energy_fed_back_R1"] == pytest.approx(-i * slope * (1 - turn) ** 2 / 2, rel=1e-5)
    assert found["energy_fed_back"] == found["energy_fed_back_R1"]


def test_a_motor_that_another_feeds_still_draws_energy_of_its_own(arms, given, gathered):
    plant = driven(arms, "voltage", lambda t: 4.0, lambda t: 4.0, motors=(MOTOR, MOTOR))
    moments = given(
        plant, 3.0, 30, still, still, qd=[still, lambda t: 2.0]
    )  # 2 A into the first, 3 A out of the second
    found = gathered(["energy_drawn", "energy_drawn_R1", "energy_drawn_R2", "energy_fed_back_R2"], moments)
    assert found == pytest.approx(
        {"energy_drawn": 0.0, "energy_drawn_R1": 24.0, "energy_drawn_R2": 0.0, "energy_fed_back_R2": 36.0}, rel=1e-13
    )


def test_without_the_motors_data_there_is_nothing_to_measure(arms, told):
    plant = Plant(arms.bare(arms.shipped("arm5")), None)
    for name, mend in (("rms_current", "give the motor its constants"), ("energy_drawn_R2", "give the motors their")):
        with pytest.raises(armsim.UsageError, match=mend):
            measures_of([name], plant)
    with pytest.raises(armsim.UsageError) as caught:
        measures_of(["winding_temperature_R2"], Plant(arms.shipped("arm5"), None))
    told(caught.value)
