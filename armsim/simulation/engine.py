"""Engines, which carry out the steps of a run: machine code, or the same physics on Python floats."""

from __future__ import annotations

import ctypes
import math
import time
from typing import Protocol

from armsim.compile import LoopBody, SteppingLoop
from armsim.compile.target import Target
from armsim.errors import UsageError
from armsim.expr import absolute, trace, where
from armsim.plant import Plant
from armsim.spec.formula import FormulaError

# magnitudes beyond which a run has diverged, by kind of state; that of positions is also the range of our sine
BOUNDS = {"q": 1e6, "qd": 1e9, "integral": 1e15, "held": 1e15, "current": 1e9, "stuck": 1.0, "before": 1e9}
ENGINES = ("llvm", "python")


class Engine(Protocol):
    """Carries out steps; see `armsim.compile.SteppingLoop.run`.

    Attributes:
        name: "llvm" or "python".
        plant: What it simulates.
        preparation: Wall time of tracing, printing and compiling [s], by part.
    """

    name: str
    plant: Plant
    preparation: dict[str, float]

    def run(
        self,
        state: ctypes.Array,
        rows: ctypes.Array,
        peaks: ctypes.Array,
        first: int,
        last: int,
        log_every: int,
        sample_every: int,
        time_ratio: tuple[int, int],
    ) -> int: ...


def bounds(plant: Plant) -> list[float]:
    """The magnitude of every state beyond which a run has diverged; inf for work and for the integrator's own states."""
    free = {*plant.integrator.memory, *plant.works}
    return [math.inf if slot in free else BOUNDS[slot.split("_", 1)[0]] for slot in plant.slots]


def loop_body(plant: Plant, dt: float) -> LoopBody:
    """The plant's step, sample and row, traced, with the peak magnitudes of `Plant.peaks` as accumulators."""
    n = len(plant.slots)
    names = ["t", *plant.slots]

    def cycle(t, *x):
        state, kept = x[:n], x[n:]
        peaks = [absolute(value) for value in plant.peaks(t, state)]
        larger = [where(new > old, new, old) for new, old in zip(peaks, kept, strict=True)]
        return [*plant.step(t, state, dt), *larger, *plant.observe(t, state)]

    return LoopBody(
        cycle=trace(cycle, [*names, *(f"peak{i}" for i in range(plant.arm.n))], "cycle"),
        sample=trace(lambda t, *state: plant.sample(t, state), names, "sample") if plant.sampled else None,
        states=n,
        kept=plant.arm.n,
        bounds=bounds(plant),
    )


class NativeEngine:
    """Machine code by LLVM.

    Args:
        plant: What to simulate.
        dt: Step [s].
        target: The machine to compile for; the host unless given.
    """

    name = "llvm"

    def __init__(self, plant: Plant, dt: float, target: Target | None = None) -> None:
        self.plant = plant
        began = time.perf_counter()
        body = loop_body(plant, dt)
        traced = time.perf_counter()
        self.loop = SteppingLoop(body, target)
        self.loop.ir  # noqa: B018  printed here to be timed apart
        printed = time.perf_counter()
        self.cached = self.loop.code.cached
        self.preparation = {
            "trace_s": traced - began,
            "print_s": printed - traced,
            "fetch_s" if self.cached else "compile_s": time.perf_counter() - printed,
        }
        self.run = self.loop.run


class PythonEngine:
    """The same physics text on Python floats: slow, obvious, and with the same bits.

    Args:
        plant: What to simulate.
        dt: Step [s].
    """

    name = "python"

    def __init__(self, plant: Plant, dt: float) -> None:
        self.plant = plant
        self.dt = dt
        self.preparation: dict[str, float] = {}
        self._bounds = [(i, bound) for i, bound in enumerate(bounds(plant)) if bound < math.inf]

    def run(self, state, rows, peaks, first, last, log_every, sample_every, time_ratio) -> int:
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
                after = self.plant.step(t, x, self.dt)
                for i, value in enumerate(self.plant.peaks(t, x)):
                    peaks[i] = abs(value) if abs(value) > peaks[i] else peaks[i]
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


def make_engine(name: str, plant: Plant, dt: float) -> Engine:
    """The engine of that name, ready to run.

    Args:
        name: "llvm" or "python".
        plant: What to simulate.
        dt: Step [s].

    Raises:
        UsageError: There is no engine of that name.
    """
    if name == "llvm":
        return NativeEngine(plant, dt)
    if name == "python":
        return PythonEngine(plant, dt)
    raise UsageError(f"engine: expected one of {', '.join(ENGINES)}, found {name!r}")
