"""Time scalings: from 0 to 1, at rest at both ends, as straight lines between two points are travelled."""

from __future__ import annotations

from typing import NamedTuple

from armsim.expr import Scalar, Scalars, exp, log, maximum
from armsim.records import record
from armsim.references.piecewise import Piece

LEAST = 1e-9  # s: least duration; a line of length 0 takes so long


@record
class Scaling:
    """s(t), from s(0) = 0 to s(duration) = 1, with s' = 0 at both ends.

    Attributes:
        duration: Its duration [s].
        pieces: s between its knots, from t = 0 on.
    """

    duration: Scalar
    pieces: tuple[Piece, ...]


class ScalingBounds(NamedTuple):
    """ScalingBounds of a time scaling: s' <= 1 / speed, s'' <= 1 / acceleration, s''' <= 1 / jerk.

    Attributes:
        speed: Least duration at the greatest speed [s].
        acceleration: Largest quotient of length and acceleration [s²].
        jerk: Largest quotient of length and jerk [s³]; 0 where jerk has no bound.
    """

    speed: Scalar
    acceleration: Scalar
    jerk: Scalar


@record
class Limits:
    """Limits of the joints' motions.

    Attributes:
        speed: Greatest |qd| [rad/s or m/s], n scalars.
        acceleration: Greatest |qdd| [rad/s² or m/s²], n scalars.
        jerk: Greatest |qddd| [rad/s³ or m/s³], n scalars; None where there is none.
    """

    speed: tuple[Scalar, ...]
    acceleration: tuple[Scalar, ...]
    jerk: tuple[Scalar, ...] | None = None

    def along(self, line: Scalars) -> ScalingBounds:
        """ScalingBounds on the scaling of a straight line [rad or m], n scalars: the joint that needs longest decides."""
        of_jerk = 0.0 if self.jerk is None else greatest_ratio(line, self.jerk)
        return ScalingBounds(greatest_ratio(line, self.speed), greatest_ratio(line, self.acceleration), of_jerk)


def greatest_ratio(x: Scalars, limits: Scalars) -> Scalar:
    """max |x| / limit"""
    greatest = 0.0
    for x_i, limit in zip(x, limits, strict=True):
        greatest = maximum(greatest, abs(x_i) / limit)
    return greatest


def cube_root(x: Scalar) -> Scalar:
    """The cube root of a positive scalar."""
    r = exp(log(x) / 3)
    return r - (r - x / (r * r)) / 3
