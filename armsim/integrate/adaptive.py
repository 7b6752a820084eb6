"""Steps whose length an error estimate decides, in a loop that expression graphs can hold.

The loop is one `armsim.expr.loop`: in machine code it is native, every lane of a batch has its own time and step. It lands
exactly on the end of the given time. Where a step would run past an event (a stop is met, a joint comes to rest or is set
free) it is cut there, so that every step is smooth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from armsim.expr import (
    Scalar,
    absolute,
    both,
    clip,
    either,
    exp,
    leaves,
    log,
    loop,
    mapped,
    maximum,
    minimum,
    negated,
    where,
)
from armsim.integrate.method import FAILED, Tolerance
from armsim.integrate.motion import Motion
from armsim.integrate.system import System

MEMORY = ("step_length", "step_error", "steps_taken", "steps_refused")

FIRST = 1e-3  # of the given time, and s: the very first step; a good error estimate makes it grow fivefold at once
SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0
DAMPING = 0.04  # of the step control by the last two errors (Hairer, Norsett and Wanner, section II.4, DOPRI5)
LEAST_ERROR = 1e-4  # so that one lucky step does not count for much in the next
ROUNDING = 1e-15  # of the given time: what time is told apart by
EVENT = 1e-12  # s: how closely an event is found
VANISHED = 1e-15  # s: a step this small has failed
MOST = 3_000_000  # attempts in one advance


class Trial(NamedTuple):
    """A step that may be refused.

    Attributes:
        end: The state at its end.
        error: Estimate of the error of q, v and z.
    """

    end: Motion
    error: Motion


def adaptive_advance(
    trial: Callable[[System, Scalar, Motion, Scalar], Trial],
    order: int,
    system: System,
    t: Scalar,
    y: Motion,
    h: Scalar,
    memory: Sequence[Scalar],
    tolerance: Tolerance,
) -> tuple[Motion, list[Scalar]]:
    """The state at t + h; and the next step's length, the last error, and how many steps were taken and refused so far.

    Args:
        trial: A step of a pair of methods, smooth.
        order: The power of h with which its error estimate falls.
        system: What is advanced.
        t: Time [s].
        y: The state then.
        h: How far [s].
        memory: See `MEMORY`.
        tolerance: The error allowed in a step.
    """
    damping, power = DAMPING, 1 / order - 0.75 * DAMPING

    def body(now: Attempt) -> list[Attempt]:
        start, bracket = now.y, now.bracket
        left = h - now.done
        cutting = bracket.high > 0.0
        fall = bracket.low_guard - bracket.high_guard
        crossing = both(bracket.low_guard > 0.0, fall > 0.0)
        share = where(crossing, clip(bracket.low_guard / where(fall > 0.0, fall, 1.0), 0.05, 0.95), 0.5)
        found = bracket.high - bracket.low <= EVENT + ROUNDING * h
        to_event = where(found, bracket.high, bracket.low + share * (bracket.high - bracket.low))
        free = where(now.length >= left, left, where(now.length > left / 2, left / 2, now.length))
        free = free if system.longest == inf else minimum(free, system.longest)
        tried = where(cutting, to_event, free)

        smooth = system.within(t + now.done, start)
        end, error = trial(smooth, t + now.done, start, tried)
        ratio = _ratio(start, end, error, tolerance)
        guard = _least(smooth.guards(t + now.done + tried, start, end))
        end = smooth.arrest(start, end, tried)
        at_event = both(cutting, found)
        good = ratio <= 1.0
        passed = both(guard < 0.0, negated(at_event))
        closing = either(passed, both(both(good, cutting), negated(at_event)))  # in on an event within this step
        taking = both(good, negated(closing))
        refusing = negated(either(good, closing))

        known = clip(where(ratio < FAILED, ratio, FAILED), 1e-10, 1e10)
        factor = clip(SAFETY * exp(damping * log(maximum(now.error, LEAST_ERROR)) - power * log(known)), SHRINK, GROW)
        wanted = tried * factor
        # a step cut short by the end or an event says little about the one that the error allows
        fresh = where(either(cutting, tried < now.length), maximum(now.length, wanted), wanted)
        length = where(taking, fresh, where(refusing, minimum(wanted, SAFETY * tried), now.length))
        failing = both(refusing, length < VANISHED + ROUNDING * h)

        # the event lies between low and high; the guard that stays counts for half each time (Illinois)
        closer = Bracket(
            low=where(passed, bracket.low, tried),
            low_guard=where(passed, where(cutting, bracket.low_guard / 2, 0.0), guard),
            high=where(passed, tried, bracket.high),
            high_guard=where(passed, guard, bracket.high_guard / 2),
        )
        y = mapped(lambda after, before: where(taking, after, before), end, start)
        return [
            Attempt(
                done=where(failing, h, where(taking, where(tried >= left, h, now.done + tried), now.done)),
                length=length,
                error=where(taking, maximum(known, LEAST_ERROR), now.error),
                taken=where(taking, now.taken + 1.0, now.taken),
                refused=where(refusing, now.refused + 1.0, now.refused),
                bracket=mapped(lambda edge: where(closing, edge, 0.0), closer),
                y=y._replace(v=[where(failing, FAILED, v) for v in y.v]),
            )
        ]

    length, last, taken, refused = memory
    first = where(length > 0.0, length, FIRST * minimum(h, 1.0))
    nowhere = Bracket(0.0, 0.0, 0.0, 0.0)
    begin = Attempt(0.0, first, where(last > 0.0, last, 1.0), taken, refused, nowhere, y)
    (end,) = loop([begin], body, lambda now: now.done >= h, MOST)
    out_of_time = end.done < h
    after = end.y._replace(v=[where(out_of_time, FAILED, v) for v in end.y.v])
    return after, [end.length, end.error, end.taken, end.refused]


@dataclass(slots=True)
class Bracket:
    """Times within a step between which an event lies, from the step's start [s], and the guards there; zeros for none."""

    low: Scalar
    low_guard: Scalar
    high: Scalar
    high_guard: Scalar


@dataclass(slots=True)
class Attempt:
    """Where the steps have come to.

    Attributes:
        done: Time since the beginning [s].
        length: Of the next step [s].
        error: Of the last step, in units of what is allowed.
        taken: Steps taken.
        refused: Steps refused.
        bracket: Of the event at which the next step is to be cut.
        y: The state.
    """

    done: Scalar
    length: Scalar
    error: Scalar
    taken: Scalar
    refused: Scalar
    bracket: Bracket
    y: Motion


def _ratio(start: Motion, end: Motion, error: Motion, tolerance: Tolerance) -> Scalar:
    """The largest error in units of what is allowed."""
    worst: Scalar = 0.0
    for a, b, e in zip(*(leaves(x._replace(w=None)) for x in (start, end, error)), strict=True):
        allowed = tolerance.atol + tolerance.rtol * maximum(absolute(a), absolute(b))
        ratio = absolute(e) / allowed
        larger = where(ratio <= worst, worst, ratio)  # what is not a number is the worst, and stays so
        worst = where(worst <= FAILED, larger, worst)
    return worst


def _least(guards: Sequence[Scalar]) -> Scalar:
    least: Scalar = 1.0
    for guard in guards:
        least = minimum(guard, least)
    return least
