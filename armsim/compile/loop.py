"""The compiled time-stepping loop, for one run or for vector lanes of runs."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

from armsim.compile.kernel import Compiled, compiled
from armsim.compile.loop_body import LoopBody
from armsim.compile.loop_text import loop_text
from armsim.compile.tables import looked_up
from armsim.compile.target import Target, host
from armsim.expr import Table

POINTER, WHOLE, REAL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double


class Blocks(NamedTuple):
    """Native functions over blocks of runs: (number of blocks, where their returns go, numbers of rows between blocks, ...)

    Attributes:
        begin: ..., open, state, checks: addresses.
        run: ..., as `SteppingLoop.native`; it returns the step reached.
        finish: ..., as `SteppingLoop.finish`.
    """

    begin: Callable[..., None]
    run: Callable[..., None]
    finish: Callable[..., None]


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
        self._make = (lambda: body) if isinstance(body, LoopBody) else body
        self.target = target or host()
        self.lanes = lanes
        self._key, self._tables = key, tables
        self.seconds: dict[str, float] = {}

    @cached_property
    def ir(self) -> str:
        """LLVM IR of the loop."""
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
    def native(self) -> Callable[..., int]:
        """The native loop: (state, after, rows, kept, open, first, last, log_every, sample_every,
        rare_every, num, den, offset), see `run`.

        Addresses, whole numbers, and den and offset as doubles. Where a step leads a lane out of bounds, the state is that before
        this step, and the one it led to is in `after`.
        """
        function: Callable[..., int] = self._function("run", WHOLE, *[POINTER] * 5, *[WHOLE] * 6, REAL, REAL)
        return function

    @cached_property
    def finish(self) -> Callable[..., None]:
        """The native `LoopBody.finish`: (state, kept, open, results, t, whether a sample is due), four addresses first."""
        function: Callable[..., None] = self._function("finish", None, *[POINTER] * 4, REAL, WHOLE)
        return function

    @cached_property
    def blocks(self) -> Blocks:
        """The same functions applied to blocks of runs that follow each other in memory."""
        common = (WHOLE, POINTER, WHOLE)
        return Blocks(
            self._function("begin_blocks", None, *common, *[POINTER] * 3),
            self._function("run_blocks", None, *common, *[POINTER] * 5, *[WHOLE] * 6, REAL, REAL),
            self._function("finish_blocks", None, *common, *[POINTER] * 4, REAL, WHOLE),
        )

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
        open: ctypes.Array | None = None,
        rare_every: int = 1,
        offset: float = 0.0,
    ) -> int:
        """Carry out the steps first <= k < last of one run, each from t = (k num + offset) / den.

        Args:
            state: The state at step `first`; overwritten by the one reached.
            rows: Filled with the rows of those k that are multiples of `log_every`, one after the other.
            kept: The accumulators, updated.
            first: First step.
            last: Step before which to stop.
            log_every: Steps between rows.
            sample_every: Steps between samples.
            time_ratio: (num, den).
            open: The open numbers, if there are any.
            rare_every: Steps between updates of the rare accumulators.
            offset: Of the times of all steps.

        Returns:
            `last`; or the step that led out of bounds, and `state` is then what it led to.
        """
        num, den = time_ratio
        after = (ctypes.c_double * len(state))()
        every = log_every, sample_every, rare_every
        done = self.native(state, after, rows, kept, open, first, last, *every, num, float(den), offset)
        if done < last:
            state[:] = list(after)
        return int(done)
