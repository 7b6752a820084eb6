"""Laws of finite slope beside dry friction: stops, dampers that saturate, several on a joint."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from armsim.dynamics import Law, clipped, clipped_solve
from armsim.expr import trace

KINDS = ("dry", "stop", "clip")  # infinitely steep; with one bound; with two
PER_LAW = 4  # numbers


def problems(rng, n: int, count: int) -> SimpleNamespace:
    """Random problems: every joint may have dry friction, a stop and a saturating damper."""
    A = rng.normal(size=(count, n, n))
    M = A @ A.transpose(0, 2, 1) + 1e-3 * np.eye(n)
    kinds = [(i, kind) for i in range(n) for kind in KINDS if rng.random() < 0.7] or [(0, "clip")]
    b = 3 * rng.normal(size=(count, len(kinds)))
    d = 10 ** rng.uniform(-2, 2, size=(count, len(kinds))) * (rng.random((count, len(kinds))) < 0.9)
    bound = 10 ** rng.uniform(-3, 1, (2, count, len(kinds)))
    lower, upper = -bound[0], bound[1]
    for e, (_, kind) in enumerate(kinds):
        if kind == "stop":
            below = rng.random(count) < 0.5
            lower[:, e], upper[:, e] = np.where(below, 0.0, -math.inf), np.where(below, math.inf, 0.0)
        if kind == "dry":
            b[:, e] = d[:, e] = 0.0
    return SimpleNamespace(
        n=n, kinds=kinds, M=M, r=rng.normal(size=(count, n)), b=b, d=d, lower=lower, upper=upper,
        guess=rng.choice([-1.0, 0.0, 1.0], size=(count, n)),
    )  # fmt: skip


def laws_of(kinds, numbers) -> list[Law]:
    rows = [numbers[PER_LAW * e : PER_LAW * (e + 1)] for e in range(len(kinds))]
    return [
        Law(i, lower, upper, b, None if kind == "dry" else d)
        for (i, kind), (b, d, lower, upper) in zip(kinds, rows, strict=True)
    ]


def body(n: int, kinds):
    """`clipped_solve` as a function of one flat list of scalars."""

    def flat(*x):
        triangle = n * (n + 1) // 2
        M = [list(x[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2]) for i in range(n)]
        r, guess, numbers = x[triangle : triangle + n], x[triangle + n : triangle + 2 * n], x[triangle + 2 * n :]
        return [value for part in clipped_solve(M, r, laws_of(kinds, numbers), guess) for value in part]

    return flat


def columns(p) -> np.ndarray:
    i, j = np.tril_indices(p.n)
    numbers = np.stack([p.b, p.d, p.lower, p.upper], axis=2).reshape(len(p.r), -1)
    return np.ascontiguousarray(np.concatenate([p.M[:, i, j], p.r, p.guess, numbers], axis=1).T)


def violation(p, x, f) -> np.ndarray:
    """How far x and f are from the equation and the laws, as shares of the problem's size."""
    on_joint = np.zeros_like(x)
    for e, (i, _) in enumerate(p.kinds):
        on_joint[:, i] += f[:, e]
    total = np.abs(np.einsum("cij,cj->ci", p.M, x) - p.r - on_joint)
    size = np.einsum("cij,cj->ci", np.abs(p.M), np.abs(x)) + np.abs(p.r) + 1e-300
    for e, (i, _) in enumerate(p.kinds):
        size[:, i] += np.abs(f[:, e])
    worst = (total / size).max(axis=1)
    for e, (i, kind) in enumerate(p.kinds):
        v, lower, upper = x[:, i], p.lower[:, e], p.upper[:, e]
        if kind == "dry":
            beyond = np.maximum(np.maximum(lower - f[:, e], f[:, e] - upper), 0.0)
            wrong = np.where(v > 0, np.abs(f[:, e] - lower), np.where(v < 0, np.abs(f[:, e] - upper), beyond))
            scale = size[:, i]
        else:
            wrong = np.abs(f[:, e] - np.clip(p.b[:, e] - p.d[:, e] * v, lower, upper))
            scale = np.abs(p.b[:, e]) + np.abs(p.d[:, e] * v) + size[:, i]
        worst = np.maximum(worst, wrong / scale)
    return worst


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.handful(2)
def test_random_systems_with_several_laws_a_joint_satisfy_them_all(n, seed, evaluate):
    p = problems(np.random.default_rng(100 * seed + n), n, 8192)
    names = [f"x{i}" for i in range(n * (n + 1) // 2 + 2 * n + PER_LAW * len(p.kinds))]
    found = evaluate(trace(body(n, p.kinds), names), columns(p)).T
    x, f = found[:, :n], found[:, n:]
    assert violation(p, x, f).max() < 1e-10
    for e, (_, kind) in enumerate(p.kinds):  # every part of every law occurs
        at_bound = (f[:, e] == p.lower[:, e]) | (f[:, e] == p.upper[:, e])
        assert 0.01 < at_bound.mean() < 0.99, kind


def test_the_bits_do_not_depend_on_who_computes(evaluate):
    p = problems(np.random.default_rng(7), 3, 64)
    names = [f"x{i}" for i in range(6 + 6 + PER_LAW * len(p.kinds))]
    found = evaluate(trace(body(3, p.kinds), names), columns(p)).T
    for c in range(64):
        assert body(3, p.kinds)(*columns(p)[:, c].tolist()) == found[c].tolist()


def test_a_joint_alone_finds_its_place_on_every_part_of_a_law():
    # 2 x = r + clip(1 - 3 x, -0.5, 2): x = (r + 1) / 5 between the bounds, (r - 0.5) / 2 and (r + 2) / 2 at them
    law = Law(0, -0.5, 2.0, 1.0, 3.0)
    for r, x in ((0.25, 0.25), (3.0, 1.25), (-4.0, -1.0)):
        for guess in (-9.0, 0.0, 9.0):
            (found,), (f,) = clipped_solve([[2.0]], [r], [law], [guess])
            assert found == pytest.approx(x, abs=1e-15)
            assert f == pytest.approx(2 * x - r, abs=1e-15)


def test_a_stop_pushes_and_never_pulls():
    # 1 kg at velocity -2 or 5 met by a stop that pushes with 3 - 10 v, and not less than nothing
    stop = Law(0, 0.0, math.inf, 3.0, 10.0)
    assert clipped_solve([[1.0]], [-2.0], [stop], [-2.0])[0][0] == pytest.approx((-2 + 3) / 11)
    assert clipped_solve([[1.0]], [5.0], [stop], [-2.0]) == ([5.0], [0.0])


def test_dry_friction_holds_against_a_stop_on_the_same_joint():
    stop, dry = Law(0, 0.0, math.inf, 3.0, 10.0), Law(0, -5.0, 5.0)
    for laws in ([stop, dry], [dry, stop]):
        for guess in (-1.0, 0.0, 1.0):
            x, f = clipped_solve([[1.0]], [0.5], laws, [guess])
            assert x == [0.0]
            assert dict(zip(map(id, laws), f, strict=True)) == {id(stop): 3.0, id(dry): -3.5}


def test_exact_ties_at_a_bound_end_after_few_rounds(monkeypatch):
    rounds = []

    def counting(state, step, until, at_most):
        values, count = list(state), 0
        while count < at_most and not until(*values):
            values, count = list(step(*values)), count + 1
        rounds.append(count)
        return values

    monkeypatch.setattr(clipped, "loop", counting)
    M = np.array([[3.0, 1.0], [1.0, 2.0]])
    for x in itertools.product([-0.7, 0.1, 0.3], repeat=2):
        force = [1.1 - 0.7 * x_i for x_i in x]  # exactly at the upper bound, to rounding
        laws = [Law(i, -0.3, force[i], 1.1, 0.7) for i in range(2)]
        r = (M @ x - force).tolist()
        for guess in itertools.product([-5.0, 0.0, 5.0], repeat=2):
            found, _ = clipped_solve([[3.0], [1.0, 2.0]], r, laws, guess)
            assert np.allclose(found, x, rtol=0, atol=1e-14)
    assert max(rounds) <= 6


def test_a_law_of_impulses_is_the_law_of_forces_times_the_time():
    law = Law(1, -2.0, 3.0, 0.5, 4.0).times(0.25)
    assert (law.joint, law.lower, law.upper, law.b, law.d) == (1, -0.5, 0.75, 0.125, 1.0)
    assert Law(0, -2.0, 3.0).times(0.25).d is None
