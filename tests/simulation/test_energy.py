"""The energy of a free swing, which nothing takes or gives, with every method there is (benchmarks/energy_drift.py: 1000 s)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import armsim
from armsim.integrate import METHODS

LOOSE, TIGHT = (2.5e-3, 1e-5), (1.25e-3, 1e-7)  # step [s] and tolerance, of the methods that take the one or the other


def energies(method: str, refined: tuple[float, float], duration: float = 20.0) -> tuple[np.ndarray, np.ndarray]:
    """Times [s], and the energy in excess of that at the start [J]."""
    dt, rtol = refined
    own = {"dt": dt} if METHODS[method].adaptive is None else {"rtol": rtol, "atol": rtol}
    given = {"integrator": {"method": method, **own}, "duration": duration, "log.every": 0.05}
    run = armsim.simulate("two_link_swing", given, force_step=True)
    energy = run["kinetic_energy_J"] + run["potential_energy_J"]
    return run.t, energy - energy[0]


def deviation(method: str, refined: tuple[float, float]) -> float:
    """Largest deviation from the energy at the start [J]."""
    return float(np.abs(energies(method, refined)[1]).max())


def drift(method: str, dt: float, duration: float) -> tuple[float, float]:
    """What a straight line through the energy gains [J], and the largest deviation [J]."""
    t, excess = energies(method, (dt, 1.0), duration)
    return float(np.polyfit(t, excess, 1)[0] * duration), float(np.abs(excess).max())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_what_a_method_does_to_the_energy_vanishes_with_its_step_or_tolerance(method):
    assert deviation(method, TIGHT) < deviation(method, LOOSE) / 1.7  # order 1 halves it, nearly


@pytest.mark.parametrize("method", [name for name in METHODS if name != "explicit_euler"])
@pytest.mark.handful(2)
def test_every_method_keeps_the_energy_ten_times_better_than_explicit_euler(method):
    assert deviation(method, LOOSE) < 0.1 * deviation("explicit_euler", LOOSE)


def test_explicit_euler_feeds_the_swing_and_runge_kutta_drains_it_a_little():
    assert energies("explicit_euler", (5e-3, 1.0), 50.0)[1][-1] > 1.0
    assert -1e-4 < energies("rk4", (5e-3, 1.0), 50.0)[1][-1] < 0.0


@pytest.mark.parametrize("method", ["semi_implicit_euler", "velocity_implicit"])
def test_where_the_mass_matrix_depends_on_the_pose_a_symplectic_euler_in_velocities_drifts_with_step_and_time(method):
    once, largest = drift(method, 5e-4, 100.0)
    assert once > 0.9 * largest  # nearly all of it is drift
    assert drift(method, 5e-4, 200.0)[0] == pytest.approx(2 * once, rel=0.1)
    assert drift(method, 2.5e-4, 100.0)[0] == pytest.approx(once / 2, rel=0.1)
    # and still many times less than what explicit Euler feeds
    assert once < 0.1 * drift("explicit_euler", 5e-4, 100.0)[0]


def test_the_benchmark_calls_secular_what_leaves_by_more_than_it_scatters(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    from energy_drift import secular

    t = np.arange(0, 1000, 0.1)
    swing = np.sin(3.1 * t)
    assert not secular(swing)
    assert not secular(1e-2 * t / 1000 + swing)
    assert secular(20 * t / 1000 + swing)  # in a straight line
    assert secular(-20 * t / 1000 + swing)
    assert secular(np.where(t < 700, 30 * t / 700, 30 - 25 * (t - 700) / 300) + swing)  # up, then down


def test_the_implicit_midpoint_lets_the_energy_swing_but_not_drift():
    gained, largest = drift("implicit_midpoint", 1e-2, 100.0)
    assert abs(gained) < 0.01 * largest
    # with rk4 nearly all of it is drift, and over twice the time it is twice as much
    once, largest = drift("rk4", 1e-2, 100.0)
    assert abs(once) > 0.9 * largest
    assert drift("rk4", 1e-2, 200.0)[0] == pytest.approx(2 * once, rel=0.1)
