"""What is printed of a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armsim.notebook import counted
from armsim.reports.table import number, table, wrapped
from armsim.studies.results import COMPLETE, Sweep
from armsim.studies.rows import INDEX, REASON, STATUS

LEADING = 5  # runs that are shown where no number is asked for
SHOWN = 3  # reasons of failed runs


def report(found: Sweep, before: int = 0) -> str:
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
    if found.status != COMPLETE:
        lines.append(f"interrupted: the same command goes on with the other {counted(found.count - found.done, 'run')}")
    return "\n".join(map(wrapped, lines))


def failures(found: Sweep) -> str:
    """Why runs failed, the first ones."""
    lines: list[str] = []
    for row in () if set(found.tally) <= {COMPLETE} else found.rows():
        if row[-2] != COMPLETE:
            lines.append(wrapped(f"! run {row[0]} {row[-2]}: {row[-1]}"))
            if len(lines) == SHOWN:
                break
    return "\n".join(lines)


def leading(found: Sweep, best: Sequence[dict[str, Any]], by: str, largest: bool) -> str:
    """The best runs as a table, under a line that says by what."""
    if not best:
        return f"no complete run has a finite {by}"
    names = [name for name in best[0] if name not in (INDEX, STATUS, REASON)]
    rows = [[str(run[INDEX]), *(_cell(run[name]) for name in names)] for run in best]
    title = f"{'largest' if largest else 'least'} {by}, of {counted(found.done, 'run')}"
    return f"{title}\n{table(['run', *names], rows)}"


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else number(value)
