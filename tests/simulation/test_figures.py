"""Figures of merit in a run's summary: what they are gathered from, and what they say went wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.measures import figures
from armsim.measures.figures import every
from armsim.simulation.loop_plan import LoopPlan
from armsim.stability.method_choice import with_method

SHORT = {"duration": 0.06, "integrator.dt": 1e-4, "log.every": 1e-4}
LIMITED = {"control.limit": 25, "robot.joints[R2].motor.limits": {"voltage": 20, "current": 2}}
WARM = {"robot.joints[R2].motor.thermal": {"resistance": 2, "time_constant": 0.05, "max": 30}}
PUSHED = {"external": [{"link": "R3", "force": [0, 0, -40], "from": 0.002, "to": 0.004}]}
INDUCTIVE = {"robot.joints[R2].motor.inductance": 1e-3}
LOSSY = {"robot.joints[R2].motor.gear": -2, "robot.joints[R2].motor.efficiency": 0.7}


@pytest.mark.parametrize(
    "changes",
    [
        LIMITED | WARM | PUSHED,
        LIMITED | INDUCTIVE | {"integrator.method": "semi_implicit_euler"},
        LIMITED | LOSSY | {"integrator.method": "rk4", "control.period": 1e-3},
    ],
)
@pytest.mark.handful(1)
def test_figures_have_the_same_bits_in_machine_code_and_on_floats(changes, monkeypatch):
    monkeypatch.setattr(figures, "MOMENTS", 7)  # fewer than steps
    changes = SHORT | {"duration": 4e-3} | changes
    found = [armsim.simulate("arm5_hold", changes, engine=engine) for engine in ("llvm", "python")]
    assert len(found[0].figures) > 60
    assert found[0].figures == found[1].figures


@pytest.mark.parametrize("engine", ["llvm", "python"])
@pytest.mark.handful(1)
def test_an_adaptive_run_gathers_figures_at_all_its_moments(engine):
    changes = {"integrator": {"method": "rk54"}, "duration": 0.05, "log.every": 0.01}
    runs = [armsim.simulate("two_link_hold", changes, engine=each, measure=["iae_elbow"]) for each in ("llvm", engine)]
    assert runs[0].figures == runs[1].figures
    assert runs[0].figures["iae_elbow"] == pytest.approx(runs[0].measures["iae_elbow"], rel=1e-12)
    assert runs[0].summary()["figures"]["moments"] == runs[0].summary()["moments"] + 1 == 1001


def test_figures_are_the_measures_at_their_moments():
    # 600 steps: every one is a moment, but for the rounding of the times between them as differences
    changes = SHORT | LIMITED | WARM | PUSHED
    run = armsim.simulate("arm5_hold", changes)
    assert every(run.steps) == 1
    names = [name for name in run.figures if not name.startswith(("first", "time"))]
    again = armsim.simulate("arm5_hold", changes, measure=names)
    assert {name: again.measures[name] for name in names} == pytest.approx(
        {x: run.figures[x] for x in names}, rel=1e-12
    )
    # and some of them from the rows
    e = run.plant.command.target[1] - run["q_R2_rad"]
    mean = lambda x: np.sum((x[1:] + x[:-1]) / 2) / (len(x) - 1)  # noqa: E731
    assert run.figures["rms_error_R2"] == pytest.approx(math.sqrt(mean(e * e)), rel=1e-12)
    assert run.figures["rms_current_R2"] == pytest.approx(math.sqrt(mean(run["current_R2_A"] ** 2)), rel=1e-12)


def test_fewer_moments_than_steps_are_evenly_apart_and_end_with_the_run(monkeypatch):
    monkeypatch.setattr(figures, "MOMENTS", 7)
    run = armsim.simulate("arm5_hold", SHORT)
    assert every(run.steps) == 85
    seen = [*range(0, 600, 85), 600]
    e, t = abs(run.plant.command.target[1] - run["q_R2_rad"][seen]), run.t[seen]
    assert run.figures["iae_R2"] == pytest.approx(np.sum((e[1:] + e[:-1]) / 2 * np.diff(t)), rel=1e-12)
    summary = run.summary()["figures"]
    assert summary["moments"] == len(seen)
    assert summary["every"] == pytest.approx(85e-4)


def test_figures_depend_neither_on_rows_nor_on_stretches_nor_on_where_numbers_stand():
    run = armsim.simulate("arm5_hold", SHORT | {"duration": 0.3})
    rare = armsim.simulate("arm5_hold", SHORT | {"duration": 0.3, "log.every": 0.1})
    prepared = armsim.prepare("arm5_hold", ["control.kp[1]", "initial.q"], SHORT | {"duration": 0.3})
    kept = prepared({"control.kp[1]": 60, "initial.q": [float(q) for q in run.scenario.initial_q]})
    assert run.figures == rare.figures == kept.figures


def test_the_start_of_a_run_is_no_part_of_its_code():
    keys = []
    for start in (0.1, 0.2):
        scenario = with_method(armsim.loading.scenario_of("arm5_hold", {"initial.q": [start] * 5}))
        keys.append(LoopPlan.of_run(scenario).key)
    assert keys[0] == keys[1] != ""


@pytest.mark.slow
def test_lanes_measure_what_single_runs_measure_to_the_bit():
    names = ["rise_time_R2", "rms_error_R2", "peak_tool_error", "rms_current_R2", "winding_temperature_R2"]
    names += ["time_at_current_limit_R2", "first_at_voltage_limit_R2", "recovery_time", "energy_fed_back_R2"]
    changes = SHORT | {"duration": 0.04, "log.every": 0.01} | LIMITED | WARM | PUSHED | LOSSY
    kp = [60.0, 90.0, 120.0]
    many = armsim.simulate_many("arm5_hold", {"control.kp[1]": kp}, changes, measure=names)
    for k, gain in enumerate(kp):
        one = armsim.simulate("arm5_hold", changes | {"control.kp[1]": gain}, measure=names)
        assert all(many[name][k] == one.measures[name] for name in one.units), gain


OPENED = {  # with values of two runs, and a measure that depends on it
    "robot.joints[1].motor.thermal.resistance": ([1.0, 3.0], "winding_temperature_R2"),
    "robot.joints[1].motor.thermal.ambient": ([20.0, 40.0], "peak_winding_temperature_R2"),
    "robot.joints[1].limits.lower": ([-1.2, -1.1], "time_at_stop_R2"),
    "robot.joints[1].motor.limits.current": ([1.0, 2.0], "time_at_current_limit_R2"),
    "external[0].force[2]": ([-40.0, 400.0], "disturbance_peak_R2"),
    "control.target[1]": ([-1.1, -1.0], "rise_time_R2"),
}


@pytest.mark.slow
def test_measures_are_of_the_open_numbers_and_not_of_the_files():
    changes = SHORT | {"duration": 0.02, "log.every": 0.01} | LIMITED | WARM | PUSHED
    measures = [measure for _, measure in OPENED.values()]
    many = armsim.simulate_many("arm5_hold", {path: x for path, (x, _) in OPENED.items()}, changes, measure=measures)
    singles = [
        armsim.simulate("arm5_hold", changes | {path: x[k] for path, (x, _) in OPENED.items()}, measure=measures)
        for k in range(2)
    ]
    for measure in measures:
        found = [run.measures[measure] for run in singles]
        assert list(many[measure]) == found, measure
        assert found[0] != found[1] or measure == "rise_time_R2", measure


def problems(changes, scenario="arm5_hold"):
    return armsim.simulate(scenario, SHORT | {"log.every": 0.01} | changes).summary()["problems"]


def test_a_run_without_faults_has_no_problems():
    assert problems({"duration": 5.0}) == []


def test_a_drive_at_its_limit_is_told_with_how_long_and_since_when():
    changes = {"robot.joints[R1].motor.limits": {"current": 2}, "duration": 0.5}  # it begins with 12 A unless limited
    (found,) = [found for found in problems(changes) if found["kind"] == "limit"]
    run = armsim.simulate("arm5_hold", SHORT | changes)
    beyond = abs(run["current_R1_A"]) >= 2
    assert (found["joint"], found["which"], found["first"], found["at_end"]) == ("R1", "current", 0.0, False)
    assert found["time"] == pytest.approx(beyond.mean() * 0.5, abs=2e-3)
    assert found["share"] == found["time"] / 0.5


def test_a_motor_above_its_nominal_current_and_a_hot_winding_are_told():
    hot = {"resistance": 1000, "time_constant": 0.1, "max": 100}
    changes = {"robot.joints[R2].motor.nominal_current": 0.5, "robot.joints[R2].motor.thermal": hot, "duration": 0.5}
    nominal, winding = problems(changes)[:2]
    assert (nominal["kind"], nominal["joint"], nominal["nominal"]) == ("nominal_current", "R2", 0.5)
    assert nominal["rms"] > 0.5
    assert (winding["kind"], winding["joint"], winding["max"]) == ("winding", "R2", 100)
    assert winding["peak"] > 100


def test_a_joint_that_does_not_settle_is_told_unless_gravity_says_why():
    assert [found["joint"] for found in problems({"duration": 0.2}) if found["kind"] == "unsettled"] != []
    for found in problems({"duration": 0.2}):
        assert found["error"] > found["band"]
    assert problems({"duration": 5.0}) == []  # R2, R3 and R5 droop


def test_a_joint_without_a_way_to_go_has_no_response():
    run = armsim.simulate(
        "arm5_hold", SHORT | {"initial.q": [0, -1.1, 0.3, 0, 0.1], "control.target": [0, -1.1, 0.3, 0, 0]}
    )
    entries = run.summary()["joints"]
    assert [entry["rise_time"] for entry in entries[:4]] == [None] * 4
    assert entries[4]["rise_time"] is not None


def test_a_run_that_diverges_has_no_figures():
    run = armsim.simulate("arm5_fall", {"integrator.dt": 1e-3}, force_step=True)
    assert run.status == "diverged"
    assert run.figures == {}
    assert "figures" not in run.summary()


def test_a_joint_that_follows_minimum_jerk_has_the_rise_of_minimum_jerk():
    run = armsim.simulate("arm5_move")
    shares = np.linspace(0, 1, 100_001)
    way = 10 * shares**3 - 15 * shares**4 + 6 * shares**5
    rise = 1.5 * (shares[np.searchsorted(way, 0.9)] - shares[np.searchsorted(way, 0.1)])
    summary = run.summary()
    for joint in summary["joints"]:
        assert joint["rise_time"] == pytest.approx(rise, abs=2 * summary["figures"]["every"])
        assert joint["peak_error"] < 1e-9
        assert joint["overshoot"] < 1e-6
    assert summary["figures"]["follows"]
    assert summary["figures"]["peak_tool_error"] < 1e-9
    assert summary["problems"] == []


def test_a_joint_that_lags_behind_its_reference_is_told_with_its_travel():
    # soft gains without feedforward: it comes after, and settles, but it does not follow
    run = armsim.simulate("arm5_move", {"control.feedforward": "none", "control.kp": [3] * 5, "control.kd": [0] * 5})
    found = {found["joint"]: found for found in run.summary()["problems"] if found["kind"] == "not_followed"}
    assert found["R1"]["travel"] == pytest.approx(0.8, rel=1e-12)
    e = run["q_ref_R1_rad"] - run["q_R1_rad"]
    assert found["R1"]["rms"] == pytest.approx(math.sqrt(np.mean(e * e)), rel=0.02)


@pytest.mark.slow
def test_a_reference_by_a_formula_has_no_end_to_rise_to():
    changes = {"control.reference": {"q": ["0.1*sin(t)"] * 5}, "duration": 0.1}
    run = armsim.simulate("arm5_move", changes)
    assert run.summary()["joints"][0]["rise_time"] is None
    assert run.summary()["joints"][0]["rms_error"] is not None
    with pytest.raises(armsim.UsageError, match="a reference that comes to an end"):
        armsim.simulate("arm5_move", changes, measure=["settling_time_R2"])
