"""What the advice on a step would come to for many variants of a scenario, without its words.

The criteria are those of `armsim.stability.step_check`, on arrays.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from armsim.integrate import METHODS
from armsim.stability.chatter import chatter
from armsim.stability.closed_loop import Array
from armsim.stability.growth import GrowthRates, Mask, Modes
from armsim.stability.largest_step import CLOSENESS
from armsim.stability.operating_points import BOUNCE, GROWN, NOTICED, REST, START, STOP, TARGET
from armsim.stability.spectra import fastest_growth
from armsim.stability.spectral_bound import is_bounded
from armsim.stability.step_check import BLOWN_UP, CHATTER, DOUBTFUL, MARGIN
from armsim.stability.step_modes import LinearPlant
from armsim.stability.traced_points import Points

CLEARED = BLOWN_UP / 2  # ln of the growth over a run, up to which a bound clears a variant; half, for rounding
SHORTER = (1 + 2 * CLOSENESS, *(1.5**-k for k in range(1, 9)))  # of a step: where the search for the largest looks


class Instabilities(NamedTuple):
    """Where the step, or the sampled loop, is unstable; arrays of shape (points without a branch, variants).

    Attributes:
        unstable: Whether one of them is.
        by_samples: Whether it is the latter.
        worst: Growth rate of the mode that grows fastest [1/s].
        decays: Whether it decays in continuous time.
        joint: Its joint.
    """

    unstable: Mask
    by_samples: Mask
    worst: Array
    decays: Mask
    joint: npt.NDArray[np.int64]


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
    def free(self) -> LinearPlant:
        """The plants at the points without a branch."""
        return LinearPlant(self.points.coefficients[: len(self.points.where)])

    @cached_property
    def engaged(self) -> LinearPlant:
        """The plants at the others."""
        return LinearPlant(self.points.coefficients[len(self.points.where) :])

    @property
    def period(self) -> float | None:
        """Sampling period of the feedback [s], where there is one at these points."""
        return self.times.period if self.free.sampled else None

    def may_refuse(self) -> Mask:
        """Which variants the verdicts may refuse: those in which something may grow enough, whatever it is; shape (variants,)."""
        dt, duration, period = self.times.dt, self.times.duration, self.period
        moving = self.free.moving
        step = self.free.step_matrix(self.method, dt)
        calm = is_bounded(step[..., :moving, :moving], CLEARED * dt / duration)
        if period is not None:
            in_loop = is_bounded(self._sampled_step(step), CLEARED * period / duration)
            falls = in_loop & ~calm  # commands held, an arm may fall whatever the step
            if falls.any():
                growth = self.free[falls].growing(self.method, dt, False).growth
                calm[falls] = (growth * duration <= CLEARED).all(axis=-1)
            calm &= in_loop
        return np.asarray((self.points.there & ~calm).any(axis=0))

    def refused(self) -> tuple[Mask, Mask]:
        """Which variants are refused; and of which that hangs on the largest stable step, not refused so far."""
        return self._refused(self._instabilities)

    def speaks(self) -> Mask:
        """Of which variants there is anything to say, be it a refusal or a warning."""
        there, step = self.points.there, self._step
        swings = there & (self._shows(step) & step.swings).any(axis=-1)
        near = there & self._harm(self.free.growing(self.method, MARGIN * self.times.dt, False)).any(axis=-1)
        speaks: Mask = np.asarray((self._instabilities.unstable | swings | near).any(axis=0))
        speaks = np.asarray(speaks | self.speaks_of_feedback())
        if self.points.branches:
            chatters = _disturbs(self.engaged.growing(self.method, self.times.dt, False)) | self._bounces()
            speaks = np.asarray(speaks | (~_disturbs(step)[0] & chatters.any(axis=0)))
        return speaks

    def speaks_of_feedback(self) -> Mask:
        """Of which variants there is anything to say of the feedback, by itself or by its sampling."""
        there = self.points.there
        speaks: Mask = np.zeros(there.shape[1], dtype=bool)
        if self.free.law is not None:
            last = self.points.where.index(TARGET)
            grown = fastest_growth(self.free.continuous_rates) * self.times.duration > GROWN
            if self.period is not None:
                grown &= self._grows(self._loop_rates)
            speaks |= np.where(there[last], grown[last], grown[0])
        if self.period is not None:
            seldom = self._grows(self._loop_rates) & ~self._grows(self.free.continuous_rates)
            speaks |= (there & seldom).any(axis=0)
        return speaks

    @cached_property
    def _step(self) -> GrowthRates:
        """What the step does to the modes."""
        return self.free.growing(self.method, self.times.dt, joints=bool(self.sticky.any()))  # else it matters to none

    @cached_property
    def _loop_rates(self) -> Modes:
        """The eigenvalues of the exact sampled loops [1/s]."""
        assert self.period is not None
        return self.free.loop_rates(self.period)

    @cached_property
    def _instabilities(self) -> Instabilities:
        """The instabilities of the step, or else of the sampled loop."""
        there, step = self.points.there, self._step
        harm = self._harm(step)
        by_samples: Mask = np.zeros_like(there)
        worst, decays, joint = _fastest(step, harm)
        if self.period is not None:
            loop = self.free.growing_loop(self.method, self.times.dt, self.period, self._loop_rates)
            in_loop = self._harm(loop)
            by_samples = np.asarray(~harm.any(axis=-1) & in_loop.any(axis=-1))
            most, _, which = _fastest(loop, in_loop)
            worst, joint = np.where(by_samples, most, worst), np.where(by_samples, which, joint)
        return Instabilities(there & (harm.any(axis=-1) | by_samples), by_samples, worst, decays, joint)

    def _sampled_step(self, step: Array) -> Array:
        """The sampled loops from sample to sample, by the matrices of a step."""
        assert self.period is not None
        flow = np.linalg.matrix_power(step, max(1, round(self.period / self.times.dt)))
        return self.free.loop(flow)

    def _shows(self, found: GrowthRates) -> Mask:
        """Which modes grow by so much that it shows in the run."""
        return np.asarray(found.growth * self.times.duration > NOTICED)

    def _harm(self, found: GrowthRates) -> Mask:
        """Which of these are not undamped oscillations."""
        return self._shows(found) & ~found.swings

    def _grows(self, rates: Modes) -> Mask:
        """Whether a loop is unstable, by its eigenvalues."""
        return np.asarray(rates.real.max(axis=-1, initial=0.0) * self.times.duration > NOTICED)

    def _refused(self, found: Instabilities) -> tuple[Mask, Mask]:
        """Which variants are refused, and of which that hangs on the largest stable step; see `StepCheck`."""
        unstable, by_samples, worst, decays, joint = found
        duration, where = self.times.duration, self.points.where
        counts = unstable & (worst * duration > BLOWN_UP) & (np.array(where) != REST)[:, None]
        held = self.points.coefficients.bounds[0, :, 2, :].astype(bool)  # at the start, shape (variants, n)
        counts &= ~held[np.arange(held.shape[0]), joint]
        if counts.any():
            counts[counts] = ~self._are_bounded(counts, by_samples)
        no = np.zeros(unstable.shape[1], dtype=bool)
        if not counts.any():
            return no, no
        elsewhere = np.zeros_like(unstable)
        for p in range(len(where)):
            for other in range(len(where)):
                if other != p:
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
        if open_.any():  # where shorter steps are stable too, the largest is no shorter than dt / DOUBTFUL
            near = self.free[open_]
            takes = [near.are_stable(self.method, self.times.dt / DOUBTFUL * part) for part in SHORTER]
            open_[open_] = ~(decays[open_] & np.all(takes, axis=0))
        return refused, np.asarray(open_.any(axis=0))

    def _are_bounded(self, which: Mask, by_samples: Mask) -> Mask:
        """Whether saturated commands or brushes bound what grows, of some points of variants; see `StepCheck`."""
        near, dt = self.free[which], self.times.dt
        way = np.abs(self.points.coefficients.bounds[0, :, 1, :]).max(axis=-1, initial=0.0)
        way, sampled = np.broadcast_to(way, which.shape)[which], by_samples[which]
        part = np.where(near.are_stable(self.method, dt / MARGIN), 1.0, CHATTER)
        bounded = chatter(near.coefficients, dt, METHODS[self.method].cuts) < part * way
        if bounded.any():
            bounded[bounded] = near[bounded].saturated.are_stable(self.method, dt)
        if self.period is not None and sampled.any():
            some = near[sampled]
            found = some.saturated.growing_loop(self.method, dt, self.period)
            calm = ~self._shows(found).any(axis=-1)
            bounded[sampled] = calm & (chatter(some.coefficients, self.period) < CHATTER * way[sampled])
        begins = np.broadcast_to((np.array(self.points.where) == START)[:, None], which.shape)[which]
        braked = begins & ~sampled & (near.coefficients.bounds[..., 4, :] < 1.0).any(axis=-1)
        if braked.any():
            bounded[braked] |= near[braked].swinging.are_stable(self.method, dt)
        return bounded

    def _settling_times(self) -> Array:
        """Settling times to 5 % [s], shape (points, variants); see `OperatingPoint.settling_time`."""
        real = (self.free.modes if self.period is None else self.free.continuous_rates).real
        slowest = np.where(real < -NOTICED / self.times.duration, -real, math.inf).min(axis=-1, initial=math.inf)
        return np.asarray(3.0 / slowest)

    def _bounces(self) -> Mask:
        """Whether an implicit step reverses the motion into a stop, shape (branches, variants); see `OperatingPoint`."""
        stops = np.array([branch.where == STOP for branch in self.points.branches])[:, None]
        if self.method not in BOUNCE:
            return np.zeros((len(stops), self.points.there.shape[1]), dtype=bool)
        return np.asarray(
            stops & (self.engaged.least_real_eigenvalue(self.method, self.times.dt) < BOUNCE[self.method])
        )


def _disturbs(found: GrowthRates) -> Mask:
    """Whether a step destabilises more than undamped oscillations, however slowly it grows."""
    return np.asarray(((found.growth > -math.inf) & ~found.swings).any(axis=-1))


def _fastest(found: GrowthRates, which: Mask) -> tuple[Array, Mask, npt.NDArray[np.int64]]:
    """Growth rate of the fastest growing of some modes, minus infinity where there is none; whether it decays; its joint."""
    growth = np.where(which, found.growth, -math.inf)
    fastest = growth.argmax(axis=-1)[..., None]
    of_it = [np.take_along_axis(x, fastest, axis=-1)[..., 0] for x in (growth, found.rate.real < 0.0, found.joint)]
    return of_it[0], of_it[1], of_it[2]
