"""The implicit midpoint rule on systems without a mass matrix; on arms, see tests/plant/test_midpoint.py."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armsim.expr import cos, sin, where
from armsim.integrate import METHODS, Motion, System

step = METHODS["implicit_midpoint"].step


def states(rates, y: Motion, h: float, count: int) -> list[Motion]:
    found, system = [y], System(rates)
    for k in range(count):
        found.append(step(system, k * h, found[-1], h))
    return found


def pendulum(t, y):
    """A driven pendulum with friction and one further state: nothing about it is linear or decoupled."""
    (q,), (v,), (z,), _ = y
    return Motion([v], [-9.0 * sin(q) - 0.1 * v + cos(2 * t) + 0.2 * z], [q - z * v], [])


def test_it_converges_at_order_two():
    start, counts = Motion([0.5], [0.3], [0.1], []), [20, 40, 80, 160]
    true = start
    for k in range(400):
        true = METHODS["rk4"].step(System(pendulum), k / 400, true, 1 / 400)
    errors = [
        np.abs(np.subtract(np.concatenate(states(pendulum, start, 1 / n, n)[-1]), np.concatenate(true))).max()
        for n in counts
    ]
    assert abs(-np.polyfit(np.log(counts), np.log(errors), 1)[0] - 2) < 0.1


@pytest.mark.parametrize(("k", "d"), [(9.0, 0.0), (9.0, 0.5), (1e4, 30.0), (1.0, 1e6), (1e10, 1e3)])
def test_a_step_of_a_linear_motion_is_that_of_the_trapezium_of_its_exponential(k, d):
    # (1 - h/2 A)^-1 (1 + h/2 A): the same for every splitting into positions and momenta, however stiff
    h, A = 0.01, np.array([[0.0, 1.0], [-k, -d]])
    start = np.array([0.3, -2.0])
    exact = np.linalg.solve(np.eye(2) - h / 2 * A, (np.eye(2) + h / 2 * A) @ start)
    after = step(
        System(lambda t, y: Motion(y.v, [-k * y.q[0] - d * y.v[0]], [], [])), 0.0, Motion([0.3], [-2.0], [], []), h
    )
    assert np.allclose([after.q[0], after.v[0]], exact, rtol=1e-13, atol=1e-15 * np.abs(exact).max())


def test_a_step_back_undoes_a_step():
    swing = System(lambda t, y: Motion(y.v, [-9.0 * sin(y.q[0])], [], []))
    start = Motion([0.5], [3.0], [], [])
    there = step(swing, 0.0, start, 0.1)
    back = step(swing, 0.1, there, -0.1)
    assert abs(there.q[0] - start.q[0]) > 0.1
    assert np.allclose([back.q[0], back.v[0]], [0.5, 3.0], rtol=4e-16)


@pytest.mark.slow
def test_the_energy_of_a_swing_is_where_it_was_after_a_thousand_swings():
    swing = lambda t, y: Motion(y.v, [-sin(y.q[0])], [], [])  # noqa: E731
    found = states(swing, Motion([1.0], [0.0], [], []), 0.5, 3000)
    energy = np.array([y.v[0] ** 2 / 2 - math.cos(y.q[0]) for y in found])
    off = energy - energy[0]
    size = np.abs(off).max()
    assert 1e-3 < size < 0.1  # a step of a twelfth of a swing is long
    early, late = off[:600].mean(), off[-600:].mean()
    assert abs(late - early) < 0.02 * size


def test_momenta_that_no_force_changes_stay_to_the_bit_of_rounding():
    # two bodies on a line with a spring that hardens between them
    def pair(t, y):
        a, b = y.q
        pull = (b - a) + (b - a) * (b - a) * (b - a)
        return Motion(y.v, [pull, -pull], [], [])

    found = states(pair, Motion([0.0, 1.0], [0.7, -0.2], [], []), 0.1, 300)
    total = [sum(y.v) for y in found]
    assert np.ptp(total) < 300 * 4e-16
    assert np.ptp([y.v[0] for y in found]) > 1.0


def test_the_work_of_a_force_is_the_change_of_kinetic_energy():
    # v dv at mid-step is the change of v²/2 in the whole step, whatever the force
    def rates(t, y):
        force = -9.0 * sin(y.q[0]) - 0.3 * y.v[0]
        return Motion(y.v, [force], [], [force * y.v[0]])

    end = states(rates, Motion([0.5], [2.0], [], [0.0]), 0.05, 60)[-1]
    assert math.isclose(end.w[0], (end.v[0] ** 2 - 4.0) / 2, rel_tol=1e-13)
    assert abs(end.w[0]) > 0.1


def test_rest_in_balance_is_rest_to_the_bit():
    balanced = lambda t, y: Motion(y.v, [-4.0 * sin(y.q[0]) - 3.0 * y.v[0]], [], [])  # noqa: E731
    assert states(balanced, Motion([0.0], [0.0], [], []), 0.1, 3)[-1] == ([0.0], [0.0], [], [])


def test_a_balance_that_rounding_disturbs_settles():
    # large forces that cancel up to rounding: velocities are noise, and their changes do not become smaller
    target = math.asin(0.7)

    def held(t, y):
        e = target - y.q[0]
        return Motion(y.v, [1e6 * e + 700.0 - 1000.0 * sin(y.q[0]) - 2e3 * y.v[0]], [], [])

    for y in states(held, Motion([target + 1e-9], [0.0], [], []), 1e-3, 60):
        assert abs(y.v[0]) < 1e-5
    assert abs(y.q[0] - target) < 1e-15


def test_equations_without_a_solution_are_told_by_velocities_out_of_all_bounds():
    # a force that pushes back beyond a place: if it is strong, a body that gets there in half a step does not get there
    def after(force: float) -> Motion:
        wall = System(lambda t, y: Motion(y.v, [where(y.q[0] > 0.05, -force, 0.0)], [], []))
        return step(wall, 0.0, Motion([0.0], [2.0], [], []), 0.1)

    assert math.isclose(after(10.0).v[0], 1.0, rel_tol=1e-15)
    assert abs(after(1e6).v[0]) > 1e9
