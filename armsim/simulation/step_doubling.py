"""An estimate of a run's error by repeating it: by half of its step, or from a start that is off by ten tolerances.

Step doubling (Hairer, Nørsett and Wanner, *Solving Ordinary Differential Equations I*, section II.4) is done on the whole run
instead of one step, so that what grows from step to step counts. A long run is repeated in stretches, each from a state of its
own: they show a step that does not resolve the motion, not an error that gathers over thousands of steps. Adaptive methods
control the error of a step; their repetition shows a motion that amplifies it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from armsim.loading import Scenario
from armsim.plant import DynaMechsPlant, Plant
from armsim.simulation.engine import Engine, Repeater, doubles
from armsim.simulation.result import steps_chosen
from armsim.simulation.step_error import StepError
from armsim.spec.timing import time_at

WHOLE = 5000  # fixed steps, up to which a run is repeated from its start to its end
MOST = 10_000  # adaptive steps, up to which it is
OPENING, STRETCHES, STRETCH = 1000, 10, 100  # of a longer one: its first steps, and as many stretches of so many steps
INSTANTS, FEW = 24, 3  # at which states are compared, in all and in a stretch
HALVES = 2
SLACK = 10.0  # tolerances by which a start is moved: about what errors of all steps come to
SMALL = 0.1  # of the largest motion of a joint of its kind: a joint that moves less is compared with that
KNOWN = 1000  # estimates that are kept, of scenarios that may be run again
LEAST = 1e-6  # rad or m: smaller motions count as this

_known: dict[str, StepError | None] = {}


def can_double(plant: Plant) -> bool:
    """Whether a plant's step can be halved: it is fixed, and no part of the plant's rules, as of DynaMechs' motor."""
    return plant.integrator.adaptive is None and not isinstance(plant, DynaMechsPlant)


class StepDoubling:
    """Estimates the error of a run, from states that it is given on the way.

    Args:
        scenario: What is run.
        engine: Its engine.
        start: The state at the start.
        known: Names the run, whose estimate may be known; empty for one that is not made twice.
    """

    def __init__(self, scenario: Scenario, engine: Engine, start: Sequence[float], known: str) -> None:
        self.scenario, self.plant = scenario, engine.plant
        self._engine = engine if isinstance(engine, Repeater) and (scenario.adaptive or engine.plan.open_step) else None
        self._name = known
        self._states = {0: list(start)}
        repeats = self._engine is not None and self._name not in _known
        self._pairs = self._stretches(scenario.steps) if repeats else []
        self._left = sorted({step for pair in self._pairs for step in pair} - {0})

    @property
    def whole(self) -> bool:
        """Whether the run is repeated from its start to its end."""
        return self.scenario.adaptive or self.scenario.steps <= WHOLE

    def _stretches(self, steps: int) -> list[tuple[int, int]]:
        """First and last step of what is repeated, piece by piece: states are compared at the end of each."""
        if self.whole:
            return _pieces(0, steps, INSTANTS)
        ends = [steps * (k + 1) // STRETCHES for k in range(STRETCHES)]
        later = [pair for end in ends if end - STRETCH >= OPENING for pair in _pieces(end - STRETCH, end, FEW)]
        return [*_pieces(0, OPENING, INSTANTS), *later]

    def next_instant(self, done: int) -> int:
        """The step at which the next state is wanted, or the last."""
        return self._left[0] if self._left else self.scenario.steps

    def see(self, done: int, state: Sequence[float]) -> None:
        """Take the state reached after so many steps, if it is wanted."""
        if self._left and done == self._left[0]:
            self._states[self._left.pop(0)] = list(state)

    def estimate(self) -> StepError | None:
        """The estimate for a run that is complete; None of the Python engine, DynaMechs' motors, and very many adaptive steps."""
        if self._engine is None or not self._pairs:
            return _known.get(self._name)
        taken = steps_chosen(self.plant.slots, self._states[self.scenario.steps])
        found = None if taken is not None and sum(taken) > MOST else self._compared(self._engine)
        if self._name:
            if len(_known) >= KNOWN:
                _known.clear()
            _known[self._name] = found
        return found

    def _compared(self, engine: Repeater) -> StepError:
        """The largest difference between the run and its repetition, of all joints and instants."""
        scenario, joints = self.scenario, self.plant.arm.joints
        scales = self._motions()
        parts, factor = (1, 1.0) if scenario.adaptive else (HALVES, HALVES)  # of order 1, as after events
        worst = StepError(joints[0].name, 0.0, 0.0, 0.0, self.whole)
        reached, state = -1, doubles([])
        for first, last in self._pairs:
            if first != reached:
                state = doubles(self._moved() if scenario.adaptive else self._states[first])
            reached, time = last, time_at(last, scenario.time_ratio)
            if not engine.run_again(state, first, last, (scenario.sample_every or 1, scenario.time_ratio), parts):
                return StepError(worst.joint, time, math.inf, math.inf, self.whole)
            for joint, scale, x, other in zip(joints, scales, self._states[last], list(state), strict=False):
                error = factor * abs(x - other)
                if error > worst.share * scale:
                    worst = StepError(joint.name, time, error, error / scale, self.whole)
        return worst

    def _moved(self) -> list[float]:
        """The state at the start, positions off by `SLACK` tolerances; a method that runs ahead takes them at a landing."""
        tolerance, start, motions = self.scenario.tolerance, self._states[0], self._motions()
        off = [SLACK * (float(tolerance.atol) + float(tolerance.rtol) * x) for x in motions]
        return [*(x + dx for x, dx in zip(start, off, strict=False)), *start[len(off) :]]

    def _motions(self) -> list[float]:
        """The motion of every joint, from its least to its largest position [rad or m]; no less than `SMALL` and `LEAST` say."""
        joints = self.plant.arm.joints
        paths = list(zip(*(state[: len(joints)] for state in self._states.values()), strict=True))
        ranges = [max(path) - min(path) for path in paths]
        units = [joint.kind.length for joint in joints]
        largest = {unit: max(x for x, of in zip(ranges, units, strict=True) if of == unit) for unit in units}
        return [max(x, SMALL * largest[unit], LEAST) for x, unit in zip(ranges, units, strict=True)]


def _pieces(first: int, last: int, count: int) -> list[tuple[int, int]]:
    """The steps from first to last, cut into at most that many pieces."""
    count = min(count, last - first)
    return list(pairwise(first + (last - first) * k // count for k in range(count + 1)))
