"""What a step does to a scenario's small motions, and what is to be said of it; see `armsim.run.advice`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from armsim.control import Feedback
from armsim.integrate import METHODS
from armsim.linear import Linearizer, with_stop
from armsim.plant import Plant
from armsim.run.advice import Advice, listed, short
from armsim.run.stability import LinearPlant, Spoiled, largest_stable_step
from armsim.spec import Scenario
from armsim.spec.formula import FormulaError

MARGIN = 1.2  # the largest stable step over dt, below which a warning is given
BLOWN_UP = 7.0  # ln of the growth over a run from which it is refused
NOTICED = 0.01  # ln of the growth over a run from which a warning is given
PARTS = (2, 4, 5, 10, 20, 40, 50, 100, 200, 400, 500, 1000)  # of a step, that times which are multiples of it are multiples of


class Place:
    """A state about which the plant's small motions are looked at.

    Args:
        plant: The small motions.
        where: In words.
        period: Time between samples of its feedback [s]; None if that is continuous, or there is none.
        duration: Of the run [s].
        stop: The joint whose stop is engaged; None for none.
    """

    def __init__(self, plant: LinearPlant, where: str, period: float | None, duration: float, stop: str | None) -> None:
        self.plant, self.where, self.duration, self.stop = plant, where, duration, stop
        self.period = period if plant.sampled else None

    def spoiled(self, method: str, dt: float) -> list[Spoiled]:
        """What grows under a step and not by itself, by so much that it shows in the run."""
        found = self.plant.spoiled(method, dt)
        return [spoiled for spoiled in found if spoiled.growth * self.duration > NOTICED]

    def spoiled_loop(self, method: str, dt: float) -> list[Spoiled]:
        """The same of the loop from sample to sample."""
        if self.period is None:
            return []
        found = self.plant.spoiled_loop(method, dt, self.period)
        return [spoiled for spoiled in found if spoiled.growth * self.duration > NOTICED]

    def takes(self, method: str, dt: float) -> bool:
        """Whether a method of fixed steps takes this one, undamped swings left aside."""
        return all(x.is_swing for x in [*self.spoiled(method, dt), *self.spoiled_loop(method, dt)])

    def longest_period(self) -> float | None:
        """Where sampling makes the loop unstable, the period below which it does not [s], 0 if there is none; else None."""
        if self.period is None:
            return None
        by_itself = max(0.0, float(self.plant.continuous_rates.real.max(initial=0.0)))

        def harms(period: float) -> bool:
            growth = float(self.plant.loop_rates(period).real.max(initial=0.0))
            return growth * self.duration > NOTICED and growth > 1.5 * by_itself

        if not harms(self.period):
            return None
        low, high = self.period / 2, self.period
        while harms(low):
            low, high = low / 2, low
            if low < 1e-6 * self.period:
                return 0.0
        while high - low > 1e-3 * low:
            middle = (low + high) / 2
            low, high = (low, middle) if harms(middle) else (middle, high)
        return low


def places(scenario: Scenario, plant: Plant) -> list[Place]:
    """Where the small motions are looked at: the start, the target, and the start with every stop engaged.

    Fewer where the equations of motion have no finite value.
    """
    linearizer = Linearizer(plant)
    duration = scenario.steps * scenario.dt
    period = None if plant.command is None else plant.command.period
    joints, command = plant.arm.joints, plant.command
    found: list[Place] = []

    def look(q, qd, where: str) -> Iterator:
        state = plant.initial_state(list(q), list(qd))
        try:
            about = linearizer.at(0.0, plant.sample(0.0, state) if plant.sampled else state)
            linear = LinearPlant(about)
        except (ArithmeticError, FormulaError, np.linalg.LinAlgError):
            return
        if np.isfinite(linear.matrix).all():
            found.append(Place(linear, where, period, duration, None))
            yield about

    for start in look(scenario.initial_q, scenario.initial_qd, "at the start"):
        if isinstance(command, Feedback) and tuple(command.target) != tuple(scenario.initial_q):
            list(look(command.target, [0.0] * plant.arm.n, "at the target"))
        for i, joint in enumerate(joints):
            limit = joint.limit
            if limit is not None and limit.stiffness is not None:
                engaged = LinearPlant(with_stop(start, i, limit.stiffness, limit.damping))
                found.append(Place(engaged, "at a stop", period, duration, joint.name))
    return found


class Judgement:
    """What a step does at some places, in words.

    Args:
        method: Of fixed steps.
        dt: [s].
        at: Places.
        joints: Names.
    """

    def __init__(self, method: str, dt: float, at: list[Place], joints: list[str]) -> None:
        self.method, self.dt, self.joints = method, dt, joints
        self.free = [place for place in at if place.stop is None]
        self.stops = [place for place in at if place.stop is not None]

    @cached_property
    def takers(self) -> list[str]:
        """The other methods that take this step where no stop is engaged."""
        return [
            name
            for name, method in METHODS.items()
            if name != self.method
            and (method.adaptive is not None or all(place.takes(name, self.dt) for place in self.free))
        ]

    def longest(self, place: Place) -> float:
        """The largest stable step at a place [s]."""
        return largest_stable_step(place.plant, self.method)

    def advice(self) -> Advice:
        """All that is to be said."""
        chattering = {
            place.stop: self.longest(place)
            for place in self.stops
            if place.stop is not None and not place.takes(self.method, self.dt)
        }
        takers = [name for name in self.takers if self._takes_stops(name, chattering)]
        refusal, warnings = self._grown()
        return Advice(refusal, (*warnings, *self._near(), *self._swings(), *self._sampling()), chattering, tuple(takers))
