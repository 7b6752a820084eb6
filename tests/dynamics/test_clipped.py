"""Forces that hold at zero within bounds: the law, the pivoting and its fallback, ties and rounding."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from armsim.dynamics import Law, clipped, clipped_solve
from armsim.expr import trace

# exact data, well conditioned, on which flipping all joints at once goes round in circles
CIRCLE = SimpleNamespace(
    M=[[14.0], [7.0, 22.0], [-12.0, -14.0, 15.0]],
    r=[11.0, -4.0, -7.0],
    lower=[-1.0, -4.0, -1.0],
    upper=[1.0, 2.0, 3.0],
)
NOBODY = [False] * 3


def rows(M) -> list[list[float]]:
    return [list(map(float, M[i][: i + 1])) for i in range(len(M))]


def problems(rng, n: int, count: int, kind: str = "plain") -> SimpleNamespace:
    """Random problems, a leading axis of `count`: M, r, lower, upper, guess, free."""
    A = rng.normal(size=(count, n, n))
    least = 1e-3
    if kind == "nearly singular":
        A, least = A * 0.05 + rng.normal(size=(count, n, 1)), 1e-6
    M = A @ A.transpose(0, 2, 1) + least * np.eye(n)
    # bounds from a thousandth of the loads to ten times them
    bound = rng.choice([0.0, 1.0], p=[0.1, 0.9], size=(2, count, n)) * 10 ** rng.uniform(-3, 1, (2, count, n))
    free = rng.random((count, n)) < 0.1
    bound[:, free] = 0.0
    guess = rng.choice([-1.0, 0.0, 1.0], size=(count, n))
    return SimpleNamespace(
        n=n, M=M, r=rng.normal(size=(count, n)), lower=-bound[0], upper=bound[1], guess=guess, free=free
    )


def solve(M, r, lower, upper, guess, free):
    """With dry friction on every joint."""
    return clipped_solve(M, r, [Law(i, lower[i], upper[i], free=free[i]) for i in range(len(r))], guess)


def body(n: int):
    """`clipped_solve` as a function of one flat list of scalars."""

    def flat(*x):
        M, k = [], 0
        for i in range(n):
            M.append(list(x[k : k + i + 1]))
            k += i + 1
        r, lower, upper, guess, free = (list(x[k + j * n : k + (j + 1) * n]) for j in range(5))
        return [*(x for part in solve(M, r, lower, upper, guess, [value > 0.5 for value in free]) for x in part)]

    return flat


def columns(p) -> np.ndarray:
    i, j = np.tril_indices(p.n)
    parts = (p.M[:, i, j], p.r, p.lower, p.upper, p.guess, p.free.astype(float))
    return np.ascontiguousarray(np.concatenate(parts, axis=1).T)


def solve_all(p, evaluate, **how) -> tuple[np.ndarray, np.ndarray]:
    """Solutions of all problems by machine code."""
    n = p.n
    function = trace(body(n), [f"x{i}" for i in range(n * (n + 1) // 2 + 5 * n)])
    found = evaluate(function, columns(p), **how).T
    return found[:, :n], found[:, n:]


def violation(p, x, f) -> np.ndarray:
    """How far x and f are from the law: the equation, the bounds and the sides, as shares of the problem's size."""
    size = np.einsum("cij,cj->ci", np.abs(p.M), np.abs(x)) + np.abs(p.r) + np.abs(f) + 1e-300
    equation = np.abs(np.einsum("cij,cj->ci", p.M, x) - p.r - f) / size
    beyond = np.maximum(np.maximum(p.lower - f, f - p.upper), 0.0)
    side = np.where(x > 0, np.abs(f - p.lower), np.where(x < 0, np.abs(f - p.upper), beyond))
    side = np.where(p.free, np.abs(f - p.lower), side)
    return np.maximum(equation, side / size).max(axis=1)


@pytest.fixture
def rounds(monkeypatch):
    """Counts the rounds of the last call on numbers."""
    count = SimpleNamespace(last=0)

    def counting(state, step, until, at_most):
        values, count.last = list(state), 0
        while count.last < at_most and not until(*values):
            values = list(step(*values))
            count.last += 1
        return values

    monkeypatch.setattr(clipped, "loop", counting)
    return count


@pytest.mark.parametrize("kind", ["plain", "nearly singular"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.handful(2)
def test_ten_times_ten_thousand_random_loads_satisfy_the_law(n, kind, evaluate):
    p = problems(np.random.default_rng(n), n, 10_240, kind)
    x, f = solve_all(p, evaluate)
    assert violation(p, x, f).max() < 1e-10
    assert (x[~p.free] == 0).mean() > 0.1  # some are held,
    assert (x[~p.free] != 0).mean() > 0.1  # some are not
    assert (f * x <= 0).all()  # and the force never drives


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.handful(1)
def test_the_solution_is_the_only_combination_of_sides_that_satisfies_the_law(n, evaluate):
    p = problems(np.random.default_rng(10 + n), n, 160)
    p.free[:] = False
    x, f = solve_all(p, evaluate)
    for c in range(len(x)):
        solutions = []
        for sides in itertools.product([-1, 0, 1], repeat=n):
            side = np.array(sides)
            slides = side != 0
            force = np.where(side > 0, p.lower[c], p.upper[c])
            v = np.zeros(n)
            if slides.any():
                v[slides] = np.linalg.solve(p.M[c][np.ix_(slides, slides)], (p.r[c] + force)[slides])
            force = np.where(slides, force, p.M[c] @ v - p.r[c])
            tiny = 1e-12
            if (v * side >= 0).all() and (force >= p.lower[c] - tiny).all() and (force <= p.upper[c] + tiny).all():
                solutions.append((v, force))
        assert solutions
        for v, force in solutions:  # several only where they agree, at a bound of zero
            scale = 1 + np.abs(v).max()
            assert np.allclose(v, x[c], rtol=0, atol=1e-10 * scale)  # M's condition: to 1e4
            assert np.allclose(force, f[c], rtol=0, atol=1e-10 * scale)


@pytest.mark.slow
def test_all_guesses_lead_to_the_same_solution(rounds):
    p = problems(np.random.default_rng(3), 3, 60)
    for c in range(60):
        given = rows(p.M[c]), p.r[c].tolist(), p.lower[c].tolist(), p.upper[c].tolist()
        found = [solve(*given, guess, NOBODY) for guess in itertools.product([-1.0, 0.0, 1.0], repeat=3)]
        x, f = np.array(found).transpose(1, 0, 2)
        assert (np.sign(x) == np.sign(x[0])).all()
        assert np.allclose(x, x[0], rtol=1e-10)  # the paths are equal from the sides on: only minus zeros differ
        assert np.allclose(f, f[0], rtol=1e-10, atol=1e-13)
        assert rounds.last <= 30


def test_flipping_all_at_once_can_go_in_circles_and_the_fallback_ends_it(rounds, monkeypatch):
    c = CIRCLE
    M = np.tril([row + [0.0] * (3 - len(row)) for row in c.M])
    M = M + np.tril(M, -1).T
    p = SimpleNamespace(
        n=3, M=M[None], r=np.array([c.r]), lower=np.array([c.lower]), upper=np.array([c.upper]), free=np.array([NOBODY])
    )

    def solution():
        x, f = solve(c.M, c.r, c.lower, c.upper, [0.0] * 3, NOBODY)
        return np.array([x]), np.array([f])

    with monkeypatch.context() as patch:
        patch.setattr(clipped, "PATIENCE", 10**9)
        x, f = solution()
        assert rounds.last == clipped.ROUNDS
        assert violation(p, x, f)[0] > 1e-3
    x, f = solution()
    assert clipped.PATIENCE < rounds.last <= 20
    assert violation(p, x, f)[0] < 1e-15
    with monkeypatch.context() as patch:
        patch.setattr(clipped, "PATIENCE", 0)
        alone = solution()
    assert alone[0].tolist() == x.tolist()
    assert alone[1].tolist() == f.tolist()


@pytest.mark.parametrize("n", [3, 8])
@pytest.mark.handful(1)
def test_flipping_one_at_a_time_alone_finds_the_solution_too(n, evaluate, monkeypatch):
    p = problems(np.random.default_rng(20 + n), n, 4096, "nearly singular")
    x, _ = solve_all(p, evaluate)
    monkeypatch.setattr(clipped, "PATIENCE", 0)
    alone = solve_all(p, evaluate)
    assert violation(p, *alone).max() < 1e-10
    assert (np.sign(alone[0]) == np.sign(x)).mean() > 0.999  # rounding decides a few: M's condition is up to 1e7
    assert np.allclose(alone[0], x, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("n", [3, 8])
def test_a_good_share_of_problems_needs_the_fallback(n, evaluate, monkeypatch):
    # or the test above would say nothing about it
    p = problems(np.random.default_rng(30 + n), n, 10_240, "nearly singular")
    monkeypatch.setattr(clipped, "PATIENCE", 10**9)
    monkeypatch.setattr(clipped, "ROUNDS", 60)
    circling = violation(p, *solve_all(p, evaluate)) > 1e-10
    assert circling.sum() > 20


def test_running_out_of_rounds_ends_with_numbers(monkeypatch):
    monkeypatch.setattr(clipped, "ROUNDS", 1)
    c = CIRCLE
    x, f = solve(c.M, c.r, c.lower, c.upper, [0.0] * 3, NOBODY)
    assert all(map(math.isfinite, [*x, *f]))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_a_number_ends_at_once_or_stays_in_its_own_lane(bad, evaluate):
    p = problems(np.random.default_rng(4), 3, 64)
    whole = solve_all(p, evaluate, lanes=8)
    p.r[5] = bad
    x, f = solve_all(p, evaluate, lanes=8)
    others = np.arange(64) != 5
    assert x[others].tolist() == whole[0][others].tolist()
    assert f[others].tolist() == whole[1][others].tolist()


@pytest.mark.parametrize("bound", [0.0, 1e-9, 1.0])
@pytest.mark.parametrize("singular", [False, True])
@pytest.mark.handful(1)
def test_an_exact_tie_is_settled_in_a_few_rounds(bound, singular, rounds):
    # joints at rest whose friction is exactly at its bound while others slide: rounding decides, but not to and fro
    rng = np.random.default_rng(6)
    for n in (1, 2, 3, 5):
        for _ in range(150):
            A = rng.normal(size=(n, n))
            if singular:
                A = A * 1e-6 + rng.normal(size=(n, 1))
            M = A @ A.T + (1e-9 if singular else 1e-3) * np.eye(n)
            side = rng.choice([-1, 0, 1], size=n)
            x = np.abs(rng.normal(size=n)) * side
            lower, upper = -bound * rng.uniform(0.1, 1, n), bound * rng.uniform(0.1, 1, n)
            low = np.where(side == 0, rng.random(n) < 0.5, side > 0)
            r = M @ x - np.where(low, lower, upper)
            guess = rng.choice([-1.0, 0.0, 1.0], size=n).tolist()
            found, f = solve(rows(M), r.tolist(), lower.tolist(), upper.tolist(), guess, [False] * n)
            assert rounds.last <= 20
            # what rounding of r, 1e-16 of the terms, makes of x through M: its condition is 1e4, or 1e10
            assert np.allclose(found, x, rtol=0, atol=1e-4 if singular else 1e-10)
            assert (np.array(f) * found <= 0).all()


def test_a_single_joint_is_held_below_the_bound_and_slips_above_it_by_a_part_in_1e12():
    for load in (1e-6, 1.0, 3e7):
        for sign, guess in itertools.product((1.0, -1.0), (-1.0, 0.0, 1.0)):
            above, below = load * (1 + 1e-12), load * (1 - 1e-12)
            held, f = solve([[2.0]], [sign * load], [-above], [above], [guess], [False])
            assert held == [0.0]
            assert f == [-sign * load]
            slips, f = solve([[2.0]], [sign * load], [-below], [below], [guess], [False])
            assert sign * slips[0] > 0
            assert f == [-sign * below]


def test_a_load_at_the_bound_itself_is_held():
    for sign in (1.0, -1.0):
        assert solve([[2.0]], [sign * 0.3], [-0.3], [0.3], [0.0], [False]) == ([0.0], [-sign * 0.3])


def test_bounds_of_zero_give_the_solution_without_friction(evaluate):
    p = problems(np.random.default_rng(7), 5, 1024)
    p.lower[:], p.upper[:] = 0.0, 0.0
    x, f = solve_all(p, evaluate)
    assert (f == 0).all()
    assert np.allclose(x, np.linalg.solve(p.M, p.r[..., None])[..., 0], rtol=1e-8, atol=1e-8)  # condition to 1e5


def test_bounds_beyond_any_load_hold_everything(evaluate):
    p = problems(np.random.default_rng(8), 5, 1024)
    p.free[:] = False
    p.lower[:], p.upper[:] = -1e12, 1e12
    x, f = solve_all(p, evaluate)
    assert (x == 0).all()
    assert f.tolist() == (-p.r).tolist()


def test_loads_and_bounds_of_very_different_size_do_not_disturb_each_other(rounds):
    # 1e-12 kg m² beside 1e9: each of two joints that do not feel each other behaves as if alone
    M = [[1e-12], [0.0, 1e9]]
    x, f = solve(M, [2e-9, -3e6], [-1e-9, -1e6], [1e-9, 1e6], [0.0, 0.0], [False] * 2)
    assert np.allclose(x, [1e-9 / 1e-12, -2e6 / 1e9], rtol=1e-14)
    assert f == [-1e-9, 1e6]
    x, f = solve(M, [0.9e-9, -3e6], [-1e-9, -1e6], [1e-9, 1e6], [1.0, 1.0], [False] * 2)
    assert x[0] == 0
    assert f == [-0.9e-9, 1e6]


def test_one_sided_bounds_hold_on_their_side_only():
    for guess in (-1.0, 0.0, 1.0):
        assert solve([[2.0]], [1.0], [0.0], [9.0], [guess], [False]) == ([0.5], [0.0])
        assert solve([[2.0]], [-1.0], [0.0], [9.0], [guess], [False]) == ([0.0], [1.0])


def test_a_free_joint_is_never_held_and_has_its_lower_force():
    x, f = solve([[2.0]], [0.0], [-1.0], [5.0], [0.0], [True])
    assert (x, f) == ([-0.5], [-1.0])


def test_the_motion_of_one_joint_relieves_the_other():
    # the second alone would slip under its load of 1; as the first gives way, nothing is left for it to hold
    M, r = [[2.0], [1.0, 1.0]], [2.0, 1.0]
    x, f = solve(M, r, [0.0, -0.5], [0.0, 0.5], [0.0, 0.0], [True, False])
    assert x == [1.0, 0.0]
    assert f == [0.0, 0.0]  # needed: M21 x1 - r2 = 1 - 1


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.handful(1)
def test_every_width_of_lanes_and_the_text_on_numbers_give_the_same_bits(n, evaluate):
    p = problems(np.random.default_rng(40 + n), n, 64, "nearly singular")
    wide = [np.hstack(solve_all(p, evaluate, lanes=lanes)) for lanes in (1, 2, 4, 8, 16)]
    for other in wide[1:]:
        assert (other.view(np.int64) == wide[0].view(np.int64)).all()
    assert wide[0].tolist() == [body(n)(*column) for column in columns(p).T.tolist()]
