"""Hessians that are updated, and made convex without a change of what they lead to."""

from __future__ import annotations

import numpy as np
import pytest

from armsim.planning.curvature import convex, updated

N, K, M = 6, 3, 2


def solution(blocks, g, S, d):
    """z (N, k + n), the last state, and multipliers of S z + d - x, of min sum z'Hz/2 + g'z from a state of zeros."""
    w = K + M
    size = N * w + K
    P, c = np.zeros((size, size)), np.zeros(size)
    A, b = np.zeros((K + N * K, size)), np.zeros(K + N * K)
    A[:K, :K] = np.eye(K)
    for i in range(N):
        at, rows = slice(i * w, (i + 1) * w), slice(K + i * K, 2 * K + i * K)
        P[at, at], c[at] = blocks[i], g[i]
        A[rows, at], A[rows, (i + 1) * w : (i + 1) * w + K], b[rows] = S[i], -np.eye(K), -d[i]
    whole = np.block([[P, A.T], [A, np.zeros((len(A), len(A)))]])
    found = np.linalg.solve(whole, np.concatenate([-c, b]))
    return found[: N * w].reshape(N, w), found[N * w : size], found[size + K :].reshape(N, K)


@pytest.fixture
def program():
    """Blocks that are not convex, of a program that is: inputs cost enough for it."""
    rng = np.random.default_rng(5)
    H = rng.normal(size=(N, K + M, K + M))
    H = 0.1 * (H + H.transpose(0, 2, 1))
    H[:, range(K, K + M), range(K, K + M)] += 4.0
    S = 0.5 * rng.normal(size=(N, K, K + M))
    return H, rng.normal(size=(N, K + M)), S, rng.normal(size=(N, K))


def test_blocks_become_convex_and_the_solution_stays(program):
    H, g, S, d = program
    assert min(np.linalg.eigvalsh(H)[:, 0]) < -0.1
    blocks, shift, given = convex(H, S, d, 1e-9)
    assert min(np.linalg.eigvalsh(blocks)[:, 0]) > -1e-12
    z, last, y = solution(H, g, S, d)
    same, end, prices = solution(blocks, g + shift, S, d)
    assert same == pytest.approx(z, abs=1e-7)
    assert end == pytest.approx(last, abs=1e-7)
    after = np.vstack([same[1:, :K], end[None]])
    assert prices + np.einsum("ijk,ik->ij", given, after) == pytest.approx(y, abs=1e-7)

    def cost(z, blocks, g):
        return 0.5 * np.einsum("ij,ijk,ik", z, blocks, z) + (g * z).sum()

    constant = 0.5 * np.einsum("ij,ijk,ik", d, given, d)
    assert cost(same, blocks, g + shift) + constant == pytest.approx(cost(z, H, g), abs=1e-7)


def test_convex_blocks_stay_as_they_are(program):
    _, _, S, d = program
    H = np.broadcast_to(np.eye(K + M), (N, K + M, K + M))
    blocks, shift, given = convex(H, S, d, 1e-3)
    assert (blocks == H).all()
    assert not shift.any()
    assert not given.any()


def test_inputs_without_curvature_get_the_least_one(program):
    _, _, S, d = program
    H = np.broadcast_to(-np.eye(K + M), (N, K + M, K + M))
    blocks, _, _ = convex(H, S, d, 1e-3)
    assert np.linalg.eigvalsh(blocks[:, K:, K:]) == pytest.approx(1e-3)
    assert min(np.linalg.eigvalsh(blocks)[:, 0]) > -1e-9


def test_an_update_knows_the_curvature_along_the_step():
    rng = np.random.default_rng(2)
    true = np.diag([3.0, 1.0, 0.5])
    s = rng.normal(size=(4, 3))
    B = updated(np.broadcast_to(np.eye(3), (4, 3, 3)), s, s @ true)
    assert np.einsum("ijk,ik->ij", B, s) == pytest.approx(s @ true)
    bent = updated(B, s, -s)  # negative curvature is damped
    assert min(np.linalg.eigvalsh(bent)[:, 0]) > 0.0
