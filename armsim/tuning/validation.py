"""What a tuned scenario is tested on: cases that it was not tuned at, and when one of them holds."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armsim.batches.runs import Runs
from armsim.control import Constant, Controller
from armsim.files.nodes import clipped
from armsim.formulas.quantity import plain_number
from armsim.formulas.values import UNIFORM, Drawn, Listed, Spaced, Values
from armsim.loading.scenario import Scenario
from armsim.studies.design import SOBOL, Design
from armsim.tuning.objective import Condition, condition_of
from armsim.tuning.tuning import Tuning

BAND = 0.05  # rad or m, within which a run holds where nothing else is said
SETTLED = 0.8  # of the run, by which it must be within
DRAWN = 256  # cases
PAYLOAD = "payload.mass"
LOAD = 0.1  # of the arm's mass: the largest payload, where nothing else is said
LEAST_SPLIT = 0.05  # of the cases, on either side of a threshold that is told


def conditions_of(tuning: Tuning, scenario: Scenario) -> tuple[Condition, ...]:
    """When a run holds: as asked; else by the conditions, and by staying near its goal for the last fifth of its time.

    The latter is not added where a condition is on errors.
    """
    if tuning.holds is not None:
        return tuple(map(condition_of, tuning.holds))
    texts = list(tuning.subject_to)
    on_errors = any(word in text for text in texts for word in ("settling_time", "error"))
    if isinstance(scenario.command, Controller) and not scenario.command.reference.timed and not on_errors:
        texts.append(f"settling_time({plain_number(BAND)}) <= {plain_number(SETTLED)}*duration")
    return tuple(map(condition_of, texts))


def test_of(tuning: Tuning, scenario: Scenario, structural: Collection[str]) -> Design | None:
    """The cases of the test: as asked; else drawn where the cases were, or poses and payloads; None if there are none.

    Args:
        tuning: What is asked.
        scenario: In no case.
        structural: Paths of cases whose values are structure: of them only these values are taken.
    """
    if tuning.test is not None:
        return tuning.test
    axes = {path: of if path in structural else _range(of) for path, of in tuning.study.design.axes.items()}
    axes = axes or _anywhere(tuning, scenario)
    return Design(axes, SOBOL, DRAWN, tuning.seed + 1) if axes else None


def _range(of: Values) -> Values:
    """Numbers as the interval that they span."""
    if isinstance(of, Listed) and not of.words and not of.lists and len(of.values) > 1:
        if not isinstance(of, Spaced):
            numbers = [x for x in of.values if isinstance(x, float)]
            return uniform(min(numbers), max(numbers))
        if not of.values.log:
            return uniform(*sorted((of.values.first, of.values.last)))
    return of


def uniform(low: float, high: float) -> Values:
    """Numbers drawn between two ends."""
    return Drawn(UNIFORM, low, high)


def _anywhere(tuning: Tuning, scenario: Scenario) -> dict[str, Values]:
    """Any target within the joints' ranges, and payloads up to a tenth of the arm's mass."""
    taken = {*tuning.sought}
    found: dict[str, Values] = {}
    if isinstance(scenario.command, Controller) and isinstance(scenario.command.reference, Constant):
        for i, joint in enumerate(scenario.arm.joints):
            low, high = (-math.inf, math.inf) if joint.limit is None else (joint.limit.lower, joint.limit.upper)
            if joint.kind.turns:
                low, high = max(low, -math.pi), min(high, math.pi)
            turn = 180.0 / math.pi if scenario.degrees and joint.kind.turns else 1.0
            path = f"control.target[{i}]"
            if (
                not taken & {path, "control.target", f"control.target[{joint.name}]"}
                and math.isfinite(low)
                and low < high < math.inf
            ):
                found[path] = uniform(low * turn, high * turn)
    if is_unladen(scenario) and PAYLOAD not in taken:
        found[PAYLOAD] = uniform(0.0, float(f"{LOAD * mass_of(scenario):.1g}"))
    return found


def test_in_words(cases: Design | None) -> str:
    """What the cases of a test vary."""
    return "" if cases is None else ", ".join(f"{path} {_in_words(of)}" for path, of in cases.axes.items())


def _in_words(of: Values) -> str:
    if isinstance(of, Drawn) and of.kind == UNIFORM:
        return f"{of.a:.4g} to {of.b:.4g}"
    return clipped(str(of))


def is_unladen(scenario: Scenario) -> bool:
    """Whether the tool carries nothing, so that a mass may be hung on it."""
    return scenario.file.document.payload is None and not any(payload.inertia.mass for payload in scenario.arm.payloads)


def mass_of(scenario: Scenario) -> float:
    """The mass of all links [kg]."""
    return math.fsum(float(joint.inertia.mass) for joint in scenario.arm.joints)


@dataclass(frozen=True)
class Split:
    """A number of the cases at which they part best into those that hold and those that do not.

    Attributes:
        path: Of the number.
        at: The threshold.
        below: (hold, all) of the cases below it.
        above: (hold, all) of those above.
    """

    path: str
    at: float
    below: tuple[int, int]
    above: tuple[int, int]


def split_of(found: Runs, holds: NDArray[np.bool_]) -> Split | None:
    """The threshold that tells most of where cases hold; None where it tells little."""
    many, all_right = len(holds), int(holds.sum())
    edge = max(1, int(LEAST_SPLIT * many))
    k = np.arange(edge, many - edge + 1)  # cases below the threshold
    least, best = 0.8 * (all_right * (many - all_right) / max(many, 1)), None
    for path in found.paths if len(k) else ():
        column = found[path]
        if column.dtype == object:
            continue
        order = np.argsort(column, kind="stable")
        x, below = column[order], np.cumsum(holds[order])[k - 1]
        above = all_right - below
        impurity = below * (k - below) / k + above * (many - k - above) / (many - k)
        impurity[x[k - 1] == x[k]] = np.inf
        i = int(np.argmin(impurity))
        if impurity[i] < least:
            at, split = 0.5 * float(x[k[i] - 1] + x[k[i]]), int(k[i])
            least = impurity[i]
            best = Split(path, at, (int(below[i]), split), (int(above[i]), many - split))
    return best
