"""The bracket of an event, narrowed by regula falsi."""

from __future__ import annotations

from typing import Any

from armsim.expr import Scalar, both, clip, where
from armsim.records import mutable_record

EVENT = 1e-12  # s: tolerance of event location
ROUNDING = 1e-15  # resolution of time, relative to an interval


@mutable_record
class Bracket:
    """Two times within a step that enclose an event, from the step's start [s], and the least guard there; zeros for none."""

    low: Scalar = 0.0
    low_guard: Scalar = 0.0
    high: Scalar = 0.0
    high_guard: Scalar = 0.0

    @property
    def locating(self) -> Any:
        """Whether there is an event."""
        return self.high > 0.0

    @property
    def share(self) -> Scalar:
        """Regula falsi's estimate of the event, as a share of the way from `low` to `high`."""
        fall = self.low_guard - self.high_guard
        crossing = both(self.low_guard > 0.0, fall > 0.0)
        return where(crossing, clip(self.low_guard / where(fall > 0.0, fall, 1.0), 0.05, 0.95), 0.5)

    def located(self, h: Scalar) -> Any:
        """Whether it is as narrow as the resolution of time in an interval of length h [s]; the event is then at `high`."""
        return self.high - self.low <= EVENT + ROUNDING * h

    def estimate(self, located: Any) -> Scalar:
        """The step to try next [s]."""
        return where(located, self.high, self.low + self.share * (self.high - self.low))

    def narrowed(self, tried: Scalar, guard: Scalar, passed: Any, met: Scalar) -> Bracket:
        """The bracket after a step was tried: regula falsi's Illinois variant, which halves the guard at the end that stays.

        Args:
            tried: Length of the step [s].
            guard: The least guard at `met`.
            passed: Whether it is negative.
            met: Time within the step at which it is [s]; `tried` where it is not.
        """
        below = both(passed, met <= self.low)  # met before a time that had seemed free of it
        return Bracket(
            low=where(below, 0.0, where(passed, self.low, tried)),
            low_guard=where(below, 0.0, where(passed, where(self.locating, self.low_guard / 2, 0.0), guard)),
            high=where(passed, met, self.high),
            high_guard=where(passed, guard, self.high_guard / 2),
        )
