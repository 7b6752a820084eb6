"""How near an arm comes to itself and to the world."""

from __future__ import annotations

from armsim.dynamics import least_distance
from armsim.errors import UsageError
from armsim.measures.aggregates import Smallest
from armsim.measures.kind import Request
from armsim.measures.measure import Measure


def nearest(request: Request) -> Measure:
    """The least distance of all watched pairs."""
    if not request.plant.arm.pairs:
        mend = "give links `bodies` with sizes, or the robot or the scenario a `world`"
        raise UsageError.of(f"measure `{request.name}`", "two things with a distance", "none", mend)
    return Smallest((request.name,), ("m",), lambda now: [least_distance(now.plant.arm, now.q)])
