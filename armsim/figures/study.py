"""A study drawn: a curve over one varied number, a map over two, parallel coordinates over more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.arrays import Array
from armsim.batches.runs import Runs
from armsim.figures.style import BLUE, GREY, VERMILION, new_figure, plain, tick, with_unit, worded
from armsim.formulas.values import Drawn, Spaced, Values, text_of_value

INCHES = (8.0, 5.0)
MOST_LINES = 2000  # of parallel coordinates
MOST_WORDS = 12  # at an axis
MAP = "cividis"  # evenly bright, also to the colour-blind
NONE: Mapping[str, str] = {}
SHARE = 0.02  # of the largest values, which may be much larger, have the colour of those below


def study_figure(found: Runs, axes: Mapping[str, Values], by: str, units: Mapping[str, str] = NONE) -> Any:
    """A measure of a study over what is varied, as a figure of matplotlib; runs that failed are crosses, or empty.

    Args:
        found: The results.
        axes: What is varied.
        by: The measure.
        units: Of what is varied and of the measure, by name, as far as they have any.
    """
    label = with_unit(by, units.get(by))
    drawn = [_Axis(with_unit(name, units.get(name)), axes[name], found[name]) for name in found.paths]
    values = np.where(found.complete, np.asarray(found[by], float), np.nan)
    values[~np.isfinite(values)] = np.nan
    lost = int(np.isnan(values).sum())
    title = f"{by}, {found.done} of {found.count} runs"
    figure = new_figure(*INCHES, f"{title}, {lost} of them without a value" if lost else title)
    axis = figure.subplots()
    if len(drawn) == 1:
        _curve(axis, drawn[0], values, label)
    elif len(drawn) == 2:
        _map(figure, axis, drawn, values, label)
    else:
        _parallel(figure, axis, drawn, values, label)
    return figure


class _Axis:
    """What is varied, as numbers at an axis; words are counted.

    Attributes:
        name: Its path, with its unit.
        at: Where the runs are.
        log: Whether the axis is logarithmic.
        words: At 0, 1, ...; empty for numbers.
    """

    def __init__(self, name: str, values: Values, column: NDArray[Any]) -> None:
        self.name, self.words = name, list[str]()
        self.log = isinstance(values, Spaced) and values.values.log
        if column.dtype == object:
            assert not isinstance(values, Drawn)  # whose values are numbers
            known = [text_of_value(value) for value in values.values]
            self.words = [tick(value) if isinstance(value, float) else text_of_value(value) for value in values.values]
            self.at = np.array([known.index(text_of_value(x)) for x in column], dtype=float)
        else:
            self.at = column

    def label(self, axis: Any, which: str) -> None:
        """Label the axis "x" or "y" of a panel, and make it logarithmic if it is."""
        getattr(axis, f"set_{which}label")(worded(self.name))
        if self.words:
            every = -(-len(self.words) // MOST_WORDS)
            at = range(0, len(self.words), every)
            getattr(axis, f"set_{which}ticks")(list(at), [worded(self.words[i], 24) for i in at])
        if self.log:
            from matplotlib.ticker import FuncFormatter, LogLocator

            getattr(axis, f"set_{which}scale")("log")
            ticks = getattr(axis, f"{which}axis")
            ticks.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            ticks.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
            ticks.set_minor_formatter("")

    def unit(self) -> Array:
        """The runs between 0 and 1."""
        at = np.log(self.at) if self.log else self.at
        low, high = float(at.min()), float(at.max())
        return (at - low) / (high - low) if high > low else np.full(len(at), 0.5)

    def ends(self) -> tuple[str, str]:
        """What stands at 0 and at 1."""
        low, high = float(self.at.min()), float(self.at.max())
        if self.words:
            return self.words[int(low)], self.words[int(high)]
        return tick(low, 4), tick(high, 4)


def _curve(axis: Any, along: _Axis, values: Array, by: str) -> None:
    order = np.argsort(along.at, kind="stable")
    x, y = along.at[order], values[order]
    few = len(x) <= 100
    axis.plot(x, y, color=BLUE, marker="o" if few else None, markersize=4, linestyle="" if along.words else "-")
    bad = x[np.isnan(y)]
    if len(bad):
        axis.plot(bad, np.zeros(len(bad)), "x", color=VERMILION, transform=axis.get_xaxis_transform(), clip_on=False,
                  label="no value")  # fmt: skip
        axis.legend(frameon=False)
    plain(axis, x=not along.words)
    along.label(axis, "x")
    axis.set_ylabel(worded(by))


def _limits(values: Array) -> tuple[float, float]:
    """The ends of a colour scale, which a few huge values do not set."""
    seen = values[np.isfinite(values)]
    if not len(seen):
        return 0.0, 1.0
    low, high = float(seen.min()), float(seen.max())
    most = float(np.quantile(seen, 1.0 - SHARE))
    return low, most if high - low > 10.0 * (most - low) > 0.0 else high


def _map(figure: Any, axis: Any, along: Sequence[_Axis], values: Array, by: str) -> None:
    (x, y), (low, high) = along, _limits(values)
    (first, column), (second, row) = (np.unique(of.at, return_inverse=True) for of in along)
    axis.set_facecolor("0.88")  # of runs without a value
    style = {"cmap": MAP, "vmin": low, "vmax": high}
    if len(first) * len(second) == len(values) and min(len(first), len(second)) > 1:
        cells = np.full((len(second), len(first)), np.nan)
        cells[row, column] = values
        edges = [_edges(at, of.log) for at, of in ((first, x), (second, y))]
        for set_ticks, at in ((axis.set_xticks, first), (axis.set_yticks, second)):
            if len(at) <= MOST_WORDS:
                set_ticks(at, [tick(value, 4) for value in at])
        made = axis.pcolormesh(*edges, np.ma.masked_invalid(cells), **style)
    else:
        good = np.isfinite(values)
        made = axis.scatter(x.at[good], y.at[good], c=values[good], s=14, **style)
        axis.plot(x.at[~good], y.at[~good], "x", color=VERMILION, markersize=4)
    for which, of in (("x", x), ("y", y)):
        of.label(axis, which)
    _bar(figure, axis, made, by, values, high)


def _edges(at: Array, log: bool) -> Array:
    """The edges of cells around points."""
    x = np.log(at) if log else at
    middle = 0.5 * (x[1:] + x[:-1])
    edges = np.concatenate([[x[0] - (middle[0] - x[0])], middle, [x[-1] + (x[-1] - middle[-1])]])
    return np.exp(edges) if log else edges


def _parallel(figure: Any, axis: Any, along: Sequence[_Axis], values: Array, by: str) -> None:
    from matplotlib.collections import LineCollection

    good = np.flatnonzero(np.isfinite(values))
    order = good[np.argsort(-values[good], kind="stable")]  # the least last, above the others
    shown = order[:: -(-len(order) // MOST_LINES)] if len(order) else order
    heights = np.column_stack([of.unit() for of in along])
    low, high = _limits(values)
    places = np.arange(len(along))
    lines = LineCollection([np.column_stack([places, heights[i]]) for i in shown], cmap=MAP, linewidths=0.8, alpha=0.7)
    lines.set_array(values[shown])
    lines.set_clim(low, high)
    axis.add_collection(lines)
    if len(order):
        axis.plot(
            places, heights[order[-1]], color=VERMILION, linewidth=2.0, label=worded(f"least {by}, run {order[-1]}")
        )
        axis.legend(frameon=False, loc="upper right", bbox_to_anchor=(1.0, 1.14))
    for k, of in enumerate(along):
        axis.vlines(k, 0.0, 1.0, color=GREY, linewidth=0.8)
        for y, text, va in zip((-0.02, 1.02), of.ends(), ("top", "bottom"), strict=True):
            axis.text(k, y, worded(text, 16), ha="center", va=va, color=GREY, fontsize="small")
    axis.set_xlim(-0.3, len(along) - 0.7)
    axis.set_ylim(-0.08, 1.08)
    axis.set_yticks([])
    turn = {"rotation": 15, "ha": "right"} if len(along) > 4 else {}
    axis.set_xticks(places, [worded(of.name.replace(" [", "\n["), 30) for of in along], **turn)
    axis.spines[:].set_visible(False)
    _bar(figure, axis, lines, by, values, high)


def _bar(figure: Any, axis: Any, made: Any, by: str, values: Array, high: float) -> None:
    """The colour scale."""
    more = "max" if np.nanmax(np.append(values, high)) > high else "neither"
    bar = figure.colorbar(made, ax=axis, extend=more)
    bar.set_label(worded(by))
