"""Folding, sharing and functions within functions."""

from __future__ import annotations

import math
import operator
import random
from operator import neg

import pytest

from armsim import expr
from armsim.expr import Function, Graph, fma, replay, shared, trace, where


def ops(function: Function) -> dict[str, int]:
    return function.counts()


def test_zero_one_and_signs_fold_away():
    def body(x, y):
        return [
            x + 0,
            0 + x,
            x - 0,
            x * 1,
            1 * x,
            x / 1,
            neg(neg(x)),
            x + neg(y),
            x - neg(y),
            fma(x, 1, 0),
            fma(0, y, x),
            where(x < y, x, x),
        ]

    f = trace(body, ["x", "y"])
    assert ops(f) == {"add": 1, "sub": 1}  # x + -y is x - y, x - -y is x + y, and all else is x itself
    assert all(out is f.inputs[0] for i, out in enumerate(f.outputs) if i not in (7, 8))


@pytest.mark.parametrize(
    "op", [operator.add, operator.sub, operator.mul, operator.truediv, lambda a, b: fma(a, b, 0.3)]
)
def test_signs_moved_through_an_operation_keep_its_value(op):
    def text(x, y):
        signed = [(a, b) for a in (x, -x) for b in (y, -y)]
        both_ways = signed + [(b, a) for a, b in signed]
        return [s for a, b in both_ways for s in (op(a, b), -op(a, b), op(a, 1.5), op(-1.5, b), op(a, -1.0))]

    f = trace(text, ["x", "y"])
    assert replay(f, [0.7, -1.9]) == text(0.7, -1.9)
    for sign in (1, -1):  # fused with a product, too
        g = trace(
            lambda x, y, z, sign=sign: [fma(sign * x, y, z), fma(x, -y, sign * z), fma(-x, -y, -z)], ["x", "y", "z"]
        )
        assert replay(g, [0.7, -1.9, 0.1]) == [
            fma(sign * 0.7, -1.9, 0.1),
            fma(0.7, 1.9, sign * 0.1),
            fma(-0.7, 1.9, -0.1),
        ]


def test_products_with_zero_are_zero():
    f = trace(lambda x: [x * 0, 0 * x, 0 / x, fma(x, 0, 0)], ["x"])
    assert f.outputs == (0.0, 0.0, 0.0, 0.0)


def test_equal_terms_are_one_node():
    f = trace(lambda x, y: [x + y, y + x, x * y, y * x, (-x) * y, x * (-y), x - y, y - x], ["x", "y"])
    assert ops(f) == {"add": 1, "mul": 1, "sub": 1, "neg": 2}
    assert f.outputs[0] is f.outputs[1]
    assert f.outputs[2] is f.outputs[3]


def test_minus_zero_and_zero_are_one_constant():
    f = trace(lambda x: [expr.maximum(x, -0.0), expr.maximum(x, 0.0)], ["x"])
    assert f.outputs[0] is f.outputs[1]
    assert math.copysign(1, next(a for a in f.outputs[0].args if isinstance(a, float))) == 1


def test_sine_and_cosine_share_the_sign_of_their_angle():
    f = trace(lambda x: [expr.sin(-x), expr.sin(x), expr.cos(-x), expr.cos(x)], ["x"])
    assert ops(f) == {"sin": 1, "neg": 1, "cos": 1}


def test_division_by_a_constant_stays_a_division():
    # 1/10 is not exact, so x * (1/10) has other bits than x / 10
    f = trace(lambda x: [x / 10], ["x"])
    assert ops(f) == {"div": 1}


def test_division_by_the_constant_zero_is_refused():
    with pytest.raises(ZeroDivisionError, match="an expression is divided by the constant 0"):
        trace(lambda x: [x / 0.0], ["x"])


def test_not_a_number_has_no_place_in_a_graph():
    with pytest.raises(ValueError, match="NaN has no place in a graph"):
        trace(lambda x: [x + math.nan], ["x"])


@pytest.mark.parametrize(
    "use", [bool, lambda x: x and 1, lambda x: 1 if x > 0 else 2, lambda x: min(x, 1.0), lambda x: not x]
)
def test_an_expression_has_no_truth_value(use):
    with pytest.raises(TypeError, match=r"no truth value: use armsim\.expr\.where"):
        use(Graph().input("x"))


@pytest.mark.parametrize("use", [float, math.sin, math.sqrt])
def test_an_expression_is_not_a_number_yet(use):
    with pytest.raises(TypeError, match="not a number yet"):
        use(Graph().input("x"))


def test_nodes_of_two_functions_side_by_side_do_not_mix():
    with pytest.raises(ValueError, match="belongs to another function"):
        Graph().input("x") + Graph().input("y")


STEPS = {
    "add": lambda a, b, c, d, number: a + number,
    "sub": lambda a, b, c, d, number: b - a,
    "mul": lambda a, b, c, d, number: a * number * b,
    "div": lambda a, b, c, d, number: a / (1.0 + b * b),
    "fma": lambda a, b, c, d, number: fma(a, number, c),
    "where": lambda a, b, c, d, number: where(expr.both(a < b, expr.negated(c <= number)), c, d),
    "sin": lambda a, b, c, d, number: expr.sin(a * number),
    "cos": lambda a, b, c, d, number: expr.cos(a),
    "exp": lambda a, b, c, d, number: expr.exp(-(a * a)),
    "log": lambda a, b, c, d, number: expr.log(1.0 + a * a),
    "sqrt": lambda a, b, c, d, number: expr.sqrt(b * b + 0.5),
    "abs": lambda a, b, c, d, number: abs(a - b),
    "neg": lambda a, b, c, d, number: -a,
}


def random_text(rng: random.Random, size: int):
    """A random function of three scalars that never leaves the finite numbers, as text that runs on any scalars."""
    numbers = [0.0, 1.0, -1.0, 2.0, rng.uniform(-2, 2)]
    plan = [(rng.choice(list(STEPS)), [rng.randrange(100) for _ in "abcd"], rng.choice(numbers)) for _ in range(size)]

    def body(*x):
        values = list(x)
        for kind, picks, number in plan:
            made = STEPS[kind](*(values[pick % len(values)] for pick in picks), number)
            values.append(expr.clip(made, -3.0, 3.0))
        return values[-12:]

    return body


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.handful(6)
def test_replay_and_machine_code_equal_the_text_run_on_numbers(seed, evaluate):
    rng = random.Random(seed)
    body = random_text(rng, 60)
    f = trace(body, ["x", "y", "z"])
    rows = [[rng.uniform(-2, 2) for _ in range(3)] for _ in range(5)]
    direct = [body(*row) for row in rows]
    assert [replay(f, row) for row in rows] == direct
    assert evaluate(f, list(zip(*rows, strict=True))).T.tolist() == direct


def test_a_shared_function_is_traced_once_and_called_where_it_is_used(evaluate):
    traced = []

    def body(x, y):
        traced.append(x)
        return [expr.sin(x) * y, 7.0]

    g = shared(body, "g")
    text = lambda x: [v for k in range(4) for v in g(x + k, 2.0)]  # noqa: E731  three lines would say no more
    f = trace(text, ["x"])
    assert len(traced) == 1
    assert sum(node.op == "call" for node in f.live()) == 4
    assert f.outputs[1::2] == (7.0,) * 4  # what does not depend on arguments comes out as a number
    assert f.counts() == {"add": 3, "sin": 4, "mul": 4}
    assert replay(f, [0.3]) == text(0.3) == evaluate(f, [[0.3]])[:, 0].tolist()


def test_values_of_outer_functions_are_captured_through_two_levels(evaluate):
    def text(x, gain):
        inner = shared(lambda z: [z * gain + x], "inner")
        outer = shared(lambda y: [inner(y)[0] + inner(y * gain)[0] * x], "outer")
        return [outer(x)[0] + outer(gain)[0] - inner(x)[0]]

    f = trace(text, ["x", "gain"])
    assert replay(f, [1.25, 0.7]) == text(1.25, 0.7)
    assert evaluate(f, [[1.25], [0.7]])[:, 0].tolist() == text(1.25, 0.7)


def test_a_condition_of_an_outer_function_chooses_between_values_of_an_inner_one(evaluate):
    def text(x, y):
        up = x < y
        choice = shared(lambda z: [where(up, z, -z), where(expr.both(up, z > 0.0), 1.0, z)], "choice")
        return [*choice(x), *choice(y)]

    def expected(x, y):
        return [v for z in (x, y) for v in (z if x < y else -z, 1.0 if x < y and z > 0 else z)]

    f = trace(text, ["x", "y"])
    for row in ([0.5, 2.0], [2.0, 0.5], [-1.0, 3.0]):
        assert expected(*row) == text(*row) == replay(f, row) == evaluate(f, [[v] for v in row])[:, 0].tolist()


def test_a_function_traced_while_another_is_takes_its_values_as_further_inputs():
    def text(x, gain):
        inner = trace(lambda z: [z * gain + x], ["z"], "inner")
        within.append(inner)
        return replay(inner, [2.0, *inner.graph.captured])

    within: list[Function] = []
    f = trace(text, ["x", "gain"])
    assert replay(f, [1.25, 0.7]) == [2.0 * 0.7 + 1.25]
    assert [node.graph for node in within[0].graph.captured] == [f.graph] * 2
    assert trace(lambda z: [z + 1.0], ["z"]).graph.depth == f.graph.depth  # side by side again


def test_only_what_the_outputs_need_is_counted():
    f = trace(lambda x: [(expr.exp(x), x * 2)[1]], ["x"])
    assert f.counts() == {"mul": 1}
    assert f.flops() == 1
    assert trace(lambda x, y: [fma(x, y, 2.0)], ["x", "y"]).flops() == 2
