"""The estimated error of a motion by its step: against exact motions; and what a run costs and says of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim.integrate import METHODS
from armsim.loading import read_scenario
from armsim.reports.simulation import written_run
from armsim.reports.written_run import report
from armsim.simulation import step_doubling
from armsim.simulation.simulate import simulate_unadvised
from armsim.simulation.step_error import LARGE

FIXED = [name for name, method in METHODS.items() if method.step is not None]
ADAPTIVE = [name for name, method in METHODS.items() if method.adaptive is not None]
PULSE = "0.1*sin(t) + 2000*exp(-((t - 1.0037)/0.0003)**2)"


def slide(**keys) -> dict:
    """A slide of 1 kg without gravity, on a spring of the controller."""
    joint = {
        "name": "slide",
        "type": "prismatic",
        "mdh": {},
        "bodies": [{"point": {"mass": 1}}],
        **keys.pop("joint", {}),
    }
    return {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "slide", "gravity": [0, 0, 0], "joints": [joint]},
        "duration": 2,
        "initial": {"q": [1]},
        "control": {"law": "pd", "output": "torque", "kp": 100, "kd": 2, "target": [0]},
        "log": {"every": 0.1},
        **keys,
    }


def spring(t, k=100.0, d=2.0):
    """The position of the slide at times t."""
    w = math.sqrt(k - d * d / 4)
    return np.exp(-d / 2 * t) * (np.cos(w * t) + d / 2 / w * np.sin(w * t))


def printed(run) -> str:
    """What the command line says of a run, on one line."""
    where = {"folder": "runs/slide-001", "tables": ["trajectory.csv"]}
    return " ".join(" ".join(map(str, report(written_run(run.facts, **where)))).split())


@pytest.fixture(autouse=True)
def unknown():
    step_doubling._known.clear()


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.handful(1)
def test_the_estimate_is_the_error_of_a_smooth_motion_or_more_up_to_twice(method):
    run = armsim.simulate(slide(integrator={"method": method, "dt": 1e-3}))
    instants = armsim.simulate(slide(integrator={"method": method, "dt": 1e-3}, log={"every": 1e-3}))
    true = np.abs(instants.q[:, 0] - spring(instants.t)).max()
    # looked at some instants only: the largest may be missed by a little; doubled as of order 1, halves are 3/4 or 15/16 apart
    assert 0.75 * true <= run.step_error.error <= 2.1 * true
    assert run.step_error.share == pytest.approx(run.step_error.error / np.ptp(spring(instants.t)), rel=0.1)
    assert run.step_error.whole
    assert run.summary()["step_error"]["note"] is None


def test_a_step_that_does_not_resolve_the_motion_is_told_of():
    # h w = 0.8 of semi-implicit Euler is stable, but half a radian behind after a second
    run = armsim.simulate(slide(integrator={"method": "semi_implicit_euler", "dt": 0.05}))
    true = np.abs(run.q[:, 0] - spring(run.t)).max() / np.ptp(run.q)
    assert true > LARGE
    assert run.step_error.share > LARGE
    note = run.summary()["step_error"]["note"]
    assert note.startswith("do not rely on this motion: half of dt = 0.05 s changes it, slide by ")
    assert note.endswith(
        "take a shorter step, or rodas, which chooses its own (`armsim.converge` tells when nothing changes any more)"
    )


def test_a_long_run_is_repeated_in_parts_that_show_a_step_that_does_not_resolve_the_motion():
    fine = armsim.simulate(slide(integrator={"method": "semi_implicit_euler", "dt": 1e-3}, duration=10))
    assert not fine.step_error.whole
    assert fine.step_error.share < 0.02
    assert fine.step_error.at_least
    assert " error at least " in printed(fine)
    # pushed to and fro at the supply's voltage, where h gear² Kp Ke / (Ra M) = 3.1 is unstable for semi-implicit Euler
    motor = {"Kp": 0.05, "Ra": 1, "gear": 50, "limits": {"voltage": 24}}
    coarse = slide(
        joint={"type": "revolute", "motor": motor, "bodies": [{"point": {"mass": 1, "center": [0.3162, 0, 0]}}]},
        inputs={"torque": ["20*sin(t)"]},
        integrator={"method": "semi_implicit_euler", "dt": 0.05},
        duration=300,
    )
    del coarse["control"]
    found = armsim.simulate(coarse).step_error
    assert not found.whole
    assert found.share > LARGE


@pytest.mark.parametrize("method", ["velocity_verlet", "implicit_midpoint"])
def test_an_event_that_steps_and_tenths_of_them_see_equally_late_makes_the_estimate_a_lower_bound(method):
    # thrown against gravity and friction, the mass turns at v / (g + f) = 0.2499 s and all steps below see that at 0.25 s
    thrown = slide(
        joint={"friction": {"coulomb": 1}},
        initial={"q": [0], "qd": [1.4994]},
        control={"law": "pd", "output": "torque", "kp": 0, "kd": 0, "target": [0]},
        duration=0.5,
        log={"every": 0.5},
    )
    thrown["robot"]["gravity"] = [0, 0, -5]
    v, a = 1.4994, 6.0
    end = v * v / (2 * a) - 4.0 / 2 * (0.5 - v / a) ** 2
    for dt in (0.01, 0.002):
        run = armsim.simulate(thrown, {"integrator": {"method": method, "dt": dt}})
        assert abs(run.q[-1, 0] - end) > 1e-5
        assert run.step_error.at_least or abs(run.q[-1, 0] - end) < 3 * run.step_error.error
    assert run.step_error.at_least
    assert " error at least " in printed(run)


def test_steps_as_long_as_a_sampling_period_cannot_begin_later_so_the_estimate_is_a_lower_bound():
    sampled = slide(
        control={"law": "pd", "output": "torque", "kp": 100, "kd": 2, "target": [0], "period": 0.01},
        integrator={"method": "velocity_verlet", "dt": 0.01},
    )
    assert armsim.simulate(sampled).step_error.at_least
    assert not armsim.simulate(sampled, {"integrator.dt": 0.0025}).step_error.at_least


def test_a_smooth_motion_is_no_lower_bound_by_any_method():
    for method in FIXED:
        assert not armsim.simulate(slide(integrator={"method": method, "dt": 1e-3})).step_error.at_least


def test_the_repetition_changes_no_bit_of_the_run_and_both_are_made_of_one_kernel(monkeypatch):
    asked = slide(integrator={"method": "rk4", "dt": 1e-3})
    with_it = armsim.simulate(asked)
    monkeypatch.setattr(step_doubling.StepDoubling, "_stretches", lambda self, steps: [])
    step_doubling._known.clear()
    without = armsim.simulate(asked)
    assert without.step_error is None
    assert with_it.state == without.state
    assert np.array_equal(with_it.table, without.table)


def test_a_run_of_the_same_scenario_is_not_repeated_again(monkeypatch):
    asked = slide(integrator={"method": "rk4", "dt": 1e-3})
    first = armsim.simulate(asked)
    estimated = first.step_error
    monkeypatch.setattr(step_doubling.StepDoubling, "_compared", None)
    assert armsim.simulate(asked).step_error == estimated


@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.handful(2)
def test_the_estimate_of_an_adaptive_run_is_the_error_of_a_smooth_motion(method, rtol):
    run = armsim.simulate(slide(integrator={"method": method, "rtol": rtol}, log={"every": 1e-2}))
    true = np.abs(run.q[:, 0] - spring(run.t)).max()
    # a tenth of the tolerance leaves a tenth of the error, which the estimate lacks; and only some instants are compared
    assert 0.8 * true <= run.step_error.error <= 1.05 * true
    assert run.step_error.by == "a tenth of the tolerance"
    assert "by the run repeated with a tenth of the tolerance" in printed(run)


@pytest.mark.slow
def test_a_pulse_that_all_adaptive_steps_passed_over_is_told_of():
    # half a millisecond long and of 2000 N at 1 s: steps of rk54 are 10 ms there, a two hundredth of the run
    pulse = slide(initial={"q": [0]}, integrator={"method": "rk54"}, inputs={"torque": [PULSE]})
    del pulse["control"]
    run = armsim.simulate(pulse)
    true = armsim.simulate(pulse, {"integrator": {"method": "rk4", "dt": 1e-5}})
    assert true.q[-1, 0] > 10 * run.q[-1, 0]
    assert run.step_error.share > 1
    assert run.step_error.error == pytest.approx(true.q[-1, 0] - run.q[-1, 0], rel=1e-6)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_run_that_dt_keeps_from_longer_steps_has_an_estimate_too(method):
    # a tenth of the tolerance alone would change nothing: all steps are dt long
    run = armsim.simulate(slide(integrator={"method": method, "dt": 0.01, "rtol": 1e-2}))
    true = np.abs(run.q[:, 0] - spring(run.t)).max()
    assert 0.8 * true <= run.step_error.error <= 1.05 * true


def test_a_run_whose_tolerance_is_at_rounding_is_repeated_with_a_larger_one():
    run = armsim.simulate(slide(integrator={"method": "rk54", "rtol": 1e-13}))
    assert run.step_error.by == "ten times the tolerance"
    assert run.step_error.share < 1e-11
    prepared = armsim.prepare(slide(integrator={"method": "rk54", "rtol": 1e-6}), ["integrator.rtol"])
    assert prepared({"integrator.rtol": 1e-13}).step_error == run.step_error


@pytest.mark.parametrize("landing", [{}, {"dt": 0.01}])
@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.handful(2)
def test_the_repetition_changes_no_bit_of_an_adaptive_run(method, landing):
    asked = slide(integrator={"method": method, **landing})
    assert armsim.simulate(asked).state == simulate_unadvised(read_scenario(asked)).state


def test_a_run_of_very_many_adaptive_steps_says_that_it_is_not_repeated(monkeypatch):
    monkeypatch.setattr(step_doubling, "MOST", 20)
    run = armsim.simulate(slide(integrator={"method": "rk54"}))
    assert run.step_error is None
    tried = sum(run.steps_chosen)
    assert f" error not estimated: the run took {tried} steps, more than 20 " in printed(run)


def test_a_repetition_that_takes_very_many_steps_is_given_up_and_says_so(monkeypatch):
    run = armsim.simulate(slide(integrator={"method": "rk54"}))
    monkeypatch.setattr(step_doubling, "MOST", sum(run.steps_chosen))
    monkeypatch.setattr(
        step_doubling, "TENTHS", 1
    )  # as many as the run itself, which a repetition that lands more often exceeds
    assert run.step_error is None
    assert run.unestimated.startswith("the run repeated with a tenth of the tolerance takes more than ")


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.handful(1)
def test_an_adaptive_run_whose_motion_amplifies_its_tolerance_is_told_of(method):
    # a double pendulum let go upside down: chaotic, a Lyapunov exponent of some 1/s
    chaos = {
        "integrator": {"method": method},
        "duration": 15,
        "log.every": 0.5,
        "initial.q": [3.0, 3.0],
        "initial.qd": [0, 0],
    }
    chaos["units"] = {"angle": "rad"}
    wild = armsim.simulate("two_link_swing", chaos)
    note = wild.summary()["step_error"]["note"]
    assert note.startswith("do not rely on this motion: a tenth of the tolerance changes it, ")
    calm = armsim.simulate("two_link_swing", {**chaos, "duration": 2})
    assert calm.summary()["step_error"]["note"] is None


def test_a_run_that_half_the_step_makes_diverge_says_so_without_a_number():
    run = armsim.simulate(slide(integrator={"method": "rk4", "dt": 1e-3}))
    infinite = step_doubling.StepError("slide", 0.5, math.inf, math.inf, True, "half the step")
    assert infinite.note(run.scenario).startswith(
        "do not rely on this motion: half of dt = 0.001 s changes it, into one that diverges at 0.5 s"
    )
    assert "slide by 116 % of its motion" in replace(infinite, share=1.16).note(run.scenario)


def test_a_prepared_run_has_the_estimate_of_its_own_numbers():
    for method, values in (("semi_implicit_euler", (100.0, 300.0)), ("rk54", (100.0, 300.0))):
        given = {"method": method} if method == "rk54" else {"method": method, "dt": 0.01}
        prepared = armsim.prepare(slide(integrator=given), ["control.kp"])
        found = [prepared({"control.kp": kp}).step_error for kp in values]
        alone = [armsim.simulate(slide(integrator=given), {"control.kp": kp}).step_error for kp in values]
        assert found == alone
        assert found[0] != found[1]


@pytest.mark.slow
def test_a_python_run_is_not_repeated():
    run = armsim.simulate(slide(integrator={"method": "rk4", "dt": 1e-2}), engine="python")
    assert run.step_error is None
    assert "step_error" not in run.summary()
    assert run.summary()["no_step_error"].startswith("only runs in machine code are repeated")


def test_a_run_whose_step_is_part_of_its_motors_is_not_repeated_and_keeps_their_algorithm():
    motors = {f"robot.joints[R{i}].motor.model": "dynamechs" for i in range(1, 6)}
    summary = armsim.simulate("arm5_fall", {**motors, "duration": 0.01, "log.every": 1e-3}).summary()
    assert summary["no_step_error"].endswith("motors whose rules hold for one step")
    assert summary["algorithm"] == "aba"


# ---- how a run ends


def test_a_summary_tells_of_a_motion_that_moves_away_from_its_target():
    runs_away = slide(
        control={"law": "pd", "output": "torque", "kp": [-4], "kd": [0], "target": [0]}, integrator={"method": "rk54"}
    )
    (away,) = armsim.simulate(runs_away).summary()["ending"]["departing"]
    assert (away["joint"], away["since"]) == ("slide", 1)
    # x = cosh(2 t), in rows every 0.1 s from 1 s on, two to a window
    assert (away["from"], away["to"]) == (pytest.approx(math.cosh(2 * 1.1)), pytest.approx(math.cosh(2 * 1.7)))
    settles = armsim.simulate(slide(integrator={"method": "rk54"})).summary()["ending"]
    assert settles == {"saturated": [], "departing": []}


def test_a_summary_tells_of_drives_that_end_at_a_limit():
    weak = slide(control={"law": "pd", "output": "torque", "kp": 100, "kd": 2, "target": [-50], "limit": [0.5]})
    assert armsim.simulate(weak, {"integrator": {"method": "rk54"}}).summary()["ending"]["saturated"] == ["slide"]
