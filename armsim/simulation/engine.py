"""Engines, which carry out the steps of runs: machine code, or the same physics on Python floats."""

from __future__ import annotations

import ctypes
import math
import time
from array import array
from typing import TYPE_CHECKING

from armsim.clock import Clock
from armsim.compile.loop import SteppingLoop
from armsim.compile.target import Target, is_open
from armsim.errors import UsageError
from armsim.simulation.runner import DOUBLE, Engine, Lanes, Numbers, RowSpace

if TYPE_CHECKING:
    from armsim.simulation.loop_plan import LoopPlan, PlantStart

ENGINES = ("llvm", "python")


class NativeEngine:
    """Machine code by LLVM.

    Args:
        plan: What to compute.
        target: The machine to compile for; the host unless given.
        lanes: Runs in a block.
    """

    name = "llvm"

    def __init__(self, plan: LoopPlan, target: Target | None = None, lanes: int = 1) -> None:
        self.plan, self.width = plan, lanes
        began = time.perf_counter()
        hasty = target is None and lanes == 1 and is_open()
        self.loop = SteppingLoop(plan.body, target, lanes, plan.key, lambda: plan.tables, hasty)
        fetched = self.loop.code.cached
        rest = time.perf_counter() - began - sum(self.loop.seconds.values())
        self.preparation = {**self.loop.seconds, "fetch_s" if fetched else "compile_s": rest}

    def begin(self, lanes: Lanes) -> None:
        """See `Engine`."""
        sound = Numbers(lanes.blocks, 1, lanes.width)
        self.loop.begin(lanes.blocks, 0, 0, lanes.open.address(), lanes.state.address(), sound.address())
        lanes.live[:] = bytes(alive and x > 0.0 for alive, x in zip(lanes.live, sound.view, strict=True))

    def run(self, lanes: Lanes, blocks: range, first: int, last: int, clock: Clock, space: RowSpace) -> None:
        """See `Engine`."""
        block = blocks.start
        reached = ctypes.addressof(lanes.reached) + ctypes.sizeof(ctypes.c_int64) * block
        state, after, kept, own = (
            numbers.address(block) for numbers in (lanes.state, lanes.after, lanes.kept, lanes.open)
        )
        memory = len(blocks), reached, space.apart // self.width, state, after, space.address, kept, own
        self.loop.run(memory, first, last, clock)

    def used(self, seconds: float, left: float) -> float:
        """See `Engine`."""
        began, better = time.perf_counter(), self.loop.improved(seconds, left)
        if better is None:
            return 0.0
        _, self.loop = better.code, better
        return time.perf_counter() - began

    def finish(self, lanes: Lanes, t: float, due: bool) -> Numbers:
        """See `Engine`."""
        results = Numbers(lanes.blocks, len(self.plan.results), lanes.width)
        given = (numbers.address() for numbers in (lanes.state, lanes.kept, lanes.open, results))
        self.loop.finish(lanes.blocks, 0, 0, *given, t, due)
        return results


class PythonEngine:
    """The same physics text on Python floats: slow, obvious, and with the same bits. One run at a time.

    Args:
        plan: What to compute.
    """

    name = "python"
    width = 1

    def __init__(self, plan: LoopPlan) -> None:
        from armsim.formulas.formula import FormulaError

        self.plan = plan
        self._undefined = ZeroDivisionError, FormulaError  # where machine code gets infinities or NaN
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
                if not plan.sampled_outside and clock.samples_at(k):
                    x = plant.sample(t, x)
                due = k % clock.rare_every == 0
                after, gathered = plan.stepped(made, t, x, kept.tolist(), rare=due)
                kept[:] = memoryview(array("d", gathered))
                if k % clock.log_every == 0:
                    row = [value + 0.0 for value in plan.row(plant, t, x)]  # 0 for -0
                    (ctypes.c_double * len(row)).from_address(address)[:] = row
                    address += DOUBLE * len(row)
            except self._undefined:
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
            x = plant.sample(t, x) if due else x
            results.fill(plan.measured(made, t, x, kept, gathered=plan.gathers_end))
        except self._undefined:
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
    if name == "python":
        return PythonEngine(plan)
    if name == "llvm":
        return NativeEngine(plan)
    raise UsageError(f"engine: expected one of {', '.join(ENGINES)}, found {name!r}")
