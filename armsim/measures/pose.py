"""The pose of the tool, or of another frame, at the end of a run."""

from __future__ import annotations

from armsim.measures.aggregates import Final
from armsim.measures.kind import Request
from armsim.measures.measure import Measure
from armsim.plant.column_kinds import POSE
from armsim.plant.columns import heading_of


def pose(request: Request) -> Measure:
    """Position and orientation of a frame in the world."""
    at = "" if request.frame == "tool" else request.frame
    parts = [heading.partition("_") for heading in POSE.values()]
    names = tuple(heading_of(part, at, unit)[0] for part, _, unit in parts)
    return Final(names, tuple(unit for _, _, unit in parts), lambda end: end.now.pose(request.frame))
