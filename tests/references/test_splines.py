"""Splines and minimum jerk: scipy's splines, laws of the calculus of variations, rows that are met."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.interpolate import CubicSpline

from armsim.references import Limits, cubic_spline, interpolated, minimum_jerk, spline_within, steps, through_rows

TIMES = [0.3, 1.0, 1.4, 2.9, 3.3]
POINTS = [[0.2, -1.0], [0.9, -0.4], [0.1, 0.3], [-0.7, 0.4], [-0.6, 1.5]]
GRID = np.linspace(0.3, 3.2999, 301)
ROUNDING = 1e-12  # of a spline's accelerations, which are of order 10


def values(motion, times):
    found = [motion.at(float(t)) for t in times]
    return [np.array([getattr(now, key) for now in found]) for key in ("q", "qd", "qdd")]


def pieces(motion, joint):
    """Polynomials of a joint with their spans."""
    inner = motion.pieces[1:]
    return [(Polynomial(a.coefficients[joint]), a.begin, b.begin - a.begin) for a, b in pairwise(inner)]


@pytest.mark.parametrize("ends", ["clamped", "natural"])
def test_a_spline_is_that_of_scipy(ends):
    exact = CubicSpline(TIMES, POINTS, bc_type=ends)
    for k, found in enumerate(values(cubic_spline(POINTS, TIMES, ends), GRID)):
        assert found == pytest.approx(exact(GRID, k), rel=ROUNDING, abs=ROUNDING)


@pytest.mark.parametrize("of", [cubic_spline, minimum_jerk, steps])
def test_it_passes_the_points_and_holds_its_ends_at_rest(of):
    motion = of(POINTS, TIMES)
    assert values(motion, TIMES)[0] == pytest.approx(np.array(POINTS), rel=1e-15)
    for t, point in ((0.0, POINTS[0]), (3.3, POINTS[-1]), (50.0, POINTS[-1])):
        now = motion.at(t)
        assert (now.q, now.qd, now.qdd) == (point, [0.0, 0.0], [0.0, 0.0])


def test_minimum_jerk_between_two_points_is_the_quintic_of_flash_and_hogan():
    motion = minimum_jerk([[1.0], [3.0]], [0.5, 2.5])
    x = np.linspace(0, 1, 50)
    q, qd, qdd = values(motion, 0.5 + 2 * x[:-1])
    x = x[:-1]
    assert q[:, 0] == pytest.approx(1 + 2 * (10 * x**3 - 15 * x**4 + 6 * x**5), rel=1e-13)
    assert qd[:, 0] == pytest.approx(30 * x**2 - 60 * x**3 + 30 * x**4, abs=1e-13)
    assert qdd[:, 0] == pytest.approx((60 * x - 180 * x**2 + 120 * x**3) / 2, abs=1e-13)


def test_minimum_jerk_has_continuous_derivatives_up_to_the_fourth():
    for joint in range(2):
        legs = pieces(minimum_jerk(POINTS, TIMES), joint)
        for (a, _, h), (b, _, _) in pairwise(legs):
            for k in range(5):
                assert (a.deriv(k) if k else a)(h) == pytest.approx((b.deriv(k) if k else b)(0), rel=1e-9, abs=1e-9)


def test_no_motion_nearby_has_less_squared_jerk_than_minimum_jerk():
    # the oracle: quintics through the same points with other velocities and accelerations there
    from armsim.references.hermite import quintic_hermite

    def cost(rates):
        total = 0.0
        for j in range(len(TIMES) - 1):
            h = TIMES[j + 1] - TIMES[j]
            (v0, a0), (v1, a1) = rates[j], rates[j + 1]
            jerk = Polynomial(quintic_hermite(h, (POINTS[j][0], v0, a0), (POINTS[j + 1][0], v1, a1))).deriv(3)
            total += (jerk**2).integ()(h)
        return total

    motion = minimum_jerk(POINTS, TIMES)
    best = [(now.qd[0], now.qdd[0]) for now in map(motion.at, TIMES)]
    rng = np.random.default_rng(4)
    for _ in range(50):
        other = np.array(best)
        other[1:-1] += 1e-2 * rng.normal(size=(3, 2))
        assert cost(other.tolist()) > cost(best)


def test_a_spline_within_limits_meets_them_to_rounding_and_reaches_one():
    limits = Limits((1.0, 2.0), (4.0, 5.0))
    motion = spline_within(POINTS, 0.5, limits)
    speeds, accelerations = [], []
    for joint in range(2):
        for p, _, h in pieces(motion, joint):
            turns = [0.0, h, *(x.real for x in p.deriv(2).roots() if 0 < x.real < h)]
            speeds.append(max(abs(p.deriv(1)(u)) for u in turns) / limits.speed[joint])
            accelerations.append(max(abs(p.deriv(2)(u)) for u in turns) / limits.acceleration[joint])
    assert max(*speeds, *accelerations) == pytest.approx(1, rel=1e-12)


def rows():
    t = np.linspace(0.5, 2.5, 9) + 0.02 * np.sin(np.arange(9) * 7.0)
    return t, [np.polynomial.polynomial.polyval(t, c) for c in ([1, 2, -1, 0.5, 0.3, -0.1], [0, 1, 1, -0.7, 0.2, 0.05])]


@pytest.mark.parametrize("order", [3, 5])
def test_rows_of_a_polynomial_of_the_order_of_the_spline_are_met_in_between(order):
    t, _ = rows()
    c = np.array([1, 2, -1, 0.5, 0.3, -0.1][: order + 1])
    motion = interpolated(t.tolist(), [Polynomial(c)(t).tolist()], order)
    grid = np.linspace(t[0], t[-1] - 1e-6, 100)
    for k, found in enumerate(values(motion, grid)):
        exact = (Polynomial(c).deriv(k) if k else Polynomial(c))(grid)
        assert found[:, 0] == pytest.approx(exact, rel=1e-9, abs=1e-9)


def test_rows_with_velocities_and_accelerations_are_met_in_all_three():
    t = [0.0, 0.4, 1.0, 1.1]
    q, qd, qdd = [[0.0, 0.3, 0.5, 0.2]], [[0.1, 1.0, -0.5, 0.0]], [[0.0, 2.0, -1.0, 0.0]]
    motion = through_rows(t, q, qd, qdd)
    for found, given in zip(values(motion, t[:-1]), (q, qd, qdd), strict=True):
        assert found[:, 0] == pytest.approx(given[0][:-1], abs=1e-15)
    before = motion.at(np.nextafter(1.1, 0))
    assert (before.q, before.qd) == (pytest.approx([0.2], abs=1e-14), pytest.approx([0.0], abs=1e-13))
    for time, held in ((-1.0, 0.0), (1.1, 0.2), (9.0, 0.2)):
        assert motion.at(time) == type(before)([held], [0.0], [0.0])


def test_within_a_step_the_piece_of_its_middle_counts():
    motion = through_rows([0.0, 1.0, 2.0], [[0.0, 1.0, 0.0]], [[1.0, 1.0, -1.0]])
    assert motion.at(1.0, middle=0.9).q == pytest.approx([1.0])
    assert motion.at(1.1, middle=0.9).qdd == pytest.approx([0.0], abs=1e-12)  # the first piece is a straight line
    assert motion.at(1.1).qdd != pytest.approx([0.0], abs=1e-12)
