"""What external forces do to joints under feedback: how far they are pushed, and how long they take to recover."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf
from typing import Any

from armsim.errors import UsageError
from armsim.expr import Scalar, Scalars, absolute, both, chosen, either, maximum, minus, where
from armsim.measures.kind import Request, length
from armsim.measures.measure import Measure
from armsim.measures.moment import Moment
from armsim.records import mutable_record, record

SHARE = 0.05  # of the peak deviation, the band unless given


@mutable_record
class Pushed:
    """Deviations since the last force began.

    Attributes:
        t: The moment before [s].
        errors: The errors then [rad or m].
        begun: When the last force began [s]; inf before any has.
        before: The errors at the last moment not after that [rad or m].
        peaks: Largest deviations from these, of all forces so far [rad or m].
        latest: The largest since the last force began, by which bands are measured [rad or m].
        outside: The last time outside the band [s].
    """

    t: Scalar
    errors: Scalars
    begun: Scalar
    before: Scalars
    peaks: Scalars
    latest: Scalars
    outside: Scalar


@record
class Disturbance(Measure):
    """Deviations of errors from what they were when an external force began.

    Attributes:
        indices: Of the joints.
        band: [rad or m]; None for `SHARE` of the peak deviation.
    """

    indices: Sequence[int]
    band: float | None

    def begin(self) -> Pushed:
        def nothing() -> Scalars:
            return [0.0] * len(self.indices)

        return Pushed(-1.0, nothing(), inf, nothing(), nothing(), nothing(), 0.0)

    def update(self, kept: Pushed, now: Moment) -> Pushed:
        begun, fresh = kept.begun, False
        for wrench in now.plant.external:
            start: Scalar = 0.0 if wrench.start is None else wrench.start
            begins = both(kept.t <= start, start < now.t)
            last = where(fresh, maximum(begun, start), start)  # of several that begin between two moments
            begun, fresh = where(begins, last, begun), either(fresh, begins)
        errors = [now.errors[i] for i in self.indices]
        before = chosen(fresh, kept.errors, kept.before)
        off = [where(begun < inf, absolute(e - x), 0.0) for e, x in zip(errors, before, strict=True)]
        latest = [maximum(d, where(fresh, 0.0, x)) for d, x in zip(off, kept.latest, strict=True)]
        peaks = [maximum(d, x) for d, x in zip(off, kept.peaks, strict=True)]
        outside = where(fresh, begun, kept.outside)
        outside = where(self._outside(off, latest), now.t, outside)
        return Pushed(now.t, errors, begun, before, peaks, latest, outside)

    def _outside(self, off: Scalars, latest: Scalars) -> Any:
        bands = [SHARE * x if self.band is None else self.band for x in latest]
        beyond: Scalar = reduce(maximum, minus(off, bands))
        return beyond > 0.0


class DisturbancePeak(Disturbance):
    """The largest deviation."""

    def result(self, kept: Pushed, end: Moment) -> Scalars:
        return [reduce(maximum, kept.peaks)]


class RecoveryTime(Disturbance):
    """From the beginning of the last force to the last time outside the band; infinite where that is at the end."""

    def result(self, kept: Pushed, end: Moment) -> Scalars:
        took = where(kept.begun < inf, kept.outside - where(kept.begun < inf, kept.begun, 0.0), 0.0)
        return [where(kept.outside >= end.t, inf, took)]


def disturbance_peak(request: Request) -> Measure:
    """The peak deviation after external forces begin."""
    _need_force(request)
    return DisturbancePeak((request.name,), (request.unit(length),), tuple(request.indices), None)


def recovery_time(request: Request) -> Measure:
    """The time to recover from the last one."""
    _need_force(request)
    band = request.checked_band(
        "give the largest deviation of a joint that has recovered, for example `recovery_time(1e-3)`"
    )
    return RecoveryTime((request.name,), ("s",), tuple(request.indices), band)


def _need_force(request: Request) -> None:
    request.need_target()
    if not request.plant.external:
        raise UsageError.of(
            f"measure `{request.name}`",
            "an external force, whose disturbance it measures",
            "a run without `external`",
            "write for example `external: [{link: R2, force: [0, 0, -20], from: 1, to: 1.1}]`",
        )
