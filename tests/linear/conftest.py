"""What tests of linear systems share."""

from __future__ import annotations

import numpy as np
import pytest

from armsim.linear.system import LinearSystem


@pytest.fixture(scope="session")
def system():
    """Makes a linear system whose outputs are its states."""

    def make(A, B, dt=None, free=None, weight=None) -> LinearSystem:
        A, B = np.array(A, dtype=float), np.array(B, dtype=float)
        n, m = B.shape
        names = tuple(f"x{i}" for i in range(n)), tuple(f"u{i}" for i in range(m)), tuple(f"y{i}" for i in range(n))
        free = np.full(n, True) if free is None else np.array(free)
        weight = np.zeros(n) if weight is None else np.array(weight, dtype=float)
        return LinearSystem(A, B, np.eye(n), np.zeros((n, m)), *names, dt, free, weight)

    return make


@pytest.fixture(scope="session")
def random_system(system):
    """Makes a linear system whose states change at unlike speeds."""

    def make(n, m, seed=0) -> LinearSystem:
        rng = np.random.default_rng(seed)
        return system(rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-2, 3, size=(n, 1)), rng.normal(size=(n, m)))

    return make
