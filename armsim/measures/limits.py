"""Time at limits, and when they are first met: of drives, and of joints' ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import inf
from typing import Any

from armsim.actuation import limit_kinds
from armsim.control import Controller
from armsim.expr import Scalar, either, where
from armsim.measures.aggregates import Smallest, TimeIntegral
from armsim.measures.kind import Request
from armsim.measures.measure import Measure
from armsim.measures.moment import Moment
from armsim.model import Joint
from armsim.plant import Plant

Acts = Callable[[Moment], Sequence[Any]]  # a condition for each joint asked for


def time_at_limit(request: Request) -> Measure:
    """The time for which a limit of a drive acts."""
    return _time(request, _saturated(request))


def first_at_limit(request: Request) -> Measure:
    """When one first acts."""
    return _first(request, _saturated(request))


def time_at_stop(request: Request) -> Measure:
    """The time outside a joint's range."""
    return _time(request, _beyond(request))


def first_at_stop(request: Request) -> Measure:
    """When a joint first leaves its range."""
    return _first(request, _beyond(request))


def time_at(kind: str) -> Callable[[Request], Measure]:
    """Makes the measure of the time for which a limit of that kind acts, of `armsim.actuation.LIMITS`."""
    return lambda request: _time(request, _of_kind(request, kind))


def first_at(kind: str) -> Callable[[Request], Measure]:
    """Makes the measure of when one first acts."""
    return lambda request: _first(request, _of_kind(request, kind))


def limits_of(plant: Plant) -> list[tuple[str, ...]]:
    """The kinds of limits that every joint's drive has under the plant's command."""
    command = plant.command
    if command is None:
        return [() for _ in plant.arm.joints]
    bounds = command.limit if isinstance(command, Controller) else (None,) * plant.arm.n
    return [
        (*(() if bound is None else ("command",)), *limit_kinds(joint))
        for joint, bound in zip(plant.arm.joints, bounds, strict=True)
    ]


def _saturated(request: Request) -> Acts:
    return lambda now: [now.saturated[i] for i in request.indices]


def _beyond(request: Request) -> Acts:
    return lambda now: [_outside(now.plant.arm.joints[i], now.x.q[i]) for i in request.indices]


def _of_kind(request: Request, kind: str) -> Acts:
    return lambda now: [now.limits[i].get(kind, False) for i in request.indices]


def _time(request: Request, acts: Acts) -> Measure:
    return TimeIntegral((request.name,), ("s",), lambda now: [where(reduce(either, acts(now)), 1.0, 0.0)])


def _first(request: Request, acts: Acts) -> Measure:
    return Smallest((request.name,), ("s",), lambda now: [where(reduce(either, acts(now)), now.t, inf)])


def _outside(joint: Joint, q: Scalar) -> Any:
    limit = joint.limit
    if limit is None:
        return False
    return either(q < limit.lower if limit.has_lower else False, q > limit.upper if limit.has_upper else False)
