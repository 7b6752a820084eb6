"""What armsim says of random scenarios around their limits: no wrong answer without a word, no right one refused.

`python -m tests.surveys.advice` takes any number of them.
"""

from __future__ import annotations

import pytest

from .advice import BAD, drawn, finding

EVENTS = ["soft stops", "voltage limit", "command limit", "kinked inputs"]
# though right: by saturation, also within the parts of a step, and by a start that the arm leaves
ONCE_REFUSED = [93, 109, 155, 170, 538, 549]
DRAWN = [*(("limits", seed) for seed in (*range(2), *ONCE_REFUSED)), *((family, 0) for family in EVENTS)]


@pytest.mark.parametrize(("family", "seed"), DRAWN)
@pytest.mark.slow
def test_no_answer_is_off_by_a_twentieth_of_the_motion_without_a_word_and_none_that_is_not_is_refused(
    family, seed, tmp_path
):
    found = finding(drawn(family, seed), tmp_path)
    assert found is not None, "no truth is known of this motion: take another seed"
    assert found.verdict not in BAD, found
