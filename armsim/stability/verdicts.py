"""The stability of a step at the operating points of variants of a scenario, on arrays; one run is a batch of one."""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from armsim.actuation import sticks
from armsim.arrays import Array, Indices, Mask
from armsim.integrate import METHODS
from armsim.loading import Scenario
from armsim.plant import Plant
from armsim.stability.growth import GrowthRates, Modes
from armsim.stability.operating_point import MARGIN, REST, START, STOP, TARGET
from armsim.stability.operating_points import Points
from armsim.stability.spectra import fastest_growth, is_bounded
from armsim.stability.step_modes import CLOSENESS, SETTLES, LinearPlant, largest_stable_step

GROWN = 1.0  # ln of the growth over a run, above which feedback is told of that does not stabilise its target
NOTICED = 0.01  # ln of the growth over a run, below which it is negligible
DOUBTFUL = 1.1  # dt over the largest stable step, up to which nonlinearity or friction may keep a run bounded
BLOWN_UP = 7.0  # ln of the growth over a run, above which it is refused
CLEARED = BLOWN_UP / 2  # ln of the growth over a run, up to which a bound clears a variant; half, for rounding
CHATTER = 0.5  # of the way to the target, that saturated commands move a joint in a step, up to which they may chatter
SHORTER = (1 + 2 * CLOSENESS, *(1.5**-k for k in range(1, 9)))  # of a step: where the search for the largest looks


class Instabilities(NamedTuple):
    """Where a step, or the sampled loop, is unstable; arrays of shape (points without a branch, variants).

    Attributes:
        unstable: Whether one of them is.
        by_samples: Whether it is the latter.
        growth: Growth rate of the mode that grows fastest, undamped oscillations left aside [1/s].
        decays: Whether it decays in continuous time.
        joint: Its joint.
    """

    unstable: Mask
    by_samples: Mask
    growth: Array
    decays: Mask
    joint: Indices


class Verdicts:
    """The stability of a step at the operating points of variants.

    Args:
        scenario: One of the variants.
        plant: Its plant, with a fixed-step method, or another, of which the feedback alone is judged.
        points: The operating points, the start first.
        joints: Whether the joints of all motions that grow are wanted.
    """

    def __init__(self, scenario: Scenario, plant: Plant, points: Points, joints: bool = False) -> None:
        self.dt, self.duration = scenario.dt, scenario.clock.steps * scenario.dt
        self.method, self.points, self.there = plant.method, points, points.there
        self.adaptive = plant.integrator.adaptive is not None  # so that its steps are not judged
        self.sticky = np.array([sticks(joint) for joint in plant.arm.mechanism.joints], dtype=bool)
        self.joints = joints or bool(self.sticky.any())  # else they matter to no refusal
        self.period = points.coefficients.period

    @cached_property
    def free(self) -> LinearPlant:
        """The plants at the points without a branch."""
        return LinearPlant(self.points.coefficients[: len(self.points.where)])

    @cached_property
    def engaged(self) -> LinearPlant:
        """The plants at the others."""
        return LinearPlant(self.points.coefficients[len(self.points.where) :])

    def may_refuse(self) -> Mask:
        """Which variants may be refused: those in which something may grow enough, whatever it is; shape (variants,)."""
        found = self.open_.copy()
        if found.any():
            found[found] = ~self._bounded(self.free[found])
        return np.asarray(found.any(axis=0))

    @cached_property
    def open_(self) -> Mask:
        """The points without a branch at which the step is not `shown` to be stable."""
        return np.asarray(self.there & ~self.points.shown)

    def _bounded(self, plant: LinearPlant) -> Mask:
        """In which plants nothing grows enough, by the powers of their step's matrix."""
        step = plant.step_matrix(self.method, self.dt)
        calm = is_bounded(step[..., : plant.moving, : plant.moving], CLEARED * self.dt / self.duration)
        if self.period is not None:
            loop = plant.loop(np.linalg.matrix_power(step, max(1, round(self.period / self.dt))))
            in_loop = is_bounded(loop, CLEARED * self.period / self.duration)
            falls = in_loop & ~calm  # commands held, an arm may fall whatever the step
            if falls.any():
                growth = plant[falls].growing(self.method, self.dt, False).growth
                calm[falls] = (growth * self.duration <= CLEARED).all(axis=-1)
            calm &= in_loop
        return calm

    def refuses(self) -> Mask:
        """Which variants are refused, shape (variants,)."""
        none = self.adaptive or not self.open_.any()
        return np.zeros(self.there.shape[1], dtype=bool) if none else np.asarray(self.refused.any(axis=0))

    def speaks(self) -> Mask:
        """Of which variants there is anything to say, be it a refusal or a warning, shape (variants,)."""
        if not self.open_.any():
            return np.asarray(self.unstable_branches.any(axis=0))
        of_feedback: Mask = np.asarray((self.runs_away | self.samples_seldom).any(axis=0))
        if self.adaptive:
            return of_feedback
        of_step = (self.instabilities.unstable | self.swings.any(axis=-1) | self.near).any(axis=0)
        return np.asarray(of_feedback | of_step | self.unstable_branches.any(axis=0))

    @cached_property
    def step(self) -> GrowthRates:
        """What the step does to the modes."""
        return self.free.growing(self.method, self.dt, self.joints)

    @cached_property
    def loop_rates(self) -> Modes:
        """The eigenvalues of the exact sampled loops [1/s]."""
        assert self.period is not None
        return self.free.loop_rates(self.period)

    @cached_property
    def instabilities(self) -> Instabilities:
        """The instabilities of the step, or else of the sampled loop, in which a mode unstable between samples is so too."""
        return self._instabilities(self.method, self.step)

    def _instabilities(self, method: str, step: GrowthRates) -> Instabilities:
        harms = self.harms(step)
        growth, decays, joint = step.fastest(harms)
        unstable: Mask = np.asarray(harms.any(axis=-1))
        by_samples: Mask = np.zeros_like(self.there)
        if self.period is not None:
            loop = self.free.growing_loop(method, self.dt, self.loop_rates)
            in_loop = self.harms(loop)
            by_samples = np.asarray(~unstable & in_loop.any(axis=-1))
            pairs = zip(loop.fastest(in_loop), (growth, decays, joint), strict=True)
            growth, decays, joint = (np.where(by_samples, of_loop, of_step) for of_loop, of_step in pairs)
        return Instabilities(self.there & (unstable | by_samples), by_samples, growth, decays, joint)

    def takes(self, method: str) -> Mask:
        """In which variants a fixed-step method is stable at this step with no stop engaged, shape (variants,)."""
        found = self._instabilities(method, self.free.growing(method, self.dt, False))
        return np.asarray(~found.unstable.any(axis=0))

    @cached_property
    def swings(self) -> Mask:
        """Undamped oscillations that the step makes grow, shape (points without a branch, variants, modes)."""
        return np.asarray(self.there[..., None] & self.shows(self.step) & self.step.swings)

    @cached_property
    def near(self) -> Mask:
        """Where a step longer by `MARGIN` would be unstable, shape (points without a branch, variants)."""
        longer = self.free.growing(self.method, MARGIN * self.dt, False)
        return np.asarray(self.there & self.harms(longer).any(axis=-1))

    @cached_property
    def runs_away(self) -> Mask:
        """Where feedback leaves a motion unstable, at the target or else the start, shape (points without a branch, variants)."""
        where = self.points.where
        judged = np.zeros_like(self.there)
        if self.free.law is not None:
            target = where.index(TARGET)
            judged[target] = self.there[target]
            judged[0] = ~judged[target]
            judged &= fastest_growth(self.free.continuous_rates) * self.duration > GROWN
            if self.period is not None:  # the loop as it is sampled is the one that runs
                judged &= self.grows(self.loop_rates)
        return judged

    @cached_property
    def samples_seldom(self) -> Mask:
        """Where the sampling period is too long for a stable loop, shape (points without a branch, variants)."""
        if self.period is None:
            return np.zeros_like(self.there)
        return self.there & self.grows(self.loop_rates) & ~self.grows(self.free.continuous_rates)

    @cached_property
    def unstable_branches(self) -> Mask:
        """The branches on which the step is unstable, if it is stable at the start, shape (branches, variants)."""
        found = np.zeros((len(self.points.branches), self.there.shape[1]), dtype=bool)
        if len(found):
            found |= ~self.holds(self.method)
            if self.open_[0].any():
                found &= ~self.step.harms[0].any(axis=-1)
        return found

    def holds(self, method: str) -> Mask:
        """On which branches a step destabilises nothing but undamped oscillations, nor makes the stop chatter or a stick grow."""
        stops = np.array([branch.where == STOP for branch in self.points.branches])[:, None]
        harms = self.engaged.growing(method, self.dt, False).harms.any(axis=-1)
        settles = self.dt * self.points.paces <= SETTLES.get(method, 2.0)
        return np.asarray(~harms & ~(stops & self.engaged.bounce(method, self.dt)) & settles)

    def shows(self, found: GrowthRates) -> Mask:
        """Which modes grow by so much that it shows in the run."""
        return np.asarray(found.growth * self.duration > NOTICED)

    def harms(self, found: GrowthRates) -> Mask:
        """Which of these are no undamped oscillations."""
        return self.shows(found) & found.harms

    def grows(self, rates: Modes) -> Mask:
        """Whether a loop is unstable, by its eigenvalues [1/s]."""
        return np.asarray(rates.real.max(axis=-1, initial=0.0) * self.duration > NOTICED)

    @cached_property
    def refused(self) -> Mask:
        """Which instabilities blow up the run, shape (points without a branch, variants).

        A step up to `DOUBTFUL` too long may not: where it is stable at the target, or where an undriven arm hangs, and the arm
        leaves an unstable start, where it is stable at the start and the arm reaches an unstable target late, and where dry
        friction arrests small motions.
        Nor may one whose growth saturation bounds (`bounded`), friction (`held`) or brushes (`braked`). The equilibrium of an
        undriven arm does not count, as the run may end far from it.
        """
        unstable, by_samples, growth, _, joint = self.instabilities
        where = np.array(self.points.where)[:, None]
        lasting = np.array(self.points.lasting)[:, None]
        refused = unstable & (growth * lasting > BLOWN_UP) & (where != REST) & ~self.held
        for excused in (self.bounded, self.braked):
            if refused.any():
                refused[refused] = ~excused(refused)
        if not refused.any():
            return refused
        calm = self.there & ~unstable
        elsewhere = calm.sum(axis=0) > calm  # at another point
        lasts = growth * (self.duration - self._settling_times()) > BLOWN_UP
        stays = np.where(where == TARGET, lasts, ~elsewhere)
        doubtful = refused & ((elsewhere & ~stays) | self.sticky[joint])
        doubtful &= ~by_samples  # at half the step at most the sampled loop may be stable
        if doubtful.any():
            refused[doubtful] = self._are_too_long(doubtful)
        return refused

    def _are_too_long(self, which: Mask) -> Mask:
        """At which of some instabilities dt is more than `DOUBTFUL` times the largest stable step."""
        near, shortened = self.free[which], self.dt / DOUBTFUL
        too_long = ~near.are_stable(self.method, shortened)
        left = np.flatnonzero(~too_long)
        if len(left):  # where shorter steps are stable too, the largest is no shorter than dt / DOUBTFUL
            stable = np.all([near[left].are_stable(self.method, shortened * part) for part in SHORTER], axis=0)
            for i in left[~(self.instabilities.decays[which][left] & stable)]:
                p, k = np.argwhere(which)[i]
                too_long[i] = self.dt > DOUBTFUL * self.largest_step(p, k)
        return too_long

    def largest_step(self, p: int, k: int) -> float:
        """The largest stable step at a point of a variant without a branch [s]; 0 if there is none."""
        found = self.instabilities
        decays = bool(found.decays[p, k] or not found.unstable[p, k])
        return largest_stable_step(self.free[p, k], self.method, decays=decays)

    @property
    def held(self) -> Mask:
        """At which points dry friction holds the joint of a motion that grows, from the start."""
        held = self.points.coefficients.bounds[0, :, 2, :].astype(bool)
        return np.asarray(held[np.arange(len(held)), self.instabilities.joint])

    def bounded(self, which: Mask) -> Mask:
        """At which of some instabilities saturated commands bound the motion, to less than `CHATTER` of the way to the target.

        Where the step is at most `MARGIN` too long they do so to a fraction of that bound, which may then be all of the way.
        """
        near, sampled = self.free[which], self.instabilities.by_samples[which]
        way = np.abs(self.points.coefficients.bounds[0, :, 1, :]).max(axis=-1, initial=0.0)
        way = np.broadcast_to(way, which.shape)[which]
        part = np.where(~sampled & near.are_stable(self.method, self.dt / MARGIN), 1.0, CHATTER)
        bounded = self.chatter(which) < part * way
        for calm, some in ((self._calm, bounded & ~sampled), (self._calm_loop, bounded & sampled)):
            if some.any():
                bounded[some] = calm(near[some].saturated)
        return bounded

    def _calm(self, plant: LinearPlant) -> Mask:
        return plant.are_stable(self.method, self.dt)

    def _calm_loop(self, plant: LinearPlant) -> Mask:
        return np.asarray(~self.shows(plant.growing_loop(self.method, self.dt)).any(axis=-1))

    def chatter(self, which: Mask) -> Array:
        """How far saturated commands let joints chatter in the motions of some instabilities [rad or m]."""
        near, sampled = self.free[which], self.instabilities.by_samples[which]
        far = np.empty(len(sampled))
        for some, h in ((~sampled, self.dt), (sampled, self.period)):
            if some.any():
                far[some] = near[some].chatter(h or self.dt, METHODS[self.method].cuts)
        return far

    def braked(self, which: Mask) -> Mask:
        """At which of some instabilities brushes take so much of a voltage that swings as far as at the start that the swing
        decays from there.
        """
        begins = np.broadcast_to((np.array(self.points.where) == START)[:, None], which.shape) & which
        shares = self.points.coefficients.bounds[: len(which), :, 4, :]
        some = begins & ~self.instabilities.by_samples & (shares < 1.0).any(axis=-1)
        braked = np.zeros_like(which)
        if some.any():
            braked[some] = self._calm(self.free[some].swinging)
        return braked[which]

    def _settling_times(self) -> Array:
        """Settling times of the closed loops to 5 % [s], by the slowest stable mode; 0 if there is none."""
        rates = self.free.modes if self.period is None else self.free.continuous_rates
        slowest = np.where(rates.real < -NOTICED / self.duration, -rates.real, math.inf).min(axis=-1, initial=math.inf)
        return np.asarray(3.0 / slowest)
