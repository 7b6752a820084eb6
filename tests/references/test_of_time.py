"""Motions by formulas of the time: derivatives against hand-made ones, and the same bits in machine code."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armsim.expr import exp, sin, trace, where
from armsim.expr.replay import replay
from armsim.references import (
    Chirp,
    Formulas,
    Limits,
    Multisine,
    Sinusoid,
    cubic_spline,
    fastest_s_curve,
    minimum_jerk,
    through_rows,
    within_limits,
)

GRID = [0.0, 0.1, 0.37, 0.9, 1.3, 2.0, 3.5]
P = [[0.0, 0.3], [1.0, -0.3], [0.9, 0.9]]
MOTIONS = {
    "sinusoid": Sinusoid((0.1, 0.2), (0.5, -1.0), (1.0, 2.5), (0.0, 0.7)),
    "chirp": Chirp((0.0,), (0.3,), (0.5,), (4.0,), 2.0, "linear"),
    "exponential chirp": Chirp((0.0,), (0.3,), (0.5,), (4.0,), 2.0, "exponential"),
    "multisine": Multisine((0.0, 1.0), (0.3, 0.1), (0.5, 1.0, 1.5), (0.0, 0.4)),
    "formulas": Formulas((lambda t: where(t < 1.0, sin(t * t), exp(-t)),), (0.5,)),
    "s_curve": within_limits(P, 0.1, Limits((1.0, 1.0), (4.0, 5.0), (30.0, 40.0)), fastest_s_curve),
    "spline": cubic_spline(P, [0.2, 1.0, 2.5]),
    "minimum_jerk": minimum_jerk(P, [0.2, 1.0, 2.5]),
    "rows": through_rows([0.0, 1.0, 2.0], [[0.0, 1.0, 0.0]], [[1.0, 1.0, -1.0]]),
}


def test_the_derivatives_of_a_sinusoid_are_exact():
    for t in GRID:
        now = MOTIONS["sinusoid"].at(t)
        for i, (q0, a, f, phase) in enumerate([(0.1, 0.5, 1.0, 0.0), (0.2, -1.0, 2.5, 0.7)]):
            w = math.tau * f
            x = w * t + phase
            exact = (q0 + a * math.sin(x), a * w * math.cos(x), -a * w * w * math.sin(x))
            assert (now.q[i], now.qd[i], now.qdd[i]) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("sweep", ["linear", "exponential"])
def test_a_chirp_has_its_frequencies_at_its_ends_and_holds_from_then_on(sweep):
    chirp = Chirp((0.1,), (0.3,), (0.5,), (4.0,), 2.0, sweep)
    now, still = chirp.at(0.0), chirp.at(2.5)
    assert now.q + now.qd == pytest.approx([0.1, 0.3 * math.tau * 0.5])
    before = chirp.at(2.0 - 1e-12)
    turning = math.hypot(before.qd[0] / (math.tau * 4.0), before.q[0] - 0.1)  # the amplitude, at the last frequency
    assert turning == pytest.approx(0.3, rel=1e-9)
    assert still.q == pytest.approx(before.q, abs=1e-10)
    assert still.qd + still.qdd == [0.0, 0.0]


def test_the_frequency_of_an_exponential_chirp_grows_by_equal_factors_in_equal_times():
    chirp = MOTIONS["exponential chirp"]

    def frequency(t):
        now = chirp.at(t)
        return math.sqrt(max(0.0, now.qd[0] ** 2) / (0.3**2 - now.q[0] ** 2)) / math.tau

    assert [frequency(t) for t in (0.0, 0.5, 1.0, 1.5)] == pytest.approx(
        [0.5 * 8 ** (t / 4) for t in range(4)], rel=1e-9
    )


def test_schroeder_phases_keep_a_multisine_below_the_sum_of_its_amplitudes():
    wave = Multisine((0.0,), (1.0,), tuple(0.5 * k for k in range(1, 11)), (0.0,))
    peak = max(abs(wave.at(float(t)).q[0]) for t in np.linspace(0, 2, 500))
    assert peak < 1.7 * math.sqrt(10)  # of zero phases it would be near 10


def test_formulas_have_the_derivatives_of_the_branch_taken():
    for t in GRID:
        now = MOTIONS["formulas"].at(t)
        if t < 1:
            exact = [
                0.5 * math.sin(t * t),
                t * math.cos(t * t),
                math.cos(t * t) - 2 * t * t * math.sin(t * t),
            ]
        else:
            exact = [0.5 * math.exp(-t), -0.5 * math.exp(-t), 0.5 * math.exp(-t)]
        assert now.q + now.qd + now.qdd == pytest.approx(exact, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("name", MOTIONS)
def test_machine_code_gives_the_bits_of_the_interpreter(name, evaluate):
    motion = MOTIONS[name]

    def flat(t):
        now = motion.at(t)
        return [*now.q, *now.qd, *now.qdd]

    found = evaluate(trace(flat, ["t"]), [GRID]).T.tolist()
    assert found == [flat(t) for t in GRID]
    assert found == [replay(trace(flat, ["t"]), [t]) for t in GRID]
