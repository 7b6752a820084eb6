"""Curves over any number of rows, by as many points as a picture can show: no extreme is lost, and memory is bounded."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from armsim.arrays import Array
from armsim.figures.drawn_run import DrawnRun, RowTable
from armsim.records import record

Points = tuple[Array, Array]
Key = TypeVar("Key", bound=Hashable)
MOST = 8192  # points of a curve: the least and the greatest value of every pixel column, several times over


@record
class Sum:
    """A number of a row: a constant plus multiples of columns.

    Attributes:
        terms: Headings, each with its factor.
        constant: Added to them.
    """

    terms: tuple[tuple[str, float], ...]
    constant: float = 0.0


def extremes(points: Array, group: int) -> Array:
    """Of every group of rows the least and the greatest value of each curve, in order of time; of a last, shorter one, too.

    Args:
        points: Times and values, shape (rows, curves, 2); NaN where there is no value.
        group: Rows in a group; all rows stay where it is 2 or less.
    """
    if group <= 2 or len(points) <= 2:
        return points
    whole = len(points) // group * group
    if not whole:
        return extremes(points, len(points))
    groups = points[:whole].reshape(-1, group, *points.shape[1:])
    values, missing = groups[..., 1], np.isnan(groups[..., 1])
    ends = np.where(missing, np.inf, values).argmin(axis=1), np.where(missing, -np.inf, values).argmax(axis=1)
    places = np.sort(np.stack(ends, axis=1), axis=1)  # in order of time; shape (groups, 2, curves)
    found = np.take_along_axis(groups, places[..., None], axis=1).reshape(-1, *points.shape[1:])
    return np.concatenate([found, extremes(points[whole:], group)])


def sums_of(table: RowTable, sums: Sequence[Sum]) -> Iterator[Array]:
    """Rows of a table: the time, and the value of each sum; block by block."""
    wanted = list(dict.fromkeys(heading for one in sums for heading, _ in one.terms))
    for block in table.blocks([table.time, *wanted]):
        columns = dict(zip(wanted, block.T[1:], strict=True))
        values = [one.constant + sum(x * columns[heading] for heading, x in one.terms) for one in sums]
        yield np.column_stack([block[:, 0], *values])


def curves_of(run: DrawnRun, sums: Sequence[Sum]) -> dict[Sum, Points]:
    """Times and values of sums of columns over a whole run; of each, all columns are in one table."""
    found: dict[Sum, Points] = {}
    for table, own in _by_table(run, sums):
        found |= _gathered(own, sums_of(table, own))
    return found


def differences_of(
    first: DrawnRun, second: DrawnRun, pairs: Sequence[tuple[Sum, Sum]]
) -> dict[tuple[Sum, Sum], Points]:
    """Times [s] and second minus first, at the times of the first that both cover, by straight lines between the second's rows.

    Args:
        first: A run.
        second: Another one.
        pairs: Sums of columns of the first, each with one of the second's in the same unit.
    """
    found: dict[tuple[Sum, Sum], Points] = {}
    for table, own in _by_table(first, [a for a, _ in pairs]):
        for other, theirs in _by_table(second, [b for _, b in pairs]):
            shared = [(a, b) for a, b in dict.fromkeys(pairs) if a in own and b in theirs]
            if shared:
                both = at_same_times(sums_of(table, [a for a, _ in shared]), sums_of(other, [b for _, b in shared]))
                found |= _gathered(shared, (np.column_stack([rows[:, 0], x - rows[:, 1:]]) for rows, x in both))
    return found


def _gathered(keys: Sequence[Key], blocks: Iterable[Array]) -> dict[Key, Points]:
    """Curves by their keys, of blocks that have a column for each after the time; of many rows the extremes of every few."""
    points, group = np.empty((0, len(keys), 2)), 1  # rows that two points stand for
    for rows in _joined(blocks):
        more = np.stack(np.broadcast_arrays(rows[:, :1], rows[:, 1:]), axis=-1)
        points = np.concatenate([points, extremes(more, group)])
        while len(points) > MOST:
            group *= 4 if group == 1 else 2
            points = extremes(points, 4)
    return {key: (points[:, i, 0], points[:, i, 1]) for i, key in enumerate(keys)}


def _joined(blocks: Iterable[Array]) -> Iterator[Array]:
    """Small blocks joined into ones that can be grouped by themselves."""
    waiting: list[Array] = []
    for block in blocks:
        waiting.append(block)
        if sum(map(len, waiting)) >= MOST:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


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
