"""Inputs, each held until the next comes, played through a plant in machine code."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armsim.compile import BatchKernel, FixedStepLoop, LoopBody
from armsim.expr import trace
from armsim.run.arrays import evaluate
from armsim.run.engine import bounds
from armsim.run.state_vector import StateVector

if TYPE_CHECKING:
    from armsim.compile.target import Target

Array = NDArray[np.float64]
NEVER = 2**62  # steps between rows: none are kept here
ANY_STEP = 1e3  # s, no step of a log is longer
LOOK = 0.05  # s between reports of progress


@dataclass(frozen=True)
class Played:
    """What became of a plant under inputs.

    Attributes:
        states: One row per instant reached, as `StateVector` orders it, with the accelerations that act from then on.
        steps: Steps carried out.
        diverged: Of a plant that left all bounds, the slot that did so first, for example "qd_R4"; else None.
    """

    states: Array
    steps: int
    diverged: str | None = None


class Playback:
    """A plant that is driven from outside.

    Args:
        vector: The plant, as `armsim.run.state_vector.held` makes it, and its state.
        dt: Length of a step [s]; None where `play` gives one for every interval.
        target: The machine to compile for; the host unless given.
    """

    def __init__(self, vector: StateVector, dt: float | None, target: Target | None = None) -> None:
        self.vector = vector
        self.dt = dt
        self.target = target

    @cached_property
    def loop(self) -> FixedStepLoop:
        """The native loop; where dt is open, the length of a step is one more entry of the state."""
        plant, dt = self.vector.plant, self.dt

        def step(t, *state):
            if dt is not None:
                return plant.step(t, state, dt)
            *own, h = state
            return [*plant.step(t, own, h), h]

        names = ["t", *plant.slots, *([] if dt is not None else ["h"])]
        limits = [*bounds(plant), *([] if dt is not None else [ANY_STEP])]
        return FixedStepLoop(LoopBody(trace(step, names, "cycle"), None, len(limits), 0, limits), self.target)

    def play(
        self,
        start: Sequence[float] | Array,
        inputs: Array,
        counts: Sequence[int],
        ratio: tuple[int, int] = (1, 1),
        lengths: Sequence[float] | None = None,
        look: Callable[[int], None] | None = None,
    ) -> Played:
        """Carry out counts[k] steps under inputs[k], for one interval k after the other.

        Args:
            start: The state at the first instant, as a vector.
            inputs: Shape (len(counts) + 1, number of inputs); the last acts on the accelerations at the last instant only.
            counts: Steps in every interval.
            ratio: (num, den): the step k begins at the time k num / den.
            lengths: Where dt is open, the length of the steps of every interval [s].
            look: Called about twenty times a second with the number of intervals done, and at the end.
        """
        vector, plant = self.vector, self.vector.plant
        own = len(plant.slots)
        state = (ctypes.c_double * (own + (self.dt is None)))(
            *vector.state(list(start), [0.0] * len(vector.inputs)), *([0.0] if self.dt is None else [])
        )
        view = np.frombuffer(memoryview(state), dtype=float)
        into = list(vector.inputs)
        nothing = (ctypes.c_double * 1)()
        table = np.empty((len(counts) + 1, 1 + own))
        num, den = ratio
        step, run = 0, self.loop.run
        looked = time.perf_counter()
        rows, diverged = 0, None
        for k, count in enumerate([*counts, 0]):
            view[into] = inputs[k]
            table[k, 0], table[k, 1:] = step * num / den, view[:own]
            rows = k + 1
            if count == 0:
                continue
            if lengths is not None:
                view[own] = lengths[k]
            reached = run(state, nothing, nothing, step, step + count, NEVER, NEVER, ratio)
            if reached < step + count:
                step, diverged = reached, out_of_bounds(vector, view)
                break
            step += count
            if look is not None and (k + 1 == len(counts) or time.perf_counter() - looked > LOOK):
                looked = time.perf_counter()
                look(k + 1)
        return Played(self.complete(table[:rows]), step, diverged)

    def complete(self, table: Array) -> Array:
        """Vectors for rows of time and plant state, shape (rows, len(slots))."""
        return evaluate(self._complete, table)

    @cached_property
    def _complete(self) -> BatchKernel:
        vector = self.vector
        names = ["t", *vector.plant.slots]
        return BatchKernel(trace(lambda t, *state: vector.vector(t, state), names, "complete"), self.target)


def out_of_bounds(vector: StateVector, state: Sequence[float] | Array) -> str:
    """The first entry of a plant's state that is out of bounds, by its slot's name."""
    plant = vector.plant
    for slot, value, bound in zip(plant.slots, state, bounds(plant), strict=False):
        if not abs(value) <= bound:
            return slot
    raise AssertionError("a diverged state has an entry out of bounds")
