"""Why cases do not hold: because of the step, of sampling, or of control itself; found by trying them without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from armsim.errors import ArmsimError
from armsim.formulas.values import Values
from armsim.loading.scenario import Scenario
from armsim.studies.design import Rows
from armsim.studies.runs import StudyRuns
from armsim.studies.study import Study
from armsim.tuning.objective import Condition, outcome

TRIED = 24  # cases that do not hold
FINER = 10  # times, of step and samples
STEP, SAMPLING, CONTROL, UNKNOWN = "step", "sampling", "control", "unknown"
DT, PERIOD = "integrator.dt", "control.period"


def causes_of(
    study: Study, scenario: Scenario, rows: Rows, conditions: Sequence[Condition], threads: int | None = None
) -> dict[str, int]:
    """How many of some cases do not hold because of what.

    A case that holds with a tenth of the step fails by the step; one that holds with ten times the samples besides, by
    sampling; all others by control: law, gains, limits of the drives. Of a case whose finer run is refused it is unknown.

    Args:
        study: Of whether cases hold.
        scenario: Its scenario, in no case.
        rows: Values of the cases, shape (cases, paths); `TRIED` of them are tried, evenly taken.
        conditions: When one holds.
        threads: How many.

    Raises:
        KeyboardInterrupt: Ctrl-C came.
    """
    chosen = rows[np.unique(np.linspace(0, len(rows) - 1, min(TRIED, len(rows))).astype(int))]
    left, unknown = np.ones(len(chosen), dtype=bool), np.zeros(len(chosen), dtype=bool)
    found: dict[str, int] = {}
    axes = study.design.axes
    for cause, finer in _finer(scenario, axes):
        try:
            runs = StudyRuns(study.over(study.design, finer, force_step=True), threads)
            right, refused = outcome(runs, _finely(chosen, axes, finer), conditions)
        except ArmsimError:
            right, refused = np.zeros(len(chosen), dtype=bool), np.ones(len(chosen), dtype=bool)
        found[cause] = int(np.count_nonzero(left & right))
        left &= ~right
        unknown |= refused
    found[CONTROL] = int(np.count_nonzero(left & ~unknown))
    found[UNKNOWN] = int(np.count_nonzero(left & unknown))
    return found


def _finer(scenario: Scenario, axes: Mapping[str, Values]) -> list[tuple[str, dict[str, float]]]:
    """Settings without a cause, in the order in which they are tried."""
    given = scenario.file.document.integrator.dt
    step = {} if scenario.adaptive and given is None and DT not in axes else {DT: scenario.dt / FINER}
    found = [(STEP, step)] if step else []
    if scenario.clock.sample_every is not None or PERIOD in axes:
        period = scenario.clock.at(scenario.clock.sample_every or 1) / FINER
        found.append((SAMPLING, {**({DT: min(step[DT], period)} if step else {}), PERIOD: period}))
    return found


def _finely(rows: Rows, axes: Mapping[str, Values], finer: Mapping[str, float]) -> Rows:
    """Cases whose own steps and periods are as much finer."""
    made = rows.copy()
    for column, path in enumerate(axes):
        if path in finer:
            made[:, column] = made[:, column].astype(float) / FINER
    return made
