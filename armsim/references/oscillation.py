"""Sinusoids, chirps and multisines."""

from __future__ import annotations

import math
from typing import Literal

from armsim.expr import Scalar, Scalars, clip, exp, log, sin
from armsim.records import record
from armsim.references.of_time import OfTime


@record
class Sinusoid(OfTime):
    """q = offset + amplitude sin(2π frequency t + phase), for each joint.

    Attributes:
        offset: Joint positions about which it swings [rad or m], n scalars, as are all.
        amplitude: [rad or m]
        frequency: [Hz]
        phase: [rad]
    """

    offset: tuple[Scalar, ...]
    amplitude: tuple[Scalar, ...]
    frequency: tuple[Scalar, ...]
    phase: tuple[Scalar, ...]

    def positions(self, t: Scalar) -> Scalars:
        """See the class."""
        joints = zip(self.offset, self.amplitude, self.frequency, self.phase, strict=True)
        return [offset + a * sin(math.tau * f * t + phase) for offset, a, f, phase in joints]


@record
class Chirp(OfTime):
    """A sinusoid whose frequency moves from one to another, and which holds from then on.

    Attributes:
        offset: Joint positions about which it swings [rad or m], n scalars.
        amplitude: [rad or m], n scalars.
        first: Frequencies at t = 0 [Hz], n scalars.
        last: Frequencies at the end [Hz], n scalars.
        duration: Of the sweep [s].
        sweep: "linear" for equal times per Hz, "exponential" for equal times per octave.
    """

    offset: tuple[Scalar, ...]
    amplitude: tuple[Scalar, ...]
    first: tuple[Scalar, ...]
    last: tuple[Scalar, ...]
    duration: Scalar
    sweep: Literal["linear", "exponential"]

    @property
    def knots(self) -> Scalars:
        """The end of the sweep [s]."""
        return [self.duration]

    def positions(self, t: Scalar) -> Scalars:
        """See the class."""
        t, T = clip(t, 0.0, self.duration), self.duration
        found = []
        for offset, a, first, last in zip(self.offset, self.amplitude, self.first, self.last, strict=True):
            if self.sweep == "linear":
                turns = (first + (last - first) / (2 * T) * t) * t
            else:
                rate = log(last / first) / T
                turns = first / rate * (exp(rate * t) - 1)
            found.append(offset + a * sin(math.tau * turns))
        return found


@record
class Multisine(OfTime):
    """q = offset + amplitude Σ sin(2π fₖ t + φₖ + phase), with the phases φₖ = -π k (k - 1) / K of Schroeder (1970).

    Such phases keep the peaks of the sum low where the frequencies are evenly spaced.

    Attributes:
        offset: Joint positions about which it swings [rad or m], n scalars.
        amplitude: Of each of the K sinusoids [rad or m], n scalars.
        frequencies: [Hz], K scalars.
        phase: Added to all phases of a joint [rad], n scalars.
    """

    offset: tuple[Scalar, ...]
    amplitude: tuple[Scalar, ...]
    frequencies: tuple[Scalar, ...]
    phase: tuple[Scalar, ...]

    def positions(self, t: Scalar) -> Scalars:
        """See the class."""
        many = len(self.frequencies)
        found = []
        for offset, a, phase in zip(self.offset, self.amplitude, self.phase, strict=True):
            swing = 0.0
            for k, f in enumerate(self.frequencies, start=1):
                swing = swing + sin(math.tau * f * t + (phase - math.pi * k * (k - 1) / many))
            found.append(offset + a * swing)
        return found
