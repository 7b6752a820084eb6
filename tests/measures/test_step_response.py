"""Errors, settling time and overshoot of motions whose closed forms are known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim.plant import Plant
from tests.controllers import feedback

START, TARGET, T = 0.3, 1.5, 0.2  # rad, rad, s
DURATION, STEPS = 2.0, 2000
DT = DURATION / STEPS


def holding(arms, kinds, target):
    """A plant under PD control of torques."""
    n = len(kinds)
    command = feedback("pd", "torque", (1.0,) * n, (0.0,) * n, (0.0,) * n, target, (None,) * n, (None,) * n)
    return Plant(arms.serial(kinds), command)


def relaxing(start, target, time):
    return lambda t: target + (start - target) * math.exp(-t / time)


@pytest.fixture
def exponential(arms, given):
    """A joint that approaches its target with time constant T."""
    return given(holding(arms, "R", (TARGET,)), DURATION, STEPS, relaxing(START, TARGET, T))


def test_integrals_of_an_exponential_error_are_their_closed_forms(exponential, gathered):
    A, left = TARGET - START, math.exp(-DURATION / T)
    found = gathered(["iae", "ise", "itae", "iae_R1", "error", "error_R1"], exponential)
    rule = (DT / T) ** 2 / 2  # the trapezoid rule's error is below h² / 12 of the integral of the second derivative
    assert found["iae"] == found["iae_R1"] == pytest.approx(A * T * (1 - left), rel=rule)
    assert found["ise"] == pytest.approx(A * A * T / 2 * (1 - left**2), rel=rule)
    assert found["itae"] == pytest.approx(A * (T * T - left * T * (DURATION + T)), rel=rule)
    assert found["error"] == found["error_R1"] == pytest.approx(A * left, rel=1e-9)


def test_an_exponential_settles_within_two_percent_after_the_log_of_fifty(exponential, gathered):
    found = gathered(["settling_time", "settling_time_R1(0.1)", "settling_time(2)", "overshoot"], exponential)
    assert 0 <= T * math.log(50) - found["settling_time"] < DT
    assert 0 <= T * math.log((TARGET - START) / 0.1) - found["settling_time_R1(0.1)"] < DT
    assert found["settling_time(2)"] == 0  # it begins within
    assert found["overshoot"] == 0


def test_what_is_outside_its_band_at_the_end_has_not_settled(exponential, gathered):
    halfway = exponential[: STEPS // 20]
    assert gathered(["settling_time"], halfway)["settling_time"] == math.inf
    assert gathered(["settling_time(1.1)"], halfway)["settling_time(1.1)"] < halfway[-1].t


def test_a_joint_that_starts_at_its_target_settles_in_an_absolute_band_alone(arms, given, gathered):
    moments = given(holding(arms, "R", (0.0,)), 1.0, 100, lambda t: 0.01 * math.sin(math.pi * t))
    found = gathered(["settling_time", "settling_time(0.02)", "overshoot"], moments)
    assert found == {"settling_time": math.inf, "settling_time(0.02)": 0, "overshoot": 0}


@pytest.mark.parametrize("zeta", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("start", [START, 2 * TARGET - START])
@pytest.mark.handful(1)
def test_a_second_order_response_overshoots_by_the_exponential_of_its_damping(arms, given, gathered, zeta, start):
    w = 10.0
    wd = w * math.sqrt(1 - zeta**2)

    def response(t):
        decay = math.exp(-zeta * w * t)
        return TARGET + (start - TARGET) * decay * (math.cos(wd * t) + zeta * w / wd * math.sin(wd * t))

    moments = given(holding(arms, "R", (TARGET,)), DURATION, STEPS, response)
    found = gathered(["overshoot", "overshoot_R1"], moments)
    expected = math.exp(-math.pi * zeta / math.sqrt(1 - zeta**2))
    # at the moment nearest to the peak, where the second derivative is w² times the overshoot
    assert found["overshoot"] == found["overshoot_R1"] == pytest.approx(expected, rel=(w * DT) ** 2 / 8)


@pytest.mark.parametrize("start", [START, 2 * TARGET - START])
@pytest.mark.handful(1)
def test_an_exponential_rises_in_the_log_of_nine_time_constants(arms, given, gathered, start):
    moments = given(holding(arms, "R", (TARGET,)), DURATION, STEPS, relaxing(start, TARGET, T))
    found = gathered(["rise_time", "rise_time_R1"], moments)
    assert found["rise_time"] == found["rise_time_R1"] == pytest.approx(T * math.log(9), abs=DT)


def test_a_joint_rises_from_its_first_tenth_to_its_first_nine_tenths_of_the_way(arms, given, gathered):
    # back and forth: a tenth is reached at 0.05 s, left, and reached again; nine tenths are first reached at 0.85 s
    way = [(0.0, 0.0), (0.1, 0.2), (0.3, 0.0), (0.8, 0.8), (0.9, 1.0), (1.0, 0.0)]
    t, x = zip(*way, strict=True)
    moments = given(holding(arms, "R", (1.0,)), 1.0, 1000, lambda now: float(np.interp(now, t, x)))
    assert gathered(["rise_time"], moments)["rise_time"] == pytest.approx(0.85 - 0.05, abs=2e-3)
    assert gathered(["rise_time"], moments[:840])["rise_time"] == math.inf
    still = given(holding(arms, "R", (0.0,)), 1.0, 10, lambda now: math.sin(now))
    assert gathered(["rise_time"], still)["rise_time"] == 0.0


@pytest.mark.parametrize("zeta", [0.2, 0.7])
@pytest.mark.slow
def test_errors_of_a_second_order_response_are_their_closed_forms(arms, given, gathered, zeta):
    # e'' + 2 zeta w e' + w² e = 0 from rest: by parts, the integrals of e² and of t e over all time
    w, A = 20.0, TARGET - START
    wd = w * math.sqrt(1 - zeta**2)

    def response(t):
        return TARGET - A * math.exp(-zeta * w * t) * (math.cos(wd * t) + zeta * w / wd * math.sin(wd * t))

    moments = given(holding(arms, "R", (TARGET,)), DURATION, STEPS, response)
    found = gathered(["ise", "rms_error", "peak_error", "integral(t*q_R1)", "mean(t)"], moments)
    ise = A * A * (1 + 4 * zeta**2) / (4 * zeta * w)
    rule = (w * DT) ** 2  # of the trapezoid rule
    assert found["ise"] == pytest.approx(ise, rel=rule)
    assert found["rms_error"] == pytest.approx(math.sqrt(ise / DURATION), rel=rule)
    assert found["peak_error"] == A
    # without an overshoot the absolute error is the error, whose moment is A (4 zeta² - 1) / w²
    if zeta > 1 / math.sqrt(2):
        assert gathered(["itae"], moments)["itae"] == pytest.approx(A * (4 * zeta**2 - 1) / w**2, rel=rule)


def test_a_critically_damped_response_has_the_integrals_of_its_closed_form(arms, given, gathered):
    # e = A (1 + w t) exp(-w t) never changes sign: IAE = 2 A / w, ITAE = 3 A / w²
    w, A = 20.0, TARGET - START
    moments = given(
        holding(arms, "R", (TARGET,)), DURATION, STEPS, lambda t: TARGET - A * (1 + w * t) * math.exp(-w * t)
    )
    found = gathered(["iae", "itae", "overshoot", "rise_time", "settling_time"], moments)
    assert found["iae"] == pytest.approx(2 * A / w, rel=(w * DT) ** 2)
    assert found["itae"] == pytest.approx(3 * A / w**2, rel=(w * DT) ** 2)
    assert found["overshoot"] == 0
    # (1 + x) exp(-x) is 0.9, 0.1 and 0.02 at x of 0.531812, 3.889720 and 5.833920
    assert found["rise_time"] == pytest.approx((3.889720 - 0.531812) / w, abs=DT)
    assert found["settling_time"] == pytest.approx(5.833920 / w, abs=DT)


def test_the_tools_error_is_the_chord_between_where_it_is_and_where_it_should_be(arms, given, gathered):
    arm = arms.serial("R")
    tool = arm.placement(arm.tool).position
    reach = math.hypot(tool.x, tool.y)  # from the joint's axis, the z of its link
    moments = given(holding(arms, "R", (0.0,)), 1.0, 1000, lambda t: math.pi * t)
    found = gathered(["peak_tool_error", "rms_tool_error"], moments)
    assert reach > 0
    assert found["peak_tool_error"] == pytest.approx(2 * reach, rel=1e-12)  # half a turn away
    assert found["rms_tool_error"] == pytest.approx(reach * math.sqrt(2), rel=1e-5)  # mean of 4 sin²(a / 2)


def test_the_arms_measures_are_the_sum_the_latest_and_the_largest_of_its_joints(arms, given, gathered):
    plant = holding(arms, "RP", (1.0, -2.0))
    overshooting = [lambda t: 1.0 - math.exp(-3 * t), lambda t: -2.0 + 2.0 * math.cos(5 * t) * math.exp(-2 * t)]
    moments = given(plant, 3.0, 1000, *overshooting)
    kinds = ["iae", "ise", "itae", "settling_time(1e-2)", "overshoot", "error", "rms_error", "peak_error", "rise_time"]
    names = [
        *kinds,
        *(
            name.replace("(", f"_{joint}(") if "(" in name else f"{name}_{joint}"
            for joint in ("R1", "P2")
            for name in kinds
        ),
    ]
    found = gathered(names, moments)

    def of(name):
        return [found[name.replace("(", f"_{joint}(") if "(" in name else f"{name}_{joint}"] for joint in ("R1", "P2")]

    for name in ("iae", "ise", "itae"):
        assert found[name] == pytest.approx(sum(of(name)), rel=1e-13)
    assert found["settling_time(1e-2)"] == max(of("settling_time(1e-2)"))
    assert found["overshoot"] == max(of("overshoot")) == of("overshoot")[1] > 0.2
    assert found["error"] == max(map(abs, of("error")))
    for name in ("rms_error", "peak_error", "rise_time"):
        assert found[name] == max(of(name))


def test_the_error_of_a_joint_keeps_its_sign(arms, given, gathered):
    moments = given(holding(arms, "RR", (0.0, 1.0)), 1.0, 10, lambda t: 0.25 * t, lambda t: 0.9 * t)
    found = gathered(["error", "error_R1", "error_R2"], moments)
    assert found == pytest.approx({"error": 0.25, "error_R1": -0.25, "error_R2": 0.1}, rel=1e-15)


def test_errors_of_a_run_are_those_of_its_rows(moments, gathered):
    changes = {"integrator.dt": 5e-4, "log.every": 5e-4, "duration": 0.2}
    run = armsim.simulate("arm5_hold", changes)
    plant, seen = moments("arm5_hold", changes)
    found = gathered(["iae", "ise_R2", "itae", "error_R4", "settling_time_R4(0.05)"], seen)
    e, h = np.array(plant.command.target) - run.q, 5e-4
    weights = np.full(len(e), h)
    weights[[0, -1]] = h / 2
    assert found["iae"] == pytest.approx(weights @ abs(e).sum(axis=1), rel=1e-12)
    assert found["ise_R2"] == pytest.approx(weights @ e[:, 1] ** 2, rel=1e-12)
    assert found["itae"] == pytest.approx((weights * run.t) @ abs(e).sum(axis=1), rel=1e-12)
    assert found["error_R4"] == e[-1, 3]
    assert found["settling_time_R4(0.05)"] == run.t[abs(e[:, 3]) > 0.05][-1]


def test_without_a_target_there_is_no_error(arms):
    from armsim.measures import measures_of

    plant = replace(holding(arms, "R", (0.0,)), command=None)
    for name in ("iae", "ise_R1", "itae", "settling_time", "settling_time_R1(1)", "overshoot", "error", "1 + error"):
        with pytest.raises(armsim.UsageError, match="a feedback law, whose target is the measure's"):
            measures_of([name], plant)


def test_a_joint_that_is_written_to_start_at_its_target_overshoots_by_nothing():
    # both are constants of the compiled loop, whose difference is an exact zero
    start = {"duration": 0.05, "initial.q": [-60, 60], "control.target": [-60, 60]}
    for engine in ("llvm", "python"):
        run = armsim.simulate("two_link_hold", start, engine=engine, measure=["overshoot", "overshoot_elbow"])
        assert run.measures["overshoot"] == run.measures["overshoot_elbow"] == 0.0


@pytest.mark.parametrize(
    ("reference", "end"),
    [
        ({"profile": "chirp", "amplitude": 0.3, "frequency": 1, "end_frequency": 2.5, "duration": 0.5}, 0.5),
        ({"profile": "chirp", "amplitude": 0.3, "frequency": 1, "end_frequency": 2, "duration": 0.5,
          "sweep": "exponential"}, 0.5),
        ({"via": [[0.4, -0.9]], "times": [0.5]}, 0.5),
        ({"via": [[0.4, -0.9], [0.3, -0.2]], "times": [0.2, 0.5], "profile": "spline", "ends": "natural"}, 0.5),
        ({"via": [[0.4, -0.9]], "times": [0.5], "profile": "steps"}, 0.5),
        ({"via": [[0.4, -0.9]], "speed": 2, "acceleration": 10}, None),
        ({"q": [0.3, 0.1]}, 0.0),
    ],
)  # fmt: skip
@pytest.mark.handful(1)
def test_every_reference_that_comes_to_an_end_has_a_settling_time(reference, end):
    control = {"law": "computed_torque", "output": "torque", "kp": 900, "kd": 60, "reference": reference}
    scenario = {"format": "armsim/scenario/1", "robot": "two_link", "duration": 1.5, "control": control}
    step = {"integrator": {"method": "rk4", "dt": 1e-3}}
    run = armsim.simulate({**scenario, **step}, measure=["settling_time(1e-2)", "error"])
    command = run.plant.command
    assert command.reference.ends
    assert np.allclose(run.q[-1], command.reference.at(1e9).q, atol=1e-6)
    off = np.abs(run.q - [command.reference.at(t).q for t in run.t]).max(axis=1)
    last = run.t[np.flatnonzero(off > 1e-2)[-1]] if (off > 1e-2).any() else 0.0
    assert abs(run.measures["settling_time(1e-2)"] - last) <= run.t[1]
    if end is not None:
        assert run.measures["settling_time(1e-2)"] < end + 0.3
    assert run.summary()["joints"][0]["settling_time"] is not None


@pytest.mark.parametrize(
    "reference", [["0.3*sin(4*t)", 0.7], {"profile": "sinusoid", "amplitude": 0.3, "frequency": 2}]
)
def test_a_reference_without_an_end_has_no_settling_time(reference):
    control = {"law": "computed_torque", "output": "torque", "kp": 900, "kd": 60, "reference": reference}
    scenario = {"format": "armsim/scenario/1", "robot": "two_link", "duration": 0.1, "control": control}
    with pytest.raises(armsim.UsageError, match="a reference that comes to an end"):
        armsim.simulate({**scenario, "integrator": {"method": "rk4", "dt": 1e-3}}, measure=["settling_time"])
