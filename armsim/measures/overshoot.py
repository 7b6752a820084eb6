"""Overshoot of a step response."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from armsim.expr import Scalars, absolute, maximum, minus, where
from armsim.measures.kind import Request
from armsim.measures.measure import Measure
from armsim.measures.moment import Moment
from armsim.records import record


@record
class Overshoot(Measure):
    """How far joints go beyond their target, as a share of |target - start|: the largest; 0 of one that starts at its target.

    Attributes:
        indices: Of the joints.
    """

    indices: Sequence[int]

    def begin(self) -> Scalars:
        return [0.0] * len(self.indices)

    def update(self, kept: Scalars, now: Moment) -> Scalars:
        assert now.goal is not None
        errors = minus(self._of(now.goal), self._of(now.q))
        beyond = [where(span < 0.0, e, -e) for span, e in zip(self._spans(now), errors, strict=True)]
        return [maximum(x, most) for x, most in zip(beyond, kept, strict=True)]

    def result(self, kept: Scalars, end: Moment) -> Scalars:
        sizes = [absolute(span) for span in self._spans(end)]
        shares = [
            where(size > 0.0, most / where(size > 0.0, size, 1.0), 0.0) for most, size in zip(kept, sizes, strict=True)
        ]
        return [reduce(maximum, shares)]

    def _spans(self, now: Moment) -> Scalars:
        assert now.goal is not None
        return minus(self._of(now.goal), self._of(now.start))

    def _of(self, values: Scalars) -> Scalars:
        return [values[i] for i in self.indices]


def overshoot(request: Request) -> Measure:
    """The overshoot."""
    request.need_goal()
    return Overshoot((request.name,), ("",), tuple(request.indices))
