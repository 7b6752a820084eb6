"""What the time-stepping loop carries out, as traced functions."""

from __future__ import annotations

from collections.abc import Sequence

from armsim.expr import Function
from armsim.records import record


@record
class LoopBody:
    """The body of a time-stepping loop, as traced functions.

    Attributes:
        cycle: (t, *state, *kept, *open) to (*state a step later, *kept after this step, *row). What only the row needs is
            computed only when a row is due, and what only rare accumulators need, when they are.
        sample: (t, *state, *open) to the state after a sample, or None where nothing is sampled.
        states: Number of state entries.
        kept: Number of accumulators.
        bounds: For each state entry, the magnitude beyond which the run has diverged; inf for one that is not checked.
        begin: (*open) to (*state at the start, *checks); None where the state is given from outside.
        finish: (t, *state, *kept, *open) to results, at the end of a run; None without results.
        rare: How many of the accumulators, the last ones, are updated only every so many steps; every step updates the others.
    """

    cycle: Function
    sample: Function | None
    states: int
    kept: int
    bounds: Sequence[float]
    begin: Function | None = None
    finish: Function | None = None
    rare: int = 0
