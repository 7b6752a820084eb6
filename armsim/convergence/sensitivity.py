"""How fast motions that begin close to each other part, and what that leaves of an answer in double precision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import NDArray

PUT_ASIDE = 1e-9  # rad or m, by which the second motion begins beside the first
PARTED = 1e-3  # rad or m apart, two motions no longer part as close ones do
ROUNDING = 2.0**-52  # of a position, relative


@dataclass(frozen=True)
class Sensitivity:
    """Close motions part as exp(offset + rate t): a straight line through the logarithm of their largest distance so far.

    Attributes:
        rate: [1/s]. Positive over a long time: chaos, or a start at an unstable balance.
        offset: Logarithm of the factor that the line has at t = 0.
        largest: Joint position, in magnitude [rad or m]; at least 1.
    """

    rate: float
    offset: float
    largest: float

    def factor(self, t: float) -> float:
        """By which a distance at the start has grown at time t [s]."""
        exponent = self.offset + self.rate * t
        return math.exp(exponent) if exponent < 700.0 else math.inf

    def rounding(self, t: float) -> float:
        """What the roundings of the first steps have grown to at time t [s], about [rad or m]."""
        return ROUNDING * self.largest * self.factor(t)

    def horizon(self, accuracy: float) -> float:
        """When rounding alone has grown to an accuracy [rad or m], about: beyond that time [s] no step gets it."""
        if self.rate <= 0.0:
            return math.inf
        return max(0.0, (math.log(accuracy / (ROUNDING * self.largest)) - self.offset) / self.rate)


def sensitivity(t: NDArray, first: NDArray, second: NDArray) -> Sensitivity:
    """How fast two motions part that begin `PUT_ASIDE` from each other.

    Args:
        t: Times [s], shape (instants,), the first of them 0.
        first: Joint positions of the one [rad or m], shape (instants, n).
        second: Of the other.
    """
    import numpy as np

    apart = np.maximum.accumulate(np.abs(second - first).max(axis=1))
    parted = np.flatnonzero(apart > PARTED)
    end = max(3, int(parted[0]) if len(parted) else len(t))
    logs = np.log(np.maximum(apart[:end], PUT_ASIDE) / PUT_ASIDE)
    largest = max(1.0, float(np.abs(first).max()))
    if len(logs) < 2:
        return Sensitivity(0.0, 0.0, largest)
    rate, offset = np.polyfit(t[:end], logs, 1)
    return Sensitivity(float(rate), float(offset), largest)
