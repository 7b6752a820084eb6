"""The joints' positions in the rows of a run, and what they were to follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from armsim.arrays import Array
from armsim.errors import UsageError
from armsim.figures.drawn_run import DrawnRun
from armsim.figures.envelope import Sum, at_same_times, sums_of
from armsim.model import Arm
from armsim.plant.columns import heading_of, spellings


def positions(run: DrawnRun, arm: Arm, asked: str) -> list[Sum]:
    """The joints' positions in SI units.

    Args:
        run: The run.
        arm: Of it.
        asked: What is to be done with it, a verb.

    Raises:
        UsageError: Some are missing.
    """
    found = joint_sums(run, arm, "q")
    if found is None:
        mend = f"{asked} a run of armsim, whose trajectory has every joint"
        expected = f"columns of positions such as {spellings('q', arm.joints[0])[0][0]}"
        raise UsageError.of(run.name, expected, "none", mend)
    return found


def followed(run: DrawnRun, arm: Arm, times: Array) -> Array | None:
    """Positions that are followed at some times, shape (times, n), or (1, n) of a constant target; None without [rad or m]."""
    references, target = joint_sums(run, arm, "q_ref"), run.control("target", arm.n)
    if references is not None:
        return sampled(run, references, times)
    return None if target is None else np.array([target])


def joint_sums(run: DrawnRun, arm: Arm, prefix: str) -> list[Sum] | None:
    """The joints' columns of a prefix, in SI units; None where one is missing."""
    found = []
    for joint in arm.joints:
        named = [heading_of(prefix, joint.name, joint.kind.length, degrees) for degrees in (False, True)]
        known = [Sum(((heading, 1.0 / factor),)) for heading, factor in named if heading in run.headings]
        found += known[:1]
    return found if len(found) == arm.n else None


def sampled(run: DrawnRun, sums: Sequence[Sum], times: Array) -> Array:
    """Sums of columns at some times, shape (times, sums), by straight lines between rows; the ends hold on."""
    inside = np.clip(times, *time_span(run, sums))
    asked = np.unique(inside)
    rows = [values for _, values in at_same_times([asked[:, None]], _sound(run, sums))]
    return np.concatenate(rows)[np.searchsorted(asked, inside)]


def time_span(run: DrawnRun, sums: Sequence[Sum] = ()) -> tuple[float, float]:
    """The times of the first and the last row [s] that has these sums of columns.

    Raises:
        UsageError: There are no rows.
    """
    ends = [block[[0, -1], 0].tolist() for block in _sound(run, sums)]
    if not ends:
        raise UsageError.of(run.name, "a run with rows", "none", "run it for longer")
    return ends[0][0], ends[-1][1]


def _sound(run: DrawnRun, sums: Sequence[Sum]) -> Iterator[Array]:
    """Rows of times and sums, block by block, without those that lack a number."""
    table = next(t for t in run.tables if all(heading in t.headings for one in sums for heading, _ in one.terms))
    for block in sums_of(table, sums):
        rows = block[np.isfinite(block).all(axis=1)]
        if len(rows):
            yield rows
