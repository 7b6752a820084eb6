"""Derivatives of measured positions by splines."""

from __future__ import annotations

import numpy as np
import pytest

from armsim.errors import UsageError
from armsim.identification.signals import SplineFit, smooth

RATES = 2 * np.pi * np.array([0.3, 0.8, 1.5])
SIZES = np.array([0.3, 0.2, 0.1])


def waves(t: np.ndarray) -> tuple[np.ndarray, ...]:
    """Two joints, with their exact derivatives."""
    phases = t[:, None, None] * RATES + np.array([[1.0], [2.5]])
    parts = np.sin(phases), RATES * np.cos(phases), -(RATES**2) * np.sin(phases)
    return tuple((SIZES * part).sum(axis=2) for part in parts)


def test_polynomials_of_degree_five_come_back_with_their_derivatives():
    t = np.sort(np.random.default_rng(0).uniform(0, 2, 200))
    polynomial = np.polynomial.Polynomial([0.3, -1, 2, 0.5, -0.7, 0.2])
    found = SplineFit(t, 6).derivatives(polynomial(t)[:, None])
    for order, x in enumerate(found):
        np.testing.assert_allclose(x[:, 0], polynomial.deriv(order)(t) if order else polynomial(t), atol=1e-7)


@pytest.mark.parametrize("noise", [1e-5, 1e-4, 1e-3])
@pytest.mark.handful(1)
def test_accelerations_of_noisy_positions_are_within_a_few_percent(noise):
    t = np.arange(5000) * 2e-3
    q, qd, qdd = waves(t)
    found = smooth(t, q + np.random.default_rng(2).normal(0, noise, q.shape))
    inner = found.weights > 0
    assert 0.02 < found.spacing < 0.2
    assert np.all(np.sqrt(((found.q - q) ** 2).mean(axis=0)) < 0.5 * noise)
    allowed = {1e-5: 1e-3, 1e-4: 5e-3, 1e-3: 3e-2}[noise]  # of the motion's; measured a third of that
    assert np.std((found.qd - qd)[inner]) < allowed * np.std(qd) / 3
    assert np.std((found.qdd - qdd)[inner]) < allowed * np.std(qdd)


def test_uneven_rows_gaps_and_quantised_encoders_are_taken():
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0, 10, 5000))
    t = t[(t < 4) | (t > 4.7)]
    q, _, qdd = waves(t)
    step = 2 * np.pi / 2**12
    found = smooth(t, np.round(q / step) * step)
    inner = found.weights > 0
    assert np.std((found.qdd - qdd)[inner]) < 0.05 * np.std(qdd)
    beside = (np.abs(t - 4) < found.spacing) | (np.abs(t - 4.7) < found.spacing)
    assert not inner[beside].any()  # at the edges of a gap accelerations are poor
    assert inner.mean() > 0.85


def test_short_motions_and_times_that_return_are_refused():
    t = np.arange(30) * 1e-2
    for times in (t, np.zeros(100)):
        with pytest.raises(UsageError, match="whose times increase"):
            smooth(times, np.zeros((len(times), 1)))
