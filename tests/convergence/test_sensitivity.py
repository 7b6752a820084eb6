"""How fast close motions part, on motions that part as they are told to."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armsim.convergence.sensitivity import PERTURBATION, ROUNDING, Sensitivity, sensitivity

T = np.linspace(0.0, 10.0, 101)


def parted(distance) -> Sensitivity:
    first = np.stack([np.sin(T), 2.0 * np.cos(T)], axis=1)
    return sensitivity(T, first, first + np.stack([distance, 0.1 * distance], axis=1))


@pytest.mark.parametrize("rate", [0.5, 2.0, 5.5])
def test_the_rate_is_that_of_an_exponential_until_it_saturates(rate):
    found = parted(np.minimum(3.0, PERTURBATION * np.exp(rate * T)))
    # the second motion is written down to 2e-16 of positions near 1: 2e-7 of the 1e-9 put aside
    assert found.rate == pytest.approx(rate, rel=1e-4)
    assert found.factor(1.0) == pytest.approx(math.exp(rate), rel=1e-3)


def test_a_dip_does_not_count():
    growing = PERTURBATION * np.exp(2.0 * T)
    growing[40] = growing[41] = 1e-12
    assert parted(growing).rate == pytest.approx(2.0, rel=0.02)


def test_motions_that_stay_close_have_no_horizon():
    found = parted(np.full_like(T, PERTURBATION))
    assert found.rate == pytest.approx(0.0, abs=1e-6)
    assert found.horizon(1e-9) > 1e6
    assert Sensitivity(-1.0, 0.0, 1.0).horizon(1e-12) == math.inf


def test_the_horizon_is_when_a_rounding_has_grown_to_the_accuracy():
    found = Sensitivity(rate=5.0, offset=0.0, largest=2.0)
    assert found.horizon(1e-6) == pytest.approx(math.log(1e-6 / (2.0 * ROUNDING)) / 5.0)
    assert found.rounding(found.horizon(1e-6)) == pytest.approx(1e-6)
    assert found.horizon(1e-20) == 0.0
    assert found.factor(1e4) == math.inf


def test_a_log_of_one_row_tells_nothing():
    assert sensitivity(T[:1], np.zeros((1, 2)), np.full((1, 2), PERTURBATION)).rate == 0.0
