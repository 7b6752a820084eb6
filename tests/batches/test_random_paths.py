"""Whatever is open, by whichever method, in however many lanes: a lane has the bits of the run with its numbers written in."""

from __future__ import annotations

import os
import random
from itertools import cycle
from typing import Any

import numpy as np
import pytest

import armsim
from armsim.batches.variants import Variants
from armsim.integrate import METHODS

from .shipped import CONFIGS, File, key, last, unadvised

EXAMPLES = int(os.environ.get("ARMSIM_EXAMPLES", "0"))  # by hand: that many, other ones each time
WIDTHS = [1, 2, 4, 8]
# every other file, every method by one or two of them, every width by two methods or three
CASES = [
    (config, method, WIDTHS[(k + k // len(METHODS)) % 4], k)
    for k, (config, method) in enumerate(zip(CONFIGS[::2], cycle(METHODS)))
]
if EXAMPLES:
    CASES = [
        (random.choice(CONFIGS), random.choice([*METHODS]), random.choice(WIDTHS), random.getrandbits(32))
        for _ in range(EXAMPLES)
    ]


def near(file: File, path: str, rng: random.Random) -> float:
    """A value about the file's that a file may have there."""
    x = file.value(path)
    if last(path) == "efficiency":
        return rng.choice([1.0, 0.9])
    return rng.uniform(0.99, 1.01) * x if x else rng.choice([0.0, 0.03])


@pytest.mark.parametrize(("config", "method", "width", "seed"), CASES, ids=range(len(CASES)))
@pytest.mark.handful(EXAMPLES or 1)
def test_lanes_have_the_bits_of_single_runs_whatever_is_open(config, method, width, seed):
    """A dozen numbers at most, for two runs or three."""
    file, rng = File(config), random.Random(seed)
    keys = sorted({key(path) for path in file.open})
    some = rng.sample(keys, rng.randint(1, min(12, len(keys))))
    paths = [rng.choice([path for path in file.open if key(path) == found]) for found in some]
    runs = rng.randint(2, 3)
    values = {path: [near(file, path, rng) for _ in range(runs)] for path in paths}
    short: dict[str, Any] = {**file.short, "integrator.method": method}
    engine = Variants.engine
    with pytest.MonkeyPatch.context() as patch, unadvised():
        patch.setattr(Variants, "engine", lambda self, lanes=None: engine(self, width if lanes is None else lanes))
        many = armsim.simulate_many(file.name, values, short, rows=True)
        for run in range(len(many.status)):
            written = {path: column[run] for path, column in values.items()}
            one = armsim.simulate(file.name, {**short, **file.overrides(written)})
            assert many.status[run] == one.status, many.reason[run]
            assert many.steps[run] == one.steps
            assert np.array_equal(many.rows[run][: one.count], one.table)
            assert np.array_equal([*many.q[run], *many.qd[run]], one.state[: 2 * len(many.joints)])
