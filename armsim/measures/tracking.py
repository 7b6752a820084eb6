"""How well a feedback law tracks its target: integrals of the error, and the final error."""

from __future__ import annotations

from collections.abc import Callable

from armsim.expr import Scalar, absolute, maximum
from armsim.measures.aggregates import Final, TimeIntegral
from armsim.measures.kind import Request, length
from armsim.measures.measure import Measure, summed
from armsim.measures.moment import Moment


def iae(request: Request) -> Measure:
    """The integral of the absolute error."""
    return _integral(request, "{}·s", lambda t, e: absolute(e))


def ise(request: Request) -> Measure:
    """The integral of the squared error."""
    return _integral(request, "{}²·s", lambda t, e: e * e)


def itae(request: Request) -> Measure:
    """The integral of time times absolute error."""
    return _integral(request, "{}·s²", lambda t, e: t * absolute(e))


def _integral(request: Request, unit: str, cost: Callable[[Scalar, Scalar], Scalar]) -> Measure:
    request.need_target()

    def costs(now: Moment) -> list[Scalar]:
        return [summed([cost(now.t, now.errors[i]) for i in request.indices])]

    shared = request.unit(length)
    return TimeIntegral((request.name,), (unit.format(shared) if shared else "",), costs)


def error(request: Request) -> Measure:
    """Of a joint the final error, of the arm the largest in magnitude."""
    request.need_target()

    def final(end: Moment) -> list[Scalar]:
        if request.joint is not None:
            return [end.errors[request.joint]]
        largest: Scalar = 0.0
        for e in end.errors:
            largest = maximum(absolute(e), largest)
        return [largest]

    return Final((request.name,), (request.unit(length),), final)
