"""Deviations after external forces begin, of motions for which they are known."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import armsim
from armsim.dynamics import ExternalWrench
from armsim.measures import measures_of
from armsim.plant import Plant
from tests.controllers import feedback

STEPS = 2000
DROOP, PUSH, T = 0.05, 0.3, 0.1  # rad, rad, s


def pushed(arms, *starts, kinds="R"):
    """A plant under feedback to 0, pushed at some times."""
    n = len(kinds)
    command = feedback("pd", "torque", (1.0,) * n, (0.0,) * n, (0.0,) * n, (0.0,) * n, (None,) * n, (None,) * n)
    arm = arms.serial(kinds)
    return Plant(arm, command, tuple(ExternalWrench(arm.frame_at(0), start=start) for start in starts))


def kicked(*kicks):
    """Decays from where kicks, each a time and a size, have thrown a joint that droops."""
    return lambda t: -DROOP + sum(x * math.exp(-(t - at) / T) for at, x in kicks if t > at)


def test_a_kick_that_decays_is_recovered_from_after_the_log_of_twenty(arms, given, gathered):
    moments = given(pushed(arms, 0.5), 2.0, STEPS, kicked((0.5, PUSH)))
    found = gathered(["disturbance_peak", "disturbance_peak_R1", "recovery_time", "recovery_time_R1(0.1)"], moments)
    peak = PUSH * math.exp(
        -1e-3 / T
    )  # at the first moment after it; not counted from the target: the droop was there before
    assert found["disturbance_peak"] == found["disturbance_peak_R1"] == pytest.approx(peak, rel=1e-12)
    assert found["recovery_time"] == pytest.approx(T * math.log(20), abs=2e-3)
    assert found["recovery_time_R1(0.1)"] == pytest.approx(T * math.log(PUSH / 0.1), abs=2e-3)


def test_what_happens_before_a_force_begins_is_no_disturbance(arms, given, gathered):
    moments = given(pushed(arms, 1.5), 2.0, STEPS, kicked((0.2, 5.0), (1.5, PUSH)))
    assert gathered(["disturbance_peak"], moments)["disturbance_peak"] == pytest.approx(PUSH, rel=0.02)
    assert gathered(["disturbance_peak"], moments[:1500])["disturbance_peak"] == 0


def test_recovery_is_from_the_last_force_and_the_peak_of_all(arms, given, gathered):
    plant = pushed(arms, 0.2, 1.2)
    found = gathered(
        ["disturbance_peak", "recovery_time"], given(plant, 2.0, STEPS, kicked((0.2, PUSH), (1.2, PUSH / 10)))
    )
    assert found["disturbance_peak"] == pytest.approx(PUSH, rel=0.02)
    assert found["recovery_time"] == pytest.approx(T * math.log(20), abs=3e-3)  # within 5 % of the second peak


def test_a_joint_that_a_lasting_force_holds_away_does_not_recover(arms, given, gathered):
    moments = given(pushed(arms, None), 1.0, STEPS, lambda t: PUSH * (1 - math.exp(-t / T)))
    found = gathered(["recovery_time", "disturbance_peak"], moments)
    assert found["recovery_time"] == math.inf
    assert found["disturbance_peak"] == pytest.approx(PUSH * (1 - math.exp(-1 / T)), rel=1e-12)


def test_the_arm_recovers_with_the_last_of_its_joints(arms, given, gathered):
    plant = pushed(arms, 0.5, kinds="RR")
    moments = given(plant, 2.0, STEPS, kicked((0.5, PUSH)), lambda t: 2 * PUSH if 0.5 < t < 1.5 else 0.0)
    found = gathered(["recovery_time", "recovery_time_R1", "recovery_time_R2", "disturbance_peak"], moments)
    assert found["recovery_time"] == found["recovery_time_R2"] == pytest.approx(1.0, abs=2e-3)
    assert found["recovery_time_R1"] < 0.5
    assert found["disturbance_peak"] == pytest.approx(2 * PUSH)


def test_a_run_without_external_forces_has_no_disturbance(arms):
    plant = pushed(arms)
    for name in ("disturbance_peak", "recovery_time_R1(1e-3)"):
        with pytest.raises(armsim.UsageError, match="an external force, whose disturbance it measures"):
            measures_of([name], plant)
    with pytest.raises(armsim.UsageError, match="a band above 0 rad or m"):
        measures_of(["recovery_time(0)"], pushed(arms, 0.5))
    with pytest.raises(armsim.UsageError, match="a feedback law"):
        measures_of(["recovery_time"], replace(pushed(arms, 0.5), command=None))


@pytest.mark.parametrize("starts", [(0.504, 0.508), (0.508, 0.504), (0.508, 0.504, 0.502), (None, 0.508)])
def test_of_forces_that_begin_between_two_moments_the_later_in_time_counts(arms, given, gathered, starts):
    moments = given(pushed(arms, *starts), 2.0, 100, kicked((0.508, PUSH)))  # a moment every 20 ms
    found = gathered(["recovery_time"], moments)
    assert found["recovery_time"] == moments[40].t - 0.508  # 0.292 s: e^-2.92 is just above a twentieth of e^-0.12
