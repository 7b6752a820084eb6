"""What becomes of quantities over time: integral, mean, extremes, first and final value.

Integrals are by the trapezoid rule over the moments, so they are exact for quantities that are linear between them.
"""

from __future__ import annotations

from functools import reduce
from math import inf
from typing import Any

from armsim.expr import Scalar, Scalars, absolute, divided, maximum, sqrt, where
from armsim.measures.measure import Measure, Quantities
from armsim.measures.moment import Moment
from armsim.records import mutable_record, record


@record
class Aggregated(Measure):
    """A measure of quantities, one result each.

    Attributes:
        of: The quantities at a moment.
    """

    of: Quantities


@mutable_record
class Trapezoids:
    """Integrals up to a moment.

    Attributes:
        sums: The integrals.
        last: The integrands at that moment.
    """

    sums: Scalars
    last: Scalars


class TimeIntegral(Aggregated):
    """The integral over time."""

    def begin(self) -> Trapezoids:
        nothing = [0.0] * len(self.names)
        return Trapezoids(nothing, [*nothing])

    def update(self, kept: Trapezoids, now: Moment) -> Trapezoids:
        integrands = [self.integrand(x) for x in self.of(now)]
        sums = [
            s + where(now.t > 0.0, now.dt / 2 * (before + x), 0.0)
            for s, before, x in zip(kept.sums, kept.last, integrands, strict=True)
        ]
        return Trapezoids(sums, integrands)

    def integrand(self, x: Scalar) -> Scalar:
        """What is integrated of a quantity."""
        return x

    def result(self, kept: Trapezoids, end: Moment) -> Scalars:
        return kept.sums


class Mean(TimeIntegral):
    """The mean over time."""

    def result(self, kept: Trapezoids, end: Moment) -> Scalars:
        return [divided(s, end.t) for s in kept.sums]


class RootMeanSquare(Mean):
    """The root of the mean square over time."""

    def integrand(self, x: Scalar) -> Scalar:
        return x * x

    def result(self, kept: Trapezoids, end: Moment) -> Scalars:
        return [sqrt(x) for x in super().result(kept, end)]


class Largest(Aggregated):
    """The largest value."""

    begins = -inf

    def begin(self) -> Scalars:
        return [self.begins] * len(self.names)

    def update(self, kept: Scalars, now: Moment) -> Scalars:
        return [where(self.beats(x, best), x, best) for x, best in zip(self.of(now), kept, strict=True)]

    def beats(self, x: Scalar, best: Scalar) -> Any:
        """Whether x takes the place of the best so far; one that is not a number never does."""
        return x > best

    def result(self, kept: Scalars, end: Moment) -> Scalars:
        return kept


class Smallest(Largest):
    """The smallest value."""

    begins = inf

    def beats(self, x: Scalar, best: Scalar) -> Any:
        return x < best


class Peak(Largest):
    """The largest magnitude."""

    begins = 0.0

    def update(self, kept: Scalars, now: Moment) -> Scalars:
        magnitudes = map(absolute, self.of(now))
        return [where(x > best, x, best) for x, best in zip(magnitudes, kept, strict=True)]


@mutable_record
class Hits:
    """Extremes so far.

    Attributes:
        values: The extremes.
        times: When each was first met [s].
    """

    values: Scalars
    times: Scalars


@record
class TimeOf(Measure):
    """The time at which an extreme is first met.

    Attributes:
        extreme: The extreme.
    """

    extreme: Largest

    def begin(self) -> Hits:
        return Hits(self.extreme.begin(), [0.0] * len(self.names))

    def update(self, kept: Hits, now: Moment) -> Hits:
        pairs = list(zip(self.extreme.of(now), kept.values, strict=True))
        times = [where(self.extreme.beats(x, best), now.t, t) for (x, best), t in zip(pairs, kept.times, strict=True)]
        return Hits(self.extreme.update(kept.values, now), times)

    def result(self, kept: Hits, end: Moment) -> Scalars:
        return kept.times


class First(Aggregated):
    """The value at the start."""

    def begin(self) -> Scalars:
        return [0.0] * len(self.names)

    def update(self, kept: Scalars, now: Moment) -> Scalars:
        return [where(now.t > 0.0, first, x) for first, x in zip(kept, self.of(now), strict=True)]

    def result(self, kept: Scalars, end: Moment) -> Scalars:
        return kept


class Final(Aggregated):
    """The value at the end."""

    def result(self, kept: Any, end: Moment) -> Scalars:
        return [*self.of(end)]


@record
class Worst(Measure):
    """The largest result of a measure, as of all joints.

    Attributes:
        of: The measure.
    """

    of: Measure

    def begin(self) -> Any:
        return self.of.begin()

    def update(self, kept: Any, now: Moment) -> Any:
        return self.of.update(kept, now)

    def result(self, kept: Any, end: Moment) -> Scalars:
        return [reduce(maximum, self.of.result(kept, end))]
