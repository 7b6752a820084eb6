"""A plant driven by a sequence of inputs, each held over an interval, in machine code."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from armsim.arm.arrays import evaluate
from armsim.arrays import Array
from armsim.clock import Clock
from armsim.compile import BatchKernel
from armsim.expr import trace
from armsim.plant import Plant
from armsim.recording.state_vector import StateVector
from armsim.records import record
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan, bounds
from armsim.simulation.runner import STRETCH, Job, Runner

if TYPE_CHECKING:
    from armsim.compile.target import Target

ANY_TIME = Clock()  # nothing that a driven plant does depends on the time


@record
class Played:
    """The motion of a plant under inputs.

    Attributes:
        states: Shape (instants reached, len(slots)), in the order of `StateVector`, with the accelerations from then on.
        steps: Number of steps carried out.
        diverged: If it diverged, the first slot out of bounds, for example "qd_R4"; else None.
    """

    states: Array
    steps: int
    diverged: str | None = None


class Playback:
    """A plant driven by given inputs.

    Args:
        vector: The plant, from `armsim.plant.held` or `driven_plant`, and the order of its state.
        dt: Length of a step [s]; None where `play` gives one for every interval.
        target: The machine to compile for; the host unless given.
    """

    def __init__(self, vector: StateVector, dt: float | None, target: Target | None = None) -> None:
        self.vector = vector
        self.dt = dt
        self.target = target

    @cached_property
    def engine(self) -> NativeEngine:
        """The compiled loop; where dt is not given, the length of a step is its first open number."""
        plan = LoopPlan(self.vector.plant, self.dt or 1.0, rows=False, refinable=self.dt is None, sampled_outside=True)
        return NativeEngine(plan, target=self.target)

    def play(
        self,
        start: Sequence[float] | Array,
        inputs: Array,
        counts: Sequence[int],
        clock: Clock = ANY_TIME,
        lengths: Sequence[float] | None = None,
        look: Callable[[int], object] | None = None,
    ) -> Played:
        """Carry out counts[k] steps under inputs[k], interval by interval.

        Args:
            start: The initial state, in the order of `StateVector`.
            inputs: Shape (len(counts) + 1, number of inputs); the last is for the accelerations at the last instant.
            counts: Number of steps in every interval.
            clock: The times of the steps.
            lengths: Length of the steps in every interval [s], where dt is open.
            look: Called about twenty times a second with the number of intervals done, and at the end.
        """
        vector, own = self.vector, len(self.vector.plant.slots)
        begin = vector.state(list(start), [0.0] * len(vector.inputs))
        clock = Clock(clock.num, clock.den, steps=sum(counts))
        runner = Runner(self.engine, Job(self.engine.plan, clock, begin))
        state, into = np.asarray(runner.lanes.state.view), list(vector.inputs)
        table = np.empty((len(counts) + 1, 1 + own))
        rows, diverged, looked = 0, None, time.perf_counter()
        for k, count in enumerate([*counts, 0]):
            state[into] = inputs[k]
            table[k, 0], table[k, 1:] = clock.at(runner.done), state
            rows = k + 1
            if count == 0:
                continue
            if lengths is not None:
                runner.lanes.open.fill([lengths[k]])
            for _ in runner.until(runner.done + count):
                pass
            if not runner.lanes.alive:
                diverged = out_of_bounds(vector.plant, runner.lanes.left[0].after)
                break
            now = time.perf_counter()
            if look is not None and (k + 1 == len(counts) or now - looked > STRETCH):
                looked = now
                look(k + 1)
        return Played(self.complete(table[:rows]), runner.done, diverged)

    def complete(self, table: Array) -> Array:
        """State vectors with their accelerations and tool, shape (rows, len(slots)).

        Args:
            table: Time and plant state, shape (rows, 1 + number of the plant's slots).
        """
        return evaluate(self._complete, [table])

    @cached_property
    def _complete(self) -> BatchKernel:
        vector = self.vector
        names = ["t", *vector.plant.slots]
        return BatchKernel(trace(lambda t, *state: vector.vector(t, state), names, "complete"), self.target)


def out_of_bounds(plant: Plant, state: Sequence[float]) -> str:
    """The first slot of a state that is out of bounds."""
    slots = zip(plant.slots, state, bounds(plant), strict=True)
    return next(slot for slot, value, bound in slots if not abs(value) <= bound)
