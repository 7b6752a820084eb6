"""Events that are met and left within a step, which the guards at its end do not show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from armsim.expr import Scalar, Scalars, absolute, both, chosen, clip, either, fma, loop, maximum, minimum, when, where
from armsim.integrate.extension import SmoothStep
from armsim.integrate.graze import first_graze
from armsim.integrate.motion import Motion
from armsim.records import mutable_record

FAR = 1e300  # beyond any guard
RESOLVED = 1e-9  # s: within a shorter step nothing varies unseen
CLOSE = 1 / 16  # of a step: distance of the points of the last parabola


@mutable_record
class Course:
    """A guard along a step, the polynomial g1 - (1 - θ) (d - θ (c0 + θ (c1 + ...))); see `interpolated`.

    Attributes:
        end: g1.
        change: d.
        inner: c0, c1, ...
    """

    end: Scalar
    change: Scalar
    inner: Scalars

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


@mutable_record
class Look:
    """Points of a step at which guards are looked at, and tests of whether they resolve the guards.

    Attributes:
        points: Shares of the step, from its beginning to its end, at irregular distances: no period divides them all.
        tests: For each point that is tested, by point the weight of the guard in its distance from the polynomial through the
            guards at all points that are not tested.
    """

    points: tuple[float, ...]
    tests: tuple[tuple[float, ...], ...]

    @classmethod
    def at(cls, points: Sequence[float], tested: Sequence[int]) -> Look:
        """A look at points, the tested ones given by their places among them."""
        known = [p for k, p in enumerate(points) if k not in tested]

        def weight(k: int, test: int) -> float:
            if k in tested:
                return 1.0 if k == test else 0.0
            return -prod((points[test] - p) / (points[k] - p) for p in known if p != points[k])

        return cls(tuple(points), tuple(tuple(weight(k, test) for k in range(len(points))) for test in tested))


MARGINS = Look.at((0.0, 0.13, 0.29, 0.47, 0.62, 0.78, 0.91, 1.0), (2, 4))
HOLDING = Look.at((0.0, 0.21, 0.46, 0.73, 1.0), (2,))
GLANCE = (0.0, 0.29, 0.62, 1.0)  # of a step, at which it is seen whether a closer look is wanted


@mutable_record
class Search:
    """The state of a search.

    Attributes:
        part: The number of the point to be looked at next.
        share: The share of the step at which an event has been met; 1 where none has.
        guard: The guard there, or the least at the step's end.
        low: The least of each guard so far.
        off: By test and guard, the distance from the polynomial so far.
    """

    part: Scalar
    share: Scalar
    guard: Scalar
    low: Scalars
    off: Sequence[Scalars]


def first_met(
    step: SmoothStep, start: Motion, guard: Scalar, unsure: Scalar, accurate: Any
) -> tuple[Scalar, Scalar, Any]:
    """The share of a step at which an event has been met within it, and the guard there; else 1 and `guard`.

    And whether the step is too long to tell: guards are not integrated, and those of a command at its limit or of a joint at rest
    may vary within a step whose error is small.

    Crossings are searched for their minima, where they may have any below zero; margins, where they vary by more than they are
    from zero; guards that need forces, where something is held. The latter two only in a step that is to be accepted.

    Args:
        step: The step.
        start: The motion at its start.
        guard: The least guard at its end.
        unsure: A guard that is negative by no more is not counted: a velocity that has all but decayed, for one.
        accurate: Whether the step's error is within its tolerance.
    """
    smooth = step.smooth
    share, guard = _along_courses(_courses(step, start), guard, unsure)
    vague: Any = False

    def looked(look: Look, guards: Callable[[Scalar, Motion], Scalars], count: int, wanted: Any) -> None:
        """Look for the first negative guard, if that is wanted."""
        nonlocal share, guard, vague
        most = float(len(look.points))

        def inside(now: Search) -> list[Search]:
            at = _chosen(now.part, look.points)
            found = guards(*step.at(at))
            value = least(found)
            earlier = either(at < now.share, now.guard >= 0.0)
            met = both(both(value < -unsure, at > 0.0), earlier)
            weights = [_chosen(now.part, test) for test in look.tests]
            return [
                Search(
                    part=where(met, most, now.part + 1.0),
                    share=where(met, at, now.share),
                    guard=where(met, value, now.guard),
                    low=[minimum(x, low) for x, low in zip(found, now.low, strict=True)],
                    off=[
                        [fma(weight, x, off) for x, off in zip(found, row, strict=True)]
                        for weight, row in zip(weights, now.off, strict=True)
                    ],
                )
            ]

        searching = both(wanted, accurate)
        nothing = [[0.0] * count for _ in look.tests]
        begin = Search(where(searching, 0.0, most), share, guard, [FAR] * count, nothing)
        (after,) = loop([begin], inside, lambda now: now.part >= most, len(look.points))
        unmet = after.share >= share
        for i, low in enumerate(after.low):
            for row in after.off:
                vague = either(vague, both(unmet, absolute(row[i]) > fma(0.5, maximum(low, 0.0), unsure)))
        share, guard = after.share, after.guard

    glances = [smooth.spares(*step.at(at)) for at in GLANCE]
    near: Any = False
    for some in zip(*glances, strict=True):
        lowest, highest = some[0], some[0]
        for x in some[1:]:
            lowest, highest = minimum(x, lowest), maximum(x, highest)
        near = either(near, lowest < highest - lowest)
    if near is not False:
        looked(MARGINS, lambda t, y: smooth.margins(t, y, unsure), len(glances[0]), near)
    if smooth.mode:
        holds: Any = False
        for side in smooth.mode:
            holds = either(holds, absolute(side) < 0.5)
        looked(HOLDING, smooth.holding, len(smooth.mode), holds)
    met, grazed = first_graze(smooth, start, step.end, step.h, lambda t: step.at(t / step.h)[1], unsure)
    earlier = met < share * step.h
    share, guard = chosen(earlier, (met / step.h, grazed), (share, guard))
    return share, guard, both(vague, step.h > RESOLVED)


def _chosen(k: Scalar, values: Sequence[float]) -> Scalar:
    """The k-th of some values."""
    found: Scalar = values[-1]
    for i in reversed(range(len(values) - 1)):
        found = where(k < i + 0.5, values[i], found)
    return found


def _along_courses(courses: Sequence[Course], guard: Scalar, unsure: Scalar) -> tuple[Scalar, Scalar]:
    """The share of a step at which a course first has a negative minimum, and the course there; else 1 and `guard`."""
    if not courses:
        return 1.0, guard
    dips: Any = False
    for course in courses:
        dips = either(dips, course.may_dip)

    def along(share: Scalar, lowest: Scalar) -> Scalars:
        for course in courses:
            at = course.lowest
            value = course.at(at)
            met = both(both(at > 0.0, at < share), value < -unsure)
            share, lowest = chosen(met, (at, value), (share, lowest))
        return [share, lowest]

    share, lowest = when(dips, along, 1.0, guard)
    return share, lowest


def _courses(step: SmoothStep, start: Motion) -> list[Course]:
    """The crossings along a step. They are affine in positions and velocities, and so are polynomials as these are."""
    crossings = step.smooth.crossings
    after, before = crossings(start, step.end), crossings(start, start)
    joints = step.end._replace(z=None, w=None)
    moved = [crossings(start, joints.plus(1.0, c._replace(z=None, w=None))) for c in step.coefficients[1:]]
    return [Course(g1, g1 - g0, [g - g1 for g in inner]) for g1, g0, *inner in zip(after, before, *moved, strict=True)]


def least(guards: Scalars) -> Scalar:
    """The least of guards and 1."""
    lowest: Scalar = 1.0
    for guard in guards:
        lowest = minimum(guard, lowest)
    return lowest
