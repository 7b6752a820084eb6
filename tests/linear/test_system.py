"""Linear systems: against scipy.signal, closed forms, and systems built to have known modes and reach."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import signal

from armsim.errors import UsageError


def test_it_is_what_scipy_takes(random_system):
    found = random_system(4, 2)
    assert np.array_equal(signal.StateSpace(*found.abcd).A, found.A)
    assert signal.StateSpace(*found.sampled(0.01).abcd, dt=found.sampled(0.01).dt).dt == 0.01


def test_it_is_sampled_as_scipy_does_it(random_system):
    continuous = random_system(5, 2)
    A, B, *_ = signal.cont2discrete(continuous.abcd, 1e-3, method="zoh")
    found = continuous.sampled(1e-3)
    assert np.allclose(found.A, A, rtol=1e-13, atol=1e-13)
    assert np.allclose(found.B, B, rtol=1e-13, atol=1e-13)
    assert np.array_equal(found.C, continuous.C)


def test_a_sampled_motor_has_its_textbook_matrices(system):
    # speed and angle of a motor with time constant T and gain k
    T, k, h = 0.05, 3.0, 0.02
    found = system([[0, 1], [0, -1 / T]], [[0], [k / T]]).sampled(h)
    rest = 1 - math.exp(-h / T)
    assert np.allclose(found.A, [[1, T * rest], [0, 1 - rest]], rtol=1e-15)
    assert np.allclose(found.B, [[k * (h - T * rest)], [k * rest]], rtol=1e-14)


@pytest.mark.parametrize("period", [0.0, -1.0, math.nan, math.inf])
def test_a_period_that_is_none_is_refused(period, random_system):
    with pytest.raises(UsageError, match="expected: a time in s, above 0"):
        random_system(2, 1).sampled(period)
    with pytest.raises(UsageError, match=r"found:    one sampled every 0.01 s"):
        random_system(2, 1).sampled(0.01).sampled(0.01)


def test_modes_of_a_sampled_system_are_those_of_the_continuous_one(random_system):
    continuous = random_system(5, 2, seed=3)
    rates, again = ([mode.rate for mode in s.modes()] for s in (continuous, continuous.sampled(1e-4)))
    assert again == pytest.approx(rates, rel=1e-9)
    assert sorted(continuous.eigenvalues.real, reverse=True) == list(continuous.eigenvalues.real)


def test_a_double_zero_is_zero_although_rounding_splits_it(system):
    # a body without friction, seen in axes that mix its states
    rng = np.random.default_rng(2)
    T = rng.normal(size=(3, 3))
    A = T @ np.array([[0, 1, 0], [0, 0, 0], [0, 0, -7.0]]) @ np.linalg.inv(T)
    assert 0 < np.abs(np.linalg.eigvals(A)).min() < 1e-6
    assert [mode.words for mode in system(A, np.ones((3, 1))).modes()] == [
        "nothing brings it back",
        "nothing brings it back",
        "decays in 143 ms",
    ]


def test_states_that_cannot_change_have_no_modes(system):
    found = system([[-1, 5, 0], [0, 0, 0], [0, 7, -3]], [[1], [0], [1]], free=[True, False, True])
    assert [mode.rate for mode in found.modes()] == [-1, -3]
    assert found.controllable == 2
    assert found.stable
    welded = system(np.zeros((2, 2)), np.zeros((2, 1)), free=[False, False])
    assert (welded.modes(), welded.controllable, welded.stable) == ([], 0, True)


def test_a_mode_shows_in_joints_by_energy_and_else_in_states(system):
    # two carts, the second a hundred times heavier, uncoupled; and a state of another kind
    A = np.zeros((5, 5))
    A[:2, 2:4] = np.eye(2)
    A[2:4, :2] = np.array([[-2.0, 1.0], [0.01, -2.0]])
    A[4, 4] = -1.0
    found = system(A, np.ones((5, 1)), weight=[1.0, 10.0, 0, 0, 0])
    shares = [mode.shares for mode in found.modes()]
    assert {"x4": 1.0} in shares
    swinging = [share for share in shares if "x4" not in share]
    assert [share == pytest.approx({"x0": 0.5, "x1": 0.5}) for share in swinging] == [True, True]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_out_of_the_inputs_reach_is_found_whatever_the_axes(seed, system, random_system):
    rng = np.random.default_rng(seed)
    reached, rest = rng.normal(size=(6, 6)), np.diag([-3.0, 2.0])
    A = np.block([[reached, rng.normal(size=(6, 2))], [np.zeros((2, 6)), rest]])
    B = np.vstack([rng.normal(size=(6, 2)), np.zeros((2, 2))])
    T = np.linalg.qr(rng.normal(size=(8, 8)))[0] * 10.0 ** rng.uniform(-1, 1, size=8)
    found = system(T @ A @ np.linalg.inv(T), T @ B * [1e-6, 1e3])  # inputs in unlike units
    assert found.controllable == 6
    assert [mode.rate.real for mode in found.uncontrollable()] == pytest.approx([2.0, -3.0], rel=1e-9)
    assert random_system(8, 1, seed).controllable == 8
    assert random_system(8, 1, seed).uncontrollable() == []


def test_an_input_reaches_a_long_chain(system):
    n = 10
    chain = system(np.diag(np.ones(n - 1), -1) - 0.1 * np.eye(n), np.eye(n)[:, :1])
    assert chain.controllable == n
    assert system(chain.A.T, chain.B).controllable == 1
    assert system(chain.A, 0 * chain.B).controllable == 0


def test_states_are_balanced_by_powers_of_two_as_well_as_scipy_does_it():
    from scipy.linalg import matrix_balance

    from armsim.linear.system import _balanced

    scale = 10.0 ** np.arange(-4, 5)
    A = np.random.default_rng(3).normal(size=(9, 9)) * scale[:, None] / scale
    found, units = _balanced(A)
    assert np.array_equal(found, A / units[:, None] * units)  # exact
    assert np.array_equal(np.log2(units), np.rint(np.log2(units)))
    theirs = matrix_balance(A, permute=False)[0]
    assert np.linalg.norm(found, 1) <= 1.5 * np.linalg.norm(theirs, 1) < 1e-3 * np.linalg.norm(A, 1)


def test_a_small_rate_of_a_well_conditioned_mode_is_not_taken_for_rounding(system):
    # beside a defective one, whose own error is the square root of rounding
    found = system([[-1, 1, 0], [0, -1, 0], [0, 0, -1e-12]], [[0], [1], [1]], free=[True] * 3).modes()
    assert [mode.rate for mode in found] == [-1e-12, -1, -1]
