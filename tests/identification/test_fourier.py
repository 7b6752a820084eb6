"""Fourier series within limits."""

from __future__ import annotations

import numpy as np
import pytest

from armsim.identification.fourier import FourierMotion, MotionFamily, MotionLimits

LIMITS = MotionLimits(*(np.array(x) for x in ([-0.4, 1.0, -9.0], [0.3, 2.5, 9.0], [1.0, 2.0, 0.5], [9.0, 4.0, 30.0])))


@pytest.mark.parametrize("harmonics", [3, 5, 9])
@pytest.mark.handful(1)
def test_random_motions_keep_limits_between_samples_and_rest_at_both_ends(harmonics):
    family = MotionFamily(LIMITS, 4.0, harmonics)
    draws = np.random.default_rng(harmonics).normal(0, 3, (200, 3 * family.width))
    t = np.random.default_rng(0).uniform(0, 4, 3000)
    nearest = 0.0
    for motion in family.motions(draws):
        q, qd, qdd = motion.at(t)
        assert ((q >= LIMITS.lower) & (q <= LIMITS.upper)).all()
        shares = np.abs(qd).max(axis=0) / LIMITS.speed, np.abs(qdd).max(axis=0) / LIMITS.acceleration
        assert max(x.max() for x in shares) <= 1.0
        nearest = max(nearest, *(x.max() for x in shares))
        for x in motion.at(np.array([0.0, 4.0]))[1:]:
            assert np.abs(x).max() < 1e-12 * LIMITS.acceleration.max()
    assert nearest > 0.95  # limits are used


def test_states_of_the_family_are_those_of_its_motions():
    family = MotionFamily(LIMITS, 2.0, 4)
    x = np.random.default_rng(1).normal(size=(3, 3 * family.width))
    for k, motion in enumerate(family.motions(x)):
        for whole, one in zip(family.states(x), motion.at(family.t), strict=True):
            np.testing.assert_allclose(whole[k], one, atol=1e-12)


def test_derivatives_are_those_of_the_positions():
    motion = FourierMotion(3.0, np.array([0.2]), np.array([[0.1], [0.3]]), np.array([[-0.2], [0.05]]))
    t = np.linspace(0, 3, 4001)
    q, qd, qdd = motion.at(t)
    h = t[1] - t[0]
    np.testing.assert_allclose((q[2:] - q[:-2]) / (2 * h), qd[1:-1], atol=1e-5)
    np.testing.assert_allclose((q[2:] - 2 * q[1:-1] + q[:-2]) / h**2, qdd[1:-1], atol=1e-4)


def test_a_share_of_a_motion_swings_about_the_same_place():
    motion = MotionFamily(LIMITS, 2.0, 4).motions(np.random.default_rng(2).normal(size=(1, 30)))[0]
    t = np.linspace(0, 2, 50)
    whole, half = motion.at(t), motion.scaled(0.5).at(t)
    np.testing.assert_allclose(half[0] - motion.offset, (whole[0] - motion.offset) / 2)
    np.testing.assert_allclose(half[2], whole[2] / 2)
