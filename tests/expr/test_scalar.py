"""Exact operations: fused multiply-add, powers of two, choice."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armsim import expr
from armsim.expr import divided, fma, trace
from armsim.expr.scalar import ROOT_HALF, scale2, split2

numbers = st.floats(allow_nan=False, allow_infinity=False)


def exact(a: float, b: float, c: float) -> float:
    value = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@given(numbers, numbers, numbers)
@settings(max_examples=5 * settings.default.max_examples)
@pytest.mark.handful(1)
def test_fma_rounds_once(a, b, c):
    assert fma(a, b, c) == exact(a, b, c)


@given(st.floats(-10, 10), st.floats(-10, 10), st.integers(-3, 3))
@settings(max_examples=5 * settings.default.max_examples)
def test_fma_rounds_once_where_the_product_nearly_cancels(a, b, ulps):
    c = -a * b
    c += ulps * math.ulp(c)
    assert fma(a, b, c) == exact(a, b, c)


@given(st.floats() | st.just(0.0), st.floats() | st.sampled_from([0.0, -0.0]))
def test_division_is_ieee_754s_by_zero_too(a, b):
    with np.errstate(all="ignore"):
        expected = np.float64(a) / np.float64(b)
    assert np.array_equal(divided(a, b), expected, equal_nan=True)


def test_machine_fma_equals_exact_fractions(evaluate):
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(2000) * 10.0 ** rng.integers(-160, 150, 2000) for _ in range(2))
    c = np.where(rng.random(2000) < 0.5, -a * b * (1 + 1e-15 * rng.standard_normal(2000)), rng.standard_normal(2000))
    f = trace(lambda x, y, z: [fma(x, y, z)], ["x", "y", "z"])
    columns = (a.tolist(), b.tolist(), c.tolist())
    expected = [exact(*row) for row in zip(*columns, strict=True)]
    assert evaluate(f, columns)[0].tolist() == expected == [fma(*row) for row in zip(*columns, strict=True)]


@given(st.floats(min_value=2.0**-1022, max_value=1e308))
def test_split2_takes_a_number_apart_exactly(x):
    m, e = split2(x)
    assert ROOT_HALF <= m < 2 * ROOT_HALF
    assert math.ldexp(m, int(e)) == x
    assert scale2(m, e) == x if -1022 <= e <= 1023 else True


def test_clip_minimum_and_maximum_on_numbers():
    assert [expr.clip(x, -1.0, 2.0) for x in (-3.0, 0.5, 7.0)] == [-1.0, 0.5, 2.0]
    assert (expr.minimum(1.0, 2.0), expr.maximum(1.0, 2.0)) == (1.0, 2.0)


@pytest.mark.parametrize("a", [True, False])
@pytest.mark.parametrize("b", [True, False])
def test_conditions_join_as_logic_has_it(a, b, evaluate):
    assert (expr.both(a, b), expr.either(a, b), expr.negated(a)) == (a and b, a or b, not a)

    def body(x, y):
        p, q = x > 0, y > 0
        return [expr.where(c, 1.0, 0.0) for c in (expr.both(p, q), expr.either(p, q), expr.negated(p))]

    f = trace(body, ["x", "y"])
    assert evaluate(f, [[2.0 * a - 1], [2.0 * b - 1]])[:, 0].tolist() == [a and b, a or b, not a]


def test_cosines_of_right_angles_written_as_doubles_are_exact():
    for k in range(-4, 5):
        c, s = expr.snapped(expr.cos(k * math.pi / 2)), expr.snapped(expr.sin(k * math.pi / 2))
        assert (c, s) == ([1, 0, -1, 0][k % 4], [0, 1, 0, -1][k % 4])
    assert expr.snapped(1e-14) == 1e-14
