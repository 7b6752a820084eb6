"""The stability of a step at a scenario's operating points, as advice; see `armsim.stability.advice`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armsim.actuation import sticks
from armsim.errors import Refusal
from armsim.integrate import METHODS
from armsim.loading import Scenario
from armsim.model import Arm
from armsim.plant import Plant
from armsim.stability.advice import Advice, listed, short
from armsim.stability.chatter import chatter
from armsim.stability.growth import DestabilisedMode
from armsim.stability.operating_points import (
    NOTICED,
    REST,
    START,
    STOP,
    SUPPLY,
    TARGET,
    OperatingPoint,
    operating_points,
)

MARGIN = 1.2  # largest stable step over dt, below which a warning is given
DOUBTFUL = 1.1  # dt over the largest stable step, up to which nonlinearity or friction may keep a run bounded
BLOWN_UP = 7.0  # ln of the growth over a run, above which it is refused
CHATTER = 0.5  # of the way to the target, that saturated commands move a joint in a step, up to which they may chatter
PARTS = (1, 2, 4, 5, 10, 20, 40, 50, 100, 200, 400, 500, 1000)  # divisors of dt that are tried


@dataclass(frozen=True)
class Instability:
    """An operating point that the step destabilises.

    Attributes:
        point: The operating point.
        mode: The fastest growing mode that the step destabilises there, undamped oscillations left aside.
        by_samples: Whether it is a mode of the sampled closed loop.
        longest: The largest stable step there [s]; 0 if there is none.
    """

    point: OperatingPoint
    mode: DestabilisedMode
    by_samples: bool
    longest: float

    @property
    def gain(self) -> float:
        """ln of the mode's growth over the run."""
        return self.mode.growth * self.point.duration


@np.errstate(all="ignore")  # of steps far too long, powers overflow
def check_step(scenario: Scenario, plant: Plant) -> Advice:
    """The advice on the step of a scenario with a fixed-step method."""
    return StepCheck(plant.method, scenario.dt, operating_points(scenario, plant), plant.arm).advice()


class StepCheck:
    """The stability of a step at operating points, in words.

    Args:
        method: A fixed-step method.
        dt: Step [s].
        at: The operating points, the start first.
        arm: The arm.
    """

    def __init__(self, method: str, dt: float, at: list[OperatingPoint], arm: Arm) -> None:
        self.method, self.dt, self.joints = method, dt, arm.joints
        self.free = [point for point in at if point.joint is None]
        self.branches = [point for point in at if point.joint is not None]

    def advice(self) -> Advice:
        """Refusal, warnings and unstable branches; of an adaptive method what is to say of the feedback."""
        if METHODS[self.method].adaptive is not None:
            return Advice(warnings=tuple(self._loops), loops=self._loops)
        refusal = self._refusal()
        warnings = [*([] if refusal else self._too_long()), *self._swings(), *self._loops]
        unstable = [] if refusal else self._unstable_branches()
        takers = [name for name in self._takers() if self._takes(name, unstable)] if unstable else []
        chattering, braked = (
            {point.joint: self._longest(point, False) for point in unstable if point.where == where and point.joint}
            for where in (STOP, SUPPLY)
        )
        return Advice(refusal, tuple(warnings), chattering, tuple(takers), braked, self._loops)

    def _instabilities(self) -> list[Instability]:
        """The instabilities, one a point at most, of the step or else of the sampled loop; the shortest stable step first."""
        found = []
        for point in self.free:
            for by_samples, look in ((False, point.destabilised), (True, point.destabilised_loop)):
                worst = next((mode for mode in look(self.method, self.dt) if not mode.is_undamped_oscillation), None)
                if worst is not None:
                    hopeless = not worst.decays and point.plant.amplifies_oscillations(self.method)
                    longest = 0.0 if hopeless else self._longest(point, by_samples)
                    found.append(Instability(point, worst, by_samples, longest))
                    break  # a mode unstable between samples is unstable in the sampled loop too
        return sorted(found, key=lambda instability: instability.longest)

    def _refused(self, instability: Instability) -> bool:
        """Whether an instability blows up the run.

        A step up to `DOUBTFUL` too long may not: where it is stable at the target, or where an undriven arm hangs, and the arm
        leaves an unstable start, where it is stable at the start and the arm reaches an unstable target late, and where dry
        friction arrests small motions.
        Nor may one whose growth saturation bounds (`_is_bounded`), friction (`_is_held`) or brushes (`_is_braked`). The
        equilibrium of an undriven arm does not count, as the run may end far from it.
        """
        point = instability.point
        if instability.gain <= BLOWN_UP or point.where == REST:
            return False
        if self._is_held(instability) or self._is_bounded(instability) or self._is_braked(instability):
            return False
        others = [other for other in self.free if other is not point]
        elsewhere = any(other.takes(self.method, self.dt) for other in others)
        lasts = instability.mode.growth * (point.duration - point.settling_time) > BLOWN_UP
        stays = lasts if point.where == TARGET else not elsewhere
        doubtful = (elsewhere and not stays) or sticks(self.joints[instability.mode.joint])
        return not doubtful or self.dt > DOUBTFUL * instability.longest

    def _is_bounded(self, instability: Instability) -> bool:
        """Whether saturated commands bound a motion that grows, to less than `CHATTER` of the way to the target.

        Where the step is at most `MARGIN` too long they do so to a fraction of that bound, which may then be all of the way.
        """
        plant, way = instability.point.plant, np.abs(self.free[0].plant.coefficients.bounds[1]).max(initial=0.0)
        nearly = not instability.by_samples and plant.is_stable(self.method, self.dt / MARGIN)
        if self._chatter(instability) >= (1.0 if nearly else CHATTER) * way:
            return False
        if not instability.by_samples:
            return plant.saturated.is_stable(self.method, self.dt)
        assert instability.point.period is not None
        modes = plant.saturated.destabilised_loop(self.method, self.dt, instability.point.period)
        return all(mode.growth * instability.point.duration <= NOTICED for mode in modes)

    def _chatter(self, instability: Instability) -> float:
        """How far saturated commands let joints chatter in a motion that grows [rad or m]."""
        period = instability.point.period if instability.by_samples else None
        cuts = METHODS[self.method].cuts and period is None
        return float(chatter(instability.point.plant.coefficients, period or self.dt, cuts))

    def _is_braked(self, instability: Instability) -> bool:
        """Whether brushes take so much of a voltage that swings as far as at the start that the swing decays from there."""
        point = instability.point
        if point.where != START or instability.by_samples:
            return False
        return point.plant.swinging.is_stable(self.method, self.dt)

    def _is_held(self, instability: Instability) -> bool:
        """Whether dry friction holds the joint of a motion that grows, from the start."""
        return bool(self.free[0].plant.coefficients.bounds[2, instability.mode.joint])

    def refuses(self) -> bool:
        """Whether there is a refusal, without its words."""
        return any(self._refused(instability) for instability in self._instabilities())

    def _refusal(self) -> Refusal | None:
        found = next((instability for instability in self._instabilities() if self._refused(instability)), None)
        if found is None:
            return None
        point, most, takers = found.point, found.longest, listed(self._takers(), "or")
        how = f"under control sampled every {point.period:g} s" if found.by_samples else point.where
        grows = f"a motion of {self.joints[found.mode.joint].name} grows {how} that by itself does not"
        if most:
            expected = f"at most {short(most)} s with {self.method}: above that {grows}"
            mend = f"set `integrator.dt={suited(self.dt, most):g}`, or a method that takes this step: {takers}"
        else:
            expected, mend = f"a method other than {self.method}, with which {grows}", f"take {takers}"
        return Refusal("integrator.dt", expected, f"{self.dt:g} s", mend)

    def _too_long(self) -> list[str]:
        """That the step is above the largest stable one, without a refusal; or close to it."""
        found = self._instabilities()
        by, grows = "above", ""
        limits = [(instability.longest, instability.point.where) for instability in found]
        gain = max((instability.gain for instability in found), default=math.inf)
        if gain < BLOWN_UP:
            grows = f": a motion grows {math.exp(gain):.2g}-fold over the run that by itself does not"
        elif found and self._is_held(found[0]):
            grows = (
                f": a motion of {self.joints[found[0].mode.joint].name} would grow, which friction holds at the start"
            )
        elif found and self._is_bounded(found[0]):
            joint = self.joints[found[0].mode.joint]
            far = f"by up to {self._chatter(found[0]):.2g} {joint.kind.length}"
            grows = f": {joint.name} chatters, within the bounds of its command, {far}"
        elif found and self._is_braked(found[0]):
            grows = f": {self.joints[found[0].mode.joint].name} would chatter there but for its brushes"
        if not found:
            by = "close to"
            near = [
                point
                for point in self.free
                if not all(x.is_undamped_oscillation for x in point.destabilised(self.method, MARGIN * self.dt))
            ]
            limits = [(self._longest(point, False), point.where) for point in near]
        if not limits:
            return []
        most, where = min(limits)
        limit = (
            f"the largest stable step of {self.method} {where}, {short(most)} s"
            if most
            else f"what {self.method} takes"
        )
        return [f"dt = {self.dt:g} s is {by} {limit}{grows}"]

    def _swings(self) -> list[str]:
        """That the step amplifies an undamped oscillation."""
        swings = [
            mode
            for point in self.free
            for mode in point.destabilised(self.method, self.dt)
            if mode.is_undamped_oscillation
        ]
        if not swings:
            return []
        worst = max(swings, key=lambda mode: mode.growth)
        others = [name for name, method in METHODS.items() if method.conserves]
        return [
            f"{self.method} makes an undamped swing of {worst.frequency:.3g} Hz grow, by {100 * worst.growth:.2g} % a second; "
            f"{listed(others)} do not"
        ]

    @cached_property
    def _loops(self) -> dict[str, str]:
        """What is to say of the feedback, by itself and by its sampling, with the joint that it is about."""
        return {**self._feedback(), **self._sampling()}

    def _feedback(self) -> dict[str, str]:
        """That the feedback leaves a motion unstable at its target, whatever the step."""
        if not self.free or self.free[0].plant.law is None:
            return {}
        point = next((point for point in self.free if point.where == TARGET), self.free[0])
        found = point.unstable_feedback()
        if found is None:
            return {}
        rate, joint = found
        name = self.joints[joint].name
        words = (
            f"control leaves {name} unstable {point.where}, whatever the step: its motion grows e-fold every "
            f"{1 / rate:.3g} s, until a limit or stop bounds it; check the signs and sizes of its gains"
        )
        return {words: name}

    def _sampling(self) -> dict[str, str]:
        """That the sampling period is too long for a stable loop, whatever the step."""
        periods = [(point.longest_period(), point) for point in self.free]
        harmful = [(longest, point) for longest, point in periods if longest is not None]
        if not harmful:
            return {}
        longest, point = min(harmful, key=lambda found: found[0])
        mend = f"every {short(longest)} s or more often" if longest else "more often"
        assert point.period is not None
        joint = self.joints[point.plant.fastest_growing_sampled(point.period)].name
        words = (
            f"control that samples every {point.period:g} s is unstable {point.where}, whatever the step: sample {mend}, or "
            "lower its gains"
        )
        return {words: joint}

    def _unstable_branches(self) -> list[OperatingPoint]:
        """The branches on which the step is unstable, if it is stable without them."""
        if not all(point.holds(self.method, self.dt) for point in self.free[:1]):
            return []
        return [point for point in self.branches if not point.holds(self.method, self.dt)]

    def _longest(self, point: OperatingPoint, by_samples: bool) -> float:
        """The largest stable step at a point [s]; for the sampled loop, the largest of dt's `PARTS` that is; 0 if none is."""
        most = point.longest(self.method)
        if not by_samples:
            return most
        shorter = [self.dt / part for part in PARTS if self.dt / part <= most]
        return next(
            (
                dt
                for dt in shorter
                if not any(not x.is_undamped_oscillation for x in point.destabilised_loop(self.method, dt))
            ),
            0.0,
        )

    def _takers(self) -> list[str]:
        """The other methods that are stable at this step with no stop engaged."""
        return [
            name
            for name, method in METHODS.items()
            if name != self.method
            and (method.adaptive is not None or all(point.takes(name, self.dt) for point in self.free))
        ]

    def _takes(self, name: str, unstable: Sequence[OperatingPoint]) -> bool:
        """Whether a method is stable at this step on those branches."""
        return METHODS[name].adaptive is not None or all(point.holds(name, self.dt) for point in unstable)


def suited(dt: float, most: float) -> float:
    """The largest dt / k, k = 2, 4, 5 or 10 times a power of ten, below the largest stable step `most` [s] by `MARGIN`."""
    power = 1.0
    while True:
        for part in (2, 4, 5, 10):
            if dt / (power * part) * MARGIN <= most:
                return dt / (power * part)
        power *= 10.0
