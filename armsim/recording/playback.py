"""A plant driven by a sequence of inputs, each held over an interval, in machine code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armsim.arm.arrays import evaluate
from armsim.compile import BatchKernel, LoopBody, SteppingLoop
from armsim.expr import trace
from armsim.recording.state_vector import StateVector
from armsim.simulation.driver import Driver
from armsim.simulation.loop_plan import bounds

if TYPE_CHECKING:
    from armsim.compile.target import Target

Array = NDArray[np.float64]
ANY_STEP = 1e3  # s: bound on an open step length


@dataclass(frozen=True)
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
    def loop(self) -> SteppingLoop:
        """The compiled loop; where dt is open, the length of a step is one more state."""
        plant, dt = self.vector.plant, self.dt

        def step(t, *state):
            if dt is not None:
                return plant.step(t, state, dt)
            *own, h = state
            return [*plant.step(t, own, h), h]

        names = ["t", *plant.slots, *([] if dt is not None else ["h"])]
        limits = [*bounds(plant), *([] if dt is not None else [ANY_STEP])]
        return SteppingLoop(LoopBody(trace(step, names, "cycle"), None, len(limits), 0, limits), self.target)

    def play(
        self,
        start: Sequence[float] | Array,
        inputs: Array,
        counts: Sequence[int],
        ratio: tuple[int, int] = (1, 1),
        lengths: Sequence[float] | None = None,
        look: Callable[[int], None] | None = None,
    ) -> Played:
        """Carry out counts[k] steps under inputs[k], interval by interval.

        Args:
            start: The initial state, in the order of `StateVector`.
            inputs: Shape (len(counts) + 1, number of inputs); the last is for the accelerations at the last instant.
            counts: Number of steps in every interval.
            ratio: (num, den): step k begins at time k num / den [s].
            lengths: Length of the steps in every interval [s], where dt is open.
            look: Called about twenty times a second with the number of intervals done, and at the end.
        """
        vector, plant = self.vector, self.vector.plant
        own = len(plant.slots)
        begin = [*vector.state(list(start), [0.0] * len(vector.inputs)), *([0.0] if self.dt is None else [])]
        told = None if look is None else (lambda done, total: look(done))
        driver = Driver(self.loop.run, begin, time_ratio=ratio, progress=told, total=len(counts))
        view = np.frombuffer(memoryview(driver.state), dtype=float)
        into = list(vector.inputs)
        table = np.empty((len(counts) + 1, 1 + own))
        num, den = ratio
        rows, diverged = 0, None
        for k, count in enumerate([*counts, 0]):
            view[into] = inputs[k]
            table[k, 0], table[k, 1:] = driver.done * num / den, view[:own]
            rows = k + 1
            if count == 0:
                continue
            if lengths is not None:
                view[own] = lengths[k]
            if not driver.reach(driver.done + count):
                diverged = out_of_bounds(vector, view)
                break
            driver.report(k + 1)
        return Played(self.complete(table[:rows]), driver.done, diverged)

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


def out_of_bounds(vector: StateVector, state: Sequence[float] | Array) -> str:
    """The first slot of a plant's state that is out of bounds."""
    plant = vector.plant
    for slot, value, bound in zip(plant.slots, state, bounds(plant), strict=False):
        if not abs(value) <= bound:
            return slot
    raise AssertionError("a diverged state has an entry out of bounds")
