"""Tables, on numbers and in machine code."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from armsim.expr import Table, lookup, trace


def test_a_linear_table_joins_its_points_and_holds_its_ends():
    table = Table([0, 1, 3], [2, 4, -2], "linear")
    assert [table.at(x) for x in (-9, 0, 0.5, 1, 2, 3, 9)] == [2, 2, 3, 4, 1, -2, -2]


def test_a_held_table_keeps_a_value_until_the_next_abscissa():
    table = Table([0, 1, 3], [2, 4, -2], "zero")
    assert [table.at(x) for x in (-9, 0, math.nextafter(1, 0), 1, 2, 3, 9)] == [2, 2, 2, 4, 4, -2, -2]


@pytest.mark.parametrize("hold", ["zero", "linear"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000])
@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.handful(12)
def test_a_compiled_table_gives_the_bits_of_the_interpreted_one(hold, size, lanes, evaluate):
    rng = random.Random(size)
    x = sorted(rng.uniform(-5, 5) for _ in range(size))
    table = Table(x, [rng.uniform(-9, 9) for _ in x], hold)
    at = [*x[:60], *(math.nextafter(v, 9) for v in x[:60]), *(math.nextafter(v, -9) for v in x[:60])]
    at += [rng.uniform(-6, 6) for _ in range(200)] + [-math.inf, math.inf]
    f = trace(lambda t: [lookup(table, t)], ["t"])
    assert evaluate(f, [at], lanes=lanes)[0].tolist() == [table.at(v) for v in at]


@pytest.mark.parametrize(
    ("x", "y", "hold", "message"),
    [
        ([], [], "zero", "as many values as abscissae, at least one: got 0 and 0"),
        ([0, 1], [0], "zero", "got 2 and 1"),
        ([0, 0], [1, 2], "zero", "must increase"),
        ([0, 1], [1, 2], "cubic", "hold must be 'zero' or 'linear', not 'cubic'"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(x, y, hold, message):
    with pytest.raises(ValueError, match=message):
        Table(x, y, hold)


def test_a_linear_table_matches_numpy_interp():
    # both interpolate from the left point; the operations differ, so up to rounding of values near 9
    rng = np.random.default_rng(3)
    x, y, at = np.sort(rng.uniform(0, 1, 30)), rng.uniform(-9, 9, 30), rng.uniform(-0.1, 1.1, 300)
    table = Table(x.tolist(), y.tolist(), "linear")
    assert np.allclose([table.at(v) for v in at], np.interp(at, x, y), rtol=0, atol=1e-14)
