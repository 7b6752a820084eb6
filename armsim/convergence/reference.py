"""The answer from which errors are taken, and how far it is known: extrapolated, of the finest tolerance, or agreed upon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from armsim.arrays import Array
from armsim.records import record

TO_EXTRAPOLATE = 4  # answers: the last three extrapolate, and the three before estimate the error of that
LEAST_ORDER, MOST_ORDER = 0.5, 12.0  # observed order, between which answers are extrapolated
BISECTIONS = 50
APART = 3.0  # times the sum of two doubts: references further apart contradict each other


@record
class SettingRun:
    """A run with one setting.

    Attributes:
        value: The step [s], or the relative tolerance of an adaptive method.
        steps: Number of steps carried out.
        seconds: Wall time of the steps [s].
        ended: Time reached [s]: the duration, unless it diverged.
        answer: Joint positions [rad or m], shape (instants, n); None if the run diverged.
        accelerations: Largest difference between the accelerations of a joint at two instants [rad/s² or m/s²].
    """

    value: float
    steps: int
    seconds: float
    ended: float
    answer: Array | None
    accelerations: float = 0.0


@record
class ReferenceSolution:
    """The answer from which errors are taken.

    Attributes:
        answer: Joint positions [rad or m], shape (instants, n).
        doubt: Estimate of its own error [rad or m].
        source: Where it is from, in words.
    """

    answer: Array
    doubt: float
    source: str = ""


def distance(a: Array, b: Array) -> float:
    """Largest difference of any joint position at any instant [rad or m]: the maximum norm."""
    return float(np.abs(a - b).max())


def changes(trials: Sequence[SettingRun]) -> list[float]:
    """Distances between successive answers [rad or m]; no trial diverged."""
    answers = [trial.answer for trial in trials if trial.answer is not None]
    return [distance(a, b) for a, b in pairwise(answers)]


def richardson(trials: Sequence[SettingRun]) -> ReferenceSolution:
    """The reference that trials of falling steps give; at least two, none diverged.

    Where they converge at a steady order, it is the Richardson extrapolation of the last two, with the order observed in the
    last three; its error estimate is the change of that extrapolation since the trial before. Else it is the last answer, and
    its error estimate the last change.
    """
    moved = changes(trials)
    last = trials[-1].answer
    assert last is not None
    # two answers may agree by chance: a change counts as no less than a tenth of the one before
    plain = ReferenceSolution(
        last, max(moved[-1], moved[-2] / 10.0) if len(moved) > 1 else moved[-1], "the finest step"
    )
    if len(trials) < TO_EXTRAPOLATE:
        return plain
    better, earlier = _extrapolated(trials[-3:], moved[-2:]), _extrapolated(trials[-4:-1], moved[-3:-1])
    if better is None or earlier is None:
        return plain
    doubt = distance(better, earlier)
    return ReferenceSolution(better, doubt, "Richardson extrapolation") if doubt < moved[-1] else plain


def finest(trials: Sequence[SettingRun]) -> ReferenceSolution:
    """The reference that trials give whose tolerances fall tenfold: the last answer; at least two, none diverged.

    Their errors follow the tolerance too loosely for extrapolation. The error estimate is the last change times its ratio to the
    change before, that ratio within 0.1 and 1.
    """
    answers = [trial.answer for trial in trials if trial.answer is not None]
    moved = changes(trials)
    gained = moved[-1] / moved[-2] if len(moved) > 1 and moved[-2] > 0.0 else 1.0
    return ReferenceSolution(answers[-1], moved[-1] * min(1.0, max(0.1, gained)), "the finest tolerance")


def agreed(references: Sequence[ReferenceSolution]) -> ReferenceSolution | None:
    """The reference of least doubt, its doubt raised to its distance from every one that contradicts it; None of none.

    Two references contradict each other where they are further apart than their doubts allow: one of the two claims too much,
    and nothing says which.
    """
    best = min(references, key=lambda found: found.doubt, default=None)
    if best is None:
        return None
    apart = [(distance(best.answer, other.answer), other) for other in references if other is not best]
    return replace(best, doubt=max([best.doubt, *(d for d, other in apart if d > APART * (best.doubt + other.doubt))]))


def _extrapolated(trials: Sequence[SettingRun], moved: Sequence[float]) -> Array | None:
    """Richardson extrapolation of three answers to step zero; None where the observed order is out of bounds."""
    *_, before, last = (trial.answer for trial in trials)
    order = order_between([trial.value for trial in trials], moved)
    if order is None or before is None or last is None:
        return None
    return last + (last - before) / ((trials[-2].value / trials[-1].value) ** order - 1.0)


def order_between(steps: Sequence[float], moved: Sequence[float]) -> float | None:
    """The order p at which errors C h^p of three steps differ by two changes; None out of `LEAST_ORDER` and `MOST_ORDER`.

    Args:
        steps: Three step lengths [s], falling.
        moved: Distance of the first and second answer, and of the second and third [rad or m].
    """
    r, s = steps[0] / steps[1], steps[1] / steps[2]

    def gain(order: float) -> float:
        return math.expm1(order * math.log(r)) / -math.expm1(-order * math.log(s))

    if not 0.0 < moved[1] * gain(LEAST_ORDER) <= moved[0] <= moved[1] * gain(MOST_ORDER):
        return None
    low, high = LEAST_ORDER, MOST_ORDER
    for _ in range(BISECTIONS):  # the gain rises with the order
        middle = 0.5 * (low + high)
        low, high = (middle, high) if moved[1] * gain(middle) <= moved[0] else (low, middle)
    return 0.5 * (low + high)
