"""Motions of many pieces, whose coefficients are in tables: rows of a file."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import ClassVar

from armsim.control.reference import Desired
from armsim.expr import Scalar, Scalars, Table, lookup
from armsim.records import record
from armsim.references.hermite import cubic_hermite, quintic_hermite
from armsim.references.piecewise import polynomial


@record
class Recorded:
    """A motion that is a polynomial between the times of its rows, and holds before and after them.

    Attributes:
        origin: Times about which the polynomials are expanded [s].
        coefficients: c₀, c₁, ... of each joint over time, n tuples.
    """

    timed: ClassVar[bool] = False
    ends: ClassVar[bool] = True

    origin: Table
    coefficients: tuple[tuple[Table, ...], ...]

    @cached_property
    def corners(self) -> Table | None:
        """The time of the next row after a time [s]."""
        times = self.origin.x[1:]
        return Table(array("d", chain([-math.inf], times)), array("d", chain(times, [math.inf])), "zero")

    @property
    def knots(self) -> Scalars:
        """The times of the rows [s]; it holds from the last on."""
        return list(self.origin.x[1:])

    def at(self, t: Scalar, since: Scalar | None = None, middle: Scalar | None = None) -> Desired:
        """The motion at time t [s], by the polynomial of the time middle if there is one; since is not looked at."""
        of = t if middle is None else middle
        u = t - lookup(self.origin, of)
        rows = [polynomial([lookup(c_k, of) for c_k in c], u) for c in self.coefficients]
        return Desired([q for q, _, _ in rows], [qd for _, qd, _ in rows], [qdd for _, _, qdd in rows])


def through_rows(
    times: Sequence[float],
    q: Sequence[Sequence[float]],
    qd: Sequence[Sequence[float]],
    qdd: Sequence[Sequence[float]] | None = None,
) -> Recorded:
    """The motion with these positions and velocities, and accelerations if given, at the times of its rows.

    Args:
        times: Of m rows, increasing [s].
        q: Joint positions [rad or m], n columns of m numbers.
        qd: Joint velocities [rad/s or m/s], likewise.
        qdd: Joint accelerations [rad/s² or m/s²]; without them they jump at the rows.
    """
    hermite = cubic_hermite if qdd is None else quintic_hermite
    made = []
    for columns in zip(q, qd, *([] if qdd is None else [qdd]), strict=True):
        rows = zip(times, *columns, strict=True)
        pieces = [hermite(end - begin, a, b) for (begin, *a), (end, *b) in pairwise(rows)]
        made.append(list(zip(*pieces, strict=True)))
    return of_columns(times, made, [column[-1] for column in q])


def interpolated(times: Sequence[float], q: Sequence[Sequence[float]], order: int) -> Recorded:
    """The spline of an odd order through positions, without a knot at the rows next to its ends.

    Args:
        times: Of m rows, m > order, increasing [s].
        q: Joint positions [rad or m], n columns of m numbers.
        order: 1 for straight lines, 3 for continuous accelerations, 5 for continuous snap.
    """
    import numpy as np
    from scipy.interpolate import make_interp_spline

    spline = make_interp_spline(np.asarray(times), np.asarray(q).T, k=order)
    starts = np.asarray(times[:-1])
    # spline(x, k) is the k-th derivative from the right
    rates = [spline(starts, k) / math.factorial(k) for k in range(order + 1)]
    columns = [[rate[:, i].tolist() for rate in rates] for i in range(len(q))]
    return of_columns(times, columns, [column[-1] for column in q])


def of_columns(times: Sequence[float], columns: Sequence[Sequence[Sequence[float]]], last: Sequence[float]) -> Recorded:
    """Polynomials between times, expanded about the earlier one.

    Args:
        times: [s], one more than there are pieces.
        columns: For each joint c₀ of every piece, c₁ of every piece, ...
        last: Joint positions that are held in the end [rad or m].
    """
    begins = array("d", chain([-math.inf], times))
    origin = Table(begins, array("d", chain([times[0]], times)), "zero")
    tables = []
    for of_joint, end in zip(columns, last, strict=True):
        held = [(of_joint[0][0], end)] + [(0.0, 0.0)] * (len(of_joint) - 1)
        rows = ([before, *column, after] for column, (before, after) in zip(of_joint, held, strict=True))
        tables.append(tuple(Table(begins, row, "zero") for row in rows))
    return Recorded(origin, tuple(tables))
