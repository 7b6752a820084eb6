"""The tool's pose at the end of a run."""

from __future__ import annotations

from armsim.measures.aggregates import Final
from armsim.measures.kind import Request
from armsim.measures.measure import Measure
from armsim.plant.columns import KINDS


def pose(request: Request) -> Measure:
    """Position and orientation of the tool in the world."""
    parts = KINDS["pose"].parts
    assert parts is not None
    names = tuple(parts.values())
    return Final(names, tuple(name.partition("_")[2] for name in names), lambda end: KINDS["pose"].values(end.now))
