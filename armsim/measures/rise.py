"""Rise time of a step response."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf

from armsim.expr import Scalars, absolute, maximum, minimum, where
from armsim.measures.kind import Request
from armsim.measures.measure import Measure
from armsim.measures.moment import Moment
from armsim.records import mutable_record, record

FROM, TO = 0.1, 0.9  # of the way from the start to where the target ends


@mutable_record
class Reached:
    """When joints are first as far on their way as `FROM` and `TO` [s]; inf where they are not yet."""

    early: Scalars
    late: Scalars


@record
class RiseTime(Measure):
    """The time from when joints are first a tenth of their way to when they are first nine tenths: the longest.

    Infinite where one does not come that far, 0 of one that has no way to go.

    Attributes:
        indices: Of the joints.
    """

    indices: Sequence[int]

    def begin(self) -> Reached:
        return Reached([inf] * len(self.indices), [inf] * len(self.indices))

    def update(self, kept: Reached, now: Moment) -> Reached:
        return Reached(self._first(kept.early, now, FROM), self._first(kept.late, now, TO))

    def _first(self, times: Scalars, now: Moment, share: float) -> Scalars:
        assert now.goal is not None
        first = []
        for i, t in zip(self.indices, times, strict=True):
            way, gone = now.goal[i] - now.start[i], now.x.q[i] - now.start[i]
            forth = where(way < 0.0, -gone, gone)
            first.append(minimum(t, where(forth >= share * absolute(way), now.t, inf)))
        return first

    def result(self, kept: Reached, end: Moment) -> Scalars:
        pairs = zip(kept.early, kept.late, strict=True)
        return [
            reduce(maximum, [where(late < inf, late - where(late < inf, early, 0.0), inf) for early, late in pairs])
        ]


def rise_time(request: Request) -> Measure:
    """The rise time."""
    request.need_goal()
    return RiseTime((request.name,), ("s",), tuple(request.indices))
