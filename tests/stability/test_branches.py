"""Advice on what a run may enter besides the state at its start: limits of the supply, of commands; feedback by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.loading import read_scenario
from armsim.simulation.simulate import advise
from armsim.stability.advice import Advice

MOTOR = {"Kp": 0.05, "Ra": 1, "gear": 50, "rotor_inertia": 1e-5, "limits": {"voltage": 24}}
INERTIA = 1 * 0.2**2 + 50**2 * 1e-5  # kg·m²
BACK_EMF = 50**2 * 0.05 * 0.05 / 1  # N·m·s/rad


def axis(**keys) -> dict:
    """A vertical axis: 1 kg at 0.2 m, by a geared motor on 24 V."""
    body = {"point": {"mass": 1, "center": [0.2, 0, 0]}}
    joint = {"name": "J1", "type": "revolute", "mdh": {}, "bodies": [body], "motor": MOTOR, **keys.pop("joint", {})}
    return {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "axis", "joints": [joint]},
        "duration": 2,
        "initial": {"q": [0]},
        "log": {"every": 0.05},
        **keys,
    }


def feedback(**gains) -> dict:
    return {"law": "pd", "output": "torque", "target": [1], **gains}


def advice(scenario: dict) -> Advice:
    return advise(read_scenario(scenario))[1]


def test_a_step_too_long_for_the_back_emf_at_the_voltage_limit_is_told_of_with_the_largest_that_is_not():
    driven = axis(inputs={"torque": [5]}, integrator={"method": "semi_implicit_euler", "dt": 0.05})
    found = advice(driven)
    assert found.refusal is None
    assert found.warnings == ()
    assert found.braked == {
        "J1": pytest.approx(2 * INERTIA / BACK_EMF, rel=2e-4)
    }  # M / h >= d / 2, of v' = v - h d v / M
    assert found.said("semi_implicit_euler", 0.05) == [
        "at the voltage limit of the supply, back-EMF would damp J1: there semi_implicit_euler is stable up to dt = 0.0207 s; "
        "velocity_implicit, implicit_midpoint, rk54 and rodas would take 0.05 s"
    ]
    summary = armsim.simulate(driven).summary()
    assert summary["advice"][0].startswith("at the voltage limit of the supply, back-EMF damps J1")
    assert "do not rely on this motion" in summary["step_error"]["note"]


def test_a_supply_that_limits_nothing_in_the_run_is_not_told_of_after_it():
    driven = axis(inputs={"torque": ["0.01"]}, integrator={"method": "semi_implicit_euler", "dt": 0.05})
    assert advice(driven).braked
    summary = armsim.simulate(driven).summary()
    assert summary["advice"] == []
    assert summary["step_error"]["note"] is None


def test_an_implicit_step_takes_the_back_emf_at_the_voltage_limit():
    driven = axis(inputs={"torque": [5]}, integrator={"method": "velocity_implicit", "dt": 0.05})
    assert advice(driven) == Advice()


def test_a_command_that_chatters_within_its_bounds_is_run_and_told_of_and_close_to_the_exact_motion():
    gains = feedback(kp=[100], kd=[200], limit=[0.5])
    coarse = axis(control=gains, integrator={"method": "rk4", "dt": 2e-3})
    found = advice(coarse)
    assert found.refusal is None
    assert found.warnings == (
        "dt = 0.002 s is above the largest stable step of rk4 at the target, 0.000905 s: J1 chatters, within the bounds of "
        "its command, by up to 5e-06 rad",
    )
    run = armsim.simulate(coarse)
    exact = armsim.simulate(coarse, {"integrator": {"method": "rodas", "rtol": 1e-9}})
    assert np.abs(run.q - exact.q).max() < 1e-3
    assert run.step_error.share < 0.05


@pytest.mark.parametrize(("limit", "right"), [(1e3, True), (1e4, True), (1e5, False)])
@pytest.mark.handful(1)
def test_a_chattering_step_that_is_cut_at_the_commands_bounds_is_refused_only_where_its_motion_is_wrong(limit, right):
    gains = feedback(kp=[100], kd=[200], limit=[limit])  # in a step it moves by limit / kd dt at most: 0.01, 0.1, 1 rad
    free = axis(joint={"motor": {**MOTOR, "limits": {}}}, control=gains, integrator={"method": "rk4", "dt": 2e-3})
    run = armsim.simulate(free, force_step=True)
    exact = armsim.simulate(free, {"integrator": {"method": "rodas", "rtol": 1e-9}})
    assert bool(np.abs(run.q - exact.q).max() < 0.05) == right
    assert (advice(free).refusal is None) == right


def test_a_command_whose_bounds_are_far_is_refused_as_one_without_by_a_method_that_holds_it_for_a_step():
    gains = feedback(kp=[100], kd=[200], limit=[1e4])
    free = axis(
        joint={"motor": {**MOTOR, "limits": {}}}, control=gains, integrator={"method": "velocity_verlet", "dt": 2e-3}
    )
    assert "a motion of J1 grows" in advice(free).refusal.expected


def test_back_emf_does_not_count_where_a_limit_of_current_holds_the_torque_of_a_commanded_voltage():
    # 1 A gives 2.5 N·m until back-EMF has taken 23 V; dt / M times the damping of back-EMF is 4.8, of which rk4 takes 2.8
    gains = {"law": "pd", "output": "voltage", "target": [1], "kp": [30], "kd": [1]}
    coarse = axis(
        joint={"motor": {**MOTOR, "limits": {"voltage": 24, "current": 1}}},
        control=gains,
        integrator={"method": "rk4", "dt": 0.05},
        log={"every": 0.5},
        duration=3,
    )
    found = advice(coarse)
    assert found.refusal is None
    assert "J1 chatters, within the bounds of its command, by up to " in found.warnings[0]
    exact = armsim.simulate(coarse, {"integrator": {"method": "rodas", "rtol": 1e-9}})
    assert np.abs(armsim.simulate(coarse).q - exact.q).max() < 0.05


@pytest.mark.parametrize(("dt", "refused"), [(0.02, False), (0.04, True)])
@pytest.mark.handful(1)
def test_computed_torque_that_a_limit_of_current_bounds_close_to_the_largest_stable_step_is_warned_of(dt, refused):
    # kd dt = 2.27, of which velocity_verlet takes 2; 40 A bound the chatter by 0.6 rad, of which it is a tenth
    gains = {"law": "computed_torque", "output": "torque", "kp": [81**2], "kd": [113.5], "target": [1]}
    coarse = axis(
        joint={"motor": {**MOTOR, "limits": {"current": 40}}},
        control=gains,
        integrator={"method": "velocity_verlet", "dt": dt},
        log={"every": 0.2},
    )
    found = advice(coarse)
    assert (found.refusal is not None) == refused
    if not refused:
        assert "J1 chatters, within the bounds of its command, by up to 0.62 rad" in found.warnings[0]
        exact = armsim.simulate(coarse, {"integrator": {"method": "rodas", "rtol": 1e-9}})
        assert np.abs(armsim.simulate(coarse).q - exact.q).max() < 0.05


def brushed(dt: float) -> dict:
    """A voltage of 0.65 V at the start, of which brushes leave 0.31 of all and 0.38 of its slope."""
    brushes = {"Kp": 0.06172, "Ra": 0.6226, "gear": 10, "brush_drop": {"max": 2.279, "half": 2.043}}
    inertia = {"mass": 1, "center": [0, 0, 0], "about": "com", "xx": 0.07, "yy": 0.07, "zz": 0.07065}
    return axis(
        joint={"motor": brushes, "bodies": [{"inertia": inertia}]},
        control={"law": "pd", "output": "voltage", "kp": [4.667], "kd": [47.64], "target": [-0.1387]},
        integrator={"method": "semi_implicit_euler", "dt": dt},
        log={"every": 25 * dt},
        duration=250 * dt,
    )


@pytest.mark.parametrize(("dt", "right"), [(0.008, True), (0.0088, True), (0.0125, False)])
@pytest.mark.handful(1)
def test_a_command_whose_swing_brushes_damp_from_where_it_starts_is_warned_of_and_one_that_grows_is_refused(dt, right):
    # its tangent is stable up to 7.6 ms, the chord of the swing from -0.65 to 0.65 V, as Lur'e's problem has it, to 9.4 ms
    found, run = advice(brushed(dt)), armsim.simulate(brushed(dt), force_step=True)
    exact = armsim.simulate(brushed(dt), {"integrator": {"method": "rodas", "rtol": 1e-9}})
    assert bool(np.abs(run.q - exact.q).max() < 0.05 * np.ptp(exact.q)) == right
    assert (found.refusal is None) == right
    if right:
        assert "J1 would chatter there but for its brushes" in found.warnings[0]


@pytest.mark.parametrize(("half", "slope"), [(4.0, 1 - math.log(2) / 4), (0.5, 0.0)])
def test_the_slope_of_brushes_at_no_voltage_is_that_of_their_curve_and_none_where_they_take_it_all(half, slope):
    motor = {**MOTOR, "brush_drop": {"max": 1, "half": half}, "limits": {}}
    gains = {"law": "pd", "output": "voltage", "kp": [1], "kd": [0], "target": [0]}
    found = armsim.linearize(axis(joint={"motor": motor}, control=gains, integrator={"method": "rodas"}))
    gain = 50 * 0.05 / 1 / INERTIA  # of torque by voltage, over the inertia
    assert found.B[1][0] == pytest.approx(gain * slope, abs=1e-12)


@pytest.mark.parametrize("method", ["rk54", "rodas", "rk4"])
@pytest.mark.handful(2)
def test_sampling_too_seldom_is_told_of_whatever_the_method(method):
    gains = feedback(kp=[2000], kd=[300], period=1e-3)
    given = {} if method in ("rk54", "rodas") else {"dt": 1e-4}
    found = advice(axis(control=gains, integrator={"method": method, **given}))
    assert found.refusal is None
    (warning,) = found.warnings
    assert warning.startswith("control that samples every 0.001 s is unstable at the target, whatever the step")
    # the limit of u_k = -kd v_k - kp q_k held on a double integrator (Jury): kd T / M + kp T² / 2M < 2 and kp T < 2 kd
    longest = float(warning.split("every ")[2].split(" s")[0])
    assert (300 * longest + 2000 * longest**2 / 2) / INERTIA == pytest.approx(2, rel=5e-3)


@pytest.mark.parametrize("method", ["rk54", "rodas", "rk4"])
@pytest.mark.handful(2)
def test_feedback_of_the_wrong_sign_is_told_of_whatever_the_method_with_how_fast_it_runs_away(method):
    given = {"dt": 1e-3} if method == "rk4" else {}
    found = advice(axis(control=feedback(kp=[-20], kd=[1]), integrator={"method": method, **given}))
    rate = (-1 + math.sqrt(1 + 4 * INERTIA * 20)) / (2 * INERTIA)
    assert found.warnings[-1] == (
        f"control leaves J1 unstable at the target, whatever the step: its motion grows e-fold every {1 / rate:.3g} s, until a "
        "limit or stop bounds it; check the signs and sizes of its gains"
    )


def test_feedback_that_holds_is_told_nothing_of():
    for method in ("rk54", "rodas"):
        found = advice(axis(control=feedback(kp=[20], kd=[1], period=1e-3), integrator={"method": method}))
        assert found == Advice()
