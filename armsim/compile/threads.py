"""How many threads machine code runs on."""

from __future__ import annotations

import operator
import os

from armsim.errors import UsageError


def check_threads(threads: int | None) -> int:
    """A number of threads; as many as there are processors for this process unless given.

    Raises:
        UsageError: It is less than 1.
    """
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        count = 0 if isinstance(threads, bool) else operator.index(threads)
    except TypeError:
        count = 0
    if count < 1:
        raise UsageError.of("threads", "how many, 1 or more", repr(threads), "leave it out to take all processors")
    return count
