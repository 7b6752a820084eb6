"""Settling time of a step response."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf
from typing import Any

from armsim.expr import Scalar, Scalars, absolute, both, negated, where
from armsim.measures.kind import Request
from armsim.measures.measure import Measure
from armsim.measures.moment import Moment
from armsim.records import record

SHARE = 0.02  # of |target - start|, the band unless given


@record
class SettlingTime(Measure):
    """The last time at which an error is outside its band; infinite where one is at the end.

    Attributes:
        indices: Of the joints, any of which counts.
        band: [rad or m]; None for `SHARE` of |target - start|.
    """

    indices: Sequence[int]
    band: float | None

    def begin(self) -> Scalar:
        return 0.0

    def update(self, kept: Scalar, now: Moment) -> Scalar:
        return where(self._outside(now), now.t, kept)

    def result(self, kept: Scalar, end: Moment) -> Scalars:
        return [where(self._outside(end), inf, kept)]

    def _outside(self, now: Moment) -> Any:
        return negated(reduce(both, [absolute(now.errors[i]) <= self._band(i, now) for i in self.indices]))

    def _band(self, i: int, now: Moment) -> Scalar:
        if self.band is not None:
            return self.band
        assert now.goal is not None
        return SHARE * absolute(now.goal[i] - now.start[i])


def settling_time(request: Request) -> Measure:
    """The settling time."""
    request.need_goal()
    band = request.checked_band("give the largest error of a joint that has settled, for example `settling_time(1e-3)`")
    return SettlingTime((request.name,), ("s",), tuple(request.indices), band)
