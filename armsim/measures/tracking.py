"""How well a feedback law tracks its target: integrals of the error, its root mean square, its peak and its end."""

from __future__ import annotations

from collections.abc import Callable

from armsim.expr import Scalar, Scalars, absolute, maximum, sqrt
from armsim.measures.aggregates import Aggregated, Final, TimeIntegral, Worst
from armsim.measures.kind import Request, length
from armsim.measures.measure import Measure, summed
from armsim.measures.moment import Moment
from armsim.spatial import Vector


def integral(unit: str, cost: Callable[[Scalar, Scalar], Scalar]) -> Callable[[Request], Measure]:
    """Makes the measure of the integral of a cost of time and error, summed over joints; the unit has {} for the error's."""

    def make(request: Request) -> Measure:
        request.need_target()

        def costs(now: Moment) -> Scalars:
            return [summed([cost(now.t, now.errors[i]) for i in request.indices])]

        shared = request.unit(length)
        return TimeIntegral((request.name,), (unit.format(shared) if shared else "",), costs)

    return make


def error(request: Request) -> Measure:
    """Of a joint the final error, of the arm the largest in magnitude."""
    request.need_target()

    def final(end: Moment) -> Scalars:
        if request.joint is not None:
            return [end.errors[request.joint]]
        largest: Scalar = 0.0
        for e in end.errors:
            largest = maximum(absolute(e), largest)
        return [largest]

    return Final((request.name,), (request.unit(length),), final)


def of_errors(measure: type[Aggregated]) -> Callable[[Request], Measure]:
    """Makes the measure of a joint's error, or the largest of all joints'."""

    def make(request: Request) -> Measure:
        request.need_target()
        names, units = tuple(joint.name for joint in request.joints), tuple(map(length, request.joints))
        errors = measure(names, units, lambda now: [now.errors[i] for i in request.indices])
        return Worst((request.name,), (request.unit(length),), errors)

    return make


def of_frame_error(measure: type[Aggregated]) -> Callable[[Request], Measure]:
    """Makes the measure of a frame's distance from its target."""

    def distance(off: Vector) -> Scalar:
        return sqrt(off.dot(off))

    def make(request: Request) -> Measure:
        request.need_target()
        return measure((request.name,), ("m",), lambda now: [distance(now.off_target(request.frame))])

    return make
