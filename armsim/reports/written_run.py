"""What `armsim simulate` prints, once the summary is in lines: also how long the run took, and where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.clock import seconds
from armsim.compile import cache
from armsim.simulation.known_run import WrittenRun

if TYPE_CHECKING:
    from armsim.reports.table import Report


def report(run: WrittenRun, verbose: bool = False) -> Report:
    """What is told of a run that was written, all of it where `verbose`."""
    rate, times = run.summary["steps_per_second"], run.summary["seconds"]
    speed = f"{rate / 1e6:.1f} million" if rate >= 1e6 else f"{rate:.0f}"
    lines: Report = [*run.told, f"speed    {speed} steps a second, {seconds(times['loop_s'])} in its loop"]
    if verbose:
        parts = ", ".join(f"{name[:-2]} {seconds(value)}" for name, value in times.items())
        lines.append(f"detail   {run.summary['algorithm']} forward dynamics, {run.summary['engine']} engine")
        lines += [f"times    {parts}", *uncached()]
    first, *others = run.tables
    lines.append(f"written  {run.folder}: {first} ({run.summary['rows']} rows), {', '.join(others)}, run.yaml")
    return lines


def uncached() -> list[str]:
    """Why kernels are not kept, if they are not."""
    why = cache.refusal()
    if not why:
        return []
    from armsim.reports.table import wrapped

    return [wrapped(f"! nothing is kept of what is compiled: {why}")]
