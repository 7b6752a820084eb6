"""Steps of runs in machine code."""

from __future__ import annotations

import ctypes
import time
from typing import TYPE_CHECKING

from armsim.clock import Clock
from armsim.compile.loop import SteppingLoop
from armsim.compile.target import Target, is_open
from armsim.simulation.lanes import Lanes, Numbers, RowSpace

if TYPE_CHECKING:
    from armsim.simulation.loop_plan import LoopPlan


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
