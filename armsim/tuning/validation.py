"""What a tuned scenario is tested on: cases that it was not tuned at, and when one of them holds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection

import numpy as np

from armsim.arrays import Mask
from armsim.batches.runs import Runs
from armsim.control import Constant, Controller
from armsim.files.nodes import clipped
from armsim.formulas.quantity import plain_number
from armsim.formulas.values import UNIFORM, Drawn, Listed, Spaced, Values
from armsim.loading.scenario import Scenario
from armsim.records import record
from armsim.studies.design import SOBOL, Design
from armsim.tuning.objective import Condition, condition_of
from armsim.tuning.tuning import Tuning

BAND = re.compile(r"settling_time\w*\(([^()]+)\)")  # that an objective names
FINEST = 1e-3  # rad, m or s: the least band, or error, of a condition that follows from runs
WORSE = 2.0  # times the error of the cases it was tuned at, with which others still hold
SETTLED = 0.8  # of the run, by which it must be within
DRAWN = 256  # cases
PAYLOAD = "payload.mass"
LOAD = 0.1  # of the arm's mass: the largest payload, where nothing else is said
LEAST_SPLIT = 0.05  # of the cases, on either side of a threshold that is told


def asked_conditions(tuning: Tuning) -> tuple[Condition, ...]:
    """When a run holds, as far as that is asked."""
    return tuple(map(condition_of, tuning.subject_to if tuning.holds is None else tuning.holds))


def conditions_of(
    tuning: Tuning, scenario: Scenario, run: Callable[[tuple[str, ...]], Runs]
) -> tuple[tuple[Condition, ...], str]:
    """When a run holds: as asked; else by the conditions, and by an error like that of the runs it was tuned at; and why so.

    The latter is not added where a condition is on errors. To a goal, the error is to stay within a band for the last fifth of
    the time: the band that the objective names; else 2 % of the way, or twice the mean error of the runs, weighted by time.
    Along a reference that goes on, its root mean square is to be at most twice that of the runs.

    Args:
        tuning: What is asked.
        scenario: With what was found, in no case.
        run: Runs all cases with what was found; takes measures.
    """
    asked, named = asked_conditions(tuning), BAND.search(tuning.minimise)
    on_errors = any(word in one.text for one in asked for word in ("settling_time", "error"))
    if tuning.holds is not None or on_errors or not isinstance(scenario.command, Controller):
        return asked, ""
    if scenario.command.reference.timed:
        most = float(run(("rms_error",))["rms_error"].max())
        return (*asked, condition_of(f"rms_error <= {_rounded(most)}")), "twice the error of the tuned runs"
    why = "the band of what was minimised"
    settled = f"settling_time({named[1]})" if named else ""
    if named is None:
        names = tuple(f"itae_{joint.name}" for joint in scenario.arm.joints)
        runs = run((*names, "duration"))
        mean = max(float((2.0 * runs[name] / runs["duration"] ** 2).max()) for name in names)
        why = "within 2 % of its way, or twice the time-weighted mean error of the tuned runs"
        settled = f"min(settling_time, settling_time({_rounded(mean)}))"
    return (*asked, condition_of(f"{settled} <= {plain_number(SETTLED)}*duration")), why


def _rounded(error: float) -> str:
    """An error like that of some runs, to one digit."""
    return f"{max(FINEST, WORSE * error):.1g}"


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
    laden = scenario.file.document.payload is not None or any(payload.inertia.mass for payload in scenario.arm.payloads)
    return not laden and not follows_masses(scenario)


def follows_masses(scenario: Scenario) -> bool:
    """Whether its reference is that of its masses, as a fastest motion, and another one with others."""
    return isinstance(scenario.command, Controller) and bool(getattr(scenario.command.reference, "stages", ()))


def mass_of(scenario: Scenario) -> float:
    """The mass of all links [kg]."""
    return math.fsum(float(link.inertia.mass) for link in scenario.arm.links)


@record
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


def split_of(found: Runs, holds: Mask) -> Split | None:
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
