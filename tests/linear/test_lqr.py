"""Linear-quadratic regulators against their closed form, against simulation, and against their neighbours."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from armsim.errors import UsageError
from armsim.linear.lqr import Cost, cost_of, gains_of


def test_a_double_integrator_has_its_textbook_gains(system):
    # a mass pushed by u: kp = sqrt(q / r), kd = sqrt(qd / r + 2 m kp)
    m, q, qd, r = 2.0, 9.0, 0.7, 0.25
    cart = system([[0, 1], [0, 0]], [[0], [1 / m]])
    K = gains_of(cart, Cost.of(np.array([q, qd]), np.array([r])))
    kp = math.sqrt(q / r)
    assert pytest.approx(np.array([[kp, math.sqrt(qd / r + 2 * m * kp)]]), rel=1e-13) == K


def test_the_sampled_cost_is_the_integral_of_what_happens_between_samples(random_system):
    plant = random_system(3, 2, seed=4)
    rng = np.random.default_rng(1)
    root = rng.normal(size=(3, 3))
    cost = Cost(root @ root.T, np.diag([0.3, 2.0]), np.zeros((3, 2)))
    period = 3e-3
    found = cost.sampled(plant, period)
    for _ in range(3):
        x, u = rng.normal(size=3), rng.normal(size=2)

        def rate(t, y, u=u):
            return [*(plant.A @ y[:3] + plant.B @ u), y[:3] @ cost.Q @ y[:3] + u @ cost.R @ u]

        exact = solve_ivp(rate, (0, period), [*x, 0.0], rtol=1e-12, atol=1e-14).y[-1, -1]
        assert x @ found.Q @ x + 2 * x @ found.N @ u + u @ found.R @ u == pytest.approx(exact, rel=1e-9)


def test_a_stiff_plant_is_sampled_without_overflow(system):
    plant = system([[0, 1], [0, -3e4]], [[0], [3e4]])
    cost = Cost.of(np.array([1.0, 0.0]), np.array([1.0])).sampled(plant, 0.1)  # exp(3000) overflows
    # speed follows u at once, so x moves by u t: ∫ (x + u t)² + u² dt
    assert cost.Q[0, 0] == pytest.approx(0.1, rel=1e-12)
    assert cost.N[0, 0] == pytest.approx(0.1**2 / 2, rel=1e-3)
    assert cost.R[0, 0] == pytest.approx(0.1**3 / 3 + 0.1, rel=1e-3)


@pytest.mark.parametrize("period", [None, 5e-3])
def test_no_other_gains_cost_less(period, system):
    plant = system([[0, 1, 0], [4, -0.3, 2], [0, -1, -30]], [[0], [0], [20]])
    cost = Cost.of(np.array([5.0, 1.0, 0.0]), np.array([0.1]))
    if period is not None:
        cost, plant = cost.sampled(plant, period), plant.sampled(period)
    K = gains_of(plant, cost)
    best = np.trace(cost_of(plant, cost, K))
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert np.trace(cost_of(plant, cost, K * (1 + 0.05 * rng.normal(size=K.shape)))) > best
    assert cost_of(plant, cost, 0 * K) is None  # it falls


def test_the_cost_of_gains_is_what_a_motion_under_them_costs(system):
    plant = system([[0, 1], [4, -0.3]], [[0], [2.0]])
    cost = Cost.of(np.array([5.0, 1.0]), np.array([0.1]))
    K, x = np.array([[6.0, 1.5]]), np.array([0.3, -0.2])

    def rate(t, y):
        u = -K @ y[:2]
        return [*(plant.A @ y[:2] + plant.B @ u), y[:2] @ cost.Q @ y[:2] + u @ cost.R @ u]

    spent = solve_ivp(rate, (0, 30), [*x, 0.0], rtol=1e-11, atol=1e-13).y[-1, -1]
    assert x @ cost_of(plant, cost, K) @ x == pytest.approx(spent, rel=1e-8)


def test_the_cost_of_sampled_gains_is_the_sum_over_the_samples(system):
    plant = system([[0, 1], [4, -0.3]], [[0], [2.0]])
    cost = Cost.of(np.array([5.0, 1.0]), np.array([0.1])).sampled(plant, 0.05)
    plant, K = plant.sampled(0.05), np.array([[6.0, 1.5]])
    begin = x = np.array([0.3, -0.2])
    spent = 0.0
    for _ in range(600):
        u = -K @ x
        spent += x @ cost.Q @ x + 2 * x @ cost.N @ u + u @ cost.R @ u
        x = plant.A @ x + plant.B @ u
    assert begin @ cost_of(plant, cost, K) @ begin == pytest.approx(spent, rel=1e-12)


@pytest.mark.parametrize("period", [1e-3, 0.3, 5.0])
def test_the_sampled_gain_of_an_integrator_is_its_closed_form(period, system):
    # x' = u: between samples ∫ q (x + u t)² + r u² dt, so Q = q h, N = q h²/2, R = r h + q h³/3; with A = 1 and B = h the
    # Riccati equation is quadratic, and all that is linear in P cancels: P = sqrt(q r + q² h²/12)
    q, r, h = 3.0, 0.5, period
    cart = system([[0]], [[1]])
    P = math.sqrt(q * r + q * q * h * h / 12)
    cost = Cost.of(np.array([q]), np.array([r])).sampled(cart, h)
    K = gains_of(cart.sampled(h), cost)
    assert pytest.approx((P + q * h / 2) / (r + q * h * h / 3 + h * P), rel=1e-10) == K[0, 0]  # the solver's accuracy
    assert cost_of(cart.sampled(h), cost, K)[0, 0] == pytest.approx(P, rel=1e-10)


def test_a_small_change_of_sampled_gains_costs_only_its_square(system):
    # where the cost is least its slope is zero, also by the gain of every single state; at a period as long as the modes
    plant = system([[0, 1], [4, -0.3]], [[0], [2.0]])
    cost = Cost.of(np.array([5.0, 1.0]), np.array([0.1])).sampled(plant, 0.2)
    plant = plant.sampled(0.2)
    K = gains_of(plant, cost)
    best = np.trace(cost_of(plant, cost, K))
    for k in range(2):
        step = 1e-4 * np.abs(K).max() * np.eye(2)[k : k + 1]
        up, down = (np.trace(cost_of(plant, cost, K + side * step)) for side in (1, -1))
        assert up > best
        assert down > best
        assert abs(up - down) < 1e-3 * (up + down - 2 * best)


def test_fine_sampling_comes_to_the_continuous_gains(system):
    plant = system([[0, 1], [4, -0.3]], [[0], [2.0]])
    cost = Cost.of(np.array([5.0, 1.0]), np.array([0.1]))
    K = gains_of(plant, cost)
    off = [np.abs(gains_of(plant.sampled(h), cost.sampled(plant, h)) - K).max() for h in (2e-3, 1e-3)]
    assert off[0] / off[1] == pytest.approx(2.0, rel=0.02)


def test_states_that_cannot_change_get_no_gains(system):
    plant = system([[-1, 5, 0], [0, 0, 0], [0, 7, 3]], [[0], [0], [1]], free=[True, False, True])
    K = gains_of(plant, Cost.of(np.ones(3), np.ones(1)))
    assert K[0, 1] == 0.0
    assert K[0, 2] != 0.0


def test_a_mode_that_grows_out_of_reach_is_refused_and_one_that_decays_is_left(system):
    cost = Cost.of(np.ones(2), np.ones(1))
    with pytest.raises(UsageError, match=r"found:    one out of their reach that grows with 2 1/s\n  mend: "):
        gains_of(system([[1, 0], [0, 2]], [[1], [0]]), cost)
    assert gains_of(system([[1, 0], [0, -2]], [[1], [0]]), cost)[0, 1] == pytest.approx(0.0, abs=1e-14)


def test_an_arm_that_friction_holds_throughout_has_no_gains_and_is_told_so(system):
    with pytest.raises(UsageError, match="found:    none: dry friction holds them all\n"):
        gains_of(system([[0, 0], [0, 0]], [[0], [0]], free=[False, False]), Cost.of(np.ones(2), np.ones(1)))
