"""Where a loop's rows go: into memory, or block by block through a thread to a file, so that memory is bounded."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import math
import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any, Protocol

from armsim.errors import UsageError, refusing
from armsim.files.new_folder import size_text
from armsim.records import mutable_record
from armsim.simulation.runner import DOUBLE, RowRoom, RowSpace

if TYPE_CHECKING:
    import numpy as np

    from armsim.simulation.row_totals import RowTotals

IN_MEMORY = 32 * 2**20  # bytes of rows that stay there
BLOCK = 2**20  # bytes of rows that are handed over at once
BLOCKS = 4  # of them, in the loop's hands, waiting, or being written
LARGEST_LOG = 2 * 2**30  # bytes of rows of runs that keep all of them in memory: recordings, and many runs at once


def held_in_memory(width: int) -> int:
    """The number of rows of so many numbers that stay in memory."""
    return IN_MEMORY // (DOUBLE * width)


class RowSink(Protocol):
    """Takes rows, in their order."""

    def write(self, block: memoryview[float], first: int, count: int) -> None:
        """Take a block.

        Args:
            block: Its rows, one after the other, as doubles; valid during the call.
            first: Index of its first row.
            count: Number of its rows.

        Raises:
            OSError: It cannot; no more will come.
        """

    def cut(self) -> int:
        """After a block that could not be written: leave whole rows only, and say how many there are."""


class Rows(Protocol):
    """The rows of a run, wherever they are.

    Attributes:
        count: Their number.
    """

    count: int

    @property
    def times(self) -> np.ndarray | None:
        """Their times [s], shape (count,); None where they follow from the scenario's clock."""

    @property
    def table(self) -> np.ndarray:
        """All of them, shape (count, columns)."""

    def blocks(self) -> Iterator[tuple[int, memoryview[float]]]:
        """Blocks of rows: the index of their first row, and their numbers, row by row."""

    def cut(self, count: int) -> Rows:
        """The first rows alone."""


@mutable_record
class ArrayRows:
    """The rows of a run, or the last of them, in one array; see `Rows`.

    Attributes:
        numbers: The rows, one after the other. Many of them are in a temporary file, mapped into memory; of a run whose rows
            went to its folder, only the last ones.
        width: Numbers in a row.
        count: Number of rows.
        skipped: Number of rows before those that `numbers` has.
        totals: Totals of all rows, gathered on the way; None where they are gathered from `numbers`.
        spilled: Has the temporary file of `numbers`; None if they are in memory.
        times: See `Rows`.
    """

    numbers: ctypes.Array
    width: int
    count: int
    skipped: int = 0
    totals: RowTotals | None = None
    spilled: Spill | None = None
    times: np.ndarray | None = None

    @classmethod
    def of(cls, table: np.ndarray, times: np.ndarray | None) -> ArrayRows:
        """Of a table, shape (count, columns)."""
        count, width = table.shape
        return cls((ctypes.c_double * table.size).from_buffer_copy(table.tobytes()), width, count, times=times)

    @property
    def flat(self) -> memoryview[float]:
        """The numbers of the rows that there are."""
        return memoryview(self.numbers).cast("B").cast("d")[: max(0, self.count - self.skipped) * self.width]

    @cached_property
    def table(self) -> np.ndarray:
        """All rows; a memory map if they are many.

        Raises:
            UsageError: The first ones are in the run's folder alone.
        """
        import numpy as np

        self.refuse_if_gone()
        shape = self.count, self.width
        if self.spilled is not None:
            return np.memmap(self.spilled.file, np.float64, "c", shape=shape)
        return np.frombuffer(memoryview(self.numbers), np.float64, shape[0] * shape[1]).reshape(shape)

    def blocks(self) -> Iterator[tuple[int, memoryview[float]]]:
        """See `Rows`; refused as `table` is."""
        self.refuse_if_gone()
        at_once = max(1, held_in_memory(self.width)) * self.width
        for first in range(0, len(self.flat), at_once):
            yield first // self.width, self.flat[first : first + at_once]

    def cut(self, count: int) -> ArrayRows:
        """See `Rows`."""
        return replace(self, count=count, times=None if self.times is None else self.times[:count])

    def latest(self) -> tuple[int, memoryview[float]]:
        """The last rows, as many as memory holds: the index of the first of them, and their numbers."""
        first = max(self.skipped, self.count - held_in_memory(self.width))
        return first, self.flat[(first - self.skipped) * self.width :]

    def refuse_if_gone(self) -> None:
        """Refuse to answer for rows that are in the run's folder alone."""
        if self.skipped:
            raise UsageError("the rows of this run are in its folder: read them there, or call armsim.simulate")

    def __reduce__(self) -> tuple[Any, ...]:
        return _array_rows, (bytes(self.flat), self.width, self.count, self.skipped, self.totals, None, self.times)


def _array_rows(numbers: bytes, *others: Any) -> ArrayRows:
    return ArrayRows((ctypes.c_double * (len(numbers) // DOUBLE)).from_buffer_copy(numbers), *others)


class RowLog(RowRoom, Protocol):
    """Takes the rows of a run.

    Attributes:
        waited: Time for which the loop waited for rows to be written [s].
    """

    waited: float

    def finish(self, count: int, end: Sequence[float] | None) -> ArrayRows:
        """Take the last rows, and close; all but a last one that is not finite, as that of a diverging step may be.

        Args:
            count: Number of rows so far.
            end: One more; None for none.
        """

    def close(self) -> None:
        """Take no more."""


class RowsInMemory:
    """Rows in one array; see `RowLog`.

    Args:
        width: Numbers in a row.
        most: Number of rows for which there is room.
    """

    failure = ""
    waited = 0.0

    def __init__(self, width: int, most: int) -> None:
        self.width = width
        self.at_once = most
        self.rows = (ctypes.c_double * (width * most))()

    def space(self, first: int) -> RowSpace:
        return RowSpace(ctypes.addressof(self.rows) + first * self.width * DOUBLE)

    def finish(self, count: int, end: Sequence[float] | None) -> ArrayRows:
        return ArrayRows(self.rows, self.width, _ended(self.rows, self.width, count, end))

    def close(self) -> None:
        pass


class RowStream:
    """Rows on their way to a sink, which a thread of its own writes to; see `RowLog`.

    Ctrl-C at any place loses no row and doubles none: a block that is handed over twice is taken once.

    Args:
        sink: Where they go.
        totals: Gathered from them on the way.
    """

    def __init__(self, sink: RowSink, totals: RowTotals) -> None:
        self._sink, self._totals, self.width = sink, totals, (width := totals.width)
        self.at_once = max(1, BLOCK // (DOUBLE * width))
        self.failure, self.waited = "", 0.0
        self._free: SimpleQueue[ctypes.Array] = SimpleQueue()
        for _ in range(BLOCKS):
            self._free.put((ctypes.c_double * (width * (self.at_once + 1)))())  # and one row for the end
        self._filled: SimpleQueue[tuple[int, int, ctypes.Array] | None] = SimpleQueue()
        self._buffer: ctypes.Array | None = None
        self._first = 0  # index of its first row
        self._fault: Exception | None = None
        self._written = 0
        self._latest: deque[bytes] = deque()
        self._thread = threading.Thread(target=self._write, name="armsim rows", daemon=True)
        self._thread.start()

    def space(self, first: int) -> RowSpace:
        self._hand_over(first)
        if self._fault is not None:
            raise self._fault
        if self._buffer is None:
            began = time.perf_counter()
            self._buffer = self._free.get()
            self.waited += time.perf_counter() - began
        return RowSpace(ctypes.addressof(self._buffer))

    def finish(self, count: int, end: Sequence[float] | None) -> ArrayRows:
        """See `RowLog`. Of the rows, the last are kept in memory, at least `IN_MEMORY` bytes if there are as many."""
        if self._buffer is not None:
            self._hand_over(self._first + _ended(self._buffer, self.width, count - self._first, end))
        self.close()
        if self._fault is not None:
            raise self._fault
        rows = (ctypes.c_double * (sum(map(len, self._latest)) // DOUBLE))()
        skipped = self._written - len(rows) // self.width
        at = 0
        while self._latest:  # block by block, so that they are in memory once
            block = self._latest.popleft()
            ctypes.memmove(ctypes.addressof(rows) + at, block, len(block))
            at += len(block)
        count = self._sink.cut() if self.failure else self._written
        return ArrayRows(rows, self.width, count, skipped, self._totals)

    def close(self) -> None:
        self._filled.put(None)
        while self._thread.is_alive():
            with contextlib.suppress(KeyboardInterrupt):  # what is left is little
                self._thread.join()

    def _hand_over(self, end: int) -> None:
        """Hand over the rows up to index `end`."""
        if self._buffer is not None and end > self._first:
            self._filled.put((self._first, end - self._first, self._buffer))
            self._first, self._buffer = end, None

    def _write(self) -> None:
        while (block := self._filled.get()) is not None:
            first, count, buffer = block
            if first < self._written:
                continue  # handed over twice, as Ctrl-C came in between
            rows = memoryview(buffer).cast("B").cast("d")[: count * self.width]
            try:
                if not self.failure and self._fault is None:
                    self._sink.write(rows, first, count)
                    self._keep(rows)
                    self._written += count
            except OSError as error:
                self.failure = error.strerror or str(error)
            except Exception as error:  # for the loop's thread, which would wait for ever
                self._fault = error
            self._free.put(buffer)

    def _keep(self, rows: memoryview[float]) -> None:
        self._totals.add(rows)
        self._latest.append(rows.tobytes())
        while len(self._latest) > 1 and sum(map(len, self._latest)) - len(self._latest[0]) >= IN_MEMORY:
            self._latest.popleft()


class SpilledRows(RowStream):
    """Rows on their way to a temporary file, from which they are read when they are looked at; see `RowLog`.

    Args:
        totals: Gathered from them on the way.
        most: Number of rows for which there must be room.

    Raises:
        UsageError: There is no room for them, or no folder for the file.
    """

    def __init__(self, totals: RowTotals, most: int = 0) -> None:
        self._spill = Spill(totals.width, most)
        super().__init__(self._spill, totals)

    def finish(self, count: int, end: Sequence[float] | None) -> ArrayRows:
        """See `RowLog`."""
        kept = super().finish(count, end)
        return replace(kept, numbers=self._spill.rows(kept.count), skipped=0, spilled=self._spill)


class Spill:
    """Rows in a temporary file, which goes away with this; see `RowSink`.

    Args:
        width: Numbers in a row.
        most: Number of rows for which there must be room.

    Raises:
        UsageError: There is no room for them, or no folder for the file.
    """

    def __init__(self, width: int, most: int = 0) -> None:
        import shutil
        import tempfile

        self._size = DOUBLE * width
        expected = "a folder for a temporary file of the rows, which memory does not hold"
        mend = "name one in the environment variable TMPDIR, or log less often"
        with refusing("log.every", expected, mend):
            free = shutil.disk_usage(tempfile.gettempdir()).free
            if free < most * self._size:
                reason = f"{size_text(free)} of {size_text(most * self._size)} in {tempfile.gettempdir()}"
                raise OSError(errno.ENOSPC, reason)
            self.file: IO[bytes] = tempfile.TemporaryFile(prefix="armsim-", buffering=0)  # noqa: SIM115  outlives this call

    def __del__(self) -> None:
        if hasattr(self, "file"):
            self.file.close()

    def write(self, block: memoryview[float], first: int, count: int) -> None:
        left = block.cast("B")
        while left:
            left = left[self.file.write(left) :]

    def cut(self) -> int:
        return self.file.seek(0, os.SEEK_END) // self._size

    def rows(self, count: int) -> ctypes.Array:
        """So many of them, mapped into memory."""
        if not count:
            return (ctypes.c_double * 0)()
        import mmap

        mapped = mmap.mmap(self.file.fileno(), count * self._size, access=mmap.ACCESS_COPY)
        return (ctypes.c_double * (count * self._size // DOUBLE)).from_buffer(mapped)


def _ended(rows: ctypes.Array, width: int, count: int, end: Sequence[float] | None) -> int:
    """Put one more row, if there is one, after those of an array; their number, without a last one that is not finite."""
    if end is not None:
        rows[count * width : (count + 1) * width] = list(end)
        count += 1
    if count and not all(map(math.isfinite, rows[(count - 1) * width : count * width])):
        count -= 1
    return count
