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

from armsim import document
from armsim.control import Controller
from armsim.convergence.ladder import largest_step
from armsim.convergence.reference import ReferenceSolution, SettingRun, changes, distance
from armsim.convergence.runs import SettingRuns, now
from armsim.convergence.sensitivity import ROUNDING
from armsim.document.timing import common_step
from armsim.document.tolerance import ABSOLUTE
from armsim.loading import Scenario
from armsim.loading.signals import RecordedSignal
from armsim.references import Recorded

METHODS = ("rodas", "rk54")
FIRST, LEAST = 1e-6, 1e-12  # rtol
LOOSER = (1e-5, 1e-4)  # where the first takes too long
DECADES = (2, 1)  # by which the next tolerance is finer, the first of which there is time for
WORST = 10.0  # times as long for a tenth of the tolerance: a method that chatters about a switch
STEP = 1e-6  # s: least wall time of a step, for estimates
CAREFUL = 2.0  # times as long as estimated from the tolerances before
GAIN = 50.0  # times the ratio of two tolerances: what of the change between their answers may be left of the finer one's error
SHARED = 2e-12  # relative: what two methods may be off alike, as both locate an event by the same rule
ENOUGH = 1e-3  # of the accuracy: an error of the reference that need not be smaller
SHARE = 0.4  # of the time that is left: longest run
LANDINGS, MOST_LANDINGS = 1000, 100_000  # in a run, about and at most

Made = dict[str, list[SettingRun]]  # by method, from coarse to fine


def adaptive_reference(runs: SettingRuns, accuracy: float, ends: float) -> ReferenceSolution | None:
    """The reference of adaptive runs; None where fewer than two complete in time.

    Args:
        runs: Of the scenario.
        accuracy: The wanted one [rad or m].
        ends: When the time is out.
    """
    made: Made = {method: [] for method in METHODS}
    known: ReferenceSolution | None = None
    for level in count():
        if not sum(_advance(runs, method, made[method], level, ends) for method in METHODS):
            break
        known = _agreed(made)
        if level and known is not None and known.doubt <= ENOUGH * accuracy:
            return known
    if known is None:
        for level, rtol in enumerate(LOOSER, 1):
            for method in METHODS:
                made[method] = [*_run(runs, method, rtol, level, ends), *made[method]]
        known = _agreed(made)
    return known


def _advance(runs: SettingRuns, method: str, made: list[SettingRun], level: int, ends: float) -> bool:
    """Run a method at its next tolerance, if it has kept up and there is time; whether it completes."""
    if len(made) < level:
        return False
    rtol = next_tolerance(made, SHARE * (ends - now()))
    found = [] if rtol is None else _run(runs, method, rtol, level, ends)
    made += found
    return bool(found)


def _run(runs: SettingRuns, method: str, rtol: float, level: int, ends: float) -> list[SettingRun]:
    """A run at a tolerance; none if it does not complete in time."""
    left = ends - now()
    integrator = document.Integrator(method=method, rtol=rtol, atol=ABSOLUTE * rtol, dt=landing(runs.base, level))
    trial = runs.trial("rtol", integrator, ends, SHARE * left) if left > 0.0 else None
    return [] if trial is None or trial.answer is None else [trial]


def next_tolerance(made: Sequence[SettingRun], longest: float) -> float | None:
    """The next tolerance of a method; None where the run would take too long, or none is left.

    Args:
        made: Its runs, from coarse to fine.
        longest: Time for the next run [s].
    """
    if not made:
        return FIRST
    last = made[-1]
    growth = WORST
    if len(made) > 1:
        decades = math.log10(made[-2].value / last.value)
        growth = max(1.0, last.steps / made[-2].steps) ** (1.0 / decades)
    for decades in DECADES:
        takes = max(last.seconds, STEP * last.steps) * growth**decades * (CAREFUL if len(made) > 1 else 1.0)
        rtol = float(f"{last.value / 10**decades:.3g}")
        if takes <= longest and rtol >= LEAST:
            return rtol
    return None


def _agreed(made: Made) -> ReferenceSolution | None:
    """What the answers agree on; None of fewer than two.

    The doubt is the distance of the two methods at the finest tolerance that both reached, and what the change of the answer
    since the tolerance before may leave of its error.
    """
    if sum(map(len, made.values())) < 2:
        return None
    moved = {method: changes(trials) for method, trials in made.items() if trials}
    # the finest tolerance goes before, and of two methods the one that moved less
    method = min(moved, key=lambda name: (made[name][-1].value, moved[name][-1] if moved[name] else math.inf))
    last = made[method][-1]
    assert last.answer is not None
    doubts = [max(ROUNDING * math.sqrt(last.steps), SHARED) * max(1.0, float(abs(last.answer).max()))]
    one, other = ({trial.value: trial.answer for trial in trials} for trials in made.values())
    both = [rtol for rtol in one if rtol in other]
    for rtol in both[-1:]:
        a, b = one[rtol], other[rtol]
        assert a is not None
        assert b is not None
        doubts.append(distance(a, b))
    for name, steps in moved.items():  # of both, as one may have moved little by chance
        if steps and made[name][-1].value == last.value:
            falls = len(steps) < 2 or steps[-1] < steps[-2]
            gain = min(1.0, GAIN * last.value / made[name][-2].value)
            doubts.append(steps[-1] * (gain if falls and last.value in both else 1.0))
    return ReferenceSolution(last.answer, max(doubts), f"{' and '.join(moved)} at rtol {last.value:g}")


def landing(scenario: Scenario, level: int) -> float:
    """A step on which adaptive runs land [s]: about a thousand times, another number of times at every level.

    Landings keep a method from stepping over what is short. All times of the scenario are multiples of it; so are the corners of
    recorded inputs where they have a common step, else it is at most half the time between two of them.
    """
    step = largest_step(scenario) * Fraction(scenario.clock.num, scenario.clock.den)
    duration = scenario.clock.steps * Fraction(scenario.clock.num, scenario.clock.den)
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
    made = step / (parts + abs(level))
    return made.numerator / made.denominator


def _recorded(scenario: Scenario) -> Iterable[array[float] | Sequence[float]]:
    """The times of recorded inputs and references of a scenario [s]; none where they are sampled."""
    command = scenario.command
    if command is None or command.period is not None:
        return []
    inputs = command.inputs if isinstance(command, Controller) else command
    times = [signal.table.x for signal in (inputs.signals if inputs else ()) if isinstance(signal, RecordedSignal)]
    motion = command.reference if isinstance(command, Controller) else None
    return [*times, motion.origin.y[1:]] if isinstance(motion, Recorded) else times
