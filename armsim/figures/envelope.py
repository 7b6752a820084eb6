"""Curves over any number of rows, by as many points as a picture can show: no extreme is lost, and memory is bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armsim.figures.drawn_run import DrawnRun, RowTable

Array = NDArray[np.float64]
MOST = 8192  # points of a curve: the least and the greatest value of every pixel column, several times over


@dataclass(frozen=True)
class Sum:
    """A number of a row: a constant plus multiples of columns.

    Attributes:
        terms: Headings, each with its factor.
        constant: Added to them.
    """

    terms: tuple[tuple[str, float], ...]
    constant: float = 0.0

    def scaled(self, factor: float) -> Sum:
        """The sum times a factor."""
        return Sum(tuple((heading, factor * x) for heading, x in self.terms), factor * self.constant)


class Envelope:
    """Points of curves, gathered from blocks of rows; of many rows the least and the greatest of every few.

    Args:
        count: Number of curves.
    """

    def __init__(self, count: int) -> None:
        self._times = np.empty((0, count))
        self._values = np.empty((0, count))
        self._group = 1  # rows that two points stand for
        self._waiting: list[Array] = []  # blocks that are too small to be grouped by themselves

    def add(self, rows: Array) -> None:
        """Take rows: the time, and a number for each curve."""
        self._waiting.append(rows)
        if sum(map(len, self._waiting)) >= max(MOST, self._group):
            self._take()

    def _take(self) -> None:
        rows = np.concatenate([np.empty((0, self._values.shape[1] + 1)), *self._waiting])
        self._waiting = []
        times = np.broadcast_to(rows[:, :1], rows[:, 1:].shape)
        times, values = extremes(times, rows[:, 1:], self._group)
        self._times = np.concatenate([self._times, times])
        self._values = np.concatenate([self._values, values])
        while len(self._values) > MOST:
            self._group *= 4 if self._group == 1 else 2
            self._times, self._values = extremes(self._times, self._values, 4)

    def curves(self) -> tuple[Array, Array]:
        """Times [s] and values, each of shape (points, curves); every curve has times of its own."""
        self._take()
        return self._times, self._values


def extremes(times: Array, values: Array, group: int) -> tuple[Array, Array]:
    """Of every group of rows the least and the greatest value in each column, in order of time; of a last, shorter one, too.

    Args:
        times: Of the values, shape (m, columns).
        values: Shape (m, columns); NaN where there is none.
        group: Rows in a group; all rows stay where it is 2 or less.
    """
    if group <= 2 or len(values) <= 2:
        return times, values
    whole, width = len(values) // group, values.shape[1]
    if not whole:
        return extremes(times, values, len(values))
    grouped = values[: whole * group].reshape(whole, group, width)
    missing = np.isnan(grouped)
    places = np.stack(
        [np.where(missing, np.inf, grouped).argmin(axis=1), np.where(missing, -np.inf, grouped).argmax(axis=1)], axis=1
    )
    places.sort(axis=1)  # in order of time; shape (groups, 2, columns)
    found = [
        np.take_along_axis(x[: whole * group].reshape(whole, group, width), places, axis=1).reshape(-1, width)
        for x in (times, values)
    ]
    rest = extremes(times[whole * group :], values[whole * group :], group)
    return np.concatenate([found[0], rest[0]]), np.concatenate([found[1], rest[1]])


def sums_of(table: RowTable, sums: Sequence[Sum]) -> Iterator[Array]:
    """Rows of a table: the time, and the value of each sum; block by block."""
    wanted = list(dict.fromkeys(heading for one in sums for heading, _ in one.terms))
    for block in table.blocks([table.time, *wanted]):
        columns = dict(zip(wanted, block.T[1:], strict=True))
        values = [one.constant + sum(x * columns[heading] for heading, x in one.terms) for one in sums]
        yield np.column_stack([block[:, 0], *values])


def curves_of(run: DrawnRun, sums: Sequence[Sum]) -> dict[Sum, tuple[Array, Array]]:
    """Times and values of sums of columns over a whole run; of each, all columns are in one table."""
    found: dict[Sum, tuple[Array, Array]] = {}
    for table, own in _by_table(run, sums):
        envelope = Envelope(len(own))
        for rows in sums_of(table, own):
            envelope.add(rows)
        times, values = envelope.curves()
        found |= {one: (times[:, i], values[:, i]) for i, one in enumerate(own)}
    return found


def differences_of(
    first: DrawnRun, second: DrawnRun, sums: Sequence[Sum], others: Sequence[Sum]
) -> list[tuple[Array, Array]]:
    """Times [s] and second minus first, at the times of the first that both cover, by straight lines between the second's rows.

    Args:
        first: A run.
        second: Another one.
        sums: Of columns of the first.
        others: Of columns of the second, as many, in the same units.
    """
    found: dict[tuple[Sum, Sum], tuple[Array, Array]] = {}
    pairs = list(zip(sums, others, strict=True))
    for table, own in _by_table(first, sums):
        for other, theirs in _by_table(second, others):
            shared = [(a, b) for a, b in pairs if a in own and b in theirs and (a, b) not in found]
            if not shared:
                continue
            envelope = Envelope(len(shared))
            ours, those = (sums_of(x, list(y)) for x, y in zip((table, other), zip(*shared, strict=True), strict=True))
            for rows, values in at_same_times(ours, those):
                envelope.add(np.column_stack([rows[:, 0], values - rows[:, 1:]]))
            times, apart = envelope.curves()
            found |= {pair: (times[:, i], apart[:, i]) for i, pair in enumerate(shared)}
    return [found[pair] for pair in pairs]


def at_same_times(first: Iterable[Array], second: Iterator[Array]) -> Iterator[tuple[Array, Array]]:
    """Blocks of rows of the first, and the values of the second at their times; times that the second lacks are left out."""
    held = next(second, None)
    if held is None:
        return
    for rows in first:
        parts = [held]
        while parts[-1][-1, 0] < rows[-1, 0] and (more := next(second, None)) is not None:
            parts.append(more)
        held = np.concatenate(parts)
        t = held[:, 0]
        rows = rows[(rows[:, 0] >= t[0]) & (rows[:, 0] <= t[-1])]
        if not len(rows):
            continue
        yield rows, np.column_stack([np.interp(rows[:, 0], t, values) for values in held.T[1:]])
        held = held[max(0, int(np.searchsorted(t, rows[-1, 0], "right")) - 1) :]


def _by_table(run: DrawnRun, sums: Sequence[Sum]) -> Iterator[tuple[RowTable, list[Sum]]]:
    """The tables, each with the sums of its columns."""
    open_sums = [one for one in dict.fromkeys(sums) if one.terms]
    for table in run.tables:
        own = [one for one in open_sums if all(heading in table.headings for heading, _ in one.terms)]
        open_sums = [one for one in open_sums if one not in own]
        if own:
            yield table, own
