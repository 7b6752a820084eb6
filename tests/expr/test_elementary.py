"""Our own sine, cosine, exponential and logarithm against mpmath."""

from __future__ import annotations

import math
import random

import mpmath
import numpy as np
import pytest

from armsim import expr
from armsim.expr import trace

ULPS = 2  # DESIGN: our elementary functions are at most 2 ulp off
NEAR_ZERO = (
    1e-17  # or this close to a zero of sine or cosine, where an ulp means nothing for a double argument near 1e6
)


@pytest.fixture(autouse=True)
def precise():
    with mpmath.workprec(160):  # 53 bits of result, up to 20 lost in reduction by 1e6, up to 60 near the zeros
        yield


def worst(evaluate, function, exact, points, absolute=0.0) -> float:
    """The largest error in ulp of the exact result, errors below `absolute` apart."""
    got = evaluate(trace(lambda x: [function(x)], ["x"]), [points])[0].tolist()
    largest = 0.0
    for x, y in zip(points, got, strict=True):
        true = exact(mpmath.mpf(x))
        error = abs(mpmath.mpf(y) - true)
        if error > absolute:
            largest = max(largest, float(error / math.ulp(float(true))))
    return largest


def near_right_angles(every: int) -> list[float]:
    """The doubles nearest to multiples of pi/2 within ±1e6, and their neighbours."""
    half_pi = mpmath.pi / 2
    points = []
    for k in [*range(1, 200), *range(200, 636619, every), 636618, 636619]:
        x = float(k * half_pi)
        points += [x, -x, math.nextafter(x, math.inf), -math.nextafter(x, 0)]
    return points


@pytest.mark.parametrize("name", ["sin", "cos"])
@pytest.mark.handful(1)
def test_sine_and_cosine_are_within_two_ulp_at_random_angles(name, evaluate):
    rng = random.Random(1)
    points = [rng.uniform(-1e6, 1e6) for _ in range(4000)] + [rng.uniform(-4, 4) for _ in range(4000)]
    points += [10 ** rng.uniform(-300, 6) for _ in range(500)] + [0.0, 5e-324, 1e6, -1e6]
    assert worst(evaluate, getattr(expr, name), getattr(mpmath, name), points, NEAR_ZERO) <= ULPS


@pytest.mark.parametrize("name", ["sin", "cos"])
@pytest.mark.handful(1)
def test_sine_and_cosine_are_within_two_ulp_next_to_multiples_of_a_right_angle(name, evaluate):
    points = near_right_angles(every=173)
    assert worst(evaluate, getattr(expr, name), getattr(mpmath, name), points, NEAR_ZERO) <= ULPS


def test_exponential_is_within_two_ulp(evaluate):
    rng = random.Random(2)
    points = [rng.uniform(-745, 709.78) for _ in range(4000)] + [rng.uniform(-1, 1) for _ in range(2000)]
    points += [rng.uniform(-745.1, -708) for _ in range(1000)]  # subnormal results: an ulp is 2**-1074
    points += [0.0, 1.0, -1.0, 1e-300, 709.782712893384, -745.1]
    assert worst(evaluate, expr.exp, mpmath.exp, points) <= ULPS


def test_exponential_overflows_and_underflows_quietly(evaluate):
    points = [709.79, 720.0, 1e4, 1e308, math.inf, -745.2, -750.0, -1e4, -1e308, -math.inf]
    expected = [math.inf] * 5 + [0.0] * 5
    assert evaluate(trace(lambda x: [expr.exp(x)], ["x"]), [points])[0].tolist() == expected
    assert [expr.exp(x) for x in points] == expected


def test_logarithm_is_within_two_ulp(evaluate):
    rng = random.Random(3)
    points = [10 ** rng.uniform(-307, 308) for _ in range(3000)] + [rng.uniform(0.5, 2) for _ in range(3000)]
    points += [1 + rng.uniform(-1, 1) * 10 ** rng.uniform(-16, -3) for _ in range(1000)]
    points += [rng.randrange(1, 2**52) * 5e-324 for _ in range(500)]  # subnormal numbers
    points += [5e-324, 2.0**-1022, 0.5, 2.0, math.e, 1.7976931348623157e308]
    assert worst(evaluate, expr.log, mpmath.log, [x for x in points if x != 1]) <= ULPS


def test_logarithm_at_the_ends_of_its_range(evaluate):
    got = evaluate(trace(lambda x: [expr.log(x)], ["x"]), [[1.0, 0.0, -0.0, math.inf, -1.0]])[0]
    assert (
        got[:4].tolist() == [expr.log(x) for x in (1.0, 0.0, -0.0, math.inf)] == [0.0, -math.inf, -math.inf, math.inf]
    )
    assert math.isnan(got[4])
    assert math.isnan(expr.log(-1.0))


@pytest.mark.parametrize("name", ["sin", "cos", "exp", "log"])
def test_machine_code_gives_the_bits_of_the_text_on_numbers(name, evaluate):
    rng = random.Random(4)
    points = [rng.uniform(-1e6, 1e6) for _ in range(200)] + [rng.uniform(-700, 700) for _ in range(200)]
    if name == "log":
        points = [abs(x) for x in points]
    function = getattr(expr, name)
    got = evaluate(trace(lambda x: [function(x)], ["x"]), [points])[0]
    assert got.tolist() == [function(x) for x in points]


@pytest.mark.parametrize("name", ["sin", "cos", "exp", "log", "sqrt"])
def test_what_is_not_a_number_stays_so_on_numbers_and_in_machine_code(name, evaluate):
    function = getattr(expr, name)
    assert math.isnan(function(math.nan))
    assert np.isnan(evaluate(trace(lambda x: [function(x)], ["x"]), [[math.nan]])).all()


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_the_sine_of_infinity_is_not_a_number(name, evaluate):
    function = getattr(expr, name)
    assert math.isnan(function(math.inf))
    assert math.isnan(function(-math.inf))
    assert np.isnan(evaluate(trace(lambda x: [function(x)], ["x"]), [[math.inf, -math.inf]])).all()


def test_tangent_is_sine_over_cosine():
    assert expr.tan(0.5) == expr.sin(0.5) / expr.cos(0.5)
