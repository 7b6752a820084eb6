"""Convergence of shipped scenarios, against truth from elsewhere and against what theory says of the methods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim.convergence import refinement, runs
from armsim.errors import FileFaults, UsageError
from armsim.integrate import METHODS
from armsim.loading import read_scenario

# arm5 without motors and stops, let go: chaotic, errors grow by 1e24 over 10 s (tests/data/README.md)
SWING = {
    **{f"robot.joints[{i}].{key}": None for i in range(5) for key in ("motor", "limits")},
    "control": None,
    "initial.q": [0.3, -0.4, 0.2, 0.5, -0.3],
    "integrator": {"method": "rk4", "dt": 1e-3},
}
# the case of tests/data/hold_truth.csv
HOLD = {
    "control.kp": [100, 100, 100, 20, 20],
    "control.kd": [1, 1, 1, 0.1, 0.1],
    "control.target": [0.3, -0.8, 0, 0.5, -0.4],
    "initial.q": [0, -1.1, 0.3, 0, 0],
    "log.every": 0.05,
}


def only(*args, **options):
    found = armsim.converge(*args, **options)
    (method,) = found.methods
    return method


@pytest.mark.parametrize(
    ("scenario", "method", "order"),
    [
        ("two_link_hold", "semi_implicit_euler", 1),
        ("arm5_hold", "explicit_euler", 1),
        ("two_link_swing", "semi_implicit_euler", 1),
        ("two_link_hold", "velocity_implicit", 1),
        ("two_link_hold", "velocity_verlet", 2),
        ("two_link_swing", "implicit_midpoint", 2),
        ("rr_config1", "rk4", 4),
        ("two_link_hold", "rk4", 4),
    ],
)
@pytest.mark.handful(1)
def test_methods_converge_at_their_order_on_shipped_scenarios(scenario, method, order):
    found = only(scenario, method, accuracy={1: 1e-4, 2: 1e-7, 4: 1e-8}[order])
    assert found.nominal == order
    assert found.order == pytest.approx(order, abs=0.1)
    assert found.verdict in ("settled", "rounding")


@pytest.mark.parametrize(
    ("method", "accuracy"), [("explicit_euler", 1e-5), ("semi_implicit_euler", 1e-4), ("rk4", 1e-7)]
)
@pytest.mark.slow
def test_the_errors_of_the_hold_are_those_against_its_truth(method, accuracy, reference):
    truth = reference("hold_truth")
    found = only("arm5_hold", method, {**HOLD, "duration": 2}, accuracy)
    rows = np.flatnonzero(truth.columns["t_s"] <= 2.0)
    for setting in found.settings:
        if setting.diverged:
            continue
        run = armsim.simulate(
            "arm5_hold", {**HOLD, "duration": 2, "integrator": {"method": method, "dt": setting.value}}
        )
        off = np.abs(run.q - truth.block("q")[rows]).max()
        assert setting.error == pytest.approx(off, rel=0.05, abs=3 * found.doubt + 1e-12)
    assert found.cheapest(accuracy) is not None


@pytest.mark.slow
def test_the_errors_of_the_swing_are_those_against_quadruple_precision(reference):
    truth = reference("swing_truth")
    rows = np.flatnonzero(truth.columns["t_s"] <= 1.5)
    every = float(truth.columns["t_s"][1])
    given = {**SWING, "duration": 1.5, "log.every": every}
    found = only("arm5_hold", None, given, 1e-8)
    for setting in found.settings:
        run = armsim.simulate("arm5_hold", {**given, "integrator": {"method": "rk4", "dt": setting.value}})
        off = np.abs(run.q - truth.block("q")[rows]).max()
        assert setting.error == pytest.approx(off, rel=0.05, abs=3 * found.doubt)


@pytest.mark.parametrize("method", ["rk54", "rodas"])
@pytest.mark.handful(1)
def test_a_method_that_chooses_its_steps_is_refined_by_its_tolerance(method):
    found = only("two_link_swing", method, accuracy=1e-10)
    assert (found.knob, found.own, found.at_own, found.verdict) == ("rtol", None, None, "settled")
    assert {s.value for s in found.settings} >= {1e-6, 1e-7, 1e-8, 1e-9, 1e-10}
    steps = [s.steps for s in found.settings]  # those that it took
    assert steps == sorted(steps)
    assert 501 < found.cheapest(1e-10).steps < 10_000
    # the error follows the tolerance, which is that of a step
    assert 0.5 < found.order < 1.2


def test_tolerances_that_change_nothing_are_not_tried():
    found = only("two_link_swing", "rk54", {"integrator": {"method": "rk54", "dt": 0.01}}, accuracy=1e-5)
    loose = found.settings[:2]  # a step from landing to landing whatever the tolerance
    assert loose[0].steps == loose[1].steps < found.settings[2].steps


def test_a_scenario_that_leaves_its_method_to_armsim_is_refined_by_what_that_takes():
    picked = only("two_link_swing", None, {"integrator": None})
    assert (picked.method, picked.knob, picked.own) == ("rk54", "rtol", 1e-6)
    assert picked.at_own.error < 1e-4
    given = only("two_link_swing", None, {"integrator": {"dt": 1e-3}})  # then it lands every 1e-3 s
    assert (given.method, given.knob, given.own) == ("rk54", "rtol", 1e-6)
    fixed = only("two_link_swing", "rk4", {"integrator": {"rtol": 1e-8}})
    assert (fixed.knob, fixed.own, fixed.at_own) == ("dt", None, None)
    assert fixed.settings[0].value == 1e-2  # from the time between rows on


def test_the_cheapest_setting_is_good_enough_and_twice_its_step_is_not():
    found = only("two_link_swing", "rk4", accuracy=1e-9)
    best = found.cheapest(1e-9)
    coarser = next(s for s in reversed(found.settings) if s.value > best.value)
    assert best.error <= 1e-9 < coarser.error
    assert best.steps == round(5 / best.value)
    assert best.seconds == pytest.approx(1e-7 * best.steps)


def test_larger_steps_are_tried_where_the_scenarios_own_is_better_than_needed():
    found = only("two_link_swing", "rk4", accuracy=1e-6)
    assert found.at_own.error < 1e-9
    assert found.cheapest(1e-6).value == 5e-3
    # up to the first that is too large: 10 ms, the time between rows
    assert found.settings[0].value == 1e-2
    assert found.settings[0].error > 1e-6


@pytest.mark.slow
def test_a_step_that_is_too_large_for_stability_is_unstable_not_an_error():
    found = only("arm5_hold", None, {"integrator.dt": 1e-3, "duration": 1}, 1e-3)
    assert found.verdict == "settled"
    assert found.at_own.diverged
    assert found.at_own.error is None
    # explicit Euler is stable below 0.55 ms here
    assert [s.diverged for s in found.settings if s.value <= 5e-4] == [False] * (len(found.settings) - 1)


@pytest.mark.slow
def test_a_chaotic_motion_is_told_apart_over_ten_seconds_and_not_over_one():
    long = only("arm5_hold", None, {**SWING, "duration": 10})
    assert long.verdict == "sensitive"
    assert long.cheapest(1e-6) is None
    # errors grow by 1e24 over 10 s: 5.5 1/s; rounding alone to 6e-8 by 3 s (tests/data/README.md's reference)
    assert long.sensitivity.rate == pytest.approx(np.log(1e24) / 10, rel=0.1)
    assert 1e-8 < long.sensitivity.rounding(3.0) < 3e-7
    assert 1.0 < long.good_until < long.sensitivity.horizon(1e-6) < 4.7
    short = only("arm5_hold", None, {**SWING, "duration": 1})
    assert short.verdict == "settled"
    assert short.sensitivity is None
    assert short.cheapest(1e-6) is not None


@pytest.mark.slow
def test_until_when_it_is_good_is_true_to_quadruple_precision(reference):
    truth = reference("swing_truth")
    found = only("arm5_hold", None, {**SWING, "duration": 10, "log.every": 0.05})
    run = armsim.simulate(
        "arm5_hold",
        {**SWING, "duration": 10, "log.every": 0.05, "integrator": {"method": "rk4", "dt": found.settings[-1].value}},
    )
    rows = [int(np.flatnonzero(np.isclose(truth.columns["t_s"], t))[0]) for t in run.t if t <= found.good_until]
    off = np.abs(run.q[: len(rows)] - truth.block("q")[rows]).max()
    assert off <= 1e-6


@pytest.mark.slow
def test_chaos_does_not_depend_on_a_poor_method():
    # explicit Euler pumps energy into a swing until it whirls about; the swing itself is regular
    found = only("two_link_swing", "explicit_euler", {"integrator.dt": 1e-2, "duration": 20}, budget=2)
    assert found.verdict == "budget"


def test_an_unstable_balance_is_too_sensitive_too():
    found = only("rr_config3")
    assert found.verdict == "sensitive"
    assert 0 < found.good_until < 10


def test_rounding_ends_what_smaller_steps_gain():
    found = only("two_link_swing", "rk4", accuracy=1e-15)
    assert found.verdict == "rounding"
    assert found.cheapest(1e-15) is None
    assert found.settings[-1].error < 1e-11


def test_the_time_is_bounded_and_the_rest_expected():
    found = only("two_link_swing", "explicit_euler", accuracy=1e-9, budget=1.0)  # it takes hours
    assert found.verdict == "budget"
    value, seconds = found.expected(1e-9)
    assert 1e-3 / value == pytest.approx(round(1e-3 / value), rel=1e-12)
    assert seconds > 1.0


def test_a_run_that_is_longer_than_the_time_is_cut_short():
    found = only("rr_config1", None, {"duration": 1e7, "log.every": 1e4}, budget=0.1)  # a quarter of an hour, all of it
    assert (found.verdict, found.settings, found.doubt) == ("budget", (), None)


def test_several_methods_are_held_against_the_best_of_their_answers():
    found = armsim.converge("two_link_hold", ["semi_implicit_euler", "rk4"], accuracy=1e-4)
    euler, rk4 = found.methods
    assert euler.doubt == rk4.doubt < 1e-9
    assert rk4.cheapest(1e-4).steps < euler.cheapest(1e-4).steps
    assert found.reached
    assert not armsim.converge("two_link_hold", ["semi_implicit_euler", "rk4"], accuracy=1e-9, budget=0.5).reached


def test_all_methods_are_all_that_there_are(monkeypatch):
    monkeypatch.setattr(refinement.Refinement, "run", lambda self: None)
    found = armsim.converge("two_link_swing", "all")
    assert [method.method for method in found.methods] == list(METHODS)
    assert [method.method for method in armsim.converge("two_link_swing").methods] == ["rk4"]
    assert [method.method for method in armsim.converge("two_link_swing", ["rk4", "rk4"]).methods] == ["rk4"]


@pytest.mark.slow
def test_joints_that_friction_stops_take_its_order_from_a_method():
    # a pendulum whose bearing stops it five times or so, and holds it in the end
    joint = {
        "name": "swing",
        "type": "revolute",
        "mdh": {},
        "friction": {"coulomb": 0.3},
        "bodies": [{"point": {"mass": 1, "center": [0.5, 0, 0]}}],
    }
    given = {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "pendulum", "gravity": [0, -9.81, 0], "joints": [joint]},
        "duration": 5,
        "integrator": {"method": "velocity_verlet", "dt": 1e-3},
        "initial": {"q": [0]},
    }
    found = only(given, accuracy=1e-4)
    assert (found.verdict, found.nominal) == ("settled", 2)
    # it stops a joint at the end of a step, and not within it: of order 1, more or less
    assert 0.5 < found.order < 1.5
    assert found.cheapest(1e-4) is not None


def test_a_motion_that_blows_up_by_itself_is_not_the_steps_fault():
    # negative stiffness on a straight slide: q'' = 400 q leaves 1e6 m at the same time whatever the step
    slide = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 1}}]}
    robot = {"format": "armsim/robot/1", "name": "slide", "gravity": [0, 0, 0], "joints": [slide]}
    given = {
        "format": "armsim/scenario/1",
        "robot": robot,
        "duration": 5,
        "integrator": {"method": "rk4", "dt": 1e-3},
        "initial": {"q": [1]},
        "control": {"law": "pd", "output": "torque", "kp": -400, "kd": 0, "target": [0]},
    }
    found = armsim.converge(given)
    assert found.methods[0].verdict == "unstable"
    assert len(found.methods[0].settings) == 3
    assert found.unit == "m"


def test_the_end_counts_where_the_log_has_only_the_first_row():
    found = armsim.converge("two_link_swing", "semi_implicit_euler", {"log.every": 20}, accuracy=1e-3)
    assert found.instants == 2
    assert found.methods[0].order == pytest.approx(1, abs=0.1)
    assert armsim.converge("two_link_swing", None, {"duration": 0.1, "log.every": 0.05}).instants == 3


def test_a_scenario_that_was_read_and_its_content_converge_as_the_file_does():
    read = read_scenario("two_link_swing")
    same = [only(given).at_own.error for given in ("two_link_swing", read, read.scenario_data)]
    assert same[0] == same[1] == same[2]


def test_every_run_is_announced():
    seen = []
    found = only("two_link_swing", accuracy=1e-6, look=lambda *what: seen.append(what))
    assert {(method, knob) for method, knob, _ in seen} == {("rk4", "dt")}
    assert {s.value for s in found.settings} == {value for _, _, value in seen}


def test_ctrl_c_ends_it_with_what_it_has(monkeypatch):
    made = []

    def simulate(scenario, progress=None):
        run = armsim.simulate(scenario, progress=progress)
        made.append(run)
        return replace(run, status="interrupted") if len(made) == 4 else run

    monkeypatch.setattr(runs, "simulate_unadvised", simulate)
    found = armsim.converge("two_link_swing", ["semi_implicit_euler", "rk4"])
    assert [(m.method, m.verdict, len(m.settings)) for m in found.methods] == [
        ("semi_implicit_euler", "interrupted", 3)
    ]


def test_what_cannot_be_run_is_refused():
    with pytest.raises(
        UsageError, match=r"method rk5\n  expected: all, or one of .*rk4.*\n  found:    rk5\n  mend:     did you"
    ):
        armsim.converge("rr_config1", "rk5")
    with pytest.raises(UsageError, match=r"accuracy\n  expected: a positive number of rad or m\n  found:    0\n"):
        armsim.converge("rr_config1", accuracy=0)
    with pytest.raises(UsageError, match=r"budget\n  expected: a positive number of s\n  found:    -1\n"):
        armsim.converge("rr_config1", budget=-1)
    with pytest.raises(FileFaults):
        armsim.converge("rr_config1", None, {"duration": -1})
