"""Quadratures along a step: closed-form integrals of rates that are known functions of time."""

from __future__ import annotations

import math
from random import Random

import pytest

from armsim.integrate import Motion, System, Tolerance
from armsim.integrate.quadrature import NARROWEST, Integrand, refined


class Rated(System):
    """A system at rest, the rate of whose quadrature is a function of time."""

    def __init__(self, rate):
        super().__init__(lambda t, y: Motion(y.v, [0.0], [], [rate(t)]))


def course(rate, t, h):
    return Integrand(Rated(rate), t, h, Motion([0.0], [0.0], [], None), [Motion([0.0], [0.0], [], None)] * 3, [0.0])


def over(rate, t, h, tolerance, wanted=True):
    """The integral of a rate over a step, from 7 on, by panels."""
    return refined(course(rate, t, h), [7.0], [math.nan], [math.inf], tolerance, wanted)[0] - 7.0


@pytest.mark.parametrize("degree", range(9))
def test_a_panel_is_exact_up_to_degree_7_and_its_error_is_that_of_simpsons_rule(degree):
    (change,), (error,) = course(lambda t: t**degree, 0.0, 1.0).panel(0.25, 0.5, [0.25**degree], [0.75**degree])
    exact = (0.75 ** (degree + 1) - 0.25 ** (degree + 1)) / (degree + 1)
    simpson = (0.25**degree + 4 * 0.5**degree + 0.75**degree) / 12
    assert change == pytest.approx(exact, rel=1e-15) if degree < 8 else change != pytest.approx(exact, rel=1e-9)
    assert error == pytest.approx(change - simpson, abs=1e-16)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.handful(10)
def test_a_rate_that_turns_many_times_within_a_step_is_integrated_to_the_tolerance(seed):
    draw = Random(seed)
    t, h, turns, phase = draw.uniform(0, 5), draw.uniform(0.01, 3), draw.uniform(0.1, 20), draw.uniform(0, 6)
    omega = 2 * math.pi * turns / h
    exact = (math.cos(omega * t + phase) - math.cos(omega * (t + h) + phase)) / omega
    for rtol in (1e-2, 1e-4):
        found = over(lambda at: math.sin(omega * at + phase), t, h, Tolerance(rtol, 1e-12))
        assert abs(found - exact) < rtol * 7.2 + 1e-14  # allowed relative to the quadrature, 7 and some


def test_panels_narrow_where_the_rate_is_sharp_and_widen_again_beyond():
    def peak(t):
        asked.append(t)
        return 1.0 / (1e-2**2 + (t - 0.3) ** 2)

    asked = []
    exact = (math.atan(70) + math.atan(30)) * 1e2
    assert over(peak, 0.0, 1.0, Tolerance(1e-4, 0.0)) == pytest.approx(exact, rel=1e-4)
    assert len(asked) < 5 / NARROWEST
    assert sum(0.2 < t < 0.4 for t in asked) > len(asked) / 3


def test_a_step_that_is_not_taken_or_within_the_tolerance_is_not_cut_into_panels():
    def unasked(t):
        raise AssertionError

    quiet = course(unasked, 0.0, 1.0)
    assert refined(quiet, [7.0], [8.0], [9e-6], Tolerance(1e-6, 1e-6), True) == [8.0]
    assert refined(quiet, [7.0], [8.0], [1.0], Tolerance(1e-6, 1e-6), False) == [8.0]
    with pytest.raises(AssertionError):
        refined(quiet, [7.0], [8.0], [9.1e-6], Tolerance(1e-6, 1e-6), True)
