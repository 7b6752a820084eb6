"""What `armsim simulate` prints at last: how long a run took, and where it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from armsim.clock import seconds
from armsim.compile import cache


def written(summary: Mapping[str, Any], folder: object, tables: Iterable[str], verbose: bool) -> list[str]:
    """Lines about a run that was written.

    Args:
        summary: Of the run, in plain data.
        folder: Where it is.
        tables: Names of its tables.
        verbose: Whether all is told.
    """
    rate, times = summary["steps_per_second"], summary["seconds"]
    speed = f"{rate / 1e6:.1f} million" if rate >= 1e6 else f"{rate:.0f}"
    lines = [f"speed    {speed} steps a second, {seconds(times['loop_s'])} in its loop"]
    if verbose:
        parts = ", ".join(f"{name[:-2]} {seconds(value)}" for name, value in times.items())
        lines.append(f"detail   {summary['algorithm']} forward dynamics, {summary['engine']} engine")
        lines.append(f"times    {parts}")
        lines += uncached()
    first, *others = tables
    return [*lines, f"written  {folder}: {first} ({summary['rows']} rows), {', '.join(others)}, run.yaml"]


def uncached() -> list[str]:
    """Why kernels are not kept, if they are not."""
    why = cache.refusal()
    if not why:
        return []
    from armsim.reports.table import wrapped

    return [wrapped(f"! nothing is kept of what is compiled: {why}")]
