"""The compiled time-stepping loop, for one run or for vector lanes of runs."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from armsim.clock import NEVER, Clock
from armsim.compile import cache
from armsim.compile.kernel import compiled
from armsim.compile.target import Library, Target, host

if TYPE_CHECKING:
    from armsim.compile.loop_body import LoopBody
    from armsim.expr import Table

POINTER, WHOLE, REAL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
BLOCKS = WHOLE, POINTER, WHOLE  # how many, where what they return goes, doubles of rows from one to the next

PAID = 4e-6  # s of use a byte of code of level 0, after which code of level 1 would have paid: it runs in half the time
ENOUGH = 0.1  # s of use that tell how fast it runs
WORTH = 5e-3  # s of use that are worth a file: a run is repeated in dozens of stretches for the estimate of its error


class SteppingLoop:
    """A `LoopBody` in machine code: steps, samples, rows, accumulators and the check for divergence.

    State, accumulators, open numbers and rows of a block of runs lie lane by lane: all lanes of the first number, then all of
    the second. The results of a lane do not depend on their number.

    Args:
        body: Makes the body of the loop; called only if the code is not in the cache.
        target: The machine to compile for.
        lanes: Runs that are carried out at once.
        key: Names all that the body depends on, for the cache; without one, the body is printed and its text is the key.
        tables: With a key, gives the tables that the body looks up.
        hasty: Whether code of level 0 does, where none of the target's level is in the cache, until better code would have paid.
            What has been used of it is in the cache, too.

    Attributes:
        seconds: Wall time of making the body ("trace_s") and of printing it ("print_s"), if that was necessary.
    """

    def __init__(
        self,
        body: Callable[[], LoopBody] | LoopBody,
        target: Target | None = None,
        lanes: int = 1,
        key: str = "",
        tables: Callable[[], Iterable[Table]] = tuple,
        hasty: bool = False,
    ) -> None:
        self._make = body if callable(body) else lambda: body
        self._best = self.target = target or host()
        self._hasty, self._used, self._noted, self._before = hasty and bool(key), 0.0, 0.0, 0.0
        self.lanes = lanes
        self._key, self._tables = key, tables
        self.seconds: dict[str, float] = {}

    @cached_property
    def ir(self) -> str:
        """LLVM IR of the loop."""
        from armsim.compile.loop_text import loop_text
        from armsim.compile.tables import looked_up

        body = self._body
        began = time.perf_counter()
        printed = list(looked_up(body.cycle, body.sample, body.begin, body.finish))
        self._tables = lambda: printed
        text = loop_text(body, self.target, self.lanes)
        self.seconds["print_s"] = time.perf_counter() - began
        del self._body
        return text

    @cached_property
    def _body(self) -> LoopBody:
        began = time.perf_counter()
        body = self._make()
        self.seconds["trace_s"] = time.perf_counter() - began
        return body

    @cached_property
    def code(self) -> Library:
        """The loaded code; compiled or fetched when first asked for."""
        quick = self._best.quick
        if self._hasty and cache.load(self._name(self._best)) is None:
            kept = cache.load(self._name(quick))
            self._before = cache.load_json(self._name(quick, "used")) or 0.0
            if kept is None or self._before < PAID * len(kept):
                self.target = quick
        return compiled(lambda: self.ir, self.target, self._text, lambda: self._tables())

    @property
    def _text(self) -> str:
        """Names all that the code depends on but for the target."""
        return f"loop {self.lanes} {self._key}" if self._key else self.ir

    def _name(self, target: Target, *of: str) -> str:
        """In the cache."""
        return cache.key(self._text, target.key, *of)

    def improved(self, used: float, left: float) -> SteppingLoop | None:
        """The loop in code of the target's level, where that pays; else None.

        Args:
            used: Processor time of its use since it was last asked [s].
            left: What its use would still take, about [s]; 0 at the end of a run.
        """
        if self.target == self._best:
            return None
        self._used += used
        if not left and self._used >= self._noted + WORTH:
            self._noted = self._used
            cache.store_json(self._name(self.target, "used"), self._before + self._used)
        if self._used < ENOUGH or left < PAID * self.code.size:
            return None
        return SteppingLoop(self._make, self._best, self.lanes, self._key, self._tables)

    @cached_property
    def begin(self) -> Callable[..., None]:
        """The native `LoopBody.begin` of blocks of runs that follow each other in memory.

        (number of blocks, 0, 0, open, state, checks), three addresses at last.
        """
        return self.code.function("begin_blocks", None, *BLOCKS, *[POINTER] * 3)

    @cached_property
    def finish(self) -> Callable[..., None]:
        """The native `LoopBody.finish`: (number of blocks, 0, 0, state, kept, open, results, t, whether a sample is due)."""
        return self.code.function("finish_blocks", None, *BLOCKS, *[POINTER] * 4, REAL, WHOLE)

    @cached_property
    def _native(self) -> Callable[..., None]:
        return self.code.function("run_blocks", None, *BLOCKS, *[POINTER] * 5, *[WHOLE] * 6, REAL, REAL)

    def run(self, memory: Sequence[int], first: int, last: int, clock: Clock) -> None:
        """Carry out the steps first <= k < last of blocks of runs that follow each other in memory.

        Args:
            memory: The number of blocks; the address of the steps that they reach, a whole number each; how many vectors of rows
                a block has; the addresses of state, after, rows, kept and open. Where a step leads a lane out of bounds, this
                step is what its block reached, the state is that before it, and `after` what it led to. Rows are those of the k
                that are multiples of `clock.log_every`, one after the other.
            first: First step.
            last: Step before which to stop.
            clock: When things happen.
        """
        every = clock.log_every, clock.sample_every or NEVER, clock.rare_every
        self._native(*memory, first, last, *every, clock.num, float(clock.den), clock.offset)
