"""The modes that a step destabilises: of one plant as a list, of many as arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from armsim.stability.closed_loop import Array

Modes = npt.NDArray[np.complex128]
Mask = npt.NDArray[np.bool_]

RESOLVED = 0.5  # h |λ|: up to here a step resolves a mode
UNDAMPED = 0.1  # of the growth rate under the step: an oscillation whose decay rate is less counts as undamped


@dataclass(frozen=True)
class DestabilisedMode:
    """A mode that the step destabilises: stable or neutral in continuous time, growing under the step.

    Attributes:
        growth: Growth rate under the step, ln|μ| / h with μ its amplification factor [1/s].
        rate: Its eigenvalue λ in continuous time [1/s].
        h: Length of the step, or the sampling period [s].
        joint: Index of the joint with the most kinetic energy in it.
    """

    growth: float
    rate: complex
    h: float
    joint: int

    @property
    def decays(self) -> bool:
        """Whether it decays in continuous time, however slowly."""
        return self.rate.real < 0.0

    @property
    def is_undamped_oscillation(self) -> bool:
        """Whether it is an oscillation, undamped or nearly so, that the step resolves but amplifies."""
        return bool(is_swing(self.growth, self.rate, self.h))

    @property
    def frequency(self) -> float:
        """Frequency of its oscillation [Hz]."""
        return abs(self.rate.imag) / (2 * math.pi)


@dataclass(frozen=True)
class GrowthRates:
    """What a step does to the modes of plants, in arrays of shape (..., modes), slow modes first.

    Attributes:
        growth: Growth rate under the step [1/s]; minus infinity for a mode that it does not destabilise.
        rate: Eigenvalue in continuous time [1/s].
        h: Length of the step, or the sampling period [s].
        joint: Index of the joint with the most kinetic energy in the mode, of those that grow.
    """

    growth: Array
    rate: Modes
    h: float
    joint: npt.NDArray[np.int64]

    def __getitem__(self, which: Any) -> GrowthRates:
        """Those of some of the plants."""
        return GrowthRates(self.growth[which], self.rate[which], self.h, self.joint[which])

    @property
    def swings(self) -> Mask:
        """Which of them are undamped oscillations; see `DestabilisedMode`."""
        return is_swing(self.growth, self.rate, self.h)

    @property
    def modes(self) -> list[DestabilisedMode]:
        """The modes of a single plant that grow, the fastest first."""
        grows = [int(i) for i in np.flatnonzero(self.growth > -math.inf)]
        found = [
            DestabilisedMode(float(self.growth[i]), complex(self.rate[i]), self.h, int(self.joint[i])) for i in grows
        ]
        return sorted(found, key=lambda mode: -mode.growth)


def is_swing(growth: Any, rate: Any, h: float) -> Any:
    """Whether a destabilised mode counts as an undamped oscillation: one that the step resolves but amplifies."""
    return (h * abs(rate) <= RESOLVED) & (-rate.real <= UNDAMPED * growth)


def matched(factors: Modes, expected: Modes) -> npt.NDArray[np.int64]:
    """For each expected factor in turn the index of the nearest factor that is not yet taken, shape (..., modes)."""
    distance = np.abs(factors[..., None, :] - expected[..., :, None])
    taken = np.zeros(expected.shape, dtype=np.int64)
    for i in range(expected.shape[-1]):
        taken[..., i] = distance[..., i, :].argmin(axis=-1)
        np.put_along_axis(distance, taken[..., i, None, None], math.inf, axis=-1)
    return taken
