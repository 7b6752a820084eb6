"""Golden-section search."""

from __future__ import annotations

import math
from collections.abc import Callable

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
ROUNDS = 80  # each leaves 0.618 of the interval: 2e-17 of it in the end


def greatest(f: Callable[[float], float], low: float, high: float) -> float:
    """Where a unimodal function is greatest between low and high."""
    for _ in range(ROUNDS):
        span = GOLDEN * (high - low)
        if f(high - span) < f(low + span):
            low = high - span
        else:
            high = low + span
    return (low + high) / 2.0
