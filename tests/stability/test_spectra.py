"""The bound on spectral radii, against matrices whose eigenvalues are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armsim.stability.spectra import is_bounded


def similar(eigenvalues: np.ndarray, size: int, seed: int = 1) -> np.ndarray:
    """Upper triangular matrices of these eigenvalues, turned at random; far from normal."""
    chance = np.random.default_rng(seed)
    above = 0.5 * np.triu(chance.normal(size=(len(eigenvalues), size, size)), 1)
    turn = np.linalg.qr(chance.normal(size=(len(eigenvalues), size, size)))[0]
    return turn @ (above + eigenvalues[..., None, :] * np.eye(size)) @ np.swapaxes(turn, -1, -2)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_matrix_of_spectral_radius_below_one_is_bounded_and_none_by_less_than_its_own(size):
    radii = np.random.default_rng(2).uniform(0.1, 1.5, (200, 1))
    matrices = similar(radii * np.linspace(1.0, -0.8, size), size)
    for log_radius in (1e-2, 0.1, 0.3):
        bounded = is_bounded(matrices, log_radius)
        above = np.log(radii[:, 0]) > log_radius
        assert not bounded[above].any()
        assert bounded[radii[:, 0] < 1.0].all()
        assert above.any()


def test_a_rotation_that_grows_a_thousandth_a_step_is_told_from_one_that_does_not():
    turn = np.array([[math.cos(0.3), -math.sin(0.3)], [math.sin(0.3), math.cos(0.3)]])
    assert is_bounded(np.stack([turn, 1.001 * turn]), 0.9e-3).tolist() == [True, False]


def test_a_drift_grows_slower_than_any_exponential():
    assert is_bounded(np.array([[1.0, 1e-4], [0.0, 1.0]]), 1e-5)


def test_nothing_is_known_of_matrices_that_are_not_finite_and_they_spoil_no_other():
    matrices = np.stack([0.5 * np.eye(3)] * 4)
    matrices[1, 0, 1], matrices[2, 2, 2] = math.nan, math.inf
    assert is_bounded(matrices.reshape(2, 2, 3, 3), 1e-3).tolist() == [[True, False], [False, True]]
