"""What the advice on a step would come to for many variants of a scenario, without its words.

The criteria are those of `armsim.stability.step_check`, on arrays.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from armsim.stability.closed_loop import Array
from armsim.stability.growth import GrowthRates, Mask, Modes
from armsim.stability.operating_points import BOUNCE, NOTICED, REST, START, TARGET
from armsim.stability.step_check import BLOWN_UP, DOUBTFUL, MARGIN
from armsim.stability.step_modes import LinearPlant, spectrum
from armsim.stability.traced_points import Points


class Verdicts(NamedTuple):
    """Whether there is advice on the step of each variant; arrays of shape (variants,).

    Attributes:
        refused: Whether the step is refused.
        unsure: Whether that hangs on the largest stable step, and was not decided; not refused so far.
        speaks: Whether there is a refusal or a warning.
    """

    refused: Mask
    unsure: Mask
    speaks: Mask


class Times(NamedTuple):
    """The times of a run [s], the same for all variants.

    Attributes:
        dt: Step.
        duration: Of the run.
        period: Sampling period of its feedback; None if that is continuous, or there is none.
    """

    dt: float
    duration: float
    period: float | None


class VariantsCheck:
    """The stability of a step at the operating points of variants.

    Args:
        method: A fixed-step method.
        times: Of the run.
        points: The operating points, the start first.
        sticky: Which joints have dry friction.
    """

    def __init__(self, method: str, times: Times, points: Points, sticky: tuple[bool, ...]) -> None:
        self.method, self.times, self.points = method, times, points
        self.sticky = np.array(sticky, dtype=bool)

    @cached_property
    def every(self) -> LinearPlant:
        """The plants at all points."""
        found = LinearPlant(self.points.coefficients)
        found.modes  # noqa: B018  found for all at once
        return found

    @cached_property
    def free(self) -> LinearPlant:
        """Those without an engaged stop."""
        return self.every[: len(self.points.where)]

    @property
    def period(self) -> float | None:
        """Sampling period of the feedback [s], where there is one at these points."""
        return self.times.period if self.free.sampled else None

    def may_refuse(self) -> Mask:
        """Which variants the verdicts may refuse: those in which something grows enough, whatever it is; shape (variants,)."""
        dt, duration, period = self.times
        free = LinearPlant(self.points.coefficients[: len(self.points.where)])
        step = free.step_matrix(self.method, dt)
        growth = _growth(step[..., : free.moving, : free.moving], dt)
        if period is not None and free.sampled:
            flow = np.linalg.matrix_power(step, max(1, round(period / dt)))
            growth = np.maximum(growth, _growth(free.loop(flow, period), period))
        return np.asarray((self.points.there & ~(growth * duration <= BLOWN_UP)).any(axis=0))

    def verdicts(self) -> Verdicts:
        """The verdicts."""
        there = self.points.there
        mixed = bool(self.sticky.any() and not self.sticky.all())  # otherwise it does not matter which joint it is
        everywhere = self.every.growing(self.method, self.times.dt, mixed)
        step = everywhere[: len(there)]
        harm = self._harm(step)
        by_samples: Mask = np.zeros_like(there)
        seldom: Mask = np.zeros_like(there)
        worst, joint = _fastest(step, harm)
        if self.period is not None:
            rates = self.free.loop_rates(self.period)
            loop = self.free.growing_loop(self.method, self.times.dt, self.period, rates)
            in_loop = self._harm(loop)
            by_samples = np.asarray(~harm.any(axis=-1) & in_loop.any(axis=-1))
            most, which = _fastest(loop, in_loop)
            worst, joint = np.where(by_samples, most, worst), np.where(by_samples, which, joint)
            seldom = self._grows(rates) & ~self._grows(self.free.continuous_rates)
        unstable = there & (harm.any(axis=-1) | by_samples)
        refused, unsure = self._refused(unstable, by_samples, worst, joint)

        swings = there & (self._shows(step) & step.swings).any(axis=-1)
        near = there & self._harm(self.free.growing(self.method, MARGIN * self.times.dt, False)).any(axis=-1)
        speaks: Mask = np.asarray((unstable | swings | near | (there & seldom)).any(axis=0))
        if self.points.stops:
            disturbed = _disturbs(everywhere)
            chatters = disturbed[len(there) :] | self._bounces()
            speaks = np.asarray(speaks | (~disturbed[0] & chatters.any(axis=0)))
        return Verdicts(refused, unsure, speaks)

    def _shows(self, found: GrowthRates) -> Mask:
        """Which modes grow by so much that it shows in the run."""
        return np.asarray(found.growth * self.times.duration > NOTICED)

    def _harm(self, found: GrowthRates) -> Mask:
        """Which of these are not undamped oscillations."""
        return self._shows(found) & ~found.swings

    def _grows(self, rates: Modes) -> Mask:
        """Whether a loop is unstable, by its eigenvalues."""
        return np.asarray(rates.real.max(axis=-1, initial=0.0) * self.times.duration > NOTICED)

    def _refused(
        self, unstable: Mask, by_samples: Mask, worst: Array, joint: npt.NDArray[np.int64]
    ) -> tuple[Mask, Mask]:
        """Which variants are refused, and of which that hangs on the largest stable step; see `StepCheck`.

        Args:
            unstable: Where the step, or the sampled loop, is unstable, shape (points, variants).
            by_samples: Where it is the latter.
            worst: Growth rate of the mode that grows fastest [1/s].
            joint: Its joint.
        """
        duration, where = self.times.duration, self.points.where
        counts = unstable & (worst * duration > BLOWN_UP) & (np.array(where) != REST)[:, None]
        no = np.zeros(unstable.shape[1], dtype=bool)
        if not counts.any():
            return no, no
        elsewhere = np.zeros_like(unstable)
        for p in range(len(where)):
            for other, name in enumerate(where):
                if other != p and name in (START, TARGET):
                    elsewhere[p] |= self.points.there[other] & ~unstable[other]
        lasts = worst * (duration - self._settling_times()) > BLOWN_UP
        stays = np.where((np.array(where) == TARGET)[:, None], lasts, ~elsewhere)
        doubtful = (elsewhere & ~stays) | self.sticky[joint]
        sure = counts & (~doubtful | by_samples)  # at half the step at most the sampled loop may be stable
        refused = sure.any(axis=0)
        open_ = counts & ~sure & ~refused
        if open_.any():
            stable = self.free[open_].are_stable(self.method, self.times.dt / DOUBTFUL)
            too_long = np.zeros_like(open_)
            too_long[open_] = ~stable
            refused = refused | too_long.any(axis=0)
            open_ &= ~too_long & ~refused
        return refused, np.asarray(open_.any(axis=0))

    def _settling_times(self) -> Array:
        """Settling times to 5 % [s], shape (points, variants); see `OperatingPoint.settling_time`."""
        real = (self.free.modes if self.period is None else self.free.continuous_rates).real
        slowest = np.where(real < -NOTICED / self.times.duration, -real, math.inf).min(axis=-1, initial=math.inf)
        return np.asarray(3.0 / slowest)

    def _bounces(self) -> Mask:
        """Whether an implicit step reverses the motion into a stop, shape (stops, variants); see `OperatingPoint`."""
        if self.method not in BOUNCE:
            return np.zeros((len(self.points.stops), self.points.there.shape[1]), dtype=bool)
        engaged = self.every[len(self.points.where) :]
        return np.asarray(engaged.least_real_eigenvalue(self.method, self.times.dt) < BOUNCE[self.method])


def _growth(step: Array, h: float) -> Array:
    """The rate at which the fastest motion grows under a step of h seconds [1/s], shape (...)."""
    return np.asarray(np.log(np.maximum(np.abs(spectrum(step)).max(axis=-1, initial=0.0), 1.0)) / h)


def _disturbs(found: GrowthRates) -> Mask:
    """Whether a step destabilises more than undamped oscillations, however slowly it grows."""
    return np.asarray(((found.growth > -math.inf) & ~found.swings).any(axis=-1))


def _fastest(found: GrowthRates, which: Mask) -> tuple[Array, npt.NDArray[np.int64]]:
    """Growth rate and joint of the fastest growing of some modes; minus infinity where there is none."""
    growth = np.where(which, found.growth, -math.inf)
    fastest = growth.argmax(axis=-1)[..., None]
    return np.take_along_axis(growth, fastest, axis=-1)[..., 0], np.take_along_axis(found.joint, fastest, axis=-1)[
        ..., 0
    ]
