"""armsim's adaptive methods against scipy's with exact events, over random scenarios.

`python -m tests.surveys.adaptive` takes any number of them, and all families.
"""

from __future__ import annotations

from itertools import cycle

import pytest

from .adaptive import ALLOWED, findings
from .cases import FAMILIES, case


@pytest.mark.parametrize(("family", "seed", "rtol"), [(x, *y) for x, y in zip(FAMILIES, cycle([(0, 1e-4), (2, 1e-7)]))])
@pytest.mark.handful(1)
def test_an_adaptive_run_errs_little_more_than_scipys_with_exact_events(family, seed, rtol, tmp_path):
    found = findings(case(family, seed), tmp_path, [rtol])
    assert found, "a seed whose perturbations grow says nothing: take another"
    assert {finding.method: finding.ratio for finding in found if finding.ratio > ALLOWED} == {}
