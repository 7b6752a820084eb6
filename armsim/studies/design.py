"""Which runs a study has: every combination of its values, or points drawn from them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim import document
from armsim.arrays import Array
from armsim.errors import UsageError, spelled
from armsim.formulas.values import MOST_RUNS, NORMAL, Drawn, Listed, Values, combinations
from armsim.records import record

Rows = NDArray[Any]  # floats, or objects where there are words or lists
GRID, RANDOM, LATIN, SOBOL = "grid", "random", "latin", "sobol"
MOST_LATIN = 10**7  # numbers that are in memory at once
EDGE = 2.0**-53  # of the unit interval, beyond which a normal distribution has no finite quantile


@record
class Design:
    """The runs of a study by index; one run if nothing is varied.

    Attributes:
        axes: What is varied, by path.
        method: "grid", or how runs are drawn: "random", "latin", "sobol".
        asked: How many are drawn; None for a grid.
        seed: Of the draws.
    """

    axes: Mapping[str, Values] = field(default_factory=dict)
    method: str = GRID
    asked: int | None = None
    seed: int = 0

    @cached_property
    def _points(self) -> Grid | Sample:
        if self.method == GRID:
            return Grid(self.axes)
        count = self.asked
        if count is None or not 1 <= count <= MOST_RUNS:
            mend = f"write --{self.method} 1000"
            raise UsageError.of(f"--{self.method}", f"how many runs, 1 to {MOST_RUNS}", str(count), mend)
        if self.method == LATIN and count * len(self.axes) > MOST_LATIN:
            found = f"{count} runs of {len(self.axes)} values"
            mend = "take --sobol, which fills space as evenly, or --random"
            raise UsageError.of("--latin", f"at most {MOST_LATIN} values, which are in memory at once", found, mend)
        return Sample(self.axes, self.method, count, self.seed)

    @property
    def count(self) -> int:
        """How many runs there are.

        Raises:
            UsageError: A grid of a distribution, or too many runs.
        """
        return self._points.count

    def rows(self, first: int = 0, last: int | None = None) -> Rows:
        """The values of runs first <= i < last, shape (last - first, axes).

        Raises:
            UsageError: See `count`.
        """
        return self._points.rows(first, self.count if last is None else last)

    @property
    def definition(self) -> document.Cases:
        """The runs as a study file has them."""
        sample = document.Sample(method=self.method, runs=self.asked, seed=self.seed)
        return document.Cases(vary=dict(self.axes), sample=None if self.method == GRID else sample)


class Grid:
    """Every combination of values, the last axis fastest."""

    def __init__(self, axes: Mapping[str, Values]) -> None:
        for path, values in axes.items():
            if isinstance(values, Drawn):
                mend = (
                    spelled("draw: --random 1000, --latin 1000, --sobol 1024", "draw: sobol=1024") + ", or write points"
                )
                raise UsageError.of(f"{path}={values}", "values for a grid", "a distribution", mend)
        self._axes = [values for values in axes.values() if isinstance(values, Listed)]
        self.shape = tuple(len(of.values) for of in self._axes)
        self.count, told = combinations(self._axes)
        if self.count > MOST_RUNS:
            raise UsageError.of("vary", f"at most {MOST_RUNS} runs", f"{told} of them", "draw some: --sobol 65536")

    @cached_property
    def _columns(self) -> list[NDArray[Any]]:
        """The values of each axis."""
        return list(map(_column, self._axes))

    def rows(self, first: int, last: int) -> Rows:
        """See `Design`."""
        if not self.shape:
            return np.empty((last - first, 0))
        indices = np.unravel_index(np.arange(first, last), self.shape)
        return _stacked([values[i] for values, i in zip(self._columns, indices, strict=True)])


class Sample:
    """Points of the unit cube, and the quantiles of each axis there; of listed values each is as likely.

    "random" draws them independently (PCG64), "latin" is a Latin hypercube, "sobol" a scrambled Sobol' sequence, both of
    scipy.stats.qmc. Run i has the same values whichever are asked for at once.
    """

    def __init__(self, axes: Mapping[str, Values], method: str, count: int, seed: int) -> None:
        self._axes, self.method, self.count, self.seed = list(axes.values()), method, count, seed
        self._engine: Any = None
        self._next = 0
        self._points: Array | None = None

    def rows(self, first: int, last: int) -> Rows:
        """See `Design`."""
        points = self._unit(first, last)
        return _stacked([_quantiles(values, points[:, i]) for i, values in enumerate(self._axes)])

    def _unit(self, first: int, last: int) -> Array:
        """Points of the unit cube, shape (last - first, axes)."""
        width = len(self._axes)
        if self.method == RANDOM:
            generator = np.random.Generator(np.random.PCG64(self.seed).advance(first * width))
            return generator.random((last - first, width))
        from scipy.stats import qmc

        if self.method == LATIN:
            if self._points is None:
                self._points = qmc.LatinHypercube(width, seed=self.seed).random(self.count)
            return self._points[first:last]
        if self._engine is None or self._next > first:
            self._engine, self._next = qmc.Sobol(width, seed=self.seed), 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of counts that are no powers of 2: any block is one
            if first > self._next:
                self._engine.fast_forward(first - self._next)
            points: Array = self._engine.random(last - first)
        self._next = last
        return points


def _quantiles(values: Values, u: Array) -> NDArray[Any]:
    """The quantiles of a distribution, or of a list each value of which is as likely."""
    if not isinstance(values, Drawn):
        many = len(values.values)
        places = np.minimum((u * many).astype(int), many - 1)
        if many > len(u) and not values.words and not values.lists:  # fewer are asked for than there are
            return np.fromiter((values.values[i] for i in places.tolist()), float, len(u))
        return _column(values)[places]
    if values.kind == NORMAL:
        from scipy.special import ndtri

        return values.a + values.b * np.asarray(ndtri(np.clip(u, EDGE, 1.0 - EDGE)))
    return values.a + (values.b - values.a) * u


def _column(values: Listed) -> NDArray[Any]:
    """Listed values as an array: of objects where they are words or lists."""
    if not values.words and not values.lists:
        return np.fromiter(values.values, float, len(values.values))
    column = np.empty(len(values.values), dtype=object)
    for i, value in enumerate(values.values):
        column[i] = value
    return column


def crossed(rows: Array, cases: Rows) -> Rows:
    """Each of some rows with each of some cases behind it, the cases fastest, shape (rows times cases, columns of both)."""
    return np.hstack([np.repeat(rows, len(cases), axis=0), np.tile(cases, (len(rows), 1))])


def _stacked(columns: Sequence[NDArray[Any]]) -> Rows:
    """Columns as rows, of objects where there are words or lists."""
    words = any(column.dtype == object for column in columns)
    rows = np.empty((len(columns[0]), len(columns)), dtype=object if words else float)
    for i, column in enumerate(columns):
        rows[:, i] = column
    return rows
