"""The verdict on the step of one run, in words; see `armsim.stability.advice`."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from armsim.arrays import Array
from armsim.dynamics import is_large
from armsim.errors import Refusal
from armsim.expr import FEW, unrolled_up_to
from armsim.integrate import METHODS
from armsim.loading import Scenario
from armsim.model import Joint
from armsim.plant import Plant
from armsim.stability.advice import Advice, listed, short
from armsim.stability.operating_point import MARGIN, STOP, SUPPLY, ContactBranch, JointBranch
from armsim.stability.operating_points import OperatingPoints, TracedPoints
from armsim.stability.spectra import exponential, fastest_growth
from armsim.stability.step_modes import SETTLES, LinearPlant, largest_stable_step
from armsim.stability.verdicts import BLOWN_UP, Verdicts

FALLING = "its friction falls with the speed there, so that it may stick and slip, which ends at higher speeds"
PARTS = (1, 2, 4, 5, 10, 20, 40, 50, 100, 200, 400, 500, 1000)  # divisors of dt that are tried


def check_step(scenario: Scenario, plant: Plant) -> Advice:
    """The advice on the step of a scenario; that of an arm of more than a few joints by compiled code."""
    with unrolled_up_to(FEW):
        traced = is_large(plant.arm.mechanism)
        points = TracedPoints(scenario, lambda _: scenario, 0) if traced else OperatingPoints(scenario, plant)
        return advice_at(points, np.zeros((1, 0)))


@np.errstate(all="ignore")  # of steps far too long, powers overflow
def advice_at(points: OperatingPoints, values: Array) -> Advice:
    """The advice on the step of one variant, by its open numbers, shape (1, count); empty where no linear algebra is possible."""
    try:
        found, finite = points.at(values)
        return (
            Wording(Verdicts(points.scenario, points.plant, found, joints=True), points.plant).advice()
            if finite[0]
            else Advice()
        )
    except np.linalg.LinAlgError:  # as where the equations of motion have no finite value
        return Advice()


class Wording:
    """Verdicts on one variant, in words.

    Args:
        verdicts: On that variant alone.
        plant: Its plant.
    """

    def __init__(self, verdicts: Verdicts, plant: Plant) -> None:
        self.verdicts, self.method, self.dt = verdicts, plant.method, verdicts.dt
        self.joints, self.where = plant.arm.mechanism.joints, verdicts.points.where

    def advice(self) -> Advice:
        """Refusal, warnings and unstable branches; of an adaptive method what is to say of the feedback."""
        loops = {**self._feedback(), **self._sampling()}
        if self.verdicts.adaptive:
            return Advice(warnings=tuple(loops), loops=loops)
        refusal = self._refusal()
        warnings = [*([] if refusal else self._too_long()), *self._swings(), *loops]
        unstable = [] if refusal else np.flatnonzero(self.verdicts.unstable_branches).tolist()
        takers = [name for name in self._takers() if self._holds(name, unstable)] if unstable else []
        on = [(b, self.verdicts.points.branches[b]) for b in unstable]
        chattering, braked = (
            {
                self.joints[at.joint].name: self._longest_on(b)
                for b, at in on
                if isinstance(at, JointBranch) and at.where == where
            }
            for where in (STOP, SUPPLY)
        )
        touching = {at.name: self._longest_on(b) for b, at in on if isinstance(at, ContactBranch)}
        return Advice(refusal, tuple(warnings), chattering, tuple(takers), braked, loops, touching)

    @cached_property
    def _limits(self) -> list[tuple[float, int]]:
        """The largest stable step at every point with an instability, and the point; the shortest first."""
        found = np.flatnonzero(self.verdicts.instabilities.unstable).tolist()
        return sorted((self._longest(p), p) for p in found)

    def _longest(self, p: int) -> float:
        """The largest stable step at a point [s]; for the sampled loop, the largest of dt's `PARTS` that is; 0 if none is."""
        verdicts, most = self.verdicts, self.verdicts.largest_step(p, 0)
        if not verdicts.instabilities.by_samples[p, 0]:
            return most
        for dt in (self.dt / part for part in PARTS):
            if dt <= most:
                found = verdicts.free[p, 0].growing_loop(self.method, dt)
                if not verdicts.harms(found).any():
                    return dt
        return 0.0

    def _longest_on(self, b: int) -> float:
        """The largest stable step on a branch [s]."""
        stop, pace = self.verdicts.points.branches[b].where == STOP, float(self.verdicts.points.paces[b, 0])
        most = largest_stable_step(self.verdicts.engaged[b, 0], self.method, stop)
        return min(most, SETTLES.get(self.method, 2.0) / pace) if pace else most

    def _joint(self, p: int) -> Joint:
        """The joint that moves most in the motion that grows fastest at a point."""
        return self.joints[self.verdicts.instabilities.joint[p, 0]]

    def _refusal(self) -> Refusal | None:
        refused, by_samples = self.verdicts.refused, self.verdicts.instabilities.by_samples
        most, p = next(((most, p) for most, p in self._limits if refused[p, 0]), (0.0, -1))
        if p < 0:
            return None
        takers = listed(self._takers(), "or")
        how = f"under control sampled every {self.verdicts.period:g} s" if by_samples[p, 0] else self.where[p]
        grows = f"a motion of {self._joint(p).name} grows {how} that by itself does not"
        if most:
            expected = f"at most {short(most)} s with {self.method}: above that {grows}"
            mend = f"set `integrator.dt={suited(self.dt, most):g}`, or a method that takes this step: {takers}"
        else:
            expected, mend = f"a method other than {self.method}, with which {grows}", f"take {takers}"
        return Refusal("integrator.dt", expected, f"{self.dt:g} s", mend)

    def _too_long(self) -> list[str]:
        """That the step is above the largest stable one, without a refusal; or close to it."""
        by, grows, limits = "above", "", self._limits
        if limits:
            grows = self._why_bounded(limits[0][1])
        else:
            by, limits = "close to", [(self._longest(p), p) for p in np.flatnonzero(self.verdicts.near).tolist()]
        if not limits:
            return []
        most, p = min(limits)
        limit = (
            f"the largest stable step of {self.method} {self.where[p]}, {short(most)} s"
            if most
            else f"what {self.method} takes"
        )
        return [f"dt = {self.dt:g} s is {by} {limit}{grows}"]

    def _why_bounded(self, p: int) -> str:
        """Why a motion that grows at a point is no reason to refuse, the rest of a sentence; empty if it may be one."""
        verdicts, joint = self.verdicts, self._joint(p)
        found = verdicts.instabilities
        gain = float(found.growth[found.unstable].max()) * verdicts.duration
        if gain < BLOWN_UP:
            return f": a motion grows {math.exp(gain):.2g}-fold over the run that by itself does not"
        if verdicts.held[p, 0]:
            return f": a motion of {joint.name} would grow, which friction holds at the start"
        here = np.zeros_like(found.unstable)
        here[p] = True
        if verdicts.bounded(here)[0]:
            far = f"by up to {verdicts.chatter(here)[0]:.2g} {joint.kind.length}"
            return f": {joint.name} chatters, within the bounds of its command, {far}"
        return f": {joint.name} would chatter there but for its brushes" if verdicts.braked(here)[0] else ""

    def _swings(self) -> list[str]:
        """That the step amplifies an undamped oscillation."""
        swings, step = self.verdicts.swings, self.verdicts.step
        if not swings.any():
            return []
        worst = np.where(swings, step.growth, -math.inf).argmax()
        frequency, growth = abs(step.rate.flat[worst].imag) / (2 * math.pi), step.growth.flat[worst]
        others = [name for name, method in METHODS.items() if method.conserves]
        return [
            f"{self.method} makes an undamped swing of {frequency:.3g} Hz grow, by {100 * growth:.2g} % a second; "
            f"{listed(others)} do not"
        ]

    def _feedback(self) -> dict[str, str]:
        """That the feedback leaves a motion unstable, whatever the step, with its joint."""
        found = {}
        for p in np.flatnonzero(self.verdicts.runs_away):
            plant = self.verdicts.free[p, 0]
            joint = self.joints[plant.leading_joint(plant.continuous_loop, sampled=False)]
            falls = joint.dry is not None and joint.dry.peaks is not None
            words = (
                f"control leaves {joint.name} unstable {self.where[p]}, whatever the step: its motion grows e-fold every "
                f"{1 / fastest_growth(plant.continuous_rates):.3g} s, until a limit or stop bounds it; "
                f"{FALLING if falls else 'check the signs and sizes of its gains'}"
            )
            found[words] = joint.name
        return found

    def _sampling(self) -> dict[str, str]:
        """That the sampling period is too long for a stable loop, whatever the step, with the joint."""
        period = self.verdicts.period
        if period is None or not self.verdicts.samples_seldom.any():
            return {}
        found = np.flatnonzero(self.verdicts.samples_seldom)
        longest, p = min((self._longest_period(self.verdicts.free[p, 0], period), p) for p in found)
        mend = f"every {short(longest)} s or more often" if longest else "more often"
        plant = self.verdicts.free[p, 0]
        joint = plant.leading_joint(plant.loop(exponential(plant.matrix, period)), sampled=True)
        words = (
            f"control that samples every {period:g} s is unstable {self.where[p]}, whatever the step: sample {mend}, or "
            "lower its gains"
        )
        return {words: self.joints[joint].name}

    def _longest_period(self, plant: LinearPlant, period: float) -> float:
        """The longest stable sampling period of a plant that this one destabilises [s], 0 if there is none."""

        def harms(period: float) -> bool:
            return bool(self.verdicts.grows(plant.loop_rates(period)))

        low, high = period / 2, period
        while harms(low):
            low, high = low / 2, low
            if low < 1e-6 * period:
                return 0.0
        while high - low > 1e-3 * low:
            middle = (low + high) / 2
            low, high = (low, middle) if harms(middle) else (middle, high)
        return low

    def _takers(self) -> list[str]:
        """The other methods that are stable at this step with no stop engaged."""
        return [
            name
            for name, method in METHODS.items()
            if name != self.method and (method.adaptive is not None or self.verdicts.takes(name)[0])
        ]

    def _holds(self, name: str, unstable: list[int]) -> bool:
        """Whether a method is stable at this step on those branches."""
        return METHODS[name].adaptive is not None or bool(self.verdicts.holds(name)[unstable].all())


def suited(dt: float, most: float) -> float:
    """The largest dt / k, k = 2, 4, 5 or 10 times a power of ten, below the largest stable step `most` [s] by `MARGIN`."""
    power = 1.0
    while True:
        for part in (2, 4, 5, 10):
            if dt / (power * part) * MARGIN <= most:
                return dt / (power * part)
        power *= 10.0
