"""Measures of motions under sequences of inputs, gathered in lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from armsim.arm.arrays import evaluate, joined
from armsim.arrays import Array
from armsim.compile import BatchKernel
from armsim.expr import Scalar, Scalars, finite_or_nan
from armsim.measures.names import measures_of
from armsim.recording.step_functions import Given, StepFunctions, beyond, traced_by
from armsim.simulation.loop_plan import LoopPlan, PlantStart

if TYPE_CHECKING:
    from armsim.compile.target import Target


class MeasuredRollout:
    """What measures make of the steps of a forward model.

    The kernel repeats a step on the number of the step, the plant's state and the accumulators of the measures.

    Args:
        functions: Of the forward model.
        measure: Names of measures.
        target: The machine to compile for.

    Raises:
        UsageError: A measure is unknown, or the model has no target that it needs.
    """

    def __init__(self, functions: StepFunctions, measure: Sequence[str] | str, target: Target | None) -> None:
        self._functions, self._target = functions, target
        plant = functions.vector.plant
        measures = tuple(measures_of(measure, plant))
        self._audit = any(one.needs_work for one in measures)
        self._plan = LoopPlan(replace(plant, audit=self._audit), functions.dt, measures, rows=False)
        self._vector = replace(functions.vector, plant=self._plan.plant)  # its places count works
        self._widths = {"carried": 1 + len(self._plan.plant.slots) + len(self._plan.kept), "u": plant.arm.n}

    def evaluate(self, arrays: Sequence[Array], threads: int | None, least: int, steps: int) -> dict[str, Array]:
        """The results by name, for rows of states, inputs of `steps` steps, and what a step takes besides."""
        states, inputs, *more = arrays
        carried = np.zeros((*states.shape[:-1], self._widths["carried"]))
        vector, slots = self._functions.vector, self._plan.plant.slots
        for i, source in vector.carried:
            carried[..., 1 + slots.index(vector.plant.slots[source])] = states[..., i]
        carried[..., 1 + len(slots) :] = self._plan.kept
        ends = evaluate(self._step, [carried, inputs, *more], threads, least, steps)
        last = inputs.reshape(*inputs.shape[:-1], steps, -1)[..., -1, :]
        found = evaluate(self._end, [ends, joined([last]), *more], threads)
        return dict(zip(self._plan.results, found.T, strict=True))

    @cached_property
    def _step(self) -> BatchKernel:
        def step(given: Given) -> Scalars:
            made, k, state, kept = self._begun(given)
            after, gathered = self._plan.stepped(made, k * self._plan.dt, state, kept)
            return [k + 1.0, *finite_or_nan(after, [beyond(self._vector, after)]), *gathered]

        return self._kernel(step, repeats=True)

    @cached_property
    def _end(self) -> BatchKernel:
        def end(given: Given) -> Scalars:
            made, k, state, kept = self._begun(given)
            return finite_or_nan(self._plan.measured(made, k * self._plan.dt, state, kept), state)

        return self._kernel(end)

    def _begun(self, given: Given) -> tuple[PlantStart, Scalar, Scalars, Scalars]:
        """The plant, the number of the step, the state under its inputs, and the accumulators."""
        vector = self._functions.vector_with(given)
        plant, (k, *x) = replace(vector.plant, audit=self._audit), given["carried"]
        state, kept = x[: len(plant.slots)], x[len(plant.slots) :]
        return PlantStart(plant, [0.0] * plant.arm.n), k, vector.with_inputs(state, given["u"]), kept

    def _kernel(self, text: Callable[[Given], Scalars], repeats: bool = False) -> BatchKernel:
        widths = self._widths | self._functions.more
        traced = traced_by(text, widths, "rollout")
        return BatchKernel(traced, self._target, widths=[*widths.values()], repeats=repeats)
