"""Errors that `converge` states of random scenarios with events, held against an independent event-driven reference.

`ARMSIM_EXAMPLES=200` studies as many; docs/accuracy.md has what came of it.
"""

from __future__ import annotations

import os
from itertools import islice, product

import numpy as np
import pytest

import armsim

from ..surveys.cases import FAMILIES, case
from ..surveys.reference import Stuck, truth

EXAMPLES = int(os.environ.get("ARMSIM_EXAMPLES", "0"))
SHORT = [
    ("sampled", 8),
    ("friction", 4),
    ("damped stops", 5),
    ("current limit", 6),
    ("stepped tables", 7),
    ("combined", 9),
]
STUDIED = list(islice(((name, seed) for seed, name in product(range(1, 1000), FAMILIES)), EXAMPLES)) or SHORT
METHODS = ("rk4", "implicit_midpoint")
ACCURACY = 1e-4  # rad or m
ROWS = 0.1  # s
RESOLVED = 1e-10  # rad or m: the truth is known to about 1e-12, grown along the motion
UNDERSTATED, MISSED = 2.0, 1.5  # at most, times


@pytest.mark.parametrize(("family", "seed"), STUDIED)
@pytest.mark.slow
def test_no_error_is_understated_and_no_cheapest_setting_misses_its_accuracy(family, seed, tmp_path):
    drawn = case(family, seed)
    given = drawn.written(tmp_path, {"method": "rk4", "dt": 0.01}, ROWS)
    try:
        exact = truth(drawn, [k * ROWS for k in range(round(drawn.scenario["duration"] / ROWS))]).q
    except Stuck as stuck:
        pytest.skip(f"the reference has no answer: {stuck}")
    methods = METHODS if EXAMPLES else METHODS[seed % 2 :][:1]  # in turn
    found = armsim.converge(given, methods, accuracy=ACCURACY, budget=0.3)
    for method in found.methods:
        best = method.cheapest(ACCURACY)
        for setting in method.settings:
            if setting.error is None:
                continue
            chosen = {"integrator": {"method": method.method, "dt": setting.value}}
            off = float(np.abs(armsim.simulate(given, chosen, force_step=True).q - exact).max())
            assert off <= UNDERSTATED * setting.error + RESOLVED
            assert setting is not best or off <= MISSED * ACCURACY
        assert EXAMPLES or method.verdict == "settled"
