"""Engines, which carry out the steps of a run: machine code, or the same physics on Python floats."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Sequence
from functools import partial
from typing import Protocol, runtime_checkable

from armsim.compile import SteppingLoop
from armsim.compile.target import Target
from armsim.errors import UsageError
from armsim.formulas.formula import FormulaError
from armsim.plant import Plant
from armsim.simulation.content import tables_of
from armsim.simulation.driver import NEVER
from armsim.simulation.loop_plan import AS_ASKED, Accuracy, LoopPlan, bounds

ENGINES = ("llvm", "python")


Clock = tuple[int, tuple[int, int]]  # steps between samples, and the times of steps


@runtime_checkable
class Repeater(Protocol):
    """An engine that carries out steps of a run once more; see `repeated`."""

    plan: LoopPlan

    def run_again(
        self, state: ctypes.Array, first: float, last: float, clock: Clock, accuracy: Accuracy = AS_ASKED
    ) -> bool: ...


class Engine(Protocol):
    """Carries out steps; see `armsim.compile.SteppingLoop.run`.

    Attributes:
        name: "llvm" or "python".
        plan: What it computes.
        plant: What it simulates.
        preparation: Wall time of tracing, printing and compiling [s], by part.
    """

    name: str
    plan: LoopPlan
    plant: Plant
    preparation: dict[str, float]

    def run(
        self,
        state: ctypes.Array,
        rows: ctypes.Array,
        kept: ctypes.Array,
        first: int,
        last: int,
        log_every: int,
        sample_every: int,
        time_ratio: tuple[int, int],
    ) -> int: ...

    def measured(self, state: Sequence[float], kept: Sequence[float], t: float, due: bool) -> list[float]: ...


def doubles(values: Sequence[float]) -> ctypes.Array:
    """Values as an array of doubles, of one at least."""
    return (ctypes.c_double * max(len(values), 1))(*values)


def finished(
    loop: SteppingLoop,
    plan: LoopPlan,
    state: Sequence[float],
    kept: Sequence[float],
    open: ctypes.Array,
    t: float,
    due: bool,
) -> list[float]:
    """The results of a plan's measures, by machine code; see `NativeEngine.measured`."""
    arrays = doubles(state), doubles(kept), open, doubles([0.0] * len(plan.results))
    loop.finish(*map(ctypes.addressof, arrays), t, due)
    *_, results = arrays
    return [x + 0.0 for x in results[: len(plan.results)]]  # no signed zeros, as in rows


def repeated(
    loop: SteppingLoop,
    plan: LoopPlan,
    open: Sequence[float],
    state: ctypes.Array,
    first: float,
    last: float,
    clock: Clock,
    accuracy: Accuracy,
) -> bool:
    """Carry out the steps first <= k < last more accurately, without rows or measures; whether none left the bounds.

    Steps that begin between those of the run take no samples.

    Args:
        loop: The compiled loop.
        plan: What it computes.
        open: The open numbers but the accuracy.
        state: The state at step `first`; overwritten by the one reached.
        first: First step; a part of a step more for one that begins within it.
        last: Step before which to stop, likewise.
        clock: Steps between samples, and (num, den).
        accuracy: Of the run, as asked unless the plan is refinable.
    """
    sample_every, (num, den) = clock
    rows, kept = doubles([0.0] * len(plan.plant.columns)), doubles(plan.kept)
    numbers, parts = doubles([*open, *plan.opened(accuracy).values()]), accuracy.parts
    begin = math.ceil(parts * first)
    early, end = begin - parts * first, begin + round(parts * (last - first))
    times = (NEVER, NEVER if early else parts * sample_every, (num, parts * den))
    return loop.run(state, rows, kept, begin, end, *times, numbers, NEVER, -early * num) == end


class NativeEngine:
    """Machine code by LLVM.

    Args:
        plan: What to compute: a plan, or a plant and its step.
        dt: Step [s], with a plant.
        target: The machine to compile for; the host unless given.
    """

    name = "llvm"

    def __init__(self, plan: LoopPlan | Plant, dt: float = 0.0, target: Target | None = None) -> None:
        self.plan = plan if isinstance(plan, LoopPlan) else LoopPlan.of(plan, dt)
        self.plant = self.plan.plant
        began = time.perf_counter()
        self.loop = SteppingLoop(self.plan.body, target, key=self.plan.key, tables=lambda: tables_of(self.plan.plant))
        self.cached = self.loop.code.cached
        rest = time.perf_counter() - began - sum(self.loop.seconds.values())
        self.preparation = {**self.loop.seconds, "fetch_s" if self.cached else "compile_s": rest}
        self._open = doubles([*self.plan.opened().values()])
        self.run = partial(self.loop.run, open=self._open, rare_every=self.plan.rare_every or 1)

    def run_again(
        self, state: ctypes.Array, first: float, last: float, clock: Clock, accuracy: Accuracy = AS_ASKED
    ) -> bool:
        """Carry out steps once more; see `repeated`."""
        return repeated(self.loop, self.plan, [], state, first, last, clock, accuracy)

    def measured(self, state: Sequence[float], kept: Sequence[float], t: float, due: bool) -> list[float]:
        """The measures' results of a run that ends in a state at time t [s], a sample being due or not."""
        return finished(self.loop, self.plan, state, kept, self._open, t, due)


class PythonEngine:
    """The same physics text on Python floats: slow, obvious, and with the same bits.

    Args:
        plan: What to compute: a plan, or a plant and its step.
        dt: Step [s], with a plant.
    """

    name = "python"

    def __init__(self, plan: LoopPlan | Plant, dt: float = 0.0) -> None:
        self.plan = plan if isinstance(plan, LoopPlan) else LoopPlan.of(plan, dt)
        self.plant = plant = self.plan.plant
        self.preparation: dict[str, float] = {}
        self._bounds = [(i, bound) for i, bound in enumerate(bounds(plant)) if bound < math.inf]

    def run(self, state, rows, kept, first, last, log_every, sample_every, time_ratio) -> int:
        """Carry out the steps first <= k < last; see `armsim.compile.SteppingLoop.run`."""
        num, den = time_ratio
        width = len(self.plant.columns)
        x = list(state)
        filled = 0
        for k in range(first, last):
            t = k * num / den
            try:
                if self.plant.sampled and k % sample_every == 0:
                    x = self.plant.sample(t, x)
                known = list(kept)[: len(self.plan.kept)]
                due = k % (self.plan.rare_every or 1) == 0
                after, gathered = self.plan.stepped(self.plant, self.plan.made(())[1], t, x, known, rare=due)
                kept[:] = gathered or [0.0]
                if k % log_every == 0:
                    rows[filled : filled + width] = [value + 0.0 for value in self.plant.observe(t, x)]  # 0 for -0
                    filled += width
            except (ZeroDivisionError, FormulaError):  # where machine code gets infinities or NaN
                after = [math.nan] * len(x)
            if not all(abs(after[i]) <= bound for i, bound in self._bounds):
                state[:] = after
                return k
            x = after
        state[:] = x
        return last

    def measured(self, state: Sequence[float], kept: Sequence[float], t: float, due: bool) -> list[float]:
        """The measures' results; see `NativeEngine.measured`."""
        x = self.plant.sample(t, state) if due and self.plant.sampled else list(state)
        try:
            return self.plan.measured(self.plant, self.plan.made(())[1], t, x, list(kept)[: len(self.plan.kept)])
        except (ZeroDivisionError, FormulaError):
            return [math.nan] * len(self.plan.results)


def make_engine(name: str, plan: LoopPlan | Plant, dt: float = 0.0) -> Engine:
    """The engine of that name, ready to run.

    Args:
        name: "llvm" or "python".
        plan: What to compute: a plan, or a plant and its step.
        dt: Step [s], with a plant.

    Raises:
        UsageError: There is no engine of that name.
    """
    if name == "llvm":
        return NativeEngine(plan, dt)
    if name == "python":
        return PythonEngine(plan, dt)
    raise UsageError(f"engine: expected one of {', '.join(ENGINES)}, found {name!r}")
