"""A comparison drawn: both time series of every quantity, and their difference beside them."""

from __future__ import annotations

from os import PathLike
from typing import Any

from armsim.figures.overlay import INCHES, MOST, draw_pair, finish, labelled
from armsim.figures.picture import check_picture, save
from armsim.figures.style import new_figure, worded
from armsim.recording.comparison import Comparison


def plot_comparison(path: str | PathLike[str], comparison: Comparison, title: str, names: tuple[str, str]) -> None:
    """Draw a comparison into a file: positions if there are any, else the first columns.

    Args:
        path: The picture; its suffix gives the format.
        comparison: What to draw.
        title: Above it.
        names: Legends of the two time series.

    Raises:
        UsageError: It cannot be drawn or written.
    """
    check_picture(path)
    chosen = [i for i, d in enumerate(comparison.differences) if d.column.quantity == "q"]
    chosen = chosen or list(range(len(comparison.differences)))
    figure = new_figure(INCHES[0], 1.3 + INCHES[1] * len(chosen[:MOST]))
    figure.suptitle(worded(title))
    axes: Any = figure.subplots(len(chosen[:MOST]), 2, sharex=True, squeeze=False)
    t = comparison.t
    for (left, right), i in zip(axes, chosen, strict=False):
        column = comparison.differences[i].column
        first, second = comparison.first[:, i], comparison.second[:, i]
        draw_pair(left, right, column.unit, names, [(t, first), (t, second)], [(t, second - first)])
        what = " ".join(filter(None, [column.quantity if column.of else "", column.of])) or column.heading
        left.set_ylabel(labelled(what, column.unit))
    more = len(chosen) - MOST
    finish(figure, axes, f"{more} more columns are not drawn" if more > 0 else "")
    save(figure, path)
