"""How well a feedback law tracks its target: integrals of the error, its root mean square, its peak and its end."""

from __future__ import annotations

from collections.abc import Callable

from armsim.expr import Scalar, absolute, maximum, sqrt
from armsim.measures.aggregates import Final, Peak, RootMeanSquare, TimeIntegral, Worst
from armsim.measures.kind import Request, length
from armsim.measures.measure import Measure, Quantities, summed
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


def rms_error(request: Request) -> Measure:
    """The root mean square of a joint's error, or the largest of all joints'."""
    return Worst(*_of_one(request), RootMeanSquare(*_of_joints(request)))


def peak_error(request: Request) -> Measure:
    """The largest error in magnitude."""
    return Worst(*_of_one(request), Peak(*_of_joints(request)))


Named = tuple[tuple[str, ...], tuple[str, ...]]


def _of_one(request: Request) -> Named:
    return (request.name,), (request.unit(length),)


def _of_joints(request: Request) -> tuple[tuple[str, ...], tuple[str, ...], Quantities]:
    request.need_target()
    names = tuple(joint.name for joint in request.joints)
    return names, tuple(map(length, request.joints)), lambda now: [now.errors[i] for i in request.indices]


def rms_tool_error(request: Request) -> Measure:
    """The root mean square of the tool's distance from its target."""
    request.need_target()
    return RootMeanSquare((request.name,), ("m",), _tool_distance)


def peak_tool_error(request: Request) -> Measure:
    """The tool's largest distance from its target."""
    request.need_target()
    return Peak((request.name,), ("m",), _tool_distance)


def _tool_distance(now: Moment) -> list[Scalar]:
    d = now.off_target
    return [sqrt(d.dot(d))]
