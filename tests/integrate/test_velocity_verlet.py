"""Velocity Verlet: order 2 with forces that depend on velocity, and the symplectic leapfrog without."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armsim.expr import cos, sin
from armsim.integrate import METHODS, Motion, System
from armsim.plant import Plant
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan

step = METHODS["velocity_verlet"].step


def states(rates, y: Motion, h: float, count: int, method=step) -> list[Motion]:
    found, system = [y], System(rates)
    for k in range(count):
        found.append(method(system, k * h, found[-1], h))
    return found


def pendulum(t, y):
    """A driven pendulum with friction and one further state: nothing about it is linear or decoupled."""
    (q,), (v,), (z,), _ = y
    return Motion([v], [-9.0 * sin(q) - 1.5 * v + cos(2 * t) + 0.2 * z], [q - z * v], [v])


def swing(t, y):
    return Motion(y.v, [-9.0 * sin(y.q[0])], [], [])


@pytest.mark.slow
def test_it_converges_at_order_two_with_forces_that_depend_on_velocity():
    # with the velocity at mid-step in the second kick it would be of order one
    start, counts = Motion([0.5], [0.3], [0.1], [0.0]), [50, 100, 200, 400]
    true = np.concatenate(states(pendulum, start, 1 / 2000, 2000, METHODS["rk4"].step)[-1])
    errors = [np.abs(np.concatenate(states(pendulum, start, 1 / n, n)[-1]) - true).max() for n in counts]
    assert abs(-np.polyfit(np.log(counts), np.log(errors), 1)[0] - 2) < 0.1


def test_it_converges_at_order_two_on_the_swing_of_arm5(arms, drive):
    plant = Plant(arms.bare(arms.shipped("arm5")), None, method="velocity_verlet")
    q, counts = (0.3, -0.4, 0.2, 0.5, -0.3), (500, 1000, 2000, 4000)

    def final(n: int) -> np.ndarray:  # after half a second
        return drive(NativeEngine(LoopPlan.of(plant, 0.5 / n)), plant, q, [0.0] * 5, n, (1, 2 * n), n).state

    true = (64 * final(40_000) - final(5000)) / 63  # extrapolated
    errors = [np.abs(final(n) - true).max() for n in counts]
    assert abs(-np.polyfit(np.log(counts), np.log(errors), 1)[0] - 2) < 0.1


def test_without_them_it_is_the_leapfrog_recurrence():
    h = 0.1
    q = [y.q[0] for y in states(swing, Motion([0.5], [3.0], [], []), h, 50)]
    for before, now, after in zip(q, q[1:], q[2:], strict=False):
        assert math.isclose(after - 2 * now + before, -h * h * 9.0 * math.sin(now), rel_tol=1e-12, abs_tol=1e-15)


@pytest.mark.parametrize("damping", [0.0, 1.5])
def test_its_step_keeps_areas_unless_a_damper_shrinks_them(damping):
    system = System(lambda t, y: Motion(y.v, [-9.0 * sin(y.q[0]) - damping * y.v[0]], [], []))

    def after(q: float, v: float) -> np.ndarray:
        end = step(system, 0.0, Motion([q], [v], [], []), 0.1)
        return np.array([end.q[0], end.v[0]])

    weights, apart = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}, 0.01  # central differences of order eight

    def slope(dq: float, dv: float) -> np.ndarray:
        ends = [w * (after(0.5 + k * dq, 3.0 + k * dv) - after(0.5 - k * dq, 3.0 - k * dv)) for k, w in weights.items()]
        return np.sum(ends, axis=0) / apart

    area = np.linalg.det([slope(apart, 0.0), slope(0.0, apart)])
    third_order = 0.0 if damping == 0 else (0.1 * damping) ** 3
    assert abs(area - math.exp(-0.1 * damping)) < third_order + 1e-12


def test_a_step_back_undoes_a_step():
    there = step(System(swing), 0.0, Motion([0.5], [3.0], [], []), 0.1)
    back = step(System(swing), 0.1, there, -0.1)
    assert np.allclose([back.q[0], back.v[0]], [0.5, 3.0], rtol=4e-16)


def test_the_energy_of_a_swing_is_where_it_was_after_a_thousand_swings():
    found = states(swing, Motion([1.0], [0.0], [], []), 0.1, 6000)
    off = np.array([y.v[0] ** 2 / 2 - 9.0 * math.cos(y.q[0]) for y in found]) + 9.0 * math.cos(1.0)
    size = np.abs(off).max()
    assert 1e-3 < size < 0.1
    assert abs(off[-1200:].mean() - off[:1200].mean()) < 0.02 * size


def test_a_constant_force_is_integrated_exactly_and_further_states_by_the_trapezium():
    rates = System(lambda t, y: Motion(y.v, [-10.0], [3 * t * t], [2 * t]))
    assert step(rates, 1.0, Motion([1.0], [2.0], [0.0], [0.0]), 0.5) == (
        [0.75],
        [-3.0],
        [0.25 * (3 + 6.75)],
        [0.25 * 5],
    )
