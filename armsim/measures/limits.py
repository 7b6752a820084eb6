"""Time at limits, and when they are first met: of drives, and of joints' ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import inf
from typing import Any

from armsim.expr import Scalar, either, maximum, where
from armsim.measures.aggregates import Largest, Smallest, TimeIntegral, TimeOf
from armsim.measures.kind import Request
from armsim.measures.measure import Measure
from armsim.measures.moment import Moment
from armsim.model import Joint

Acts = Callable[[Moment], Sequence[Any]]  # a condition for each joint asked for
Condition = Callable[[Request], Acts]


def time_while(acting: Condition) -> Callable[[Request], Measure]:
    """Makes the measure of the time for which a condition of any joint asked for holds."""

    def make(request: Request) -> Measure:
        acts = acting(request)
        return TimeIntegral((request.name,), ("s",), lambda now: [where(reduce(either, acts(now)), 1.0, 0.0)])

    return make


def first_while(acting: Condition) -> Callable[[Request], Measure]:
    """Makes the measure of when it first holds."""

    def make(request: Request) -> Measure:
        acts = acting(request)
        return Smallest((request.name,), ("s",), lambda now: [where(reduce(either, acts(now)), now.t, inf)])

    return make


def saturated(request: Request) -> Acts:
    """A limit of the drive acts."""
    return lambda now: [now.saturated[i] for i in request.indices]


def beyond(request: Request) -> Acts:
    """The joint is outside its range."""
    return lambda now: [_outside(now.plant.arm.joints[i], now.x.q[i]) for i in request.indices]


def limited(kind: str) -> Condition:
    """A limit of that kind acts, of `armsim.actuation.LIMITS`."""
    return lambda request: lambda now: [now.limits[i].get(kind, False) for i in request.indices]


def share_of(kind: str) -> Callable[[Request], Largest]:
    """Makes the measure of the largest share of a limit that any joint asked for uses."""

    def make(request: Request) -> Largest:
        def used(now: Moment) -> list[Scalar]:
            return [reduce(maximum, [now.shares[i].get(kind, 0.0) for i in request.indices])]

        return Largest((request.name,), ("",), used)

    return make


def nearest_limit(kind: str) -> Callable[[Request], Measure]:
    """Makes the measure of when that is."""
    return lambda request: TimeOf((request.name,), ("s",), share_of(kind)(request))


def _outside(joint: Joint, q: Scalar) -> Any:
    limit = joint.limit
    if limit is None:
        return False
    return either(q < limit.lower if limit.has_lower else False, q > limit.upper if limit.has_upper else False)
