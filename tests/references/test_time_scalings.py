"""Time scalings and straight lines: closed forms, limits that are met and reached, continuity."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from armsim.references import (
    Limits,
    cubic,
    fastest_cubic,
    fastest_quintic,
    fastest_s_curve,
    fastest_trapezoid,
    quintic,
    trapezoid,
    within_limits,
    within_times,
)

ROUNDING = 1e-12  # relative: of differences of times, in powers of durations
FASTEST = {
    "cubic": fastest_cubic,
    "quintic": fastest_quintic,
    "trapezoid": fastest_trapezoid,
    "s_curve": fastest_s_curve,
}


def derivative(piece, i, k, t):
    """The k-th derivative of joint i at a time."""
    return Polynomial(piece.coefficients[i]).deriv(k)(t - piece.origin) if k else (
        Polynomial(piece.coefficients[i])(t - piece.origin)
    )  # fmt: skip


def jumps(pieces, k, i=0):
    """What the k-th derivative jumps by at each knot."""
    return [abs(derivative(b, i, k, b.begin) - derivative(a, i, k, b.begin)) for a, b in pairwise(pieces)]


def peak(pieces, k, end):
    """The greatest magnitude of the k-th derivative of a scaling: at a knot, or where it turns."""
    found = []
    for piece, until in zip(pieces, [*(piece.begin for piece in pieces[1:]), end], strict=True):
        p = Polynomial(piece.coefficients[0]).deriv(k)
        first, last = piece.begin - piece.origin, until - piece.origin
        turns = p.deriv().roots() if p.degree() > 1 else []
        found += [abs(p(u)) for u in [first, last, *(x.real for x in turns if first < x.real < last)]]
    return max(found)


@pytest.mark.parametrize(
    ("of", "form"),
    [
        (cubic, lambda x: 3 * x**2 - 2 * x**3),
        (quintic, lambda x: 10 * x**3 - 15 * x**4 + 6 * x**5),
        (trapezoid, lambda x: np.where(x < 1 / 3, 9 / 4 * x**2, np.where(x > 2 / 3, 1 - 9 / 4 * (1 - x) ** 2, 1.5 * x - 0.25))),
    ],
    ids=["cubic", "quintic", "trapezoid"],
)  # fmt: skip
def test_a_scaling_of_a_duration_is_its_closed_form(of, form):
    moved = within_times([[1.0, -2.0], [3.0, 0.5]], [0.4, 2.0], of)
    for t in np.linspace(0.4, 2.0, 97):
        s = form((t - 0.4) / 1.6)
        assert moved.at(t).q == pytest.approx([1 + 2 * s, -2 + 2.5 * s], rel=1e-14, abs=1e-14)


@pytest.mark.parametrize("name", FASTEST)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.handful(40)
def test_limits_are_met_to_rounding_and_one_of_them_is_reached(name, seed):
    rng = random.Random(seed)
    limits = [10 ** rng.uniform(*range_) for range_ in ((-1, 1), (-1, 2), (-0.5, 3.5))]
    with_jerk = name in ("quintic", "s_curve")
    of_joints = [(limit,) for limit in limits][: 3 if with_jerk else 2]
    way = 10 ** rng.uniform(-3, 1)
    scaling = FASTEST[name](Limits(*of_joints).along([way]))
    shares = [
        way * peak(scaling.pieces, k, scaling.duration) / limit
        for k, limit in enumerate(limits[: len(of_joints)], start=1)
    ]
    assert max(shares) == pytest.approx(1, rel=ROUNDING)


@pytest.mark.parametrize(("name", "order"), [("cubic", 1), ("quintic", 2), ("trapezoid", 1), ("s_curve", 2)])
def test_derivatives_are_continuous_up_to_the_order_that_is_promised_and_no_further(name, order):
    limits = Limits((1.0, 2.0), (4.0, 5.0), (30.0, 40.0) if order > 1 else None)
    moved = within_limits([[0.0, 0.0], [1.0, -0.3], [0.9, 0.9]], 0.5, limits, FASTEST[name])
    s = moved.scaling.pieces
    inner = [piece for piece in s if piece not in (s[0], s[-1])]
    for k in range(1, order + 1):
        assert max(jumps(s, k)) < 1e-10
    assert max(jumps(s, order + 1)) > 1
    assert len(inner) == 2 * len(FASTEST[name](limits.along([1.0, 1.0])).pieces)


def test_a_trapezoid_is_the_bang_bang_motion_where_it_does_not_reach_the_speed():
    scaling = fastest_trapezoid(Limits((10.0,), (4.0,)).along([1.0]))
    assert scaling.duration == pytest.approx(2 * math.sqrt(1.0 / 4.0), rel=1e-15)


def test_a_trapezoid_takes_the_way_over_the_speed_and_a_ramp_more():
    scaling = fastest_trapezoid(Limits((0.5,), (4.0,)).along([1.0]))
    assert scaling.duration == pytest.approx(1.0 / 0.5 + 0.5 / 4.0, rel=1e-15)


# way, speed, acceleration, jerk, and the duration that ruckig 0.19.4 finds (Ruckig(1).calculate, at rest at both ends): only the
# jerk counts; no constant speed; no constant acceleration; all seven segments
RUCKIG = [
    (0.01, 10.0, 100.0, 5.0, 0.4),
    (1.0, 10.0, 1.0, 20.0, 2.050624902374256),
    (2.0, 0.5, 10.0, 4.0, 4.707106781186548),
    (3.0, 1.0, 2.0, 8.0, 3.75),
]


@pytest.mark.parametrize(("way", "speed", "acceleration", "jerk", "duration"), RUCKIG)
def test_an_s_curve_takes_as_long_as_the_time_optimal_motion_of_ruckig(way, speed, acceleration, jerk, duration):
    scaling = fastest_s_curve(Limits((speed,), (acceleration,), (jerk,)).along([way]))
    assert scaling.duration == pytest.approx(duration, rel=1e-14)


@pytest.mark.parametrize("name", FASTEST)
def test_all_joints_move_along_a_straight_line_begin_and_end_together_and_hold(name):
    limits = Limits((1.0, 0.1, 5.0), (9.0, 9.0, 9.0), (90.0, 90.0, 90.0))
    points = [[0.0, 0.0, 0.0], [0.5, -0.4, 0.7]]
    moved = within_limits(points, 0.2, limits, FASTEST[name])
    for t in np.linspace(0.2, moved.times[-1], 50):
        q = moved.at(float(t)).q
        assert q == pytest.approx([x * q[0] / 0.5 for x in points[1]], rel=1e-14)
    assert moved.at(0.1).q == points[0]
    for t in (moved.times[-1], moved.times[-1] + 9.0):
        held = moved.at(t)
        assert (held.q, held.qd, held.qdd) == (points[1], [0.0] * 3, [0.0] * 3)


@pytest.mark.parametrize("name", ["trapezoid", "s_curve"])
def test_at_every_instant_of_a_time_optimal_motion_some_joint_is_at_a_limit(name):
    limits = Limits((1.0, 0.1, 5.0), (9.0, 9.0, 3.0), (30.0, 90.0, 90.0) if name == "s_curve" else None)
    moved = within_limits([[0.0, 0.0, 0.0], [0.5, -0.4, 0.7], [-0.5, -0.4, 0.2]], 0.2, limits, FASTEST[name])
    for k, t in enumerate(np.linspace(0.2, moved.times[-1], 402)[1:-1]):
        now, later = moved.at(float(t)), moved.at(float(t) + 1e-7)
        shares = [abs(x) / limit for x, limit in zip(now.qd + now.qdd, limits.speed + limits.acceleration)]
        if limits.jerk is not None:
            jerk = [(b - a) / 1e-7 for a, b in zip(now.qdd, later.qdd, strict=True)]
            shares += [abs(x) / limit for x, limit in zip(jerk, limits.jerk)]
        assert max(shares) == pytest.approx(1, rel=1e-5), k  # of the difference quotient


def test_a_line_of_length_zero_takes_no_time_to_speak_of():
    for name, fastest in FASTEST.items():
        moved = within_limits([[1.0], [1.0], [2.0]], 0.0, Limits((1.0,), (1.0,), (1.0,)), fastest)
        assert moved.times[1] < 1e-7, name
        assert moved.at(99.0).q == [2.0]
