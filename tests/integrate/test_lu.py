"""Factorisations: solutions by numpy's, the same bits in every engine, and text that grows with the rows of large ones."""

from __future__ import annotations

import numpy as np
import pytest

from armsim.expr import replay, trace
from armsim.integrate.lu import LU, RolledUL, solver

N = 6


def system(n, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n)) + 2 * n**0.5 * np.eye(n), rng.normal(size=n)


@pytest.mark.parametrize("kind", [LU, RolledUL])
def test_a_solution_is_numpys_and_has_the_same_bits_in_every_engine(kind, evaluate):
    def solved(*x):
        return kind([x[i * N : (i + 1) * N] for i in range(N)]).solve(x[N * N :])

    systems = [system(N, seed) for seed in range(3)]
    rows = [[*A.ravel().tolist(), *b.tolist()] for A, b in systems]
    expected = [list(solved(*row)) for row in rows]
    for x, (A, b) in zip(expected, systems, strict=True):
        assert x == pytest.approx(np.linalg.solve(A, b).tolist(), rel=1e-12)
    traced = trace(solved, [f"x{i}" for i in range(N * N + N)])
    assert [replay(traced, row) for row in rows] == expected
    assert evaluate(traced, np.array(rows).T.tolist()).T.tolist() == expected


def test_large_matrices_are_factorised_by_scans():
    A, b = system(40, 5)
    assert solver(A.tolist())(b.tolist()) == pytest.approx(np.linalg.solve(A, b).tolist(), rel=1e-12)

    def nodes(n):
        def solved(*x):
            return solver([x[i * n : (i + 1) * n] for i in range(n)])(x[n * n :])

        return len(trace(solved, [f"x{i}" for i in range(n * n + n)]).live())

    assert nodes(16) > 16**3 / 3  # written out
    assert nodes(40) < 3 * 40**2
