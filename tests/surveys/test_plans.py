"""Random tasks of `armsim plan`; `python -m tests.surveys.plans` takes any number of them."""

from __future__ import annotations

import pytest

from .plans import random_task, verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2, 5, 147, 159])  # the last ones are infeasible: by many limits, and by little
def test_a_random_task_is_solved_within_all_limits_or_infeasible_by_the_limit_that_is_named(seed):
    said, found = verdict(random_task(seed))
    assert said in ("solved", "infeasible"), found
