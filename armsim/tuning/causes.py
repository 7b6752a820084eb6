"""Why cases do not hold: because of the step, of sampling, or of control itself; found by trying them without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.errors import ArmsimError
from armsim.formulas.values import Values
from armsim.loading.scenario import Scenario
from armsim.loading.scenario_file import Given
from armsim.spec.timing import time_at
from armsim.studies.design import Rows
from armsim.studies.runs import StudyRuns
from armsim.tuning.objective import Condition, held, measures_of

TRIED = 24  # cases that do not hold
FINER = 10  # times, of step and samples
STEP, SAMPLING, CONTROL = "step", "sampling", "control"


def causes_of(
    given: Given,
    scenario: Scenario,
    axes: Mapping[str, Values],
    rows: Rows,
    conditions: Sequence[Condition],
    threads: int | None = None,
) -> dict[str, int]:
    """How many of some cases do not hold because of what.

    A case that holds with a tenth of the step fails by the step; one that holds with ten times the samples besides, by
    sampling; all others by control: law, gains, limits of the drives.

    Args:
        given: The scenario's file, or its content.
        scenario: It.
        axes: What the cases vary.
        rows: Their values, shape (cases, paths); `TRIED` of them are tried, evenly taken.
        conditions: When one holds.
        threads: How many.
    """
    chosen = rows[np.unique(np.linspace(0, len(rows) - 1, min(TRIED, len(rows))).astype(int))]
    left = np.ones(len(chosen), dtype=bool)
    found: dict[str, int] = {}
    for cause, finer in _variants(scenario):
        healed = left & _hold(given, axes, chosen, finer, conditions, threads)
        found[cause] = int(np.count_nonzero(healed))
        left &= ~healed
    found[CONTROL] = int(np.count_nonzero(left))
    return found


def _variants(scenario: Scenario) -> list[tuple[str, dict[str, Any]]]:
    """Scenarios without a cause: their overrides."""
    step = {} if scenario.adaptive else {"integrator.dt": scenario.dt / FINER}
    found = [(STEP, step)] if step else []
    if scenario.sample_every is not None:
        period = time_at(scenario.sample_every, scenario.time_ratio) / FINER
        given = scenario.file.data["integrator"]["dt"]
        finer = {"integrator.dt": min(step["integrator.dt"], period)} if step else {}
        if scenario.adaptive and given is not None:
            finer = {"integrator.dt": scenario.dt / FINER}
        found.append((SAMPLING, {**finer, "control.period": period}))
    return found


def _hold(
    given: Given,
    axes: Mapping[str, Values],
    rows: Rows,
    finer: Mapping[str, Any],
    conditions: Sequence[Condition],
    threads: int | None,
) -> NDArray[np.bool_]:
    """Which cases hold with some overrides; none where these cannot be run."""
    try:
        return held(StudyRuns(given, axes, finer, measures_of(conditions), threads, force_step=True), rows, conditions)
    except ArmsimError:
        return np.zeros(len(rows), dtype=bool)
