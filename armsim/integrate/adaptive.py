"""Adaptive step-size control with event location, in a loop that expression graphs can hold.

The loop is one `armsim.expr.loop`: in machine code it is native, every lane of a batch has its own time and step. The last step
ends exactly at the end of the interval. A step that would pass an event (a stop is met, a joint comes to rest or begins to slip)
ends at the event, so that every step is smooth.
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

FIRST = 1e-3  # initial step, relative to an interval up to 1 s, else in s; an accurate one grows fivefold at once
SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0  # safety factor, and bounds of the ratio of successive steps
BETA = 0.04  # of PI step-size control (Hairer, Norsett and Wanner, section II.4, DOPRI5)
LEAST_ERROR = 1e-4  # lower bound of the last error in it
ROUNDING = 1e-15  # resolution of time, relative to the interval
EVENT = 1e-12  # s: tolerance of event location
VANISHED = 1e-15  # s: least step; one that would have to be smaller has failed
MOST = 3_000_000  # attempted steps in one advance


class Trial(NamedTuple):
    """An attempted step, to be accepted or rejected.

    Attributes:
        end: The state at its end.
        error: Embedded error estimate of q, v and z.
    """

    end: Motion
    error: Motion


@dataclass(slots=True)
class Bracket:
    """Two times within a step that enclose an event, from the step's start [s], and the least guard there; zeros for none."""

    low: Scalar
    low_guard: Scalar
    high: Scalar
    high_guard: Scalar


@dataclass(slots=True)
class Attempt:
    """The state of the loop over attempted steps.

    Attributes:
        done: Time since the start of the interval [s].
        length: Step size that the control proposes [s].
        error: Norm of the last accepted step's error, relative to the tolerance.
        accepted: Number of accepted steps.
        rejected: Number of rejected steps.
        bracket: Of the event at which the step is to end.
        y: The motion.
    """

    done: Scalar
    length: Scalar
    error: Scalar
    accepted: Scalar
    rejected: Scalar
    bracket: Bracket
    y: Motion


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
    """The state at t + h; and the step size proposed next, the last error, and the numbers of accepted and rejected steps.

    Args:
        trial: A step of an embedded pair on a smooth system.
        order: Order of its error estimate, O(h^order).
        system: The system.
        t: Time [s].
        y: The state then.
        h: Length of the interval [s].
        memory: See `MEMORY`.
        tolerance: Of the local error.
    """
    beta, alpha = BETA, 1 / order - 0.75 * BETA

    def body(now: Attempt) -> list[Attempt]:
        start, bracket = now.y, now.bracket
        left = h - now.done

        # the step to try: to the event's regula falsi estimate, or as the control proposes, the last two of equal length
        locating = bracket.high > 0.0
        fall = bracket.low_guard - bracket.high_guard
        crossing = both(bracket.low_guard > 0.0, fall > 0.0)
        share = where(crossing, clip(bracket.low_guard / where(fall > 0.0, fall, 1.0), 0.05, 0.95), 0.5)
        located = bracket.high - bracket.low <= EVENT + ROUNDING * h
        to_event = where(located, bracket.high, bracket.low + share * (bracket.high - bracket.low))
        proposed = where(now.length >= left, left, where(now.length > left / 2, left / 2, now.length))
        proposed = proposed if system.longest == inf else minimum(proposed, system.longest)
        tried = where(locating, to_event, proposed)

        smooth = system.within(t + now.done, start)
        end, estimate = trial(smooth, t + now.done, start, tried)
        error = _error_norm(start, end, estimate, tolerance)
        guard = _least(smooth.guards(t + now.done + tried, start, end))
        end = smooth.arrest(start, end, tried)
        at_event = both(locating, located)
        accurate = error <= 1.0
        passed = both(guard < 0.0, negated(at_event))
        narrowing = either(passed, both(both(accurate, locating), negated(at_event)))  # the bracket of an event
        accepting = both(accurate, negated(narrowing))
        rejecting = negated(either(accurate, narrowing))

        bounded = clip(where(error < FAILED, error, FAILED), 1e-10, 1e10)
        factor = clip(SAFETY * exp(beta * log(maximum(now.error, LEAST_ERROR)) - alpha * log(bounded)), SHRINK, GROW)
        wanted = tried * factor
        # a step that the end or an event cuts short does not make the control propose less
        fresh = where(either(locating, tried < now.length), maximum(now.length, wanted), wanted)
        length = where(accepting, fresh, where(rejecting, minimum(wanted, SAFETY * tried), now.length))
        failing = both(rejecting, length < VANISHED + ROUNDING * h)

        # Illinois variant of regula falsi: the guard at the end that stays is halved
        closer = Bracket(
            low=where(passed, bracket.low, tried),
            low_guard=where(passed, where(locating, bracket.low_guard / 2, 0.0), guard),
            high=where(passed, tried, bracket.high),
            high_guard=where(passed, guard, bracket.high_guard / 2),
        )
        y = mapped(lambda after, before: where(accepting, after, before), end, start)
        return [
            Attempt(
                done=where(failing, h, where(accepting, where(tried >= left, h, now.done + tried), now.done)),
                length=length,
                error=where(accepting, maximum(bounded, LEAST_ERROR), now.error),
                accepted=where(accepting, now.accepted + 1.0, now.accepted),
                rejected=where(rejecting, now.rejected + 1.0, now.rejected),
                bracket=mapped(lambda edge: where(narrowing, edge, 0.0), closer),
                y=y._replace(v=[where(failing, FAILED, v) for v in y.v]),
            )
        ]

    length, last, accepted, rejected = memory
    first = where(length > 0.0, length, FIRST * minimum(h, 1.0))
    nowhere = Bracket(0.0, 0.0, 0.0, 0.0)
    begin = Attempt(0.0, first, where(last > 0.0, last, 1.0), accepted, rejected, nowhere, y)
    (end,) = loop([begin], body, lambda now: now.done >= h, MOST)
    out_of_time = end.done < h
    after = end.y._replace(v=[where(out_of_time, FAILED, v) for v in end.y.v])
    return after, [end.length, end.error, end.accepted, end.rejected]


def _error_norm(start: Motion, end: Motion, estimate: Motion, tolerance: Tolerance) -> Scalar:
    """The maximum norm of an error estimate, relative to the tolerance; NaN if any component is."""
    worst: Scalar = 0.0
    for a, b, e in zip(*(leaves(x._replace(w=None)) for x in (start, end, estimate)), strict=True):
        allowed = tolerance.atol + tolerance.rtol * maximum(absolute(a), absolute(b))
        ratio = absolute(e) / allowed
        larger = where(ratio <= worst, worst, ratio)  # also where the ratio is NaN
        worst = where(worst <= FAILED, larger, worst)
    return worst


def _least(guards: Sequence[Scalar]) -> Scalar:
    least: Scalar = 1.0
    for guard in guards:
        least = minimum(guard, least)
    return least
