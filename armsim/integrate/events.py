"""Events that are met and left within a step, which the guards at its end do not show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from armsim.expr import Scalar, absolute, both, clip, either, fma, loop, minimum, where
from armsim.integrate.extension import interpolated
from armsim.integrate.motion import Motion
from armsim.integrate.system import System

PARTS = 4  # of a step, between which guards that need forces are evaluated
FINE = 8  # of a step, between which margins are evaluated that may dip below zero within it
CLOSE = 1 / 16  # of a step: distance of the points of the last parabola


@dataclass(slots=True)
class Course:
    """A guard along a step, the polynomial g1 - (1 - θ) (d - θ (c0 + θ (c1 + ...))); see `interpolated`.

    Attributes:
        end: g1.
        change: d.
        inner: c0, c1, ...
    """

    end: Scalar
    change: Scalar
    inner: list[Scalar]

    def at(self, theta: Scalar) -> Scalar:
        """The guard at a share θ of the step."""
        total: Scalar = 0.0
        for c in reversed(self.inner):
            total = fma(theta, total, c)
        return fma(theta - 1.0, fma(-theta, total, self.change), self.end)

    @property
    def may_dip(self) -> Any:
        """Whether it may be negative within the step: it is a line and θ (1 - θ) <= 1/4 times the inner polynomial."""
        bend: Scalar = 0.0
        for c in self.inner:
            bend = bend + absolute(c)
        return minimum(self.end, self.end - self.change) < bend / 4

    @property
    def lowest(self) -> Scalar:
        """Where it is least, about: the vertex of a parabola through coarse points, then of one through close ones."""
        g = [self.at(k / 4) for k in range(5)]
        left, right = minimum(g[0], g[1]), minimum(g[3], g[4])
        early, late = both(left <= g[2], left <= right), both(right < left, right < g[2])
        low, mid, high = (where(early, g[k], where(late, g[k + 2], g[k + 1])) for k in range(3))
        coarse = where(early, 0.25, where(late, 0.75, 0.5)) + _vertex(low, mid, high) / 4
        near = clip(coarse, CLOSE, 1.0 - CLOSE)
        return near + CLOSE * _vertex(*(self.at(near + side * CLOSE) for side in (-1.0, 0.0, 1.0)))


def _vertex(low: Scalar, mid: Scalar, high: Scalar) -> Scalar:
    """Where the parabola through values at -1, 0 and 1 is least between these."""
    bend = (low - mid) + (high - mid)
    curved = bend > 0.0
    return where(curved, clip((low - high) / where(curved, 2.0 * bend, 1.0), -1.0, 1.0), where(low < high, -1.0, 1.0))


@dataclass(slots=True)
class Search:
    """The state of a search.

    Attributes:
        part: The number of the part of the step to be searched next; from `PARTS` on there is none.
        share: The share of the step at which an event has been met; 1 where none has.
        guard: The guard there.
    """

    part: Scalar
    share: Scalar
    guard: Scalar


def first_met(
    smooth: System,
    t: Scalar,
    h: Scalar,
    start: Motion,
    end: Motion,
    coefficients: Sequence[Motion],
    guard: Scalar,
    unsure: Scalar,
    accurate: Any,
) -> tuple[Scalar, Scalar]:
    """The share of a step at which an event has been met within it, and the guard there; else 1 and `guard`.

    Crossings are searched for their minima, where they may have any below zero; margins at some points, where their values at
    both ends and in the middle bend far enough; guards that need forces at a few, where something sticks. The latter two only in
    a step that is to be accepted.

    Args:
        smooth: The system in its mode.
        t: Time of the step's start [s].
        h: Length of the step [s].
        start: The motion at its start.
        end: The motion at its end.
        coefficients: Of its continuous extension.
        guard: The least guard at its end.
        unsure: A guard that is negative by no more is not counted: a velocity that has all but decayed, for one.
        accurate: Whether the step's error is within its tolerance.
    """
    found = _along_courses(_courses(smooth, start, end, coefficients), guard, unsure)

    def searched(parts: int, guards: Callable[[Scalar, Motion], list[Scalar]], wanted: Any) -> None:
        """Search at the ends of all parts of the step for the first negative guard, if that is wanted."""
        nonlocal found

        def inside(now: Search) -> list[Search]:
            at = now.part / parts
            value = least(guards(t + at * h, interpolated(end, coefficients, at)))
            met = value < -unsure
            return [Search(now.part + 1.0, where(met, at, now.share), where(met, value, now.guard))]

        first = Search(where(both(wanted, accurate), 1.0, parts + 1.0), found.share, found.guard)
        (found,) = loop([first], inside, lambda now: now.part > now.share * parts, parts)

    middle = interpolated(end, coefficients, 0.5)
    spares = zip(smooth.spares(t, start), smooth.spares(t + h / 2, middle), smooth.spares(t + h, end), strict=True)
    dips: Any = False
    for first, half, last in spares:
        bend = absolute(first - 2.0 * half + last)
        dips = either(dips, minimum(minimum(first, last), half) < bend)
    if dips is not False:
        searched(FINE, smooth.margins, dips)
    if smooth.mode:
        sticks: Any = False
        for side in smooth.mode:
            sticks = either(sticks, absolute(side) < 0.5)
        searched(PARTS, lambda t, y: smooth.guards(t, start, y), sticks)
    return found.share, found.guard


def _along_courses(courses: Sequence[Course], guard: Scalar, unsure: Scalar) -> Search:
    """The first minimum of a course at which it is negative."""
    if not courses:
        return Search(0.0, 1.0, guard)
    dips: Any = False
    for course in courses:
        dips = either(dips, course.may_dip)

    def along(now: Search) -> list[Search]:
        share, guard = now.share, now.guard
        for course in courses:
            at = course.lowest
            value = course.at(at)
            met = both(both(at > 0.0, at < share), value < -unsure)
            share, guard = where(met, at, share), where(met, value, guard)
        return [Search(float(PARTS), share, guard)]

    first = Search(where(dips, 1.0, float(PARTS)), 1.0, guard)
    (found,) = loop([first], along, lambda now: now.part >= PARTS, 1)
    return found


def _courses(smooth: System, start: Motion, end: Motion, coefficients: Sequence[Motion]) -> list[Course]:
    """The crossings along a step. They are affine in positions and velocities, and so are polynomials as these are."""
    after, before = smooth.crossings(start, end), smooth.crossings(start, start)
    joints = end._replace(z=None, w=None)
    moved = [smooth.crossings(start, joints.plus(1.0, c._replace(z=None, w=None))) for c in coefficients[1:]]
    return [Course(g1, g1 - g0, [g - g1 for g in inner]) for g1, g0, *inner in zip(after, before, *moved, strict=True)]


def least(guards: Sequence[Scalar]) -> Scalar:
    """The least of guards and 1."""
    lowest: Scalar = 1.0
    for guard in guards:
        lowest = minimum(guard, lowest)
    return lowest
