"""What is to be said of a step, from what it does to a scenario's small motions; see `armsim.stability.advice`."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from armsim.actuation import sticks
from armsim.errors import Refusal
from armsim.integrate import METHODS
from armsim.loading import Scenario
from armsim.model import Arm
from armsim.plant import Plant
from armsim.stability.advice import Advice, listed, short
from armsim.stability.operating_points import REST, START, TARGET, OperatingPoint, places
from armsim.stability.step_modes import Spoiled

MARGIN = 1.2  # the largest stable step over dt, below which a warning is given
DOUBTFUL = 1.1  # dt over the largest stable step, up to which a run may come off well
BLOWN_UP = 7.0  # ln of the growth over a run from which it is refused
PARTS = (1, 2, 4, 5, 10, 20, 40, 50, 100, 200, 400, 500, 1000)  # of a step; times in whole steps are whole in these too


@dataclass(frozen=True)
class Unstable:
    """What grows under a step and not by itself.

    Attributes:
        place: Where.
        mode: The mode.
        by_samples: Whether it grows from sample to sample of the controller.
        longest: The largest stable step there [s]; 0 if there is none.
    """

    place: OperatingPoint
    mode: Spoiled
    by_samples: bool
    longest: float

    @property
    def gain(self) -> float:
        """ln of its growth over the run."""
        return self.mode.growth * self.place.duration


def judged(scenario: Scenario, plant: Plant) -> Advice:
    """The advice on a scenario's step; nothing on those of adaptive methods."""
    return Judgement(plant.method, scenario.dt, places(scenario, plant), plant.arm).advice()


class Judgement:
    """What a step does at some places, in words.

    Args:
        method: Of fixed steps.
        dt: [s].
        at: Places.
        arm: Whose.
    """

    def __init__(self, method: str, dt: float, at: list[OperatingPoint], arm: Arm) -> None:
        self.method, self.dt, self.joints = method, dt, arm.joints
        self.free = [place for place in at if place.stop is None]
        self.stops = [place for place in at if place.stop is not None]

    def advice(self) -> Advice:
        """All that is to be said."""
        refusal = self._refusal()
        warnings = [*([] if refusal else self._too_long()), *self._swings(), *self._sampling()]
        chattering = {} if refusal else self._chattering()
        takers = [name for name in self._takers() if self._takes_stops(name, chattering)] if chattering else []
        return Advice(refusal, tuple(warnings), chattering, tuple(takers))

    def _unstable(self) -> list[Unstable]:
        """The worst of what grows at each place and is no swing, from step to step and from sample to sample."""
        found = []
        for place in self.free:
            for by_samples, look in ((False, place.spoiled), (True, place.spoiled_loop)):
                worst = next((mode for mode in look(self.method, self.dt) if not mode.is_swing), None)
                if worst is not None:
                    hopeless = not worst.decays and place.plant.feeds(self.method)
                    longest = 0.0 if hopeless else self._longest(place, by_samples)
                    found.append(Unstable(place, worst, by_samples, longest))
                    break  # what grows between samples grows from sample to sample too
        return sorted(found, key=lambda unstable: unstable.longest)

    def _refused(self, unstable: Unstable) -> bool:
        """Whether what grows blows up the run.

        A step that is hardly too long may not, where the arm leaves its start for a target that takes the step, where it
        leaves a start that takes it and comes to its target late, and where dry friction stops small motions. And an arm may
        not come to hang within the run.
        """
        place = unstable.place
        if unstable.gain <= BLOWN_UP or place.where == REST:
            return False
        others = [other for other in self.free if other is not place and other.where in (START, TARGET)]
        elsewhere = any(other.takes(self.method, self.dt) for other in others)
        lasts = unstable.mode.growth * (place.duration - place.settling) > BLOWN_UP
        stays = lasts if place.where == TARGET else not elsewhere
        doubtful = (elsewhere and not stays) or sticks(self.joints[unstable.mode.joint])
        return not doubtful or self.dt > DOUBTFUL * unstable.longest

    def _refusal(self) -> Refusal | None:
        found = next((unstable for unstable in self._unstable() if self._refused(unstable)), None)
        if found is None:
            return None
        place, most, takers = found.place, found.longest, listed(self._takers(), "or")
        how = f"under control sampled every {place.period:g} s" if found.by_samples else place.where
        grows = f"a motion of {self.joints[found.mode.joint].name} grows {how} that by itself does not"
        if most:
            expected = f"at most {short(most)} s with {self.method}: above that {grows}"
            mend = f"set `integrator.dt={suited(self.dt, most):g}`, or a method that takes this step: {takers}"
        else:
            expected, mend = f"a method other than {self.method}, with which {grows}", f"take {takers}"
        return Refusal("integrator.dt", expected, f"{self.dt:g} s", mend)

    def _too_long(self) -> list[str]:
        """That the step is above the largest stable one, but not so that all is lost; or close to it."""
        found = self._unstable()
        by, grows = "above", ""
        limits = [(unstable.longest, unstable.place.where) for unstable in found]
        gain = max((unstable.gain for unstable in found), default=math.inf)
        if gain < BLOWN_UP:
            grows = f": a motion grows {math.exp(gain):.2g}-fold over the run that by itself does not"
        if not found:
            by = "close to"
            near = [
                place
                for place in self.free
                if not all(x.is_swing for x in place.spoiled(self.method, MARGIN * self.dt))
            ]
            limits = [(self._longest(place, False), place.where) for place in near]
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
        """Undamped swings that the step feeds with energy."""
        swings = [mode for place in self.free for mode in place.spoiled(self.method, self.dt) if mode.is_swing]
        if not swings:
            return []
        worst = max(swings, key=lambda mode: mode.growth)
        others = [name for name, method in METHODS.items() if method.conserves]
        return [
            f"{self.method} makes an undamped swing of {worst.hertz:.3g} Hz grow, by {100 * worst.growth:.2g} % a second; "
            f"{listed(others)} do not"
        ]

    def _sampling(self) -> list[str]:
        """That the controller makes the arm unstable by how seldom it samples."""
        periods = [(place.longest_period(), place) for place in self.free]
        harmful = [(longest, place) for longest, place in periods if longest is not None]
        if not harmful:
            return []
        longest, place = min(harmful, key=lambda found: found[0])
        mend = f"every {short(longest)} s or more often" if longest else "more often"
        return [
            f"control that samples every {place.period:g} s is unstable {place.where}, whatever the step: sample {mend}, or "
            "lower its gains"
        ]

    def _chattering(self) -> dict[str, float]:
        if not all(place.holds(self.method, self.dt) for place in self.free[:1]):
            return {}  # not the stops' doing
        return {
            place.stop: self._longest(place, False)
            for place in self.stops
            if place.stop is not None and not place.holds(self.method, self.dt)
        }

    def _longest(self, place: OperatingPoint, by_samples: bool) -> float:
        """The largest stable step at a place [s]; for the loop from sample to sample one that is short enough."""
        most = place.longest(self.method)
        if not by_samples:
            return most
        shorter = [self.dt / part for part in PARTS if self.dt / part <= most]
        return next((dt for dt in shorter if not any(not x.is_swing for x in place.spoiled_loop(self.method, dt))), 0.0)

    def _takers(self) -> list[str]:
        """The other methods that take this step where no stop is engaged."""
        return [
            name
            for name, method in METHODS.items()
            if name != self.method
            and (method.adaptive is not None or all(place.takes(name, self.dt) for place in self.free))
        ]

    def _takes_stops(self, name: str, chattering: Collection[str]) -> bool:
        """Whether a method takes this step with the stops engaged that chatter."""
        if METHODS[name].adaptive is not None:
            return True
        return all(place.holds(name, self.dt) for place in self.stops if place.stop in chattering)


def suited(dt: float, most: float) -> float:
    """A whole part of dt with some room below the largest step, of which times that are multiples of dt are multiples."""
    power = 1.0
    while True:
        for part in (2, 4, 5, 10):
            if dt / (power * part) * MARGIN <= most:
                return dt / (power * part)
        power *= 10.0
