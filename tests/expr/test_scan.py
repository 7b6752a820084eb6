"""Scans on numbers, in graphs, replayed, and as machine code."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

from armsim.expr import identity_where, leaves, loop, replay, scan, shared, sin, trace, where, with_jacobian

ROWS = [[0.3, 1.5], [-2.0, 0.25], [1e3, -7.0]]


def same_everywhere(text, names, rows, evaluate):
    """The text on numbers, replayed and as machine code in scalars and lanes: the same bits; returns them by row."""
    expected = [list(text(*row)) for row in rows]
    f = trace(lambda *x: text(*x), names)
    assert [replay(f, row) for row in rows] == expected
    assert evaluate(f, np.array(rows).T.tolist()).T.tolist() == expected
    return expected


def test_a_scan_gives_running_sums_from_either_end(evaluate):
    def text(a, b):
        end, sums = scan(0.0, lambda s, x: (s + x, s + x), [a, b, 2.0, a * b])
        back, suffixes = scan(0.0, lambda s, x: (s + x, s + x), [a, b, 2.0, a * b], backward=True)
        return [end, *sums, back, *suffixes]

    for (a, b), found in zip(ROWS, same_everywhere(text, ["a", "b"], ROWS, evaluate), strict=True):
        items = [a, b, 2.0, a * b]
        assert found[1:5] == list(np.cumsum(items))
        assert found[6:] == list(np.cumsum(items[::-1]))[::-1]


def test_results_of_one_scan_are_items_of_the_next(evaluate):
    def text(a, b):
        _, squares = scan(a, lambda s, x: (s * 0.5, {"square": x * x, "one": 1.0, "state": s}), [a, b, a - b])
        ends, _ = scan(
            [0.0, 0.0], lambda s, x, y: ([s[0] + x["square"] * x["one"], s[1] + y], 0.0), squares, [1.0, 2.0, b]
        )
        return [*ends, squares[-1]["state"], squares[1]["one"]]

    for (a, b), found in zip(ROWS, same_everywhere(text, ["a", "b"], ROWS, evaluate), strict=True):
        assert found == [(a * a + b * b) + (a - b) * (a - b), 3.0 + b, a * 0.25, 1.0]


def test_scans_loops_and_functions_nest(evaluate):
    """A root by Heron's method within a scan within a scan within a loop, with captured values and sines."""

    def root(x, at_most=60):
        return loop([x], lambda y: [(y + x / y) / 2], lambda y: abs(y * y - x) <= 1e-14 * x, at_most)[0]

    def text(a, b):
        swing = shared(lambda x: sin(x) + a, "swing")

        def inner(s, x):
            end, rows = scan(s, lambda t, y: (t + root(y * y + 1.0), swing(t * y)), [x, 2.0 * x, b])
            return end * 0.1, sum(rows[i] for i in range(3))

        def outer(s, k):
            end, rows = scan(s, inner, [1.0, b, 0.5])
            return [end + rows[0] + rows[2], k + 1.0]

        return loop([b, 0.0], outer, lambda s, k: k >= where(a > 0.0, 2.0, 1.0), 10)

    same_everywhere(text, ["a", "b"], [[0.3, 1.5], [-2.0, 0.25], [1.0, -0.7]], evaluate)


def test_links_lead_along_a_tree_both_ways(evaluate):
    """Sums from the root to each node of a tree, and of all beyond it; by links to the first child and the next sibling."""
    parents, lengths = [-1, 0, 1, 1, 0, 4, -1], [0.5, 1.25, -3.0, 7.0, 0.1, 2.5, 4.0]
    child, sibling = [1, 2, -1, -1, 5, -1, -1], [6, 4, 3, -1, -1, -1, -1]

    def text(a, b):
        own = [a, b, a * b, 1.0, b, a - b, 2.0]

        def outward(k, x, length, above):
            at = above["at"] + x * length
            return k + 1.0, ({"at": at, "one": 1.0}, [k, sin(at), 3.0])

        end, along = scan(0.0, outward, own, lengths, links=[parents], before={"at": b, "one": 1.0})

        def inward(s, here, x, below, beside):
            total = here[0]["at"] * here[0]["one"] + x + below[0]
            return s, ([total + beside[0]], total)

        _, sums = scan(0.0, inward, along, own, links=[child, sibling], before=[0.0], backward=True)
        flat = [x for (found, (k, wave, three)) in along for x in (found["at"], k, wave, three)]
        return [end, *flat, *(total for _, total in sums)]

    for (a, b), found in zip(ROWS, same_everywhere(text, ["a", "b"], ROWS, evaluate), strict=True):
        own, at = [a, b, a * b, 1.0, b, a - b, 2.0], []
        for k, parent in enumerate(parents):
            at.append((b if parent < 0 else at[parent]) + own[k] * lengths[k])
        total = [x + y for x, y in zip(at, own, strict=True)]
        for k in reversed(range(7)):
            if parents[k] >= 0:
                total[parents[k]] += total[k]
        assert found[1 : 1 + 28 : 4] == at
        assert found[2 : 2 + 28 : 4] == list(range(7))
        assert found[29:] == pytest.approx(total, rel=1e-14)


def test_a_link_gives_trees_of_one_structure():
    with pytest.raises(ValueError, match="another structure"):
        trace(lambda a: [scan(a, lambda s, up: (s, ([a], 0.0)), count=2, links=[[-1, 0]], before=a)[0]], ["a"])


def test_a_scan_without_series_counts(evaluate):
    def text(a, b):
        end, powers = scan(1.0, lambda s: (s * a, s), count=4)
        return [end, *powers]

    for (a, _), found in zip(ROWS, same_everywhere(text, ["a", "b"], ROWS, evaluate), strict=True):
        assert found == [a * a * a * a, 1.0, a, a * a, a * a * a]


def test_riccatis_recursion_backward_reaches_the_regulator_of_the_algebraic_equation(evaluate):
    dt, q, r = 0.1, 1.0, 0.01

    def text(gain, rate):
        """A mass with u gain as its force and velocity decaying at a rate: the first gains of a horizon of 200 steps."""
        a, b = 1.0 - dt * rate, dt * gain

        def back(P, _):
            p11, p12, p22 = P
            up, uv = b * p12, b * p22
            u = r + b * uv
            k1, k2 = up / u, (up * dt + uv * a) / u
            m12, m22 = p11 * dt + p12 * a, (p11 * dt + p12 * a) * dt + (p12 * dt + p22 * a) * a
            return [q + p11 - k1 * up, m12 - k1 * (up * dt + uv * a), m22 - k2 * (up * dt + uv * a)], [k1, k2]

        _, gains = scan([q, 0.0, 0.0], back, [0.0] * 200, backward=True)
        return gains[0]

    rows = [[1.0, 0.0], [2.0, 0.7], [0.5, 3.0]]
    for (gain, rate), K in zip(rows, same_everywhere(text, ["gain", "rate"], rows, evaluate), strict=True):
        A, B = np.array([[1.0, dt], [0.0, 1.0 - dt * rate]]), np.array([[0.0], [dt * gain]])
        P = solve_discrete_are(A, B, np.diag([q, 0.0]), np.array([[r]]))
        assert pytest.approx(np.linalg.solve(r + B.T @ P @ B, B.T @ P @ A)[0], rel=1e-9) == K


def test_the_text_of_a_scan_does_not_grow_with_its_length():
    def nodes(count):
        f = trace(lambda a: [scan(a, lambda s: (sin(s) + a, s), count=count)[0]], ["a"])
        return len(f.graph.nodes), f.counts()["sin"]

    assert nodes(10)[0] == nodes(10_000)[0]
    assert nodes(10_000)[1] == 10_000


def test_items_that_differ_in_structure_and_series_of_another_function_are_refused():
    with pytest.raises(ValueError, match="differ in structure"):
        trace(lambda a: [scan(a, lambda s, x: (s, s), [[a], [a, a]])[0]], ["a"])
    with pytest.raises(ValueError, match="changes the structure"):
        trace(lambda a: [scan(a, lambda s, x: ([s], s), [a, a])[0]], ["a"])

    def elsewhere(a):
        _, rows = scan(a, lambda s, x: (s, s * x), [a, 2.0])
        return [shared(lambda b: scan(b, lambda s, x: (s + x, s), rows)[0], "inner")(a)]

    with pytest.raises(ValueError, match="belongs to the function"):
        trace(elsewhere, ["a"])


def test_an_item_beyond_the_end_is_refused():
    with pytest.raises(IndexError):
        trace(lambda a: [scan(a, lambda s, x: (s, s * x), [a, 2.0])[1][2]], ["a"])
    assert math.isclose(scan(1.0, lambda s, x: (s, s * x), [3.0, 2.0])[1][-1], 2.0)


def test_derivatives_of_scans_are_scans_and_exact_twice(evaluate):
    """Powers of a, a polynomial by Horner's rule from the last item, and a sum over a captured series in each iteration."""

    def powers(a, b):
        end, rows = scan([1.0, b], lambda s, k: ([s[0] * a, s[1] + k * a], {"power": s[0], "two": 2.0}), [1.0, b, 3.0])
        horner, _ = scan(0.0, lambda s, c: (s * a + c, s), [b, 2.0, a, 1.0], backward=True)

        def nested(s, x):
            inner, _ = scan(s, lambda t, row: (t + row["power"] * x, t), rows)
            return inner, inner * x

        total, made = scan(a, nested, [b, 2.0])
        return [end[0], end[1], rows[2]["power"], horner, total, made[0]]

    def slopes(a, b):
        return leaves(with_jacobian(powers, (0, 1), "slopes")(a, b)[1])

    def curvatures(a, b):
        return leaves(with_jacobian(lambda x: slopes(x, b), (0,), "curvatures")(a)[1])

    rows = [[0.5, 1.5], [-2.0, 0.25], [3.0, -7.0]]
    assert all(node.op != "scan" for node in trace(slopes, ["a", "b"]).live())  # they are in a function that it calls
    for (a, b), found in zip(rows, same_everywhere(slopes, ["a", "b"], rows, evaluate), strict=True):
        s, ds = 1 + a + a * a, 1 + 2 * a
        expected = [3 * a * a, 0, 4 + b, 1 + a, 2 * a, 0, 2 + 6 * a * a, 1]
        expected += [1 + ds * (b + 2), s, (1 + ds * b) * b, a + 2 * s * b]
        assert found == pytest.approx(expected, rel=1e-13)
    for (a, b), found in zip(rows, same_everywhere(curvatures, ["a", "b"], rows, evaluate), strict=True):
        expected = [6 * a, 0, 0, 1, 2, 0, 12 * a, 0, 2 * (b + 2), 1 + 2 * a, 2 * b * b, 1 + 2 * (1 + 2 * a) * b]
        assert found == pytest.approx(expected, rel=1e-13)


def test_derivatives_through_links_are_those_of_the_tree_written_out(evaluate):
    parents = [-1, 0, 1, 1, 0, 4, -1]

    def along(a, b):
        def body(k, x, above):
            at = {"at": above["at"] * x + sin(a), "one": 1.0}
            return k + at["at"] * b, (at, k)

        end, rows = scan(0.0, body, [a, b, a * b, 1.0, b, a - b, 2.0], links=[parents], before={"at": b, "one": a})
        return [end, *(found["at"] + k for found, k in rows)]

    def slopes(a, b):
        return leaves(with_jacobian(along, (0, 1), "slopes")(a, b)[1])

    rows = [[0.5, 1.5], [-2.0, 0.25], [3.0, -0.7]]
    for row, found in zip(rows, same_everywhere(slopes, ["a", "b"], rows, evaluate), strict=True):
        differences = []
        for k in range(2):
            ahead, behind = ([x + (h if i == k else 0.0) for i, x in enumerate(row)] for h in (1e-5, -1e-5))
            differences.append((np.array(along(*ahead)) - along(*behind)) / 2e-5)
        assert found == pytest.approx(np.array(differences).T.ravel().tolist(), rel=1e-7, abs=1e-7)


def test_rows_of_the_identity_take_the_place_of_those_that_are_held_in_large_matrices_too(evaluate):
    n, few = 17, 15  # the last rows are never held
    rng = np.random.default_rng(3)
    rows = [[*rng.normal(size=n * n), *(rng.random(few) < 0.4).astype(float)] for _ in range(3)]

    def replaced(*x):
        return leaves(
            [*identity_where([flag > 0.5 for flag in x[n * n :]], [x[i * n : (i + 1) * n] for i in range(n)])]
        )

    traced = trace(replaced, [f"x{i}" for i in range(n * n + few)])
    assert any(node.op == "scan" for node in traced.live())
    expected = []
    for row in rows:
        A, held = np.reshape(row[: n * n], (n, n)).copy(), np.flatnonzero(row[n * n :])
        A[held], A[:, held] = 0.0, 0.0
        A[held, held] = 1.0
        expected.append(A.ravel().tolist())
    assert [replaced(*map(float, row)) for row in rows] == [replay(traced, row) for row in rows] == expected
    assert evaluate(traced, np.array(rows).T.tolist()).T.tolist() == expected
