"""What a sequence of answers says about their errors, on answers whose errors are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armsim.convergence.errors import Convergence, MethodConvergence, Setting, observed_order, settings
from armsim.convergence.reference import ReferenceSolution, SettingRun, richardson

TRUE = np.array([[0.0, 1.0], [0.5, 2.0], [1.0, -1.0]])
WORST = np.array([[0.0, 0.0], [0.2, -1.0], [0.3, 0.5]])  # the largest error is 1, of the second joint
JOINTS = ("A", "B")


def trial(h: float, error, diverged: bool = False) -> SettingRun:
    return SettingRun(h, round(1 / h), 1e-3 / h, 1.0, None if diverged else TRUE + error)


def falling(order: float, steps=(0.1, 0.05, 0.025, 0.0125), then: float = 0.0) -> list[SettingRun]:
    """Answers off by h^order, and by a bit that falls one order faster."""
    return [trial(h, (h**order + then * h ** (order + 1)) * WORST) for h in steps]


def test_settings_say_error_joint_and_order_against_a_reference():
    trials = [trial(0.2, 0.0, diverged=True), *falling(4, (0.1, 0.05, 0.02))]
    made = settings(trials, ReferenceSolution(TRUE, 1e-12), JOINTS)
    assert [s.diverged for s in made] == [True, False, False, False]
    assert [s.error for s in made] == [None, *(pytest.approx(h**4) for h in (0.1, 0.05, 0.02))]
    assert [s.joint for s in made] == [None, "B", "B", "B"]
    assert [s.order for s in made] == [None, None, pytest.approx(4), pytest.approx(4)]  # also from 0.05 to 0.02
    assert [s.steps for s in made] == [5, 10, 20, 50]


def test_errors_within_the_doubt_have_no_order():
    made = settings(falling(4, (0.1, 0.05, 0.025)), ReferenceSolution(TRUE, 0.4 * 0.025**4), JOINTS)
    assert [s.order for s in made] == [None, pytest.approx(4), None]


def test_no_error_is_said_to_be_below_the_doubt():
    (made,) = settings([trial(0.1, 1e-9 * WORST)], ReferenceSolution(TRUE, 1e-6), JOINTS)
    assert (made.error, made.joint) == (1e-6, None)


def test_without_a_reference_there_are_no_errors():
    (only,) = settings([trial(0.1, 0.1 * WORST)], None, JOINTS)
    assert (only.diverged, only.error, only.joint, only.order) == (False, None, None, None)


def test_the_reference_itself_is_off_by_the_doubt():
    trials = falling(1, (0.1, 0.05))
    made = settings(trials, richardson(trials), JOINTS)
    assert (made[-1].error, made[-1].joint) == (pytest.approx(0.05), None)


def of(errors, doubt=0.0) -> float | None:
    return observed_order([Setting(h, 1, 1.0, e is None, e, None, None) for h, e in errors], doubt)


def test_the_order_is_the_slope_of_the_finest_errors_that_are_clear_of_doubt():
    # saturated, then order 2, then rounding
    errors = [(0.4, 1.0), *((h, h**2) for h in (0.2, 0.1, 0.05, 0.02, 0.01)), (0.005, 1e-5)]
    assert of(errors, doubt=5e-6) == pytest.approx(2)
    assert of([(0.8, None), *((h, 3 * h**1.5) for h in (0.2, 0.1, 0.05))]) == pytest.approx(1.5)


def test_a_step_at_the_edge_of_stability_does_not_count():
    assert of([(0.4, 1e3), *((h, h**4) for h in (0.2, 0.1, 0.05))]) == pytest.approx(4)
    assert of([(0.4, 1e3), (0.2, 1e2), *((h, h**4) for h in (0.1, 0.05))]) is None


def test_errors_that_are_two_or_flat_or_irregular_have_no_order():
    assert of([(0.4, 1e-9), (0.2, 1e-9), (0.1, 1e-9), (0.05, 1e-9)]) is None
    assert of([(0.2, 0.04), (0.1, 0.01)]) is None
    assert of([(0.4, 1e-6), (0.2, 1e-9), (0.1, 1e-9), (0.05, 1e-12)]) is None


def test_errors_that_roundings_make_have_no_order():
    # a million steps: 2.2e-10 where each is off by one rounding of a position of 1
    steps = (1e-4, 5e-5, 2.5e-5, 1.25e-5, 1e-6)
    errors = (1e-6, 1e-6 / 16, 1e-6 / 256, 1e-10, 2e-10)
    made = settings([trial(h, e * WORST) for h, e in zip(steps, errors)], ReferenceSolution(TRUE, 1e-14), JOINTS)
    assert [s.order for s in made] == [
        None,
        pytest.approx(4, rel=1e-4),
        pytest.approx(4, rel=1e-4),
        pytest.approx(5.3, abs=0.1),
        None,
    ]
    assert of([(s.value, s.error) for s in made[:-1]]) is not None
    assert observed_order(made[:3] + made[4:], 1e-14) == pytest.approx(4, rel=1e-4)


def judged(*orders, diverged=(), order=None, **about) -> bool:
    made = tuple(
        Setting(0.1 / 2**k, 10 * 2**k, 1.0, k in diverged, None if k in diverged else 1e-3, "A", x)
        for k, x in enumerate(orders)
    )
    given = {"knob": "dt", "verdict": "settled", **about}
    return MethodConvergence(
        "rk4", 4, given["knob"], 0.1, made, order, 1e-9, given["verdict"], None, None, 1.0
    ).falls_short


def test_a_method_falls_short_of_its_order_steadily_or_now_and_then():
    assert judged(None, 1.0, 1.0, order=1.0)
    assert not judged(None, 4.0, 4.0, order=3.9)
    assert judged(None, 10.0, 0.0)
    assert not judged(None, 30.0, 4.1)
    assert not judged(None, 1.0, 1.0, order=1.0, knob="rtol")
    assert not judged(None, 1.0, 1.0, order=1.0, verdict="rounding")


def test_the_step_next_to_one_that_diverged_is_not_judged():
    assert not judged(None, None, 1.0, 4.2, 4.1, diverged=(0,))
    assert judged(None, None, 4.2, 1.0, 4.1, diverged=(0,))


def method(settings, verdict="settled", order=1.0, knob="dt", own=0.1) -> MethodConvergence:
    made = tuple(Setting(h, round(1 / h), 1e-3 / h, e is None, e, "A", None) for h, e in settings)
    return MethodConvergence("rk4", 4, knob, own, made, order, 1e-12, verdict, None, None, 1.0)


def test_the_cheapest_setting_is_the_coarsest_from_which_on_all_are_good():
    found = method([(0.4, None), (0.2, 1e-3), (0.1, 1e-2), (0.05, 5e-3), (0.025, 2.5e-3)])
    assert found.cheapest(6e-3).value == 0.05  # 0.2 was luck
    assert found.cheapest(1.0).value == 0.2
    assert found.cheapest(1e-3) is None
    assert found.at_own.error == 1e-2
    assert method([(0.2, 1e-3)], own=0.1).at_own is None


def test_no_setting_is_the_cheapest_where_the_answer_itself_is_in_doubt():
    found = method([(0.2, 1e-3), (0.1, 1e-3)])
    assert found.cheapest(1e-3).value == 0.2
    assert replace(found, doubt=0.6e-3).cheapest(1e-3) is None
    assert replace(found, doubt=0.4e-3).cheapest(1e-3).value == 0.2
    assert replace(found, doubt=None).cheapest(1e-3) is None
    assert replace(found, verdict="unknown").cheapest(1e-3) is None


def test_what_the_time_did_not_allow_is_expected_from_the_order():
    found = method([(0.1, 1e-2), (0.05, 5e-3)], "budget", 1.0)
    value, seconds = found.expected(1e-3)  # a factor of 5
    assert (value, seconds) == (0.05 / 5, pytest.approx(5e-3 / 0.05))
    value, _ = method([(0.1, 1.6e-2), (0.05, 1e-3)], "budget", 4.0).expected(1e-9)
    assert value == 0.05 / 50  # above the fourth root of a million


@pytest.mark.parametrize(
    "found",
    [
        method([(0.1, 1e-2)], "settled"),
        method([(0.1, 1e-2)], "sensitive"),
        method([(0.1, 1e-2)], "budget", None),
        method([(0.1, 1e-2)], "budget", 0.1),
        method([(0.1, 1e-4)], "budget"),
        method([(0.1, None)], "budget"),
        method([(0.1, 1e-2)], "budget", knob="rtol"),
        method([], "budget"),
    ],
    ids=["settled", "sensitive", "no_order", "flat", "reached", "diverged", "tolerance", "none"],
)
def test_nothing_is_expected_where_there_is_nothing_to_go_by(found):
    assert found.expected(1e-3) is None


def test_the_data_are_plain_and_complete():
    import json

    found = Convergence("s", "r", 1.0, 3, 1e-3, "rad", (method([(0.1, 1e-2), (0.05, 5e-4)]),))
    data = json.loads(json.dumps(found.data()))
    (only,) = data["methods"]
    assert only["settings"][0] == {
        "value": 0.1,
        "steps": 10,
        "seconds": 0.01,
        "diverged": False,
        "error": 0.01,
        "joint": "A",
        "order": None,
    }
    assert only["cheapest"] == only["settings"][1]
    assert found.reached
    assert not Convergence("s", "r", 1.0, 3, 1e-9, "rad", found.methods).reached
