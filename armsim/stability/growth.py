"""The modes that a step destabilises."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from armsim.arrays import Array, Indices, Mask
from armsim.records import record

Modes = npt.NDArray[np.complex128]

RESOLVED = 0.5  # h |λ|: up to here a step resolves a mode
UNDAMPED = 0.1  # of the growth rate under the step: an oscillation whose decay rate is less counts as undamped


@record
class GrowthRates:
    """What a step does to the modes of plants, in arrays of shape (..., modes).

    A mode that the step destabilises is stable or neutral in continuous time and grows under the step.

    Attributes:
        growth: Growth rate under the step, ln|μ| / h with μ its amplification factor [1/s]; minus infinity for a mode that the
            step does not destabilise.
        rate: Its eigenvalue λ in continuous time [1/s].
        h: Length of the step, or the sampling period [s].
        joint: Index of the joint with the most kinetic energy in the mode, of those that grow.
    """

    growth: Array
    rate: Modes
    h: float
    joint: Indices

    @property
    def swings(self) -> Mask:
        """Which of them count as undamped oscillations: such as the step resolves but amplifies."""
        undamped = -self.rate.real <= UNDAMPED * self.growth
        return np.asarray((self.h * np.abs(self.rate) <= RESOLVED) & undamped)

    @property
    def harms(self) -> Mask:
        """Which are destabilised and no undamped oscillations."""
        return np.asarray((self.growth > -math.inf) & ~self.swings)

    def fastest(self, which: Mask) -> tuple[Array, Mask, Indices]:
        """Growth rate of the fastest growing of some modes, minus infinity where there is none; whether it decays; its joint.

        It decays by its eigenvalue in continuous time, however slowly.
        """
        growth = np.where(which, self.growth, -math.inf)
        at = growth.argmax(axis=-1)[..., None]
        rate, decays, joint = (
            np.take_along_axis(x, at, axis=-1)[..., 0] for x in (growth, self.rate.real < 0.0, self.joint)
        )
        return rate, decays, joint


def matched(factors: Modes, expected: Modes) -> Indices:
    """For each expected factor in turn the index of the nearest factor that is not yet taken, shape (..., modes)."""
    distance = np.abs(factors[..., None, :] - expected[..., :, None])
    taken = np.zeros(expected.shape, dtype=np.int64)
    for i in range(expected.shape[-1]):
        taken[..., i] = distance[..., i, :].argmin(axis=-1)
        np.put_along_axis(distance, taken[..., i, None, None], math.inf, axis=-1)
    return taken
