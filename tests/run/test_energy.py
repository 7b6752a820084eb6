"""The energy of a free swing, which nothing takes or gives, with every method there is (benchmarks/energy_drift.py: 1000 s)."""

from __future__ import annotations

import numpy as np
import pytest

import armsim
from armsim.integrate import METHODS
from armsim.run.ladder import is_adaptive

LOOSE, TIGHT = (2.5e-3, 1e-5), (1.25e-3, 1e-7)  # step [s] and tolerance, of the methods that take the one or the other


def deviation(method: str, refined: tuple[float, float], duration: float = 20.0) -> float:
    """Largest deviation from the energy at the start [J]."""
    dt, rtol = refined
    tolerance = {"rtol": rtol, "atol": rtol} if is_adaptive(method) else {}
    run = armsim.simulate(
        "two_link_swing",
        {"integrator": {"method": method, "dt": dt, **tolerance}, "duration": duration, "log.every": 0.05},
    )
    energy = run["kinetic_energy_J"] + run["potential_energy_J"]
    return float(np.abs(energy - energy[0]).max())


@pytest.mark.parametrize("method", METHODS)
def test_what_a_method_does_to_the_energy_vanishes_with_its_step_or_tolerance(method):
    assert deviation(method, TIGHT) < deviation(method, LOOSE) / 1.7  # order 1 halves it, nearly


@pytest.mark.parametrize("method", [name for name in METHODS if name != "explicit_euler"])
def test_every_method_keeps_the_energy_ten_times_better_than_explicit_euler(method):
    assert deviation(method, LOOSE) < 0.1 * deviation("explicit_euler", LOOSE)


def test_explicit_euler_feeds_the_swing_and_runge_kutta_drains_it_a_little():
    ends = {}
    for method in ("explicit_euler", "rk4"):
        run = armsim.simulate("two_link_swing", {"integrator": {"method": method, "dt": 5e-3}, "duration": 50})
        energy = run["kinetic_energy_J"] + run["potential_energy_J"]
        ends[method] = energy[-1] - energy[0]
    assert ends["explicit_euler"] > 1.0
    assert -1e-4 < ends["rk4"] < 0.0
