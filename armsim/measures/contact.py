"""Time in contact with the world."""

from __future__ import annotations

from armsim.dynamics import CLOSED
from armsim.errors import UsageError
from armsim.measures.aggregates import Final
from armsim.measures.kind import Request
from armsim.measures.measure import Measure

CONTACT_TIME = "contact_time"


def contact_time(request: Request) -> Measure:
    """The measure of a contact's time, or of all, which the integrator counts; see `Plant.times`."""
    every = request.name == CONTACT_TIME
    found = [it.name for it in request.plant.arm.contacts if every or it.name == request.frame]
    if not found:
        raise UsageError.of(f"measure `{request.name}`", "an arm with `contacts`", "none", "add `world` and `contacts`")
    names = tuple(f"{CONTACT_TIME}_{name}" for name in found)
    return Final(names, ("s",) * len(names), lambda end: [end.x.contacts[f"{CLOSED}_{name}"] for name in found])
