"""Where a scenario's small motions are looked at, and what a step does to them there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armsim.actuation import any_sticks, limit_torque
from armsim.control import Feedback
from armsim.loading import Scenario
from armsim.plant import Linearization, Linearizer, Plant, with_stop
from armsim.spec.formula import FormulaError
from armsim.stability.hanging import hanging
from armsim.stability.step_modes import LinearPlant, Modes, Spoiled, largest_step

# the factor of a mode in a step, below which it bounces between a stop and what drives it there; found by trial
BOUNCE = {"velocity_implicit": -0.25, "implicit_midpoint": -0.5}
NOTICED = 0.01  # ln of the growth over a run: less does not show
START, TARGET, REST, STOP = "at the start", "at the target", "where it hangs", "at a stop"


class OperatingPoint:
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

    def holds(self, method: str, dt: float) -> bool:
        """Whether nothing grows under a step but swings, however short the run; and at a stop nothing bounces for ever."""
        return all(spoiled.is_swing for spoiled in self.plant.spoiled(method, dt)) and not self._bounces(method, dt)

    def longest(self, method: str) -> float:
        """The largest stable step of a method of fixed steps [s]: infinity if there is none, 0 if none is short enough."""
        plant = self.plant
        return largest_step(lambda h: plant.is_stable(method, h) and not self._bounces(method, h), plant.fastest)

    def _bounces(self, method: str, dt: float) -> bool:
        """Whether an implicit step turns round what hits a stop, which lets go of it then, as often as it comes back."""
        if self.stop is None or method not in BOUNCE:
            return False
        return self.plant.most_negative(method, dt) < BOUNCE[method]

    def takes(self, method: str, dt: float) -> bool:
        """Whether a method of fixed steps takes this one, undamped swings left aside."""
        return all(x.is_swing for x in [*self.spoiled(method, dt), *self.spoiled_loop(method, dt)])

    @property
    def settling(self) -> float:
        """The time in which the slowest mode of the loop decays by 95 %, as far as it does [s]."""
        rates = self.plant.modes if self.period is None else self.plant.continuous_rates
        decaying = -rates.real[rates.real < -NOTICED / self.duration]
        return 3.0 / float(decaying.min()) if len(decaying) else 0.0

    def longest_period(self) -> float | None:
        """Where sampling makes the loop unstable, the period below which it does not [s], 0 if there is none; else None."""
        if self.period is None:
            return None

        def grows(rates: Modes) -> bool:
            return float(rates.real.max(initial=0.0)) * self.duration > NOTICED

        def harms(period: float) -> bool:
            return grows(self.plant.loop_rates(period))

        if grows(self.plant.continuous_rates) or not harms(self.period):
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


def places(scenario: Scenario, plant: Plant) -> list[OperatingPoint]:
    """Where the small motions are looked at: at the start, at the target, where an undriven arm hangs, and at every stop.

    Stops are looked at by themselves, also where the target lies behind one: a stop that chatters does not blow up. There are
    no places where the equations of motion have no finite value.
    """
    linearizer, command = Linearizer(plant), plant.command
    duration = scenario.steps * scenario.dt
    period = None if command is None else command.period

    def about(q: Sequence[float], qd: Sequence[float]) -> Linearization:
        state = plant.initial_state(list(q), list(qd))
        found = linearizer.at(0.0, plant.sample(0.0, state) if plant.sampled else state)
        for i, joint in enumerate(plant.arm.joints):
            limit = joint.limit
            if limit is not None and limit.stiffness is not None and limit_torque(limit, q[i], qd[i]) != 0.0:
                found = with_stop(found, i, -limit.stiffness, -limit.damping)
        return found

    try:
        start = about(scenario.initial_q, scenario.initial_qd)
        seen: list[tuple[Linearization, str, str | None]] = [(start, START, None)]
        if isinstance(command, Feedback) and tuple(command.target) != tuple(scenario.initial_q):
            seen.append((about(command.target, [0.0] * plant.arm.n), TARGET, None))
        for i, joint in enumerate(plant.arm.joints):
            limit = joint.limit
            if limit is not None and limit.stiffness is not None:
                seen.append((with_stop(start, i, limit.stiffness, limit.damping), STOP, joint.name))
        if command is None and not any_sticks(plant.arm):
            rest = hanging(linearizer, list(scenario.initial_q))
            if rest is not None:
                seen.append((rest, REST, None))
        found = [OperatingPoint(LinearPlant(near), where, period, duration, stop) for near, where, stop in seen]
    except (ArithmeticError, FormulaError, np.linalg.LinAlgError):
        return []
    return found if all(np.isfinite(place.plant.matrix).all() for place in found) else []
