"""Steps whose length an error estimate decides, in a loop that expression graphs can hold.

The loop is one `armsim.expr.loop`: in machine code it is native, every lane of a batch has its own time and step. It lands
exactly on the end of the given time. Where a step would run past an event (a stop is met, a joint comes to rest or is set
free) it is cut there, so that every step is smooth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

from armsim.expr import Scalar, absolute, both, clip, either, exp, log, loop, maximum, minimum, negated, where
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
    sizes = [len(part) for part in y]
    damping, power = DAMPING, 1 / order - 0.75 * DAMPING

    def body(*x: Scalar) -> list[Scalar]:
        done, length, last, taken, refused, low, low_guard, high, high_guard = x[:9]
        start = _motion(x[9:], sizes)
        left = h - done
        cutting = high > 0.0
        fall = low_guard - high_guard
        share = where(
            both(low_guard > 0.0, fall > 0.0), clip(low_guard / where(fall > 0.0, fall, 1.0), 0.05, 0.95), 0.5
        )
        found = high - low <= EVENT + ROUNDING * h
        to_event = where(found, high, low + share * (high - low))
        free = where(length >= left, left, where(length > left / 2, left / 2, length))
        free = free if system.longest == inf else minimum(free, system.longest)
        tried = where(cutting, to_event, free)

        smooth = system.within(t + done, start)
        end, error = trial(smooth, t + done, start, tried)
        ratio = _ratio(start, end, error, tolerance)
        guard = _least(smooth.guards(t + done + tried, start, end))
        end = smooth.arrest(start, end, tried)
        at_event = both(cutting, found)
        good = ratio <= 1.0
        passed = both(guard < 0.0, negated(at_event))
        closing = either(passed, both(both(good, cutting), negated(at_event)))  # in on an event within this step
        taking = both(good, negated(closing))
        refusing = negated(either(good, closing))

        known = clip(where(ratio < FAILED, ratio, FAILED), 1e-10, 1e10)
        factor = clip(SAFETY * exp(damping * log(maximum(last, LEAST_ERROR)) - power * log(known)), SHRINK, GROW)
        wanted = tried * factor
        # a step cut short by the end or an event says little about the one that the error allows
        fresh = where(either(cutting, tried < length), maximum(length, wanted), wanted)
        length_after = where(taking, fresh, where(refusing, minimum(wanted, SAFETY * tried), length))
        failing = both(refusing, length_after < VANISHED + ROUNDING * h)

        # the event lies between low and high; the guard that stays counts for half each time (Illinois)
        bracket = [
            where(passed, low, tried),
            where(passed, where(cutting, low_guard / 2, 0.0), guard),
            where(passed, tried, high),
            where(passed, guard, high_guard / 2),
        ]

        flat = [where(taking, b, a) for a, b in zip(_flat(start), _flat(end), strict=True)]
        speeds = range(sizes[0], sizes[0] + sizes[1])
        flat = [where(failing, FAILED, a) if i in speeds else a for i, a in enumerate(flat)]
        return [
            where(failing, h, where(taking, where(tried >= left, h, done + tried), done)),
            length_after,
            where(taking, maximum(known, LEAST_ERROR), last),
            where(taking, taken + 1.0, taken),
            where(refusing, refused + 1.0, refused),
            *(where(closing, edge, 0.0) for edge in bracket),
            *flat,
        ]

    length, last, taken, refused = memory
    begin = [0.0, where(length > 0.0, length, FIRST * minimum(h, 1.0)), where(last > 0.0, last, 1.0), taken, refused]
    end = loop([*begin, 0.0, 0.0, 0.0, 0.0, *_flat(y)], body, lambda *x: x[0] >= h, MOST)
    after = _motion(end[9:], sizes)
    out_of_time = end[0] < h
    after = after._replace(v=[where(out_of_time, FAILED, v) for v in after.v])
    return after, list(end[1:5])


def _ratio(start: Motion, end: Motion, error: Motion, tolerance: Tolerance) -> Scalar:
    """The largest error in units of what is allowed."""
    worst: Scalar = 0.0
    for before, after, wrong in zip(start[:3], end[:3], error[:3], strict=True):
        for a, b, e in zip(before, after, wrong, strict=True):
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


def _flat(y: Motion) -> list[Scalar]:
    return [x for part in y for x in part]


def _motion(x: Sequence[Scalar], sizes: Sequence[int]) -> Motion:
    parts, start = [], 0
    for size in sizes:
        parts.append(list(x[start : start + size]))
        start += size
    return Motion(*parts)
