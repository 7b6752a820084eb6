"""The energy of a free swing, which nothing takes or gives, with every method there is (benchmarks/energy_drift.py: 1000 s)."""

from __future__ import annotations

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
def test_what_a_method_does_to_the_energy_vanishes_with_its_step_or_tolerance(method):
    assert deviation(method, TIGHT) < deviation(method, LOOSE) / 1.7  # order 1 halves it, nearly


@pytest.mark.parametrize("method", [name for name in METHODS if name != "explicit_euler"])
def test_every_method_keeps_the_energy_ten_times_better_than_explicit_euler(method):
    assert deviation(method, LOOSE) < 0.1 * deviation("explicit_euler", LOOSE)


def test_explicit_euler_feeds_the_swing_and_runge_kutta_drains_it_a_little():
    assert energies("explicit_euler", (5e-3, 1.0), 50.0)[1][-1] > 1.0
    assert -1e-4 < energies("rk4", (5e-3, 1.0), 50.0)[1][-1] < 0.0


def test_the_implicit_midpoint_lets_the_energy_swing_but_not_drift():
    gained, largest = drift("implicit_midpoint", 1e-2, 100.0)
    assert abs(gained) < 0.01 * largest
    # with rk4 nearly all of it is drift, and over twice the time it is twice as much
    once, largest = drift("rk4", 1e-2, 100.0)
    assert abs(once) > 0.9 * largest
    assert drift("rk4", 1e-2, 200.0)[0] == pytest.approx(2 * once, rel=0.1)
