"""What is said of a run that diverged: which joint, when, how fast it grew, and what to change."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from armsim.integrate import Tolerance
from armsim.records import from_plain
from armsim.simulation.divergence import Divergence
from armsim.terminal.divergence import divergence

KEPT = "            (the rows up to then are kept, and the run is marked as diverged)"
WHERE = {"slot": "qd_R5", "step": 11, "time": 0.011, "torques_finite": True, "growth": None}
GROWTH = {"joint": "R4", "per": "step", "factor": 2.5976, "alternates": True, "doubling_s": 7.266e-4, "since": 0.002}

SCENARIO = SimpleNamespace(
    method="explicit_euler", dt=1e-3, adaptive=False, tolerance=Tolerance(), command=None, external=()
)


def told(where, scenario) -> str:
    return divergence(from_plain(Divergence, where), scenario)


def said(**where) -> str:
    return told({**WHERE, **where}, SCENARIO)


def test_an_unstable_step_is_told_by_its_growth(told):
    told(said(growth=GROWTH))


@pytest.mark.parametrize("factor", [1.6, 50.0])
def test_what_more_than_halves_again_in_a_step_is_the_steps_doing_too(factor):
    assert "the step's doing" in said(growth={**GROWTH, "alternates": False, "factor": factor})


def test_slow_growth_may_be_the_motions_own(told):
    slow = {**GROWTH, "alternates": False, "factor": 1.01424, "doubling_s": 0.49, "since": None}
    told(said(growth=slow))


def test_growth_from_sample_to_sample_is_the_controllers(told):
    sampled = {**GROWTH, "per": "sample", "factor": 516.4}
    told(said(growth=sampled))


@pytest.mark.parametrize("slot", ["q_R5", "qd_my_joint", "integral_R5", "held_R5", "current_R5"])
def test_without_growth_it_names_what_was_furthest_out(slot, told):
    told(said(slot=slot))


def test_a_torque_that_is_not_finite_is_no_question_of_the_step(told):
    told(said(torques_finite=False, growth=GROWTH))


@pytest.mark.parametrize("rest", [{"growth": None}, {"growth": GROWTH}, {"stalled": "no step"}])
def test_a_joint_that_ran_away_goes_before_what_its_speed_did_to_the_others(rest, told):
    told(said(**rest, motion={"joint": "R1", "since": 0.01, "doubling_s": 0.1006}))


@pytest.mark.parametrize("growth", [None, GROWTH])
def test_what_is_known_of_stable_steps_is_said(growth):
    lines = said(growth=growth, stable={"dt": 5.571e-4, "methods": ["rk4", "implicit_midpoint"]}).splitlines()
    assert lines[-2:] == [
        "            the largest stable step here is 0.000557 s; rk4 and implicit_midpoint would take this one",
        KEPT,
    ]
    lines = said(growth=growth, stable={"dt": 5.571e-4, "methods": []}).splitlines()
    assert lines[-2] == "            the largest stable step here is 0.000557 s"


def test_simulate_says_it_with_3_and_keeps_it_in_run_yaml(armsim, empty_folder):
    import yaml

    # explicit Euler is unstable above 0.58 ms on this arm: its back-EMF damps with 3449 1/s (tests/data/README.md)
    done = armsim("simulate", "arm5_hold", "-o", "run", "--force-step", "--set", "integrator.dt=1e-3")
    assert done.code == 3
    recorded = yaml.safe_load((empty_folder / "run/run.yaml").read_text())
    assert recorded["status"] == "diverged"
    assert done.err == told(recorded["diverged"], SCENARIO) + "\n"
    assert "the velocity of joint R4 grew without bound" in done.err
    assert "2.6-fold a step, with alternating sign; it doubled every 0.727 ms, from t = 0 s on" in done.err


def test_record_says_it_with_3_too(armsim):
    settings = ("--set", "integrator.dt=1e-3", "--set", "control.period=1e-3", "--force-step")
    done = armsim("record", "arm5_hold", *settings, "-o", "recorded")
    assert done.code == 3
    assert done.err.startswith("the simulation diverged at t = 0.011 s: the velocity of joint R4 grew without bound\n")
    assert "2.6-fold a step, with alternating sign; it doubled every 0.727 ms, from t = 0 s on" in done.err
    assert "(`armsim converge` finds one)" in done.err


def test_an_adaptive_method_that_finds_no_step_says_so():
    adaptive = SimpleNamespace(method="rodas", dt=1e-2, adaptive=True, tolerance=Tolerance(rtol=1e-9), command=None)
    stopped = told({**WHERE, "stalled": "no step"}, adaptive)
    assert "rodas found no step short enough for rtol 1e-09" in stopped
    assert "smaller step" not in told(WHERE, adaptive)


@pytest.mark.slow
def test_an_implicit_step_without_a_solution_is_no_question_of_a_tolerance(armsim, empty_folder, told):
    # arm5 falls, and its stops are stiff; a tenth of a second is longer than its joints take to turn round
    (empty_folder / "fall.yaml").write_text(
        "format: armsim/scenario/1\nrobot: arm5\nduration: 1\nintegrator: {method: implicit_midpoint, dt: 0.1}\n"
    )
    done = armsim("simulate", "fall.yaml", "-o", "run")
    assert done.code == 3
    told(done.err)
    for mend in ({"dt": 0.01}, {"method": "rodas"}):
        settings = [word for key, value in mend.items() for word in ("--set", f"integrator.{key}={value}")]
        assert armsim("simulate", "fall.yaml", "-q", *settings).code == 0


@pytest.mark.parametrize("stalled", [None, "no step", "too many steps"])
@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("growth", [None, GROWTH])
@pytest.mark.parametrize("finite", [False, True])
def test_every_divergence_says_what_was_expected_and_what_was_found(stalled, adaptive, growth, finite):
    scenario = SimpleNamespace(
        method="rk54", dt=1e-2, adaptive=adaptive, tolerance=Tolerance(), command=None, external=()
    )
    lines = told({**WHERE, "stalled": stalled, "growth": growth, "torques_finite": finite}, scenario).splitlines()
    assert [line.split(":")[0] for line in lines[1:4]] == ["  expected", "  found", "  mend"]
