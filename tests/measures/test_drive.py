"""Rates and chatter of commands, against their closed forms."""

from __future__ import annotations

import math

import pytest

import armsim
from armsim.control import OpenLoop
from armsim.measures import measures_of
from armsim.plant import Plant

BOTH = ["rms_rate_of_command", "chatter"]
SHAKEN = {  # a joint whose sampled command is +3 and -3 N·m in turn
    "duration": 0.1,
    "integrator": {"method": "rk4", "dt": 1e-3},
    "log.every": 1e-2,
    "control": {"law": "expression", "output": "torque", "period": 1e-2}
    | {"command": ["3*cos(100*pi*t)", "0.5"], "target": [0, 0]},
    "external": [],
}


def commanded(arms, *commands):
    return Plant(arms.serial("R" * len(commands)), OpenLoop("torque", commands))


def still(t):
    return 0.0


def test_a_sinusoidal_command_has_the_rate_and_the_variation_of_its_closed_form(arms, given, gathered):
    A, f, steps = 6.0, 10.0, 1000
    moments = given(commanded(arms, lambda t: A * math.sin(math.tau * f * t)), 1.0, steps, still)
    found = gathered([*BOTH, "chatter_R1", "rms_rate_of_command_R1"], moments)
    # moves over h = 1 / steps are 2 A sin(pi f h) cos(...), whose mean square over whole periods is half its peak's square
    assert found["rms_rate_of_command_R1"] == pytest.approx(
        2 * A * math.sin(math.pi * f / steps) * steps / math.sqrt(2), rel=1e-12
    )
    assert found["rms_rate_of_command_R1"] == pytest.approx(A * math.tau * f / math.sqrt(2), rel=1e-3)
    assert found["chatter_R1"] == pytest.approx(4 * A * f, rel=1e-12)  # its peaks are at moments
    assert len(found) == 2


def test_a_steady_command_has_neither_and_a_ramp_its_slope_for_both(arms, given, gathered):
    moments = given(commanded(arms, lambda t: 4.0, lambda t: 3.0 - 7.0 * t), 0.5, 50, still, still)
    found = gathered(BOTH, moments)
    assert (found["chatter_R1"], found["rms_rate_of_command_R1"]) == (0, 0)
    assert found["chatter_R2"] == pytest.approx(7.0, rel=1e-12)
    assert found["rms_rate_of_command_R2"] == pytest.approx(7.0, rel=1e-12)


@pytest.mark.parametrize("dt", [1e-2, 1e-3, 2.5e-4])
def test_a_sampled_command_has_jumps_over_its_period_whatever_the_step(dt):
    run = armsim.simulate("two_link_hold", {**SHAKEN, "integrator.dt": dt}, measure=BOTH)
    found = run.measures
    assert found["chatter_shoulder"] == pytest.approx(10 * 6 / 0.1, rel=1e-12)
    assert found["rms_rate_of_command_shoulder"] == pytest.approx(6 / 1e-2, rel=1e-12)
    assert (found["chatter_elbow"], found["rms_rate_of_command_elbow"]) == (0, 0)


def test_a_command_that_is_late_is_that_which_reaches_the_drive():
    late = armsim.simulate("two_link_hold", {**SHAKEN, "control.delay": 5e-2}, measure=BOTH).measures
    assert late["chatter_elbow"] == pytest.approx(0.5 / 0.1, rel=1e-12)  # 0 until the first arrives
    assert late["rms_rate_of_command_elbow"] == pytest.approx(0.5 / 1e-2 / math.sqrt(10), rel=1e-12)


def test_a_bound_on_the_command_bounds_what_is_measured():
    bound = armsim.simulate("two_link_hold", {**SHAKEN, "control.limit": 1}, measure=BOTH).measures
    assert bound["chatter_shoulder"] == pytest.approx(10 * 2 / 0.1, rel=1e-12)


def test_units_are_those_of_the_drives_and_a_run_that_nothing_drives_has_none(arms, told):
    arm = arms.serial("RP")
    for output, units in (("torque", ("N·m/s", "N/s")), ("current", ("A/s", "A/s"))):
        (measure,) = measures_of(["chatter"], Plant(arm, OpenLoop(output, (still, still))))
        assert (measure.names, measure.units) == (("chatter_R1", "chatter_P2"), units)
    with pytest.raises(armsim.UsageError) as caught:
        measures_of(["chatter_R1"], Plant(arm, None))
    told(caught.value)


@pytest.mark.slow
def test_lanes_have_the_bits_of_single_runs():
    kp = [40.0, 60.0, 90.0]
    short = {"duration": 0.2, "log.every": 0.1}
    lanes = armsim.simulate_many("arm5_hold_pi", {"control.kp": kp}, short, measure=BOTH)
    for i, gain in enumerate(kp):
        single = armsim.simulate("arm5_hold_pi", {**short, "control.kp": gain}, measure=BOTH).measures
        for name in [f"{kind}_R{joint}" for kind in BOTH for joint in range(1, 6)]:
            assert lanes[name][i] == single[name] > 0
