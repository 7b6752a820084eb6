"""A comparison drawn: both time series of every quantity, and their difference beside them."""

from __future__ import annotations

from typing import Any

from armsim.figures.drawn_run import columns_over_time
from armsim.figures.overlay import draw_runs
from armsim.recording.comparison import Comparison


def comparison_figure(comparison: Comparison, title: str, names: tuple[str, str]) -> Any:
    """A figure of a comparison: positions if there are any, else the first columns.

    Args:
        comparison: What to draw.
        title: Above it.
        names: Legends of the two time series.
    """
    columns = [difference.column for difference in comparison.differences]
    headings = [column.heading for column in columns]
    chosen = [column.heading for column in columns if column.quantity == "q"] or headings
    runs = [
        columns_over_time(name, {"t_s": comparison.t, **dict(zip(headings, values.T, strict=True))}, {})
        for name, values in zip(names, (comparison.first, comparison.second), strict=True)
    ]
    return draw_runs(runs, chosen, title=title)
