"""What the advice on a step would come to for many variants of a scenario, without its words.

The criteria are those of `armsim.stability.step_check`, on arrays.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from armsim.stability.closed_loop import Array
from armsim.stability.growth import Growth, Mask, Modes
from armsim.stability.operating_points import BOUNCE, NOTICED, REST, START, TARGET
from armsim.stability.step_check import BLOWN_UP, DOUBTFUL, MARGIN
from armsim.stability.step_modes import LinearPlant
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
        self.plants = LinearPlant(points.free)
        self.period = times.period if self.plants.sampled else None

    def verdicts(self) -> Verdicts:
        """The verdicts."""
        there = self.points.there
        step = self.plants.growing(self.method, self.times.dt)
        harm, by_samples, seldom = self._harm(step), np.zeros_like(there), np.zeros_like(there)
        worst, joint = _fastest(step, harm)
        if self.period is not None:
            rates = self.plants.loop_rates(self.period)
            loop = self.plants.growing_loop(self.method, self.times.dt, self.period, rates)
            in_loop = self._harm(loop)
            by_samples = ~harm.any(axis=-1) & in_loop.any(axis=-1)
            most, which = _fastest(loop, in_loop)
            worst, joint = np.where(by_samples, most, worst), np.where(by_samples, which, joint)
            seldom = self._grows(rates) & ~self._grows(self.plants.continuous_rates)
        unstable = there & (harm.any(axis=-1) | by_samples)
        refused, unsure = self._refused(unstable, by_samples, worst, joint)

        swings = there & (self._shows(step) & step.swings).any(axis=-1)
        near = there & self._harm(self.plants.growing(self.method, MARGIN * self.times.dt)).any(axis=-1)
        speaks = (unstable | swings | near | (there & seldom)).any(axis=0)
        if self.points.stops is not None:
            calm = ~_disturbs(step)[0]
            speaks = speaks | (calm & self._chatters().any(axis=0))
        return Verdicts(refused, unsure, speaks)

    def _shows(self, found: Growth) -> Mask:
        """Which modes grow by so much that it shows in the run."""
        return np.asarray(found.growth * self.times.duration > NOTICED)

    def _harm(self, found: Growth) -> Mask:
        """Which of these are not undamped oscillations."""
        return self._shows(found) & ~found.swings

    def _grows(self, rates: Modes) -> Mask:
        """Whether a loop is unstable, by its eigenvalues."""
        return np.asarray(rates.real.max(axis=-1, initial=0.0) * self.times.duration > NOTICED)

    def _refused(self, unstable: Mask, by_samples: Mask, worst: Array, joint: Array) -> tuple[Mask, Mask]:
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
            stable = self.plants[open_].are_stable(self.method, self.times.dt / DOUBTFUL)
            too_long = np.zeros_like(open_)
            too_long[open_] = ~stable
            refused = refused | too_long.any(axis=0)
            open_ &= ~too_long & ~refused
        return refused, open_.any(axis=0)

    def _settling_times(self) -> Array:
        """Settling times to 5 % [s], shape (points, variants); see `OperatingPoint.settling_time`."""
        real = (self.plants.modes if self.period is None else self.plants.continuous_rates).real
        slowest = np.where(real < -NOTICED / self.times.duration, -real, math.inf).min(axis=-1, initial=math.inf)
        return np.asarray(3.0 / slowest)

    def _chatters(self) -> Mask:
        """Which stops chatter, shape (stops, variants)."""
        assert self.points.stops is not None
        engaged = LinearPlant(self.points.stops)
        chatters = _disturbs(engaged.growing(self.method, self.times.dt))
        if self.method in BOUNCE:
            least = engaged.least_real_eigenvalue(self.method, self.times.dt)
            chatters = chatters | (least < BOUNCE[self.method])
        return chatters


def _disturbs(found: Growth) -> Mask:
    """Whether a step destabilises more than undamped oscillations, however slowly it grows."""
    return np.asarray(((found.growth > -math.inf) & ~found.swings).any(axis=-1))


def _fastest(found: Growth, which: Mask) -> tuple[Array, Array]:
    """Growth rate and joint of the fastest growing of some modes; minus infinity where there is none."""
    growth = np.where(which, found.growth, -math.inf)
    fastest = growth.argmax(axis=-1)[..., None]
    return np.take_along_axis(growth, fastest, axis=-1)[..., 0], np.take_along_axis(found.joint, fastest, axis=-1)[
        ..., 0
    ]
