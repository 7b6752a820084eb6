"""A reference that no grid of steps deceives: adaptive methods that locate events, at several tolerances.

A method of fixed steps sees an event, or a jump of an input, at the end of the step it falls in. Where it falls just before an
instant that all steps share, all of them see it equally late and agree on a wrong answer. Adaptive methods locate it, or cut
their steps at it until the error is within their tolerance. What is known of their answers is taken from how far they agree:
two methods, two or more tolerances, each tolerance with other landings.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import count, pairwise

from armsim.control import OpenLoop
from armsim.convergence.ladder import largest_step
from armsim.convergence.reference import Reference, SettingRun, changes, distance
from armsim.convergence.runs import Runs, now
from armsim.convergence.sensitivity import ROUNDING
from armsim.loading import Scenario
from armsim.loading.scenario import RecordedSignal
from armsim.spec.timing import common_step
from armsim.spec.tolerance import ABSOLUTE

METHODS = ("rodas", "rk54")
TOLERANCES = (1e-8, 1e-10, 1e-12)  # rtol
LOOSER = (1e-6, 1e-5)  # where the first of those takes too long
GAIN = 0.1  # of a change of the answer, what a hundredth of the tolerance is trusted to leave of the error
SHARED = 2e-12  # relative: what two methods may be off alike, as both locate an event by the same rule
ENOUGH = 1e-2  # of the accuracy: an error of the reference that need not be smaller
SHARE = 0.4  # of the time that is left: longest run
LANDINGS, MOST_LANDINGS = 1000, 100_000  # in a run, about and at most


def adaptive_reference(runs: Runs, accuracy: float, ends: float) -> Reference | None:
    """The reference of adaptive runs; None where fewer than two complete in time.

    Args:
        runs: Of the scenario.
        accuracy: The wanted one [rad or m].
        ends: When the time is out.
    """
    found: dict[str, dict[float, SettingRun]] = {method: {} for method in METHODS}
    known: Reference | None = None
    for level, rtol in enumerate(TOLERANCES):
        going = [method for method in METHODS if len(found[method]) == level]
        if not _advance(runs, going, rtol, level, ends, found):
            break
        known = _agreed(found, TOLERANCES)
        if level and known is not None and known.doubt <= ENOUGH * accuracy:
            return known
    if known is None:
        for level, rtol in enumerate(LOOSER, 1):
            _advance(runs, METHODS, rtol, -level, ends, found)
        known = _agreed(found, (*reversed(LOOSER), *TOLERANCES))
    return known


def _advance(
    runs: Runs, methods: Iterable[str], rtol: float, level: int, ends: float, found: dict[str, dict[float, SettingRun]]
) -> bool:
    """Run methods at a tolerance; whether any completes."""
    dt = landing(runs.base, level)
    done = False
    for method in methods:
        start = now()
        block = {"method": method, "rtol": rtol, "atol": ABSOLUTE * rtol, "dt": dt}
        trial = runs.trial("rtol", block, ends, SHARE * (ends - start)) if start < ends else None
        if trial is not None and trial.answer is not None:
            found[method][rtol] = trial
            done = True
    return done


def _agreed(found: dict[str, dict[float, SettingRun]], tolerances: Sequence[float]) -> Reference | None:
    """What the answers agree on; None of fewer than two.

    The doubt is the distance of the two methods at the finest tolerance that both reached, and what the change of each method's
    answer since the tolerance before leaves.
    """
    answers = {method: [made[rtol] for rtol in tolerances if rtol in made] for method, made in found.items()}
    moved = {method: changes(trials) for method, trials in answers.items() if trials}
    if sum(map(len, answers.values())) < 2:
        return None
    # the method that moved least at its finest tolerance; one that reached a finer one goes before
    method = min(moved, key=lambda name: (answers[name][-1].value, moved[name][-1] if moved[name] else math.inf))
    last = answers[method][-1]
    assert last.answer is not None
    both = [rtol for rtol in tolerances if all(rtol in made for made in found.values())]
    doubts = [max(ROUNDING * math.sqrt(last.steps), SHARED) * max(1.0, float(abs(last.answer).max()))]
    for rtol in both[-1:]:
        one, other = (made[rtol].answer for made in found.values())
        assert one is not None
        assert other is not None
        doubts.append(distance(one, other))
    agree = bool(both) and both[-1] == last.value
    for name, steps in moved.items():
        falls = len(steps) < 2 or steps[-1] < steps[-2]
        if steps and name == method:
            doubts.append(steps[-1] * (GAIN if agree and falls else 1.0))
    source = f"{' and '.join(name for name in METHODS if name in moved)} at rtol {last.value:g}"
    return Reference(last.answer, max(doubts), source)


def landing(scenario: Scenario, level: int) -> float:
    """A step on which adaptive runs land [s]: about a thousand times, another number of times at every level.

    Landings keep a method from stepping over what is short. All times of the scenario are multiples of it; so are the corners of
    recorded inputs where they have a common step, else it is at most half the time between two of them.
    """
    step = largest_step(scenario) * Fraction(*scenario.time_ratio)
    duration = scenario.steps * Fraction(*scenario.time_ratio)
    times = sorted({t for table in _recorded(scenario) for t in table if 0.0 < t < duration})
    most = duration / MOST_LANDINGS
    parts = max(1, math.ceil(step * LANDINGS / duration))
    if times:
        shared = common_step([float(step), *times])
        if shared is not None and shared >= most:
            step, parts = shared, max(1, math.ceil(shared * LANDINGS / duration))
        else:
            shortest = max(min((b - a for a, b in pairwise([0.0, *times])), default=1.0), float(most))
            parts = max(parts, math.ceil(2 * step / Fraction(shortest)))
    made = step / next(k for k in count(parts) if k % 10 and (k - parts) >= abs(level))
    return made.numerator / made.denominator


def _recorded(scenario: Scenario) -> Iterable[array[float] | Sequence[float]]:
    """The times of the recorded inputs of a scenario [s]; none where they are sampled."""
    command = scenario.command
    if not isinstance(command, OpenLoop) or command.period is not None:
        return []
    return [signal.table.x for signal in command.signals if isinstance(signal, RecordedSignal)]
