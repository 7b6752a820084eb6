"""What eigenvalues say in words."""

from __future__ import annotations

import cmath
import math

import pytest

from armsim.clock import seconds
from armsim.linear.modes import modes_of


def mode(value, dt=None, error=0.0):
    (found,) = modes_of([complex(value)], [error], [{"R1": 0.9, "R2": 0.1}], dt)
    return found


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-3449, "decays in 290 µs"),
        (-2, "decays in 500 ms"),
        (-1 / 3, "decays in 3 s"),
        (4.4, "grows with 4.4 1/s"),
        (0, "nothing brings it back"),
        (complex(-3, 4), "oscillates at 0.637 Hz, damping 0.6"),
        (complex(0, 2 * math.pi), "oscillates at 1 Hz, undamped"),
        (complex(0.25, 2 * math.pi), "oscillates at 1 Hz, grows with 0.25 1/s"),
    ],
)
def test_a_mode_in_continuous_time_is_told_by_its_rate(value, words):
    assert mode(value).words == words


@pytest.mark.parametrize(
    ("z", "words"),
    [
        (math.exp(-0.01 / 2), "decays in 2 s"),
        (math.exp(0.01 * 3), "grows with 3 1/s"),
        (1, "nothing brings it back"),
        (0, "is over after one sample"),
        (-math.exp(-0.01 / 0.05), "alternates from sample to sample, decays in 50 ms"),
        (-math.exp(0.01 * 7), "alternates from sample to sample, grows with 7 1/s"),
        (-1, "alternates from sample to sample, undamped"),
        (cmath.exp(0.01 * complex(-3, 4)), "oscillates at 0.637 Hz, damping 0.6"),
    ],
)
def test_a_mode_from_sample_to_sample_is_told_by_the_rate_that_it_shows(z, words):
    assert mode(z, dt=0.01, error=1e-15).words == words


def test_figures_go_with_the_words():
    found = mode(complex(-3, 4))
    assert found.time_constant == pytest.approx(1 / 3)
    assert found.frequency == pytest.approx(4 / (2 * math.pi))
    assert found.damping == pytest.approx(0.6)
    assert mode(2.0).damping == -1.0
    assert (mode(0.0).time_constant, mode(0.0).damping) == (math.inf, None)
    assert (mode(0.0, dt=0.1).time_constant, mode(0.0, dt=0.1).damping) == (0.0, 1.0)


def test_what_rounding_leaves_of_zero_is_zero():
    assert mode(complex(1e-9, 3.0), error=1e-8).words == "oscillates at 0.477 Hz, undamped"
    assert mode(complex(1e-9, 3.0), error=1e-10).words == "oscillates at 0.477 Hz, grows with 1e-09 1/s"
    assert mode(-1e-9, error=1e-8).rate == 0


def test_a_pair_is_one_mode_and_the_fastest_growing_comes_first():
    values = [-5.0, complex(-1, 2), complex(-1, -2), 3.0, -100.0]
    found = modes_of(values, [0.0] * 5, [{}] * 5)
    assert [m.rate for m in found] == [3, complex(-1, 2), -5, -100]


def test_a_mode_names_the_joints_that_have_a_quarter_of_it_or_the_first():
    (found,) = modes_of([complex(-1)], [0.0], [{"R3": 0.6, "R1": 0.3, "R2": 0.1}])
    assert found.joints == ["R3", "R1"]
    (found,) = modes_of([complex(-1)], [0.0], [dict.fromkeys("abcde", 0.2)])
    assert found.joints == ["a"]


@pytest.mark.parametrize(
    ("time", "text"),
    [(5823.4, "5820 s"), (999.4, "999 s"), (0.9996, "1 s"), (0.0123, "12.3 ms"), (2.5e-6, "2.5 µs"), (3e-8, "30 ns")],
)
def test_times_read_well(time, text):
    assert seconds(time) == text
