"""The memory of runs on their way: blocks of vector lanes."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

DOUBLE = ctypes.sizeof(ctypes.c_double)
LINE = 64 // DOUBLE  # doubles of a cache line, on which vectors begin


class Numbers:
    """The same numbers of all runs, as doubles; those of a block lie lane by lane: all lanes of the first, then of the second.

    Args:
        blocks: Number of blocks.
        size: Numbers of a run.
        width: Runs in a block.

    Attributes:
        apart: Doubles from a block to the next.
        view: All of them.
    """

    def __init__(self, blocks: int, size: int, width: int) -> None:
        self.size, self.width, self.apart = size, width, max(size, 1) * width
        room = (ctypes.c_double * (blocks * self.apart + LINE))()
        begin = -(ctypes.addressof(room) // DOUBLE) % LINE
        self._address = ctypes.addressof(room) + DOUBLE * begin
        self.view = memoryview(room).cast("B").cast("d")[begin : begin + blocks * self.apart]

    def address(self, block: int = 0) -> int:
        """Where a block begins."""
        return self._address + DOUBLE * block * self.apart

    def block(self, block: int) -> memoryview[float]:
        """The doubles of a block."""
        return self.view[block * self.apart : (block + 1) * self.apart]

    def run(self, run: int) -> memoryview[float]:
        """The numbers of a run."""
        block, lane = divmod(run, self.width)
        return self.block(block)[lane : self.size * self.width : self.width]

    def fill(self, values: Sequence[float], begin: int = 0) -> None:
        """Give numbers, from an index on, to all runs."""
        given = memoryview(array("d", [x for x in values for _ in range(self.width)]))
        for first in range(begin * self.width, len(self.view), self.apart) if values else ():
            self.view[first : first + len(given)] = given

    def scatter(self, values: memoryview[float], size: int) -> None:
        """Give the first numbers, `size` of every run, from a flat sequence with one run after the other."""
        for lane in range(self.width):
            for i in range(size):
                given = values[lane * size + i :: self.width * size]
                self.view[i * self.width + lane :: self.apart][: len(given)] = given


class RowSpace(NamedTuple):
    """Where rows are put.

    Attributes:
        address: Of the next row of the first block.
        apart: Doubles from a block to the next.
    """

    address: int
    apart: int = 0

    def after(self, doubles: int) -> RowSpace:
        """What follows so many doubles."""
        return RowSpace(self.address + DOUBLE * doubles, self.apart) if doubles else self


class RowRoom(Protocol):
    """Takes the rows of runs.

    Attributes:
        at_once: Rows that one stretch of steps may have.
        failure: Why no more rows can be taken; empty while they can.
    """

    at_once: int
    failure: str

    def space(self, first: int) -> RowSpace:
        """Where to put the rows from index `first` on; all before it have been put where earlier calls said."""


class Departure(NamedTuple):
    """A step that led a run out of its bounds.

    Attributes:
        step: Its number.
        before: The state before.
        after: The state that it led to.
    """

    step: int
    before: list[float]
    after: list[float]


class Lanes:
    """Runs on their way.

    Args:
        width: Runs in a block.
        count: Number of runs.
        states: Numbers in a state.
        kept: The accumulators at the start.
        open: Number of open numbers.

    Attributes:
        blocks: Number of blocks.
        state: The states; of a block without a run that is alive, anything.
        after: What the last step of a block that left its bounds led to.
        kept: The accumulators.
        open: The open numbers.
        reached: The step that every block has reached.
        live: Whether a run goes on, 1 or 0, by lane.
        left: The runs that left their bounds.
    """

    def __init__(self, width: int, count: int, states: int, kept: Sequence[float], open: int) -> None:
        self.width, self.blocks = width, (blocks := -(-count // width))
        self.state, self.after = (Numbers(blocks, states, width) for _ in range(2))
        self.kept, self.open = Numbers(blocks, len(kept), width), Numbers(blocks, open, width)
        self.kept.fill(kept)
        self.reached = (ctypes.c_int64 * blocks)()
        self.live = bytearray(b"\1" * count + b"\0" * (blocks * width - count))
        self.left: dict[int, Departure] = {}

    def copy(self) -> Lanes:
        """The same runs once more."""
        other = Lanes(self.width, len(self.live), self.state.size, [0.0] * self.kept.size, self.open.size)
        for name in ("state", "kept", "open"):
            getattr(other, name).view[:] = getattr(self, name).view
        other.live[:] = self.live
        return other

    @property
    def alive(self) -> bool:
        """Whether a run goes on."""
        return 1 in self.live

    def spans(self) -> Iterator[range]:
        """The stretches of blocks in which runs go on."""
        begin = 0
        for block in range(self.blocks + 1):
            if block == self.blocks or not self._of_block(block):
                if block > begin:
                    yield range(begin, block)
                begin = block + 1

    def end(self, block: int, bounds: Sequence[tuple[int, float]]) -> None:
        """End the runs of a block that its last step led out of bounds; the others go on from where it led them.

        Args:
            block: The block.
            bounds: Indices in the state, and the magnitudes beyond which a run ends.
        """
        first, after = block * self.width, self.after.block(block)
        for run in self._of_block(block):
            lane = run - first
            if not all(abs(after[i * self.width + lane]) <= bound for i, bound in bounds):
                before, to = [*self.state.run(run)], [*self.after.run(run)]
                self.left[run] = Departure(int(self.reached[block]), before, to)
                self.live[run] = 0
        if self._of_block(block):
            self.state.block(block)[:] = after
            self.fill_in(block)

    def fill_in(self, block: int) -> None:
        """Let lanes without a run repeat one that goes on, so that they hold up no other."""
        runs = range(block * self.width, (block + 1) * self.width)
        alive = self._of_block(block)
        for run in runs if 0 < len(alive) < self.width else ():
            if not self.live[run]:
                for numbers in (self.state, self.kept, self.open):
                    numbers.run(run)[:] = numbers.run(alive[0])

    def _of_block(self, block: int) -> list[int]:
        """The runs of a block that go on."""
        runs = range(block * self.width, (block + 1) * self.width)
        return [run for run in runs if self.live[run]]
