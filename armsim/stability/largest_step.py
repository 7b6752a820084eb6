"""The largest step up to which a condition on steps holds."""

from __future__ import annotations

import math
from collections.abc import Callable

from armsim.stability.growth import RESOLVED

CLOSENESS = 1e-4  # relative precision of a largest stable step
SHORTEST, LONGEST = 1e-9, 10.0  # s: range of the search for largest stable steps
CLOSENESS = 1e-4  # relative precision of a largest stable step
SHORTEST, LONGEST = 1e-9, 10.0  # s: range of the search for largest stable steps


def largest_step(holds: Callable[[float], bool], fastest: float) -> float:
    """The largest step up to which a condition holds, by bisection [s].

    Args:
        holds: The condition on a step [s].
        fastest: The spectral radius [1/s].

    Returns:
        Infinity if it holds up to `LONGEST`, 0 if no step is short enough.
    """
    low = min(RESOLVED / fastest, LONGEST) if fastest else LONGEST
    while not holds(low):
        low /= 2
        if low < SHORTEST:
            return 0.0
    high = low
    while holds(high):  # from below, as stability may return beyond the limit
        if high >= LONGEST:
            return math.inf
        low, high = high, min(1.5 * high, LONGEST)
    while high - low > CLOSENESS * low:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
