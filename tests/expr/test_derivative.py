"""Derivatives of traced functions, against SymPy, difference quotients and laws of mechanics."""

from __future__ import annotations

import math
import random

import pytest
import sympy

from armsim import expr
from armsim.compile import evaluated
from armsim.dynamics import crba, rnea
from armsim.expr import (
    Table,
    as_constant,
    cos,
    differentiable,
    exp,
    fma,
    implicit,
    jacobian,
    log,
    lookup,
    loop,
    replay,
    shared,
    sin,
    sqrt,
    trace,
    where,
)
from armsim.expr import with_jacobian as both


def at(function, x, m):
    """Values and rows of derivatives of a `jacobian` with m values, at numbers."""
    found = replay(function, x)
    rest = found[m:]
    width = len(rest) // m
    return found[:m], [rest[i * width : (i + 1) * width] for i in range(m)]


SMOOTH = {
    "add": lambda x, y: x + y + 3.0,
    "sub": lambda x, y: (x - y) - (2.0 - x),
    "mul": lambda x, y: x * y * x * -1.5,
    "square": lambda x, y: (x * y) * (x * y),
    "div": lambda x, y: x / (2.0 + y * y) - 3.0 / (1.5 + x) + y / 7.0,
    "fma": lambda x, y: fma(x, y, x * x) + fma(-x, 0.3, y) + fma(x, x, 1.0),
    "sin cos": lambda x, y: sin(x * y) * cos(x - y) + sin(-x),
    "exp log": lambda x, y: exp(-x * x) * log(1.3 + x * y),
    "sqrt": lambda x, y: sqrt(x + y * y) / sqrt(x),
    "tan": lambda x, y: expr.tan(x) * y,
}


@pytest.mark.parametrize("text", SMOOTH.values(), ids=SMOOTH)
@pytest.mark.handful(5)
def test_derivatives_are_those_that_sympy_finds(text, evaluate):
    x, y = sympy.symbols("x y")
    exact = [sympy.lambdify((x, y), sympy.diff(text(x, y), s), "mpmath") for s in (x, y)]
    f = jacobian(trace(lambda a, b: [text(a, b)], ["x", "y"]))
    rng = random.Random(3)
    rows = [(rng.uniform(0.1, 1.2), rng.uniform(-0.9, 0.9)) for _ in range(20)]
    for row, compiled in zip(rows, evaluate(f, list(zip(*rows, strict=True))).T.tolist(), strict=True):
        assert replay(f, row) == compiled
        # a few roundings of terms that are at most about 10
        assert compiled[0] == pytest.approx(float(text(*row)), rel=1e-15)
        assert compiled[1:] == pytest.approx([float(d(*row)) for d in exact], rel=1e-13, abs=2e-14)


@pytest.mark.parametrize("kinds", ["RP", "PR", "RR"])
@pytest.mark.handful(1)
def test_derivatives_of_inverse_dynamics_are_those_that_sympy_finds(kinds, arms):
    arm = arms.serial(kinds, seed=1)
    symbols = sympy.symbols("a:6")
    tau = rnea(arm, symbols[:2], symbols[2:4], symbols[4:])
    exact = sympy.lambdify(symbols, [[sympy.diff(t, s) for s in symbols] for t in tau], "math")
    f = jacobian(trace(lambda *x: rnea(arm, x[:2], x[2:4], x[4:]), [f"x{i}" for i in range(6)]))
    rng = random.Random(kinds)
    for _ in range(10):
        x = [rng.uniform(-2, 2) for _ in symbols]
        _, rows = at(f, x, 2)
        for row, expected in zip(rows, exact(*x), strict=True):
            assert row == pytest.approx(expected, rel=1e-12, abs=1e-12)  # sums of about 30 terms of magnitude 10


@pytest.mark.parametrize("kinds", ["R", "RRRRR", "PRPR", "RRPRRRP"])
def test_inverse_dynamics_differentiated_by_accelerations_is_the_mass_matrix(kinds, arms):
    arm = arms.serial(kinds, seed=2)
    n = arm.n
    f = trace(lambda *x: rnea(arm, x[:n], x[n : 2 * n], x[2 * n :]), [f"x{i}" for i in range(3 * n)])
    f = jacobian(f, range(2 * n, 3 * n))
    rng = random.Random(kinds)
    x = [rng.uniform(-2, 2) for _ in range(3 * n)]
    _, rows = at(f, x, n)
    M = crba(arm, x[:n])
    size = max(M[i][i] for i in range(n))
    for i in range(n):
        for j in range(i + 1):
            assert rows[i][j] == pytest.approx(M[i][j], abs=1e-13 * size)
            assert rows[j][i] == pytest.approx(M[i][j], abs=1e-13 * size)


def test_inverse_dynamics_of_arm5_matches_difference_quotients(arms):
    arm = arms.shipped("arm5")
    f = trace(lambda *x: rnea(arm, x[:5], x[5:10], x[10:]), [f"x{i}" for i in range(15)])
    rng = random.Random(5)
    x = [rng.uniform(-2, 2) for _ in range(15)]
    _, rows = at(jacobian(f), x, 5)
    h = 1e-5
    for k in range(15):
        up, down = (replay(f, [v + s * h * (i == k) for i, v in enumerate(x)]) for s in (1, -1))
        # cubic terms of about 10 h², and rounding 1e-15 10 / h
        assert [row[k] for row in rows] == pytest.approx([(a - b) / (2 * h) for a, b in zip(up, down)], abs=1e-8)


def test_a_derivative_of_inverse_dynamics_costs_less_than_half_of_it_per_input(arms):
    # difference quotients cost two each
    arm = arms.shipped("arm5")
    f = trace(lambda *x: rnea(arm, x[:5], x[5:10], x[10:]), [f"x{i}" for i in range(15)])
    assert jacobian(f, range(10)).flops() - f.flops() < 0.5 * 10 * f.flops()


def test_a_turned_vector_is_differentiated_for_nothing():
    def text(angle, x, y):
        c, s = cos(angle), sin(angle)
        return [fma(c, x, -(s * y)), fma(s, x, c * y), fma(-s, x, c * y), fma(c, x, s * y)]

    f = trace(text, ["angle", "x", "y"])
    g = jacobian(f)
    assert g.flops() == f.flops()
    a, b, c, d = text(0.3, 0.7, -1.1)
    values, slopes = at(g, [0.3, 0.7, -1.1], 4)
    assert values == [a, b, c, d]
    assert [row[0] for row in slopes] == [-b, a, -d, c]


def test_the_derivative_by_a_number_left_open_has_the_bits_of_the_number_written_in():
    # a vector of open components turned: which product is fused in the derivative must not depend on what is open
    def text(angle, x, y):
        c, s = cos(angle), sin(angle)
        return [fma(c, x, -(s * y)), fma(s, x, c * y)]

    opened = jacobian(trace(text, ["angle", "x", "y"]), [0])
    written = jacobian(trace(lambda angle: text(angle, 0.7, -1.1), ["angle"]), [0])
    for k in range(200):
        assert replay(opened, [0.1 * k, 0.7, -1.1]) == replay(written, [0.1 * k])


@pytest.mark.parametrize(
    "text",
    [
        # with z = 0 written in, the first factor is older than the second
        lambda x, z, c, s: [(w := s, v := exp(x), fma(z, c, w) * v)[-1]],
        lambda x, z, c, s: [(w := s, v := exp(x), fma(fma(z, c, w), v, x))[-1]],
    ],
    ids=["product", "fma"],
)
def test_the_derivative_by_a_number_that_is_zero_or_one_has_the_bits_of_the_number_written_in(text):
    opened = jacobian(trace(lambda x, z: text(x, z, cos(x), sin(x)), ["x", "z"]), [0])
    for z in (0.0, 1.0, -1.0):
        written = jacobian(trace(lambda x, z=z: text(x, z, cos(x), sin(x)), ["x"]), [0])
        for k in range(200):
            assert replay(opened, [0.1 * k - 9.0, z]) == replay(written, [0.1 * k - 9.0])


def test_what_does_not_depend_on_an_input_has_the_number_zero_for_a_derivative():
    f = jacobian(trace(lambda x, y: [x * x, sin(y), 3.0, 1.0 * x], ["x", "y"]))
    assert f.outputs[5:] == (0.0, 0.0, f.outputs[7], 0.0, 0.0, 1.0, 0.0)
    assert f.counts() == {"mul": 1, "add": 1, "sin": 1, "cos": 1}


def test_derivatives_by_some_inputs_come_in_the_order_asked_for():
    f = jacobian(trace(lambda x, y, z: [x + 2.0 * y + 3.0 * z], ["x", "y", "z"]), [2, 0])
    assert f.outputs[1:] == (3.0, 1.0)
    assert jacobian(trace(lambda x: [x], ["x"]), []).outputs[1:] == ()


def test_a_choice_has_the_derivative_of_the_branch_taken(evaluate):
    def text(x, y):
        return [
            where(x < y, x * x, 3.0 * y),
            where(x < y, 5.0, y),
            where(x * x < y, x, x),
            where(x < 0.0, 0.0, sqrt(where(x < 0.0, 0.0, x))),
        ]

    f = jacobian(trace(text, ["x", "y"]))
    below = [[4.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.25, 0.0]]
    above = [[0.0, 3.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    for x, rows in (([2.0, 3.0], below[:3]), ([2.0, -1.0], above[:3])):
        assert at(f, x, 4)[1][:3] == rows
    for x, row in ((4.0, below[3]), (-1.0, above[3])):
        assert at(f, [x, 9.0], 4)[1][3] == row
        assert evaluate(f, [[x], [9.0]])[-2:, 0].tolist() == row


def test_an_absolute_value_has_the_sign_for_a_derivative_and_zero_at_the_kink():
    f = jacobian(trace(lambda x: [abs(x), abs(-2.0 * x)], ["x"]))
    assert [at(f, [x], 2)[1] for x in (3.0, -3.0, 0.0)] == [[[1.0], [2.0]], [[-1.0], [-2.0]], [[0.0], [0.0]]]


def test_a_root_and_a_logarithm_rise_infinitely_fast_from_zero():
    f = jacobian(trace(lambda x: [sqrt(x)], ["x"]))
    assert at(f, [0.0], 1) == ([0.0], [[math.inf]])
    g = jacobian(trace(lambda x: [where(x > 0.0, log(x), 1.0)], ["x"]))  # both branches are computed
    assert [at(g, [x], 1)[1] for x in (0.0, 4.0)] == [[[0.0]], [[0.25]]]


def test_a_table_has_the_slopes_of_its_lines_for_a_derivative(evaluate):
    table = Table([0.0, 1.0, 3.0], [2.0, 4.0, -2.0], "linear")
    held = Table(table.x, table.y, "zero")
    f = jacobian(trace(lambda x: [lookup(table, 2.0 * x), lookup(held, x)], ["x"]))
    places = [-9.0, 0.0, 0.25, 0.5, 1.4, 1.5, 9.0]
    slopes = [0.0, 4.0, 4.0, -6.0, -6.0, 0.0, 0.0]
    assert [replay(f, [x])[2:] for x in places] == [[slope, 0.0] for slope in slopes]
    assert evaluate(f, [places])[2].tolist() == slopes
    assert f.outputs[3] == 0.0
    assert [held.slope.at(x) for x in places] == [0.0] * 7


def test_a_function_that_is_called_is_differentiated_through():
    def text(x, y):
        g = shared(lambda a, b: [sin(a) * b, a * y], "g")  # y is captured
        first, second = g(x, 2.0)
        third, _ = g(second, x)
        return [first, second, third]

    f = jacobian(trace(text, ["x", "y"]))
    x, y = 0.7, -1.1
    values, rows = at(f, [x, y], 3)
    assert values == text(x, y)
    expected = [[2 * math.cos(x), 0], [y, x], [math.cos(x * y) * y * x + math.sin(x * y), math.cos(x * y) * x * x]]
    for row, right in zip(rows, expected, strict=True):
        assert row == pytest.approx(right, rel=1e-15)


def test_a_body_with_its_derivatives_runs_on_numbers_on_expressions_and_in_functions_within(evaluate):
    def text(x, y, gain):
        g = both(lambda a, b: [sin(a) * b * gain, a], [1, 0], "g")
        inner = shared(lambda z: [v for row in g(z, y)[1] for v in row], "inner")
        (first, second), rows = g(x, y)
        return [first, second, *(v for row in rows for v in row), *inner(y)]

    def expected(x, y, gain):
        def rows(a, b):
            return [math.sin(a) * gain, math.cos(a) * b * gain, 0.0, 1.0]

        return [math.sin(x) * y * gain, x, *rows(x, y), *rows(y, y)]

    f = trace(text, ["x", "y", "gain"])
    assert sum(node.op == "call" for node in f.live()) == 2
    point = [0.3, 0.8, 1.7]
    assert replay(f, point) == text(*point) == evaluate(f, [[v] for v in point])[:, 0].tolist()
    assert text(*point) == pytest.approx(expected(*point), rel=1e-15)
    on_numbers = both(lambda a, b: [a * b * 3.0, 7.0], [0], "g")
    assert on_numbers(2.0, 5.0) == ([30.0, 7.0], [(15.0,), (0.0,)])
    assert on_numbers(3.0, 4.0) == ([36.0, 7.0], [(12.0,), (0.0,)])


def test_derivatives_on_numbers_have_the_bits_of_replay_in_machine_code():
    table = Table([0.0, 1.0, 2.0], [0.0, 0.5, 3.0], "linear")
    halved = shared(lambda x: x * x / 2.0, "halved")

    def text(a, t, b):
        x, y = a
        (root,) = loop([x], lambda r: [(r + x / r) / 2.0], lambda r: abs(r * r - x) < 1e-15, 50)
        kinked = where(x < y, x * y, abs(b) * fma(x, y, b))
        (defined,) = implicit([1.0 * b], lambda: [b * x])
        return {"sums": [halved(x) + sin(y) - t, lookup(table, b) / cos(x)], "other": (root, kinked, defined, 3.0)}

    with differentiable():
        compiled, replayed = (both(text, (2, 0), "text", by)([0.7, 1.1], 0.3, 0.9) for by in (evaluated, replay))
    assert expr.leaves(compiled) == expr.leaves(replayed)
    value = expr.leaves(compiled[1])
    assert value[0:3] == pytest.approx([0.0, 0.7, math.cos(1.1)], rel=1e-15)  # of the first by b, x and y
    assert all(type(slope) is float for slope in value)


def test_a_derivative_may_be_differentiated_again():
    f = jacobian(jacobian(trace(lambda x: [sin(x) * x], ["x"])))
    assert f.outputs[1] is f.outputs[2]  # the first derivative, once as an output and once as a derivative
    assert replay(f, [0.4])[3] == pytest.approx(2 * math.cos(0.4) - math.sin(0.4) * 0.4, rel=1e-15)


def test_a_function_that_is_called_becomes_one_with_its_jacobian(evaluate):
    def text(x, y):
        g = shared(lambda a, b: [sin(a) * b * y, a * a], "g")
        first, second = g(x, 2.0)
        for _ in range(3):
            first, second = g(first, second)
        return [first, cos(second), g(second, first)[1]]

    f = trace(text, ["x", "y"])
    g = jacobian(f, of=[0, 1])
    calls = [node.args[0] for node in g.live() if node.op == "call"]
    names = sorted(callee.name for callee in calls)
    assert names == ["g", *["g_jacobian"] * 4]  # the last output is not differentiated
    # by x alone at first, as b is a number there, then by both
    assert len(set(calls)) == 3
    x = [0.7, -1.1]
    flat = replay(jacobian(trace(lambda *x: replay(f, x), ["x", "y"]), of=[0, 1]), x)  # of the calls inlined
    assert replay(g, x) == pytest.approx(flat, rel=1e-14)
    assert evaluate(g, [[v] for v in x])[:, 0].tolist() == replay(g, x)


def test_a_loop_is_differentiated_by_one_that_has_the_tangents_of_its_state(evaluate):
    # Euler's steps of x' = a x, as many as b tells, of a state that is a number or an input
    def text(x, a, b):
        def after(n, y, unused):
            return [n + 1.0, y + 0.01 * a * y, unused + n]

        _, one, _ = loop([0.0, x * x, 0.0], after, lambda n, *_: n >= b, 50)
        _, two, _ = loop([0.0, 3.0, 0.0], after, lambda n, *_: n >= 5.0, 50)
        return [one, two]

    f = jacobian(trace(text, ["x", "a", "b"]))
    for x, a, b in ((0.8, 1.7, 7.0), (0.8, -1.7, 0.0), (-0.3, 0.2, 49.0)):
        growth = (1 + 0.01 * a) ** b
        exact = [x * x * growth, 3 * (1 + 0.01 * a) ** 5]
        exact += [2 * x * growth, x * x * b * 0.01 * growth / (1 + 0.01 * a), 0.0]
        exact += [0.0, 3 * 5 * 0.01 * (1 + 0.01 * a) ** 4, 0.0]
        assert replay(f, [x, a, b]) == pytest.approx(exact, rel=1e-13)
        assert evaluate(f, [[x], [a], [b]])[:, 0].tolist() == replay(f, [x, a, b])


def heron(x, defined):
    """The root of x by iteration, from 1."""

    def corrected(y):
        return [(y + x / y) / 2]

    (root,) = loop([1.0], corrected, lambda y: abs(y * y - x) <= 1e-9 * x, 60)

    def solution():
        at = as_constant(root)
        return at - (at * at - x) / (2.0 * at)

    return implicit(root, solution) if defined else root


@pytest.mark.parametrize("within", [False, True], ids=["in the function", "in one that is called"])
def test_what_an_equation_defines_has_the_equation_s_derivatives_and_the_iteration_s_bits(within, evaluate):
    # stopped early, so that the derivative of the last iterate is another
    def text(x, y):
        root = shared(lambda z: heron(z, True), "root") if within else lambda z: heron(z, True)
        return [root(x * y), root(y), heron(x, True)]

    with differentiable():
        traced = trace(text, ["x", "y"])
    f = jacobian(traced, of=[0, 1])
    x, y = 2.0, 9.0
    bits = [heron(18.0, False), heron(9.0, False), heron(2.0, False)]
    slopes = [y / (2 * bits[0]), x / (2 * bits[0]), 0.0, 1 / (2 * bits[1])]
    assert replay(f, [x, y]) == [*bits, *map(pytest.approx, slopes)] == evaluate(f, [[x], [y]])[:, 0].tolist()
    assert replay(traced, [x, y]) == bits == text(x, y)
    iterated = replay(jacobian(trace(lambda x: [heron(x, False)], ["x"])), [y])
    assert iterated[1] != pytest.approx(1 / (2 * bits[1]), rel=1e-9)
    assert "implicit" not in {node.op for node in trace(text, ["x", "y"]).graph.nodes}


def test_machine_operations_are_refused():
    from armsim.compile.lower import lower

    f = lower(trace(lambda x: [exp(x)], ["x"]))
    with pytest.raises(NotImplementedError, match="no derivative of"):
        jacobian(f)
