"""What every joint's drive gives and is told: peak and root mean square of the torque, rate and chatter of the command."""

from __future__ import annotations

from collections.abc import Callable

from armsim.errors import UsageError
from armsim.expr import Scalar, absolute, divided, maximum, plus, where
from armsim.measures.aggregates import Aggregated, Mean, Peak, RootMeanSquare, TimeIntegral, Trapezoids
from armsim.measures.kind import Request
from armsim.measures.measure import Measure
from armsim.measures.moment import Moment


class Rate(TimeIntegral):
    """The integral over the rate from moment to moment; a sampled command moves over a period as far as it jumps."""

    def update(self, kept: Trapezoids, now: Moment) -> Trapezoids:
        period = now.plant.command.period if now.plant.command else None
        over = now.dt if period is None else maximum(now.dt, period)
        values = [*self.of(now)]
        rates = [divided(x - before, over) for x, before in zip(values, kept.last, strict=True)]
        costs = [where(now.t > 0.0, over * self.integrand(rate), 0.0) for rate in rates]
        return Trapezoids(plus(kept.sums, costs), values)


class RootMeanSquareRate(Rate, RootMeanSquare):
    """The root mean square of the rate."""


class Variation(Rate, Mean):
    """The total variation, over the time."""

    def integrand(self, x: Scalar) -> Scalar:
        return absolute(x)


def _of_drives(
    kind: str,
    measure: type[Aggregated],
    quantity: Callable[[Moment, int], Scalar],
    units: Callable[[Request], tuple[str, ...]],
) -> Callable[[Request], Measure]:
    """Makes a measure of every joint asked for."""

    def make(request: Request) -> Measure:
        names = tuple(f"{kind}_{joint.name}" for joint in request.joints)
        return measure(names, units(request), lambda now: [quantity(now, i) for i in request.indices])

    return make


def _forces(request: Request) -> tuple[str, ...]:
    return tuple(joint.kind.force for joint in request.joints)


def _rates(request: Request) -> tuple[str, ...]:
    command = request.plant.command
    if command is None:
        where = f"measure `{request.name}`"
        raise UsageError.of(where, "commands", "a run that nothing drives", "give it `control` or `inputs`")
    return tuple(f"{joint.kind.unit_of(command.output)}/s" for joint in request.joints)


peak_torque = _of_drives("peak_torque", Peak, lambda now, i: now.torques[i].motor, _forces)
rms_torque = _of_drives("rms_torque", RootMeanSquare, lambda now, i: now.torques[i].motor, _forces)
rms_rate_of_command = _of_drives("rms_rate_of_command", RootMeanSquareRate, lambda now, i: now.commands[i], _rates)
chatter = _of_drives("chatter", Variation, lambda now, i: now.commands[i], _rates)
