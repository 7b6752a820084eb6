"""Times as whole numbers of steps, and the step that they share."""

import math
from fractions import Fraction

import pytest

from armsim.clock import Clock, time_ratio
from armsim.document.timing import common_step, logged_step
from armsim.loading import read_scenario

BASE = {"format": "armsim/scenario/1", "robot": "two_link", "duration": 5}
PD = {"law": "pd", "output": "torque", "kp": 10, "kd": 1}


@pytest.mark.parametrize(
    ("dt", "ratio"),
    [(1e-4, (1, 10000)), (4e-4, (1, 2500)), (3e-4, (3, 10000)), (1 / 3000, (1, 3000)), (2.0, (2, 1)), (0.5, (1, 2)),
     (1e-9, (1, 10**9)), (0.0125, (1, 80))],
)  # fmt: skip
def test_times_print_as_people_write_them(dt, ratio):
    assert time_ratio(dt) == ratio
    assert ratio[0] / ratio[1] == dt


def test_step_three_of_a_tenth_of_a_millisecond_prints_without_dust():
    assert repr(Clock(*time_ratio(1e-4)).at(3)) == "0.0003"


@pytest.mark.parametrize(
    ("times", "step"),
    [([5], 5), ([0.01, 5], Fraction(1, 100)), ([0.01, 0.0025, 5], Fraction(1, 400)), ([0.01, 0.002, 12.3456], Fraction(1, 2500)),
     ([0.3, 0.1 * 7], Fraction(1, 10)), ([1 / 3, 0.5], Fraction(1, 6)), ([1e-3, 1e9], Fraction(1, 1000))],
)  # fmt: skip
def test_the_common_step_is_the_greatest_common_divisor(times, step):
    assert common_step(times) == step


def test_times_in_multiples_of_pi_have_a_common_step():
    step = common_step([2e-4 * math.pi, 0.3 * math.pi, 4e-4 * math.pi])
    assert float(step) == pytest.approx(2e-4 * math.pi, rel=1e-12)


def test_times_that_share_a_tiny_step_only_have_none():
    assert common_step([0.01, 1.23456789]) is None
    assert common_step([1, math.pi]) is None


@pytest.mark.parametrize(
    ("step", "duration", "expected"),
    [(1e-3, 5, 1e-3), (1, 5, 5e-3), (5, 5, 5e-3), (0.3, 0.9, 7.5e-4), (2, 10, 1e-2), (1e-2, 1, 1e-3), (7, 7, 7e-3)],
)
def test_rows_that_are_not_asked_for_lie_on_round_parts_of_the_step(step, duration, expected):
    found = logged_step(Fraction(str(step)), duration)
    assert float(found) == expected
    assert (Fraction(str(step)) / found).denominator == 1
    assert duration / found <= 1500 or found == Fraction(str(step))


def grid(**keys):
    """Step, and times in steps, of a scenario without a step of its own."""
    scenario = read_scenario({**BASE, **keys})
    return scenario.dt, scenario.clock.steps, scenario.clock.log_every, scenario.clock.sample_every


def test_an_adaptive_method_lands_on_all_times_of_its_scenario():
    assert grid() == (0.005, 1000, 1, None)
    assert grid(log={"every": 0.01}) == (0.01, 500, 1, None)
    assert grid(log={"every": 0.01}, control={**PD, "period": 2.5e-3}) == (2.5e-3, 2000, 4, 1)
    assert grid(control={**PD, "period": 2e-3}) == (2e-3, 2500, 2, 1)
    assert grid(log={"every": 0.01}, inputs={"torque": ["sin(t)", 0], "period": 4e-3}) == (2e-3, 2500, 5, 2)
    pushed = [{"link": "elbow", "force": [0, 0, 1], "from": 0.25, "to": 1.1}]
    assert grid(external=pushed, log={"every": 0.1}) == (0.05, 100, 2, None)


def test_a_force_from_the_beginning_asks_for_no_step():
    pushed = [{"link": "elbow", "force": [0, 0, 1], "from": 0, "to": 2.5}]
    assert grid(external=pushed) == (0.005, 1000, 1, None)


def test_a_landing_that_is_given_is_taken():
    assert grid(integrator={"method": "rk54", "dt": 0.02}) == (0.02, 250, 1, None)
