"""Whatever is open, by whichever method, in however many lanes: a lane has the bits of the run with its numbers written in."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import armsim
from armsim.batches.variants import Family
from armsim.integrate import METHODS

from .shipped import CONFIGS, File, key, last, unadvised

EXAMPLES = int(os.environ.get("ARMSIM_EXAMPLES", "0"))  # by hand: that many, other ones each time
WIDTHS = [1, 2, 4, 8]
shipped = cache(File)


@st.composite
def studies(draw) -> tuple[File, str, int, dict[str, list[float]]]:
    """A shipped scenario, a method, a number of lanes, and values of some numbers for a few runs."""
    file = shipped(draw(st.sampled_from(CONFIGS)))
    keys = draw(
        st.lists(st.sampled_from(sorted({key(path) for path in file.open})), min_size=1, max_size=12, unique=True)
    )
    paths = [draw(st.sampled_from([path for path in file.open if key(path) == found])) for found in keys]
    runs = draw(st.integers(2, 3))
    values = {path: [draw(near(file, path)) for _ in range(runs)] for path in paths}
    return file, draw(st.sampled_from(list(METHODS))), draw(st.sampled_from(WIDTHS)), values


def near(file: File, path: str) -> st.SearchStrategy[float]:
    """Values about the file's that a file may have there."""
    x = file.value(path)
    if last(path) == "efficiency":
        return st.sampled_from([1.0, 0.9])
    if x == 0.0:
        return st.sampled_from([0.0, 0.03])
    return st.floats(0.99, 1.01).map(lambda share: share * x)


@settings(max_examples=EXAMPLES or 4, derandomize=not EXAMPLES, suppress_health_check=list(HealthCheck))
@given(studies())
def test_lanes_have_the_bits_of_single_runs_whatever_is_open(study):
    check(study)


@pytest.mark.slow
@settings(max_examples=16, derandomize=True, suppress_health_check=list(HealthCheck))
@given(studies())
def test_lanes_of_sixteen_more_studies_have_the_bits_of_single_runs(study):
    """Between them they have every method; ARMSIM_EXAMPLES=500 has as many, by hand."""
    check(study)


def check(study) -> None:
    file, method, width, values = study
    event(f"{file.name}, {len(values)} open")
    event(method)
    short: dict[str, Any] = {**file.short, "integrator.method": method}
    loop = Family.loop
    with pytest.MonkeyPatch.context() as patch, unadvised():
        patch.setattr(Family, "loop", lambda self, lanes=None: loop(self, width if lanes is None else lanes))
        many = armsim.simulate_many(file.name, values, short, rows=True)
        event(f"{len(many.families)} groups")
        for run in range(len(many.status)):
            written = {path: column[run] for path, column in values.items()}
            one = armsim.simulate(file.name, {**short, **file.overrides(written)})
            assert many.status[run] == one.status, many.reason[run]
            assert many.steps[run] == one.steps
            assert np.array_equal(many.rows[run][: one.count], one.table)
            assert np.array_equal([*many.q[run], *many.qd[run]], one.state[: 2 * len(many.joints)])
