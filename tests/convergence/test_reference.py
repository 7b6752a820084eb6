"""What a sequence of answers says about the true one, on answers whose errors are known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from armsim.convergence.reference import ReferenceSolution, agreed, changes, finest, order_between, richardson

from .test_errors import TRUE, WORST, falling, trial


@pytest.mark.parametrize("order", [1, 2, 4])
def test_errors_of_a_pure_power_are_extrapolated_away(order):
    found = richardson(falling(order))
    np.testing.assert_allclose(found.answer, TRUE, rtol=0, atol=1e-14)
    assert found.doubt < 1e-14


@pytest.mark.parametrize("order", [1, 2, 4])
def test_the_doubt_is_larger_than_the_error_of_the_extrapolation(order):
    found = richardson(falling(order, then=0.5))
    off = np.abs(found.answer - TRUE).max()
    assert off < found.doubt < 0.3 * 0.0125**order


def test_three_answers_could_only_confirm_themselves_so_the_last_is_taken():
    trials = falling(1, (0.1, 0.05, 0.025), then=0.5)
    assert richardson(trials).answer is trials[-1].answer


def test_answers_that_do_not_settle_are_not_extrapolated():
    for errors in [(1.0, -1.0, 1.0), (1.0, 0.5, 1.0), (0.0, 1e-9, 1e-9), (1e-3, 1.1e-3, 1.2e-3)]:
        trials = [trial(0.1 / 2**k, e * WORST) for k, e in enumerate(errors)]
        found = richardson(trials)
        assert found.answer is trials[-1].answer
        assert found.doubt == pytest.approx(max(changes(trials)[-1], changes(trials)[-2] / 10))


def test_one_lucky_step_does_not_make_an_answer_good():
    # friction: 1e-8, then by luck 1e-13, while the next would be 1e-10 off
    found = richardson([trial(0.1, 1e-8 * WORST), trial(0.05, 1e-13 * WORST), trial(0.025, 2e-13 * WORST)])
    assert found.doubt == pytest.approx(1e-9, rel=1e-3)


def test_two_answers_give_the_finer_and_their_difference():
    coarse, fine = falling(1, (0.1, 0.05))
    found = richardson([coarse, fine])
    assert found.answer is fine.answer
    assert found.doubt == pytest.approx(0.05)


def test_answers_by_tolerance_are_not_extrapolated_and_gain_a_tenth_at_most():
    def doubt(*errors):
        trials = [trial(10.0**-k, e * WORST) for k, e in enumerate(errors)]
        assert finest(trials).answer is trials[-1].answer
        return finest(trials).doubt

    assert doubt(1e-3, 1e-4, 1e-5) == pytest.approx(9e-5 * 0.1)
    assert doubt(1e-3, 3e-4, 1e-4) == pytest.approx(2e-4 * 2 / 7)
    assert doubt(1e-3, 1e-6, 0.0) == pytest.approx(1e-7, rel=1e-3)  # a tenth, whatever luck it had
    assert doubt(1e-6, 1.1e-6, 1e-5) == pytest.approx(8.9e-6)
    assert doubt(1e-3, 1e-4) == pytest.approx(9e-4)


@pytest.mark.parametrize("steps", [(0.1, 0.05, 0.02, 0.01), (0.1, 0.05, 0.025, 0.0125), (0.3, 0.1, 0.07, 0.01)])
@pytest.mark.parametrize("order", [0.7, 1, 2, 4, 5])
def test_the_order_is_observed_whatever_the_ratios_of_steps(order, steps):
    moved = [a**order - b**order for a, b in pairwise(steps)]
    assert order_between(steps[:3], moved[:2]) == pytest.approx(order, rel=1e-12)
    np.testing.assert_allclose(richardson(falling(order, steps)).answer, TRUE, rtol=0, atol=1e-12)


def test_changes_that_no_power_explains_have_no_order():
    steps = (0.1, 0.05, 0.02)
    assert order_between(steps, [1.0, 1.0]) is None
    assert order_between(steps, [1.0, 0.0]) is None
    assert order_between(steps, [1.0, 1e-9]) is None


def test_references_that_contradict_each_other_are_as_doubtful_as_they_are_apart():
    best, near = ReferenceSolution(TRUE, 1e-9), ReferenceSolution(TRUE + 1e-6, 1e-6)
    assert agreed([]) is None
    assert agreed([near, best]) == best
    far = ReferenceSolution(TRUE + 1e-3, 1e-6)  # claims a thousandth of what it is off, or the other does
    assert agreed([near, best, far]).answer is best.answer
    assert agreed([near, best, far]).doubt == pytest.approx(1e-3)
