"""The fastest motion within rows of limits: closed forms, islands, and random rows against a search."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from armsim.fastest.admissible import pieces_of
from armsim.fastest.phase_plane import PhasePlane, Unreachable
from armsim.references.path_timing import divided

EVEN = 0.5


def plane(count, *rows):
    """A path of length 1 with rows (A, B, C, D), each a number or a function of s; points closer to its ends."""
    s = np.sin(np.linspace(0, math.pi / 2, count + 1)) ** 2
    made = np.stack(
        [np.stack([np.broadcast_to(x(s) if callable(x) else x, s.shape) for x in row], axis=1) for row in rows], axis=1
    ).astype(float)
    pieces = pieces_of(np.stack([made[:-1], made[1:]], axis=1).reshape(2 * count, -1, 4), 1e6)
    return PhasePlane(s, pieces.reshape(count, 2, *pieces.shape[1:]), np.full(count, EVEN))


def duration(count, *rows, start=0.0, end=0.0):
    return plane(count, *rows).timing(start, end).h.sum()


def test_a_double_integrator_takes_two_roots_of_length_over_acceleration():
    rows = [(1 / 3, 0, 0, -1), (-1 / 3, 0, 0, -1)]
    assert duration(60, *rows) == pytest.approx(2 * math.sqrt(1 / 3), rel=1e-12)


def test_a_bound_of_speed_makes_it_a_trapezoid():
    rows = [(1 / 3, 0, 0, -1), (-1 / 3, 0, 0, -1), (0, 0, 1 / 0.8, -1)]
    assert duration(400, *rows) == pytest.approx(1 / 0.8 + 0.8 / 3, rel=1e-5)


@pytest.mark.parametrize("k", [0.5, 3.0, 12.0])
def test_one_motor_under_a_voltage_follows_exponential_arcs(k):
    # w' = ±1 - k w: V = Ra i + Ke w at V or -V
    def left_over(t):
        w = -math.expm1(-k * t) / k
        braking = math.log1p(k * w) / k
        return (t - w) / k + (w - braking) / k - 1, t + braking

    exact = left_over(brentq(lambda t: left_over(t)[0], 1e-3, 100))[1]
    rows = [(1, 0, k, -1), (-1, 0, -k, -1)]
    # of second order, but for the instant of switching within an interval: the mean of two grids is an order better
    assert duration(1600, *rows) == pytest.approx(exact, rel=1e-6)


def test_the_speed_at_either_end_is_that_asked_for():
    timing = plane(100, (1, 0, 0, -1), (-1, 0, 0, -1)).timing(0.5, 0.25)
    assert timing.w[[0, -1]].tolist() == [0.5, 0.25]
    top = math.sqrt((0.5**2 + 0.25**2) / 2 + 1)
    assert timing.h.sum() == pytest.approx(2 * top - 0.75, rel=1e-4)


def test_gravity_beyond_what_brakes_and_drives_is_no_motion_and_tells_where():
    # from s = 0.6 on u <= -0.2 w² - 0.1: it could pass with speed, but not begin from rest far enough before
    with pytest.raises(Unreachable) as told:
        plane(100, (1, 0, 0, lambda s: np.where(s > 0.6, 2.0, -0.1)), (-1, 0, 0, -3)).timing(0.0, 0.0)
    s, rows = told.value.args
    assert 0.0 <= s <= 0.6
    assert rows == (0,)


def test_speeds_in_two_intervals_are_kept_apart_and_the_upper_one_is_taken_where_it_can_be_reached():
    # between s = 0.4 and 0.6 no w between 0.3 and 0.6 is admissible: (w - 0.3) (w - 0.6) >= 0
    inside = (lambda s: 0.0 * s, lambda s: -1.0 * (abs(s - 0.5) < 0.1), lambda s: 0.9 * (abs(s - 0.5) < 0.1),
              lambda s: np.where(abs(s - 0.5) < 0.1, -0.18, -1.0))  # fmt: skip
    for most, expected in ((1.0, "above"), (0.3, "below")):
        timing = plane(200, (1 / most, 0, 0, -1), (-1 / most, 0, 0, -1), inside).timing(0.0, 0.0)
        middle = timing.w[abs(timing.s - 0.5) < 0.09]
        assert (middle >= 0.6 - 1e-9).all() if expected == "above" else (middle <= 0.3 + 1e-9).all()
    free = plane(200, (1, 0, 0, -1), (-1, 0, 0, -1))
    held = plane(200, (1, 0, 0, -1), (-1, 0, 0, -1), inside)
    k = 100
    islands = [(it.controllable(0.0)[k, :, 0] <= it.controllable(0.0)[k, :, 1]).sum() for it in (free, held)]
    assert islands == [1, 2]


def test_pieces_are_where_every_row_can_be_met_and_nowhere_else():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(300, 7, 4))
    rows[..., 3] -= 1
    rows[:, 0, 0] = 0.0
    for at, pieces in zip(rows, pieces_of(rows, 1e3), strict=True):
        for w in rng.uniform(0, 4, 10):
            r = at[:, 1] * w * w + at[:, 2] * w + at[:, 3]
            A = at[:, 0]
            low = max(-r[A < 0] / A[A < 0], default=-1e30)
            high = min(-r[A > 0] / A[A > 0], default=1e30)
            free = r[0] <= 0 and low <= high
            found = [p for p in pieces if p[0] <= w <= p[1]]
            assert bool(found) == bool(free)
            if found:
                assert found[0][2:5] @ np.array([1, w, w * w]) == pytest.approx(low, rel=1e-9, abs=1e-9)
                assert found[0][5:8] @ np.array([1, w, w * w]) == pytest.approx(high, rel=1e-9, abs=1e-9)


def test_durations_are_those_of_the_motion_with_linear_acceleration_and_more_points_change_nothing():
    timing = plane(40, (1, 0.3, 2, -1), (-1, 0.2, -2, -1)).timing(0.0, 0.0)
    for k in (0, 7, 30, 39):
        delta = timing.s[k + 1] - timing.s[k]
        c = (timing.end[k] - timing.begin[k]) / delta
        done = solve_ivp(
            lambda t, x, k=k, c=c: [x[1], timing.begin[k] + c * x[0]],
            [0, timing.h[k]], [0, timing.w[k]], rtol=1e-11, atol=1e-13,
        ).y[:, -1]  # fmt: skip
        assert done == pytest.approx([delta, timing.w[k + 1]], rel=1e-8, abs=1e-10)
    more = divided(timing, np.full(40, 2.0))
    assert len(more.h) == 80
    assert more.h.sum() == pytest.approx(timing.h.sum(), rel=1e-12)
    assert set(timing.s) < set(more.s)


@pytest.mark.slow
def test_no_random_profile_within_the_rows_is_faster():
    # rows of second degree in w along a path with a point without inertia; profiles: a random part of what is admitted
    rng = np.random.default_rng(3)
    rows = [(lambda s: np.cos(3 * s), lambda s: np.sin(5 * s), 0.3, -1), (lambda s: -np.cos(3 * s), 0.5, -0.2, -1),
            (1, 0, 0.5, -2), (-1, 0.1, -0.5, -2)]  # fmt: skip
    best = duration(400, *rows)
    found = 0
    for _ in range(60):
        count = 400
        made = plane(count, *rows)
        sets = made.controllable(0.0)
        w, t, share = 0.0, 0.0, rng.uniform(0.9, 1.0)
        for i in range(count):
            pieces = [p for p in made.pieces[i, 0] if p[0] - 1e-9 <= w <= p[1] + 1e-9]
            most = max((p[5:8] @ np.array([1, w, w * w]) for p in pieces), default=None)
            if most is None:
                break
            x = min(w * w + 2 * made.items[i, 0] * most, sets[i + 1, :, 1].max() ** 2) * (share if i < count - 1 else 1)
            after = math.sqrt(max(x, 0.0))
            if w + after == 0.0:
                break
            t += 2 * made.items[i, 0] / (w + after)
            w = after
        else:
            found += 1
            assert t > best * (1 - 5e-3)
    assert found > 20
