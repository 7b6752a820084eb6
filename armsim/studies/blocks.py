"""A study's runs in blocks: how large they are, what comes of one, and those that this process carries out."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial

import numpy as np

from armsim.studies.design import Array, Design, Rows
from armsim.studies.rows import text_of
from armsim.studies.runs import StudyRuns

Progress = Callable[[int, int], object]
LANES = 64  # runs of the first block, at least
AT_ONCE = 1.0  # s that a block should take
MOST = 2**16  # runs of a block


@dataclass(frozen=True)
class RowBlock:
    """What came of runs first <= i < first + count.

    Attributes:
        first: Index of the first.
        count: How many.
        text: Their lines of the table.
        measures: Shape (count, measures).
        seconds: Wall time that they took.
        whole: Whether there are as many as were asked for; Ctrl-C came if not.
    """

    first: int
    count: int
    text: bytes
    measures: Array
    seconds: float
    whole: bool = True


Blocks = Generator[RowBlock, None, None]  # in the order of their index


class BlockSize:
    """How many runs a block has: so many that it takes `AT_ONCE`, by what others took.

    Args:
        threads: That share a block.
    """

    def __init__(self, threads: int) -> None:
        self.runs = max(LANES, 16 * threads)

    def learn(self, block: RowBlock) -> None:
        """Look at a block that is done; sizes grow fourfold at most, as the first runs of a study are compiled."""
        fitting = block.count * AT_ONCE / max(block.seconds, 1e-6)
        self.runs = int(min(MOST, max(self.runs, 4 * block.count), max(LANES, fitting)))


def block_of(runs: StudyRuns, first: int, values: Rows, progress: Callable[[int, int], None] | None = None) -> RowBlock:
    """Carry out runs from index `first` on, with these values, shape (runs, paths)."""
    began = time.perf_counter()
    found = runs(values, progress)
    lacking = np.flatnonzero(found.status == "interrupted")
    count = int(lacking[0]) if len(lacking) else len(values)
    text = text_of(first, values[:count], found.first(count)) if count else b""
    return RowBlock(first, count, text, found.measures[:count], time.perf_counter() - began, not found.interrupted)


def local_blocks(runs: StudyRuns, design: Design, first: int, progress: Progress | None = None) -> Blocks:
    """Blocks in the order of their index, from run `first` on; the last one may be cut short by Ctrl-C.

    Args:
        runs: What carries them out.
        design: Which they are.
        first: The first that is lacking.
        progress: Called with runs done and runs in all, of those that were lacking.
    """
    size, at, count = BlockSize(runs.threads), first, design.count

    def told(at: int, done: int, _: int) -> None:
        if progress is not None:
            progress(at + done - first, count - first)

    while at < count:
        last = min(at + size.runs, count)
        block = block_of(runs, at, design.rows(at, last), partial(told, at))
        yield block
        if not block.whole:
            return
        size.learn(block)
        at = last
