"""Loops on numbers, in graphs, and replayed."""

from __future__ import annotations

import math

import pytest

from armsim import expr
from armsim.expr import Graph, absolute, loop, maximum, minimum, replay, shared, trace, where


def gcd(a, b, at_most=100):
    """The greatest common divisor of whole numbers by Euclid's subtractions, and how many they were."""

    def subtract(x, y, count):
        return [maximum(x, y) - minimum(x, y), minimum(x, y), count + 1.0]

    return loop([a, b, 0.0], subtract, lambda x, y, count: x * y <= 0.0, at_most)


def root(x, at_most=60):
    """Heron's square root, until it squares to x within 1e-14."""
    return loop([x], lambda y: [(y + x / y) / 2], lambda y: absolute(y * y - x) <= 1e-14 * x, at_most)[0]


PAIRS = [(12.0, 18.0), (7.0, 7.0), (1.0, 64.0), (35.0, 64.0), (0.0, 5.0), (1001.0, 1287.0)]


def test_a_loop_on_numbers_is_just_carried_out():
    for a, b in PAIRS:
        found = gcd(a, b)
        assert max(found[:2]) == math.gcd(int(a), int(b))
    assert math.isclose(root(2.0), math.sqrt(2.0), rel_tol=1e-14)


def test_a_traced_loop_replays_as_the_text_on_numbers_and_runs_as_machine_code(evaluate):
    f = trace(lambda a, b: gcd(a, b), ["a", "b"])
    expected = [gcd(a, b) for a, b in PAIRS]
    assert [replay(f, pair) for pair in PAIRS] == expected
    assert evaluate(f, list(zip(*PAIRS, strict=True))).T.tolist() == expected


def test_the_end_is_asked_for_before_the_first_round(evaluate):
    f = trace(lambda x: loop([x], lambda y: [y * 2.0], lambda y: y >= 5.0, 100), ["x"])
    assert replay(f, [5.0]) == [5.0]
    assert replay(f, [1.0]) == [8.0]
    assert evaluate(f, [[5.0, 1.0]]).tolist() == [[5.0, 8.0]]


@pytest.mark.parametrize(("at_most", "expected"), [(0, 1.0), (1, 2.0), (7, 128.0)])
def test_a_loop_without_end_stops_at_its_bound(at_most, expected, evaluate):
    def text(x):
        return loop([x], lambda y: [y + y], lambda y: y < 0.0, at_most)

    f = trace(text, ["x"])
    assert text(1.0) == replay(f, [1.0]) == evaluate(f, [[1.0]])[:, 0].tolist() == [expected]


def test_not_a_number_goes_on_to_the_bound_and_ends(evaluate):
    f = trace(lambda x: loop([x, 0.0], lambda y, k: [y, k + 1.0], lambda y, k: y >= 0.0, 9), ["x"])
    found = evaluate(f, [[math.nan, 1.0]])
    assert math.isnan(found[0, 0])
    assert found[1].tolist() == [9.0, 0.0]
    assert found[0, 1] == 1.0


def test_the_next_state_is_a_simultaneous_assignment(evaluate):
    def text(a, b):
        return loop([a, b, 0.0], lambda x, y, k: [y, x, k + 1.0], lambda x, y, k: k >= 3.0, 10)

    f = trace(text, ["a", "b"])
    assert text(1.0, 2.0) == replay(f, [1.0, 2.0]) == evaluate(f, [[1.0], [2.0]])[:, 0].tolist() == [2.0, 1.0, 3.0]


def test_values_of_outer_graphs_are_captured_by_body_and_end(evaluate):
    def text(x, step, limit):
        return [root(x), *loop([x], lambda y: [y + step * x], lambda y: y >= limit, 50)]

    f = trace(text, ["x", "step", "limit"])
    expected = text(2.0, 0.5, 7.5)
    assert expected[1] == 8.0
    assert replay(f, [2.0, 0.5, 7.5]) == expected
    assert evaluate(f, [[2.0], [0.5], [7.5]])[:, 0].tolist() == expected


def test_a_loop_that_begins_with_numbers_may_use_expressions_in_its_body_or_its_end(evaluate):
    def by_body(step):
        return loop([0.0, 0.0], lambda y, k: [y + step, k + 1.0], lambda y, k: k >= 4.0, 50)

    def by_end(limit):
        return loop([1.0], lambda y: [y * 2.0], lambda y: y >= limit, 50)

    for text, x, expected in ((by_body, 1.5, [6.0, 4.0]), (by_end, 20.0, [32.0])):
        f = trace(text, ["x"])
        assert text(x) == replay(f, [x]) == evaluate(f, [[x]])[:, 0].tolist() == expected


@pytest.mark.parametrize("at_most", [0, 1, 3])
def test_rounds_on_numbers_count_towards_the_bound(at_most, evaluate):
    def text(step):
        return loop([0.0], lambda y: [y + step], lambda y: y < 0.0, at_most)

    f = trace(text, ["step"])
    assert text(2.0) == replay(f, [2.0]) == evaluate(f, [[2.0]])[:, 0].tolist() == [2.0 * at_most]


def test_a_loop_of_numbers_alone_leaves_nothing_in_the_graph():
    f = trace(lambda x: [x + max(gcd(12.0, 18.0)[:2])], ["x"])
    assert f.counts() == {"add": 1}
    assert replay(f, [1.0]) == [7.0]


def test_loops_stand_in_loops_and_in_shared_functions(evaluate):
    def nested(x, y):
        """The sum of i j over i, j from 1 to 3, times x, plus y each time."""

        def outer(total, i):
            inner = loop([total, 1.0], lambda t, j: [t + i * j * x + y, j + 1.0], lambda t, j: j > 3.0, 10)
            return [inner[0], i + 1.0]

        return loop([0.0 * x, 1.0], outer, lambda total, i: i > 3.0, 10)

    def text(x, y):
        twice = shared(lambda a: [root(a) + nested(a, y)[0]], "twice")
        return [*nested(x, y), *twice(x), *twice(y)]

    f = trace(text, ["x", "y"])
    assert nested(0.5, 0.25) == [36 * 0.5 + 9 * 0.25, 4.0]
    assert replay(f, [0.5, 0.25]) == text(0.5, 0.25) == evaluate(f, [[0.5], [0.25]])[:, 0].tolist()


def test_conditions_and_choices_of_outer_graphs_come_into_a_loop(evaluate):
    def text(x, y):
        up = x < y
        return loop([x, 0.0], lambda z, k: [z + where(up, 1.0, -1.0), k + 1.0], lambda z, k: k > 2.5, 10)

    f = trace(text, ["x", "y"])
    for row in ([0.0, 1.0], [1.0, 0.0]):
        assert replay(f, row) == text(*row) == evaluate(f, [[v] for v in row])[:, 0].tolist()


def test_elementary_functions_in_a_loop_are_lowered(evaluate):
    # the fixed point of the cosine
    def text(x):
        return loop([x], lambda y: [expr.cos(y)], lambda y: absolute(expr.cos(y) - y) < 1e-12, 200)

    f = trace(text, ["x"])
    assert replay(f, [1.0]) == text(1.0) == evaluate(f, [[1.0]])[:, 0].tolist()
    assert math.isclose(text(1.0)[0], 0.7390851332151607, rel_tol=1e-11)


def test_operations_of_a_loop_are_counted_for_one_round():
    # how many there will be is not known
    f = trace(lambda x: [loop([x], lambda y: [y * y + x], lambda y: y > 9.0, 10)[0] + 1.0], ["x"])
    assert f.counts() == {"mul": 1, "add": 2, "lt": 1}
    assert f.flops() == 3


def test_what_the_outputs_do_not_need_is_not_live():
    f = trace(lambda x: [x + 1.0, root(x)][:1], ["x"])
    assert [node.op for node in f.live()] == ["input", "add"]


def test_nodes_of_functions_side_by_side_do_not_mix_in_a_loop():
    a, b = Graph().input("a"), Graph().input("b")
    with pytest.raises(ValueError, match="belongs to another function"):
        loop([a], lambda y: [y + b], lambda y: y > 0.0, 3)
