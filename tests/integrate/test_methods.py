"""The integrators on their own, without robots."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from armsim.integrate import METHODS, Motion, System
from armsim.integrate.rk4 import RK4
from armsim.integrate.runge_kutta import Tableau, rk_step


def integrate(name: str, rates, y: Motion, duration: float, steps: int) -> Motion:
    h = duration / steps
    for k in range(steps):
        y = METHODS[name].step(System(rates), k * h, y, h)
    return y


def pendulum(t, y):
    """A driven pendulum with friction and one further state: nothing about it is linear or decoupled."""
    (q,), (v,), (z,), _ = y
    return Motion([v], [-9.0 * math.sin(q) - 0.1 * v + math.cos(2 * t) + 0.2 * z], [q - z * v], [])


@cache
def true() -> np.ndarray:
    """Where the pendulum is after 1 s, to 1e-13."""
    return np.concatenate(integrate("rk4", pendulum, Motion([0.5], [0.3], [0.1], []), 1.0, 4000))


def order(name: str, steps: list[int]) -> float:
    start = Motion([0.5], [0.3], [0.1], [])
    errors = [np.abs(np.concatenate(integrate(name, pendulum, start, 1.0, n)) - true()).max() for n in steps]
    return -float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


@pytest.mark.parametrize("name", ["explicit_euler", "semi_implicit_euler"])
@pytest.mark.handful(1)
def test_euler_converges_at_order_one(name):
    assert abs(order(name, [400, 800, 1600, 3200]) - 1) < 0.1


def test_rk4_converges_at_order_four():
    assert abs(order("rk4", [40, 80, 160, 320]) - 4) < 0.1


def test_the_classical_tableau_meets_the_conditions_of_order_four():
    # Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, theorem II.2.1 and table 2.2
    A = np.array([[*row, *[0.0] * (4 - len(row))] for row in RK4.A])
    b, c = np.array(RK4.b), np.array(RK4.c)
    assert c.tolist() == [0, 0.5, 0.5, 1]
    conditions = [
        (b.sum(), 1),
        (b @ c, 1 / 2),
        (b @ c**2, 1 / 3),
        (b @ A @ c, 1 / 6),
        (b @ c**3, 1 / 4),
        ((b * c) @ A @ c, 1 / 8),
        (b @ A @ c**2, 1 / 12),
        (b @ A @ A @ c, 1 / 24),
    ]
    assert np.allclose(*zip(*conditions, strict=True), rtol=0, atol=3e-16)  # roundings of four terms


def test_the_tableau_is_explicit():
    assert [len(row) for row in RK4.A] == [0, 1, 2, 3]


def test_rk4_integrates_cubics_in_time_exactly():
    cubics = System(lambda t, y: Motion([0.0], [4 * t**3], [3 * t**2], []))
    y = METHODS["rk4"].step(cubics, 1.0, Motion([0.0], [1.0], [1.0], []), 1.0)
    assert np.allclose([y.v[0], y.z[0]], [16.0, 8.0], rtol=1e-15)


def test_a_tableau_of_one_stage_is_explicit_euler():
    start = Motion([0.5], [0.3], [0.1], [])
    one_stage, last = rk_step(Tableau(((),), (1.0,)), System(pendulum), 0.2, start, 0.01)
    assert last == start
    assert one_stage == METHODS["explicit_euler"].step(System(pendulum), 0.2, start, 0.01)


def test_explicit_euler_advances_with_the_old_velocity_and_semi_implicit_with_the_new():
    fall = System(lambda t, y: Motion(y.v, [-10.0], [], []))
    assert METHODS["explicit_euler"].step(fall, 0.0, Motion([1.0], [2.0], [], []), 0.5) == ([2.0], [-3.0], [], [])
    assert METHODS["semi_implicit_euler"].step(fall, 0.0, Motion([1.0], [2.0], [], []), 0.5) == ([-0.5], [-3.0], [], [])


def test_euler_advances_further_states_with_the_old_state():
    rates = System(lambda t, y: Motion(y.v, [1.0], [y.q[0]], []))
    for name in ("explicit_euler", "semi_implicit_euler"):
        assert METHODS[name].step(rates, 0.0, Motion([3.0], [2.0], [1.0], []), 0.5).z == [2.5]


def test_a_pendulums_energy_drifts_least_with_rk4_stays_bounded_with_semi_implicit_and_grows_with_explicit_euler():
    # one joint, so that its mass matrix is constant; tests/run/test_energy.py has an arm, where semi-implicit drifts too
    swing = lambda t, y: Motion(y.v, [-math.sin(y.q[0])], [], [])  # noqa: E731

    def drift(name: str) -> float:
        end = integrate(name, swing, Motion([1.0], [0.0], [], []), 100.0, 5000)
        return end.v[0] ** 2 / 2 - math.cos(end.q[0]) + math.cos(1.0)

    rk4, symplectic, explicit = (drift(name) for name in ("rk4", "semi_implicit_euler", "explicit_euler"))
    assert abs(rk4) < 1e-6 < abs(symplectic) < 0.01 < 0.1 < explicit


def test_a_smooth_system_is_the_same_within_a_step_and_is_not_arrested():
    system, y = System(pendulum), Motion([0.5], [0.3], [0.1], [])
    assert system.within(0.2, y) is system
    assert system.arrest(y, Motion([0.6], [-0.1], [0.0], []), 0.1) == ([0.6], [-0.1], [0.0], [])
    rates = pendulum(0.2, y)
    assert system.kick(0.2, y, 0.5) == ([0.5], [0.3 + 0.5 * rates.v[0]], [0.1 + 0.5 * rates.z[0]], [])
