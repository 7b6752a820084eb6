"""The compiled time-stepping loop, for one run or for vector lanes of runs."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from armsim.clock import NEVER, Clock
from armsim.compile.kernel import Compiled, compiled
from armsim.compile.target import Target, host

if TYPE_CHECKING:
    from armsim.compile.loop_body import LoopBody
    from armsim.expr import Table

POINTER, WHOLE, REAL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
BLOCKS = WHOLE, POINTER, WHOLE  # how many, where what they return goes, doubles of rows from one to the next


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
    ) -> None:
        self._make = body if callable(body) else lambda: body
        self.target = target or host()
        self.lanes = lanes
        self._key, self._tables = key, tables
        self.seconds: dict[str, float] = {}

    @cached_property
    def ir(self) -> str:
        """LLVM IR of the loop."""
        from armsim.compile.loop_text import loop_text
        from armsim.compile.tables import looked_up

        began = time.perf_counter()
        body = self._make()
        made = time.perf_counter()
        printed = list(looked_up(body.cycle, body.sample, body.begin, body.finish))
        self._tables = lambda: printed
        text = loop_text(body, self.target, self.lanes)
        self.seconds = {"trace_s": made - began, "print_s": time.perf_counter() - made}
        return text

    @cached_property
    def code(self) -> Compiled:
        """The loaded code; compiled or fetched when first asked for."""
        if not self._key:
            return compiled(lambda: self.ir, self.target, self.ir, lambda: self._tables())
        key = f"loop {self.lanes} {self._key}"
        return compiled(lambda: self.ir, self.target, key, lambda: self._tables())

    def _function(self, name: str, result: Any, *args: Any) -> Any:
        return self.code.library.function(name, result, *args)

    @cached_property
    def begin(self) -> Callable[..., None]:
        """The native `LoopBody.begin` of blocks of runs that follow each other in memory.

        (number of blocks, 0, 0, open, state, checks), three addresses at last.
        """
        function: Callable[..., None] = self._function("begin_blocks", None, *BLOCKS, *[POINTER] * 3)
        return function

    @cached_property
    def finish(self) -> Callable[..., None]:
        """The native `LoopBody.finish`: (number of blocks, 0, 0, state, kept, open, results, t, whether a sample is due)."""
        function: Callable[..., None] = self._function("finish_blocks", None, *BLOCKS, *[POINTER] * 4, REAL, WHOLE)
        return function

    @cached_property
    def _native(self) -> Callable[..., None]:
        function: Callable[..., None] = self._function(
            "run_blocks", None, *BLOCKS, *[POINTER] * 5, *[WHOLE] * 6, REAL, REAL
        )
        return function

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
