"""Margins: how much a number may be off before a case that held does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from armsim.document.base import numbers, plain
from armsim.document.overrides import Overrides
from armsim.errors import ArmsimError
from armsim.formulas.values import Values
from armsim.loading.open_paths import places_at
from armsim.loading.robot_file import resolved_robot
from armsim.loading.scenario import Scenario
from armsim.loading.scenario_file import MOST_DELAY
from armsim.records import record
from armsim.studies.design import Design, Rows, crossed
from armsim.studies.runs import StudyRuns, arm_paths
from armsim.studies.study import Study
from armsim.tuning.objective import Condition, outcome
from armsim.tuning.task import Task
from armsim.tuning.validation import PAYLOAD, follows_masses, is_unladen, mass_of, uniform

FURTHEST = 16.0  # times, up and down
COARSE = 12  # factors on either side at first
LIGHTEST, LADDER = 1e-3, 30  # of the arm's mass: the first payload that is tried, and rungs from there
FINE = 8  # between the last that holds and the first that does not
DELAYED = "control.delay"
GAINS = ("kp", "ki", "kd", "K")
FACTOR, MASS, DELAY = "factor", "kg", "s"


@record
class Margin:
    """Between what a number may be.

    Attributes:
        name: Its path.
        unit: "factor" on the number; "kg" of an added payload, "s" of an added delay.
        low: The least with which all cases hold.
        high: The largest.
        open_low: Whether less was not tried, or cannot be.
        open_high: Whether more was not.
    """

    name: str
    unit: str
    low: float
    high: float
    open_low: bool
    open_high: bool


def margins_of(
    task: Task,
    scenario: Scenario,
    numbers: Mapping[str, float],
    cases: Rows,
    progress: Callable[[int, int], object] | None = None,
) -> list[Margin]:
    """How much each of some numbers, each mass, an added payload and an added delay may be off, one at a time.

    Runs are made whatever is said of their step: it is they that hold or do not.

    Args:
        task: Has the conditions under which a case holds.
        scenario: With the numbers, in no case.
        numbers: The numbers, by path.
        cases: Those that hold, shape (cases, paths).
        progress: Called with margins done, and all.
    """
    study, conditions, threads = task.study(task.tuning.study.design, numbers), task.conditions, task.threads
    axes = study.design.axes
    taken = {*numbers, *axes, *(place for path in axes for place in places_at(scenario.file, path))}
    others = {
        path: value
        for path, value in {**_gains(scenario), **({} if follows_masses(scenario) else _masses(scenario))}.items()
        if taken.isdisjoint(places_at(scenario.file, path))
    }
    factors = {path: value for path, value in {**numbers, **others}.items() if value}
    payload = {PAYLOAD: 0.0} if is_unladen(scenario) and PAYLOAD not in taken else {}
    places = {**factors, **payload}
    study = study.over(study.design, _own_model(scenario, axes), force_step=True)
    opened = {path: uniform(0.5 * abs(x), 1.5 * abs(x)) if x else uniform(0.0, 1.0) for path, x in places.items()}
    runs = StudyRuns(study.over(Design({**opened, **axes})), threads)

    def held(path: str, values: Sequence[float]) -> int:
        """With how many of the values, from the first on, all cases hold; of values that no arm has, none does."""
        made = np.array([[*{**places, path: value}.values()] for value in values])
        right = outcome(runs, crossed(made, cases), conditions)[0].reshape(len(values), len(cases)).all(axis=1)
        return int(np.logical_and.accumulate(right).sum())

    delayed = scenario.clock.sample_every is not None and DELAYED not in axes
    total = len(factors) + len(payload) + delayed
    found: list[Margin] = []

    def take(margin: Margin) -> None:
        found.append(margin)
        if progress is not None:
            progress(len(found), total)

    for path, value in factors.items():
        low, open_low = _furthest(partial(held, path), [value * FURTHEST ** (-k / COARSE) for k in range(COARSE + 1)])
        high, open_high = _furthest(partial(held, path), [value * FURTHEST ** (k / COARSE) for k in range(COARSE + 1)])
        take(Margin(path, FACTOR, low / value, high / value, open_low, open_high))
    for path in payload:
        least = LIGHTEST * mass_of(scenario)
        ladder = [0.0, *(least * FURTHEST ** (k / COARSE) for k in range(LADDER + 1))]
        high, open_high = _furthest(partial(held, path), ladder)
        take(Margin(path, MASS, 0.0, high, True, open_high))
    if delayed:
        take(_delay(study, scenario, cases, conditions, threads))
    return found


def _furthest(held: Callable[[Sequence[float]], int], ladder: Sequence[float]) -> tuple[float, bool]:
    """The furthest value of a ladder up to which all cases hold, and whether it is the last one.

    Args:
        held: With how many values, from the first on, all cases hold.
        ladder: From the number itself on.
    """
    last = held(ladder) - 1
    if last + 1 == len(ladder):
        return ladder[-1], True
    if last < 0:
        return ladder[0], False
    a, b = ladder[last], ladder[last + 1]
    between = [a + (b - a) * k / (FINE + 1) for k in range(1, FINE + 1)]
    more = held(between)
    return (between[more - 1] if more else a), False


def _delay(
    study: Study, scenario: Scenario, cases: Rows, conditions: Sequence[Condition], threads: int | None
) -> Margin:
    """How much more delay all cases hold with; whole periods, each of which has machine code of its own."""
    period = scenario.clock.at(scenario.clock.sample_every or 1)
    before = scenario.file.steps.delay_in_periods

    def holds(periods: int) -> bool:
        try:
            runs = StudyRuns(study.over(study.design, {DELAYED: (before + periods) * period}), threads)
            return bool(outcome(runs, cases, conditions)[0].all())
        except ArmsimError:  # it would be beyond all delays
            return False

    good, bad = 0, 1
    while before + bad <= MOST_DELAY and holds(bad):
        good, bad = bad, 2 * bad
    beyond = before + bad > MOST_DELAY
    bad = min(bad, MOST_DELAY + 1 - before)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return Margin(DELAYED, DELAY, 0.0, good * period, True, beyond and before + good == MOST_DELAY)


def _own_model(scenario: Scenario, axes: Mapping[str, Values]) -> Overrides:
    """The arm as the controller's model, where it has none of its own, so that it stays when masses are off.

    Not where cases are of other arms, with which it goes along.
    """
    file = scenario.file
    models = file.document.control is not None and file.document.control.has_model
    if not models or arm_paths(axes) or file.model is not None or file.document.payload is not None:
        return {}
    return {"control.model": plain(resolved_robot(file.robot.document))}


def _gains(scenario: Scenario) -> dict[str, float]:
    """All gains of the controller, by path."""
    control = scenario.file.document.control
    return {} if control is None else dict(_given({f"control.{key}": control.entries[key] for key in GAINS}))


def _masses(scenario: Scenario) -> dict[str, float]:
    """All masses of the robot's file, and of what it carries, by path; payloads of a list by name."""
    robot, own = scenario.file.robot.document, scenario.file.document.payload
    at, payload = ("robot.payload", robot.payload) if own is None else ("payload", own)
    items = {f"{at}[{item.name}]": item for item in payload} if isinstance(payload, tuple) else {at: payload}
    found = _given({"robot": robot.replaced(payload=None), **items})
    return {path: value for path, value in found if path.endswith(".mass")}


def _given(values: Any) -> list[tuple[str, float]]:
    """The numbers that a file gives at and below values by path."""
    return [(at, x.value) for at, x in numbers(values) if x.given and not x.varies and ".parameters." not in at]
