"""Straight lines in joint space, from rest to rest: all joints begin and end together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import ClassVar

from armsim.control.reference import Desired
from armsim.expr import Scalar, Scalars, Table, fma
from armsim.records import record
from armsim.references.piecewise import Piece, PiecewisePolynomial, chosen
from armsim.references.scaling import Limits, Scaling, ScalingBounds

Points = Sequence[Scalars]


@record
class PointToPoint:
    """q(s(t)): straight lines between points, each by a time scaling (Lynch and Park, *Modern Robotics*, section 9.2).

    Attributes:
        times: At which the lines begin, and the last one ends [s]; m + 1 for m lines.
        points: That they join [rad or m]; m + 1 of n scalars.
        scaling: s of each line, one after the other; 0 before the first and after the last.
    """

    timed: ClassVar[bool] = False
    ends: ClassVar[bool] = True
    corners: ClassVar[Table | None] = None

    times: tuple[Scalar, ...]
    points: tuple[tuple[Scalar, ...], ...]
    scaling: PiecewisePolynomial

    @property
    def knots(self) -> Scalars:
        """The times at which pieces begin [s]; it holds from the last on."""
        return self.scaling.knots

    def at(self, t: Scalar, since: Scalar | None = None, middle: Scalar | None = None) -> Desired:
        """The motion at time t [s]; since and middle are not looked at."""
        scaled = self.scaling.at(t)
        (s,), (sd,), (sdd,) = scaled.q, scaled.qd, scaled.qdd
        desired = Desired([], [], [])
        for joint in zip(*self.points, strict=True):
            start = chosen(t, self.times[1:], joint)
            line = chosen(t, self.times[1:], [*(b - a for a, b in pairwise(joint)), 0.0])
            desired.q.append(fma(line, s, start))
            desired.qd.append(line * sd)
            desired.qdd.append(line * sdd)
        return desired


def within_times(points: Points, times: Scalars, of: Callable[[Scalar], Scaling]) -> PointToPoint:
    """From point to point at given times.

    Args:
        points: Joint positions [rad or m], m + 1 of n scalars.
        times: Of each point, increasing [s].
        of: The scaling of a duration [s].
    """
    return _joined(points, times, [of(end - begin) for begin, end in pairwise(times)])


def within_limits(
    points: Points, begin: Scalar, limits: Limits, fastest: Callable[[ScalingBounds], Scaling]
) -> PointToPoint:
    """From point to point as fast as the joints' limits allow.

    Args:
        points: Joint positions [rad or m], m + 1 of n scalars.
        begin: Time of the beginning [s].
        limits: Of every joint.
        fastest: The shortest scaling within bounds.
    """
    scalings = [fastest(limits.along([y - x for x, y in zip(a, b, strict=True)])) for a, b in pairwise(points)]
    times = [begin]
    for scaling in scalings:
        times.append(times[-1] + scaling.duration)
    return _joined(points, times, scalings)


def _joined(points: Points, times: Scalars, scalings: Sequence[Scaling]) -> PointToPoint:
    """Lines one after the other, between holding the first point and holding the last."""
    still = ((0.0,),)
    pieces = [Piece(times[0], times[0], still)]
    for time, scaling in zip(times, scalings):
        pieces += [piece.after(time) for piece in scaling.pieces]
    pieces.append(Piece(times[-1], times[-1], still))
    return PointToPoint(tuple(times), tuple(map(tuple, points)), PiecewisePolynomial(tuple(pieces)))
