"""Runs under a Python function that cannot be traced: it is called at every sample, and machine code goes on in between."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace

from armsim.control import Controller, FunctionLaw, LawFunction
from armsim.errors import UsageError
from armsim.loading import Scenario
from armsim.plant import Plant
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan

NUMBER = ctypes.sizeof(ctypes.c_double)


def under_function(scenario: Scenario, function: LawFunction) -> Scenario:
    """The scenario, whose law is `python`, with its function.

    Raises:
        UsageError: Its law is another, or the function is none.
    """
    if not callable(function):
        raise UsageError.of("law", "a Python function", repr(function), "write for example `law=my_law`")
    command = scenario.command
    if not isinstance(command, Controller) or not isinstance(command.law, FunctionLaw):
        found = command.law.name if isinstance(command, Controller) else "no feedback"
        raise UsageError.of(
            "law", "a scenario with `control: {law: python, output: ...}`", found, "write `law: python`"
        )
    return replace(scenario, command=replace(command, law=replace(command.law, function=function)))


def is_called(plant: Plant) -> bool:
    """Whether a plant's law is a function that cannot be traced.

    Raises:
        UsageError: It is one, and the control is continuous.
    """
    command = plant.command
    if not isinstance(command, Controller) or not isinstance(command.law, FunctionLaw) or command.law.traceable:
        return False
    if command.period is None:
        found = "continuous control by a function that branches on numbers, or calls what takes numbers alone"
        mend = "set `control.period`; or write it with armsim.expr's where, clip, sin, ..., so that it can be traced"
        raise UsageError.of("control.period", "a sample time, at which the function is called", found, mend)
    return True


class CalledEngine(NativeEngine):
    """Machine code between samples, which are taken in Python.

    Args:
        plan: What to compute.
    """

    def __init__(self, plan: LoopPlan) -> None:
        super().__init__(replace(plan, sampled_outside=True, refinable=False))
        self._steps = self.run
        self.run = self._run  # type: ignore[assignment]  # the same arguments

    def _run(
        self,
        state: ctypes.Array,
        rows: ctypes.Array,
        kept: ctypes.Array,
        first: int,
        last: int,
        log_every: int,
        sample_every: int,
        time_ratio: tuple[int, int],
    ) -> int:
        """Carry out the steps first <= k < last; see `armsim.compile.SteppingLoop.run`."""
        num, den = time_ratio
        width, filled = len(self.plant.columns), 0
        while first < last:
            if first % sample_every == 0:
                state[:] = self.plant.sample(first * num / den, list(state))
            end = min(last, (first // sample_every + 1) * sample_every)
            here = (ctypes.c_double * (len(rows) - filled)).from_buffer(rows, filled * NUMBER)
            done = self._steps(state, here, kept, first, end, log_every, sample_every, time_ratio)
            filled += width * ((end - 1) // log_every - (first - 1) // log_every)
            filled = min(filled, len(rows) - 1)
            if done < end:
                return done
            first = end
        return last

    def measured(self, state: Sequence[float], kept: Sequence[float], t: float, due: bool) -> list[float]:
        """See `NativeEngine.measured`."""
        return super().measured(self.plant.sample(t, state) if due else state, kept, t, False)
