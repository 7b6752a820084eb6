"""Time at limits: of drives, and of joints' ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from armsim.expr import Scalar, either, where
from armsim.measures.aggregates import TimeIntegral
from armsim.measures.kind import Request
from armsim.measures.measure import Measure
from armsim.measures.moment import Moment
from armsim.model import Joint


def time_at_limit(request: Request) -> Measure:
    """The time for which a limit of a drive acts."""
    return _time(request, lambda now: now.saturated)


def time_at_stop(request: Request) -> Measure:
    """The time outside a joint's range."""
    joints = request.plant.arm.joints
    return _time(request, lambda now: [_outside(joint, q) for joint, q in zip(joints, now.x.q, strict=True)])


def _time(request: Request, acts: Callable[[Moment], Sequence[Any]]) -> Measure:
    def any_acts(now: Moment) -> list[Scalar]:
        conditions = acts(now)
        return [where(reduce(either, [conditions[i] for i in request.indices]), 1.0, 0.0)]

    return TimeIntegral((request.name,), ("s",), any_acts)


def _outside(joint: Joint, q: Scalar) -> Any:
    limit = joint.limit
    if limit is None:
        return False
    return either(q < limit.lower if limit.has_lower else False, q > limit.upper if limit.has_upper else False)
