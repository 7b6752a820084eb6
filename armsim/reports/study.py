"""What is printed of a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from armsim.batches.runs import COMPLETE, Runs
from armsim.batches.table_text import INDEX, REASON, STATUS
from armsim.notebook import counted
from armsim.reports.table import Report, ReportTable, number, wrapped

LEADING = 5  # runs that are shown where no number is asked for
FIRST = 10  # runs that a notebook shows
SHOWN = 3  # reasons of failed runs


def report(found: Runs, before: int = 0) -> Report:
    """A study in a few lines: how many runs, how they ended, where they are.

    Args:
        found: The study.
        before: Runs that were there already.
    """
    ended = ", ".join(f"{count} {status}" for status, count in found.tally.items())
    again = f" ({before} of them before)" if 0 < before < found.done else ""
    lines = [f"runs     {found.done} of {found.count}{again}: {ended or 'none'}"]
    lines += [f"notes    {note}" for note in found.notes]
    lines.append(f"results  {found.file}")
    if not found.whole:
        lines.append(f"interrupted: the same command goes on with the other {counted(found.count - found.done, 'run')}")
    return [*map(wrapped, lines)]


def failures(found: Runs) -> Report:
    """Why runs failed, the first ones."""
    failed = () if set(found.tally) <= {COMPLETE} else islice(failures_of(found), SHOWN)
    return [wrapped(f"! run {index} {status}: {reason}") for index, status, reason in failed]


def failures_of(found: Runs) -> Iterator[tuple[int, str, str]]:
    """The index of each run that is not complete, its status and reason."""
    for part in found.parts():
        for i in np.flatnonzero(~part.complete).tolist():
            yield int(part[INDEX][i]), part.status[i], part.reason[i]


def of_runs(found: Runs) -> Report:
    """The first runs."""
    names = [name for name in found if name not in (*found.final, REASON)]
    columns = [map(worded, found[name][:FIRST].tolist()) for name in names]
    indices = map(str, range(found.first, found.first + FIRST))
    rows = [list(row) for row in zip(indices, *columns, strict=False)]
    return [repr(found), ReportTable(["run", *names], rows)]


def leading(found: Runs, best: Sequence[dict[str, Any]], by: str, largest: bool) -> Report:
    """The best runs as a table, under a line that says by what."""
    if not best:
        return [f"no complete run has a finite {by}"]
    names = [name for name in best[0] if name not in (INDEX, STATUS, REASON)]
    rows = [[str(run[INDEX]), *(worded(run[name]) for name in names)] for run in best]
    title = f"{'largest' if largest else 'least'} {by}, of {counted(found.done, 'run')}"
    return [title, ReportTable(["run", *names], rows)]


def worded(value: Any) -> str:
    """A value of a study as text."""
    return value if isinstance(value, str) else number(value)
