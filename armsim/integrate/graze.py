"""Gaps that are closed and open again within a step, which its ends do not show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from armsim.expr import Scalar, Scalars, both, chosen, loop, negated, where
from armsim.integrate.motion import Motion
from armsim.integrate.system import System

ROUNDS = 12  # looks for each gap; a pass of a ball takes three


def first_graze(
    system: System, start: Motion, end: Motion, h: Scalar, inside: Callable[[Scalar], Motion], unsure: Scalar = 0.0
) -> tuple[Scalar, Scalar]:
    """The time since a step's start at which a gap is closed that is open at both ends, and the gap there; h and 1 without one.

    Of a convex solid the tangents at both ends of an interval bound the gap from below. Where they meet it is looked at next
    (Kelley 1960, *J. SIAM* 8(4)).

    Args:
        system: The system.
        start: The motion at the step's start.
        end: At its end.
        h: Its length [s].
        inside: The motion at a time since its start.
        unsure: A gap that is negative by no more is not counted.
    """

    def narrowed(k: int, low: Scalars, high: Scalars) -> Sequence[Scalars]:
        at, _ = _valley(low, high)
        gap, rate = system.gaps(inside(at))[k]
        falls, new = both(gap >= -unsure, rate < 0.0), [at, gap, rate]
        return [chosen(falls, *pair) for pair in ((new, low), (high, new))]

    first, lowest = h, 1.0
    for k, (opens, closes) in enumerate(zip(system.gaps(start), system.gaps(end), strict=True)):
        ends = [[0.0, *opens], [h, *closes]]
        _, (at, gap, _) = loop(ends, partial(narrowed, k), lambda *now: negated(_valley(*now)[1]), ROUNDS)
        met = both(at < first, gap < -unsure)
        first, lowest = chosen(met, (at, gap), (first, lowest))
    return first, lowest


def _valley(low: Scalars, high: Scalars) -> tuple[Scalar, Any]:
    """When the tangents at two times meet, and whether they do so below 0, from above; by time, gap and rate of both."""
    (a, fall, down), (b, rise, up) = low, high
    turns = both(down < 0.0, up > 0.0)
    at = (fall - down * a - rise + up * b) / where(turns, up - down, 1.0)
    return at, both(both(turns, fall + down * (at - a) < 0.0), both(fall > 0.0, rise > 0.0))
