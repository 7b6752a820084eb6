"""A study's runs in blocks: how large they are, what comes of one, and those that this process carries out."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial

import numpy as np

from armsim.batches.runs import INTERRUPTED, Runs
from armsim.progress import Progress
from armsim.studies.design import Design, Rows
from armsim.studies.runs import StudyRuns

LANES = 64  # runs of the first block, at least
AT_ONCE = 1.0  # s that a block should take
MOST = 2**16  # runs of a block
TOOK = "total_s"

Blocks = Generator[Runs, None, None]  # in the order of their index


class BlockSize:
    """How many runs a block has: so many that it takes `AT_ONCE`, by what others took.

    Args:
        threads: That share a block.
    """

    def __init__(self, threads: int) -> None:
        self.runs = max(LANES, 16 * threads)

    def learn(self, block: Runs) -> None:
        """Look at a block that is done; sizes grow fourfold at most, as the first runs of a study are compiled."""
        fitting = block.done * AT_ONCE / max(block.seconds[TOOK], 1e-6)
        self.runs = int(min(MOST, max(self.runs, 4 * block.done), max(LANES, fitting)))


def block_of(runs: StudyRuns, first: int, values: Rows, progress: Callable[[int, int], None] | None = None) -> Runs:
    """Carry out runs from index `first` on, with these values, shape (runs, paths); those before Ctrl-C, with their text."""
    began = time.perf_counter()
    found = runs(values, progress, first)
    lacking = np.flatnonzero(found.status == INTERRUPTED)
    if len(lacking):
        found = found.taken(slice(int(lacking[0])))
    found = replace(found, seconds={TOOK: time.perf_counter() - began})
    found.text  # noqa: B018  made here: by the worker, where it is one
    return found


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
