"""Runs to carry out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from armsim.clock import Clock
from armsim.records import record

if TYPE_CHECKING:
    from armsim.simulation.loop_plan import LoopPlan


@record
class Accuracy:
    """How much more accurate than it was asked for a run is.

    Attributes:
        parts: Into how many its steps are cut, of a plant that does not run ahead.
        tighter: By what the tolerance of an adaptive method is divided.
    """

    parts: int = 1
    tighter: float = 1.0


AS_ASKED = Accuracy()


@record
class Job:
    """Runs to carry out.

    Attributes:
        plan: What their loop computes.
        clock: When things happen.
        start: The state at the start of a single run; None where the open numbers give it.
        values: The plan's open numbers, of one run after the other.
        count: Number of runs.
        accuracy: Of the runs.
        first: The step at which they begin.
        repeats: Whether they were made before, and are repeated without figures of merit.
    """

    plan: LoopPlan
    clock: Clock
    start: Sequence[float] | None = None
    values: Sequence[float] = ()
    count: int = 1
    accuracy: Accuracy = AS_ASKED
    first: int = 0
    repeats: bool = False

    def again(self, first: float, last: float, start: Sequence[float], accuracy: Accuracy = AS_ASKED) -> Job:
        """Some steps of a single run once more, without rows.

        Args:
            first: First step; a part of a step more for one that begins within it. Those steps take no samples.
            last: Step before which to stop, likewise.
            start: The state at the first.
            accuracy: Of the repetition; as asked unless the plan is refinable.
        """
        clock, parts = self.clock, accuracy.parts
        begin = math.ceil(parts * first)
        early = begin - parts * first
        every = None if early or clock.sample_every is None else parts * clock.sample_every
        steps = begin + round(parts * (last - first))
        fine = Clock(clock.num, parts * clock.den, steps, every, offset=-early * clock.num)
        return replace(self, clock=fine, start=start, accuracy=accuracy, first=begin, repeats=True)
