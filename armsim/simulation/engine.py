"""Engines, which carry out the steps of runs: machine code, or the same physics on Python floats."""

from __future__ import annotations

import ctypes
import math
from array import array
from typing import Protocol

from armsim.clock import Clock
from armsim.errors import UsageError
from armsim.formulas.formula import FormulaError
from armsim.simulation.lanes import DOUBLE, Lanes, Numbers, RowSpace
from armsim.simulation.loop_plan import LoopPlan, PlantStart
from armsim.simulation.native_engine import NativeEngine

ENGINES = ("llvm", "python")


class Engine(Protocol):
    """Carries out steps.

    Attributes:
        name: "llvm" or "python".
        plan: What it computes.
        width: Runs in a block.
        preparation: Wall time of tracing, printing and compiling [s], by part.
    """

    name: str
    plan: LoopPlan
    width: int
    preparation: dict[str, float]

    def begin(self, lanes: Lanes) -> None:
        """Put runs at their start, which the open numbers give; those whose accelerations they do not determine end at once."""

    def run(self, lanes: Lanes, blocks: range, first: int, last: int, clock: Clock, space: RowSpace) -> None:
        """Carry out the steps first <= k < last of some blocks; `lanes.reached` tells how far each came.

        A block stops at a step that leads one of its runs out of bounds: its state is then the one before, and `lanes.after` has
        what it led to.
        """

    def used(self, seconds: float, left: float) -> float:
        """Hear how long steps took, and that those left of the run may take so long [s]; how long better code for them took."""

    def finish(self, lanes: Lanes, t: float, due: bool) -> Numbers:
        """The measures' results of runs that end at time t [s], a sample being due or not."""


class PythonEngine:
    """The same physics text on Python floats: slow, obvious, and with the same bits. One run at a time.

    Args:
        plan: What to compute.
    """

    name = "python"
    width = 1

    def __init__(self, plan: LoopPlan) -> None:
        self.plan = plan
        self.preparation: dict[str, float] = {}
        self._bounds = [(i, bound) for i, bound in enumerate(self.plan.bounds) if bound < math.inf]

    def begin(self, lanes: Lanes) -> None:
        """See `Engine`."""
        made, opened = self._made(lanes), self.plan.opened
        assert opened is not None  # else there is a start
        lanes.state.fill(made.plant.initial_state(made.q, made.qd, opened.landing))
        lanes.live[0] = bool(opened.sound(made.plant))

    def run(self, lanes: Lanes, blocks: range, first: int, last: int, clock: Clock, space: RowSpace) -> None:
        """See `Engine`."""
        plan, made = self.plan, self._made(lanes)
        plant = made.plant
        state, kept = lanes.state.run(0), lanes.kept.run(0)
        x, address = state.tolist(), space.address
        for k in range(first, last):
            t, before = clock.at(k), x
            try:
                if plant.sampled and not plan.sampled_outside and clock.samples_at(k):
                    x = plant.sample(t, x)
                due = k % clock.rare_every == 0
                after, gathered = plan.stepped(made, t, x, kept.tolist(), rare=due)
                kept[:] = memoryview(array("d", gathered))
                if k % clock.log_every == 0:
                    row = [value + 0.0 for value in plan.row(plant, t, x)]  # 0 for -0
                    (ctypes.c_double * len(row)).from_address(address)[:] = row
                    address += DOUBLE * len(row)
            except (ZeroDivisionError, FormulaError):  # where machine code gets infinities or NaN
                after = [math.nan] * len(x)
            if not all(abs(after[i]) <= bound for i, bound in self._bounds):
                lanes.reached[0] = k
                state[:], lanes.after.run(0)[:] = (memoryview(array("d", values)) for values in (before, after))
                return
            x = after
        state[:] = memoryview(array("d", x))
        lanes.reached[0] = last

    def used(self, seconds: float, left: float) -> float:
        """See `Engine`."""
        return 0.0

    def finish(self, lanes: Lanes, t: float, due: bool) -> Numbers:
        """See `Engine`."""
        plan, made = self.plan, self._made(lanes)
        plant = made.plant
        results = Numbers(1, len(plan.results), 1)
        x, kept = lanes.state.run(0).tolist(), lanes.kept.run(0).tolist()
        try:
            x = plant.sample(t, x) if due and plant.sampled else x
            results.fill(plan.measured(made, t, x, kept))
        except (ZeroDivisionError, FormulaError):
            results.fill([math.nan] * len(plan.results))
        return results

    def _made(self, lanes: Lanes) -> PlantStart:
        """The plant, and the start, for the open numbers."""
        return self.plan.made([*lanes.open.run(0)])


def make_engine(name: str, plan: LoopPlan) -> Engine:
    """The engine of that name, ready to run.

    Args:
        name: "llvm" or "python".
        plan: What to compute.

    Raises:
        UsageError: There is no engine of that name.
    """
    if name == "llvm":
        return NativeEngine(plan)
    if name == "python":
        return PythonEngine(plan)
    raise UsageError(f"engine: expected one of {', '.join(ENGINES)}, found {name!r}")
