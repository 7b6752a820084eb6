"""The geometry of a tool's path: lines, arcs and smooth corners between them, with rotations along them.

A curve gives its point, tangent and second derivative by the way s along it, shape (3,) each. A `Leg` is a part of a curve with a
rotation; a `Span` is a leg that is followed by a polynomial of time.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from armsim.records import record
from armsim.references.fastest_motion import FastestStage
from armsim.references.hermite import quintic_hermite
from armsim.references.piecewise import PiecewisePolynomial, polynomial
from armsim.references.recorded import Recorded
from armsim.references.scaling import Scaling

PROPORTIONAL = (0.0, 1.0, 0.0)  # of a rotation to the way
SMOOTH = (0.0, 0.0, 0.0, 10.0, -15.0, 6.0)  # 10 u³ - 15 u⁴ + 6 u⁵: at rest at both ends
LEAST_SPAN = 1e-9  # s: spans that are shorter come of rounding
Jet = tuple[Any, Any, Any]  # a point with its first and second derivative, shape (3,) each


class SpaceCurve(NamedTuple):
    """A polynomial in space: a line, or a corner between two curves.

    Attributes:
        coefficients: c₀, c₁, ... by the way, shape (3,) each.
        length: Where it ends [m].
    """

    coefficients: tuple[Any, ...]
    length: float

    def at(self, s: float) -> Jet:
        """See the module."""
        return polynomial(self.coefficients, s)


class CircularArc(NamedTuple):
    """An arc of a circle.

    Attributes:
        center: Of the circle [m].
        radius: From there to where the arc begins [m].
        axis: Of the circle, divided by its radius: the rotation by the way [rad/m].
        length: Of the arc [m].
    """

    center: Any
    radius: Any
    axis: Any
    length: float

    def at(self, s: float) -> Jet:
        """See the module."""
        r = Rotation.from_rotvec(self.axis * s).apply(self.radius)
        tangent = np.cross(self.axis, r)
        return self.center + r, tangent, np.cross(self.axis, tangent)


def line(start: Any, end: Any) -> SpaceCurve:
    """The line from a point to another one."""
    length = math.dist(start, end)
    return SpaceCurve((start, (end - start) / (length or 1.0), 0.0 * start), length)


def arc(start: Any, through: Any, end: Any) -> CircularArc | None:
    """The arc from a point through another one to a third; None where they lie on a line."""
    u, v = through - start, end - start
    normal = np.cross(u, v)
    square = normal @ normal
    if square <= 1e-18 * (u @ u) * (v @ v):
        return None
    radius = np.cross(u * (v @ v) - v * (u @ u), normal) / (2.0 * square)
    r = math.hypot(*radius)
    axis = normal / (math.sqrt(square) * r)
    angle = math.atan2((radius + v) @ np.cross(axis, radius) * r, (radius + v) @ radius) % math.tau
    return CircularArc(start - radius, radius, axis, angle * r)


def corner(before: Jet, after: Jet) -> SpaceCurve:
    """The quintic from one jet to another one, of unit speed at both and slower between them."""
    span = math.dist(before[0], after[0]) * (0.5 + 1.0 / math.sqrt(2.0 + 2.0 * (before[1] @ after[1])))
    return SpaceCurve(quintic_hermite(span, before, after), span)


class Leg(NamedTuple):
    """A part of a curve, along which the tool turns.

    Attributes:
        curve: The curve.
        first: The way along it at which the leg begins [m].
        length: Of the leg [m]; 1 where the tool only turns.
        rotation: At the beginning.
        turn: Rotation vector from there to the end [rad], shape (3,).
        move: Index of the move that it belongs to.
        progress: Coefficients of the part of `turn` by the part of the way.
    """

    curve: SpaceCurve | CircularArc
    first: float
    length: float
    rotation: Rotation
    turn: Any
    move: int
    progress: tuple[float, ...] = PROPORTIONAL

    def at(self, s: float) -> tuple[Any, Any, Any, Any]:
        """Position, rotation, and the first and second derivative of both by the way, shape (6,), at way s of the leg [m]."""
        p, tangent, second = self.curve.at(self.first + s)
        x, v, a = polynomial([c / self.length**k * self.turn for k, c in enumerate(self.progress)], s)
        return p, Rotation.from_rotvec(x) * self.rotation, np.append(tangent, v), np.append(second, a)

    def rates(self, s: Any) -> tuple[Any, Any, Any, Any]:
        """By the way, at ways of shape (m,): speed, its derivative, curvature times its square, and angular speed."""
        _, turning, _ = polynomial([c / self.length**k for k, c in enumerate(self.progress)], s)
        turning, one = abs(turning) * math.hypot(*self.turn), np.ones_like(s)
        if isinstance(self.curve, CircularArc):
            return one, 0.0 * one, one * math.hypot(*self.curve.axis), turning
        jets = polynomial(self.curve.coefficients, (self.first + s)[:, None])[1:]
        tangent, second = (x * one[:, None] for x in jets)
        speed = np.linalg.norm(tangent, axis=1)
        unit = tangent / np.where(speed > 0.0, speed, 1.0)[:, None]
        return speed, (unit * second).sum(axis=1), np.linalg.norm(np.cross(unit, second), axis=1), turning


class Span(NamedTuple):
    """A time in which a leg is followed.

    Attributes:
        begin: When it begins [s].
        end: When it ends [s].
        leg: The leg.
        way: Coefficients of the way along the leg [m] by the time since `origin`.
        origin: [s]
    """

    begin: float
    end: float
    leg: Leg
    way: tuple[float, ...]
    origin: float

    def at(self, t: float) -> tuple[Any, Any, Any, Any]:
        """Position, rotation, velocity and acceleration at time t [s]; see `Leg.at`."""
        s, rate, second = polynomial(self.way, t - self.origin)
        p, R, v, a = self.leg.at(s)
        return p, R, v * rate, a * rate**2 + v * second


@record
class ToolMotion(Recorded):
    """A motion of the joints with parts in which a frame follows a path.

    Attributes:
        frame: Name of the frame.
        follows: What of its pose: "full", the direction of its axis "x", "y" or "z", or "free" for the position alone.
        spans: Of the path.
        stages: Between stops, how the fastest motion follows it; none of another one.
    """

    frame: str
    follows: str
    spans: tuple[Span, ...] = field(compare=False, repr=False)
    stages: tuple[FastestStage, ...] = field(default=(), compare=False, repr=False)


def joined(legs: Sequence[Leg], blends: Sequence[float]) -> list[Leg]:
    """Legs that are passed without a stop: corners cut, rotations at rest where one passes into the next.

    Args:
        legs: One after the other.
        blends: The way before and after the end of each but the last from which the corner is cut; 0 for none.
    """
    found: list[Leg] = []
    for leg, (before, after) in zip(legs, pairwise([0.0, *blends, 0.0]), strict=True):
        if before:
            last = found[-1]
            cut = corner(last.curve.at(last.first + last.length), leg.curve.at(before))
            found.append(Leg(cut, 0.0, cut.length, leg.rotation, np.zeros(3), leg.move))
        found.append(leg._replace(first=before, length=leg.length - before - after, progress=SMOOTH))
    return found


def spans_of(legs: Sequence[Leg], scaling: Scaling, begin: float) -> Iterator[Span]:
    """The spans of legs that one time scaling follows: its polynomial and the leg are the same all through each."""
    law, ends = PiecewisePolynomial(scaling.pieces), [0.0, *accumulate(leg.length for leg in legs)]
    passed = (
        brentq(lambda t, end=end: law.at(t).q[0] * ends[-1] - end, 0.0, scaling.duration, xtol=1e-15)
        for end in ends[1:-1]
    )
    for t, until in pairwise(sorted([0.0, *law.knots, scaling.duration, *passed])):
        if until - t > LEAST_SPAN:
            middle = (t + until) / 2
            piece = scaling.pieces[bisect(law.knots, middle)]
            k = bisect(ends, law.at(middle).q[0] * ends[-1]) - 1
            first, *more = (x * ends[-1] for x in piece.coefficients[0])
            yield Span(begin + t, begin + until, legs[k], (first - ends[k], *more), begin + piece.origin)
