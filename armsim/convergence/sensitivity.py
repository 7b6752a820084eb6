"""Growth of a small perturbation along a motion, and the accuracy that it leaves in double precision."""

from __future__ import annotations

import math
from dataclasses import field

import numpy as np

from armsim.arrays import Array
from armsim.model.angles import FIGURE
from armsim.records import record

PERTURBATION = 1e-9  # rad or m, of the initial positions
SATURATED = 1e-3  # rad or m: beyond it growth is no longer exponential
ROUNDING = 2.0**-52  # of a position, relative


@record
class Sensitivity:
    """A perturbation grows by exp(offset + rate t): a line fitted to the logarithm of the largest distance so far.

    Attributes:
        rate: Finite-time estimate of the largest Lyapunov exponent [1/s]. Positive over a long time: chaos, or a start at an
            unstable equilibrium.
        offset: The line's value at t = 0.
        largest: Largest magnitude of a joint position [rad or m]; at least 1.
    """

    rate: float
    offset: float
    largest: float = field(metadata=FIGURE)

    def factor(self, t: float) -> float:
        """Amplification of an initial perturbation at time t [s]."""
        exponent = self.offset + self.rate * t
        return math.exp(exponent) if exponent < 700.0 else math.inf

    def rounding(self, t: float) -> float:
        """Estimate of the error at time t [s] that rounding in the first steps causes [rad or m]."""
        return ROUNDING * self.largest * self.factor(t)

    def horizon(self, accuracy: float) -> float:
        """Predictability horizon [s]: when rounding has grown to an accuracy [rad or m], which no step reaches beyond."""
        if self.rate <= 0.0:
            return math.inf
        return max(0.0, (math.log(accuracy / (ROUNDING * self.largest)) - self.offset) / self.rate)


def sensitivity(t: Array, first: Array, second: Array) -> Sensitivity:
    """The sensitivity of a motion, from a second one whose initial positions are perturbed by `PERTURBATION`.

    Args:
        t: Times [s], shape (instants,), the first of them 0.
        first: Joint positions of the motion [rad or m], shape (instants, n).
        second: Joint positions of the perturbed motion, likewise.
    """
    apart = np.maximum.accumulate(np.abs(second - first).max(axis=1))
    parted = np.flatnonzero(apart > SATURATED)
    end = max(3, int(parted[0]) if len(parted) else len(t))
    logs = np.log(np.maximum(apart[:end], PERTURBATION) / PERTURBATION)
    largest = max(1.0, float(np.abs(first).max()))
    if len(logs) < 2:
        return Sensitivity(0.0, 0.0, largest)
    rate, offset = np.polyfit(t[:end], logs, 1)
    return Sensitivity(float(rate), float(offset), largest)
