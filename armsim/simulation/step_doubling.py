"""An estimate of a run's error by repeating it more accurately: with a shorter step, or a tenth of its tolerance.

Step doubling (Hairer, Nørsett and Wanner, *Solving Ordinary Differential Equations I*, section II.4) is done on the whole run
instead of one step, so that what grows from step to step counts. A long run is repeated in stretches, each from a state of its
own: they show a step that does not resolve the motion, not an error that gathers over thousands of steps. An adaptive method
also lands more often when it is repeated, so that it may meet what it stepped over.

A method of fixed steps that does not locate events sees them at the ends of steps. The ends of steps of half the length include
these: an event in the second half of a step is seen equally late, and halving the step changes nothing. For a method of first
order that is no more than its error elsewhere; one of second order owes most of its error to events, and is repeated with a
tenth of the step, a long one with a fifth. Steps that begin a quarter of a step later see every event a quarter sooner, or three
quarters later, so they tell by how much events seen late move the arm at all: where a part of that exceeds the estimate, the
estimate is a lower bound. (Half a step would not do: velocity Verlet, which evaluates forces at both ends of a step, sees some
events every half step.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from armsim.document.tolerance import LEAST
from armsim.integrate.adaptive import steps_chosen
from armsim.simulation.accuracy import AS_ASKED, Accuracy
from armsim.simulation.runner import Runner
from armsim.simulation.setup import Setup
from armsim.simulation.step_error import LOOSER, SHORTER, TIGHTER, StepError
from armsim.stability.step_advice import key

WHOLE = 5000  # fixed steps, up to which a run is repeated from its start to its end
MOST = 10_000  # adaptive steps, up to which it is; its repetition may take ten times as many
OPENING, STRETCHES, STRETCH = 1000, 10, 100  # of a longer one: its first steps, and as many stretches of so many steps
INSTANTS, FEW = 24, 3  # at which states are compared, in all and in a stretch
HALVES, FIFTHS, TENTHS = 2, 5, 10  # into which a step, or a tolerance, is cut
LATER, QUARTERS = 0.25, 4  # of a step, by which steps begin later to see events at other times
RESTARTS = 500  # of steps that begin later, at samples and jumps of external forces: more take too long
LANDINGS = 100  # of the repetition of an adaptive run, at most, or twice its own
SMALL = 0.1  # of the largest motion of a joint of its kind: a joint that moves less is compared with that
KNOWN = 1000  # estimates that are kept, of scenarios that may be run again
SLIGHT = 1e-6  # rad or m: smaller motions count as this
UNREFINABLE = "only runs in machine code are repeated, and none with motors whose rules hold for one step"
CALLED = "a run whose law is called at every sample is not repeated; a law that can be traced is compiled, and its run repeated"

_known: dict[str, StepError | str] = {}


class StepDoubling:
    """States of a run that are kept on the way, from which its error is estimated.

    Args:
        runner: Has the run at its start.
        setup: What is run.
    """

    def __init__(self, runner: Runner, setup: Setup) -> None:
        self.plan, self.plant, self.steps = runner.plan, runner.plan.plant, runner.clock.steps
        self._engine, self._job = runner.engine, runner.job
        self._runner, self._setup = runner, setup
        self._repeats = runner.engine.name == "llvm" and runner.plan.refinable
        self._states = {0: runner.state}
        self._pairs = self._stretches(self.steps) if self._repeats else []
        kept = [(0, self.steps)] if self._pairs and self.whole else self._pairs
        self._left = sorted({step for pair in kept for step in pair} - {0})

    @property
    def whole(self) -> bool:
        """Whether the run is repeated from its start to its end."""
        return self._adaptive or self.steps <= WHOLE

    @property
    def _adaptive(self) -> bool:
        return self.plant.integrator.adaptive is not None

    def _stretches(self, steps: int) -> list[tuple[int, int]]:
        """First and last step of what is repeated, piece by piece: states are compared at the end of each.

        Those of a run that is repeated as a whole are not kept on the way: it is made once more for them.
        """
        if self.whole:
            return _pieces(0, steps, INSTANTS)
        ends = [steps * (k + 1) // STRETCHES for k in range(STRETCHES)]
        later = [pair for end in ends if end - STRETCH >= OPENING for pair in _pieces(end - STRETCH, end, FEW)]
        return [*_pieces(0, OPENING, INSTANTS), *later]

    def next_instant(self, done: int) -> int:
        """The step at which the next state is wanted, or the last; keeps the state after so many steps, if it was."""
        if self._left and done == self._left[0]:
            self._states[self._left.pop(0)] = self._runner.state
        return self._left[0] if self._left else self.steps

    def estimate(self) -> StepError | str:
        """The estimate for a run that is complete, or why there is none."""
        if not self._repeats:
            return CALLED if self.plan.sampled_outside and self._engine.name == "llvm" else UNREFINABLE
        if not self._pairs:
            return ""
        name = key("step error", self._setup.scenario)
        if name in _known:
            return _known[name]
        self._states[self.steps] = self._runner.state
        taken = self._taken(self._runner.state)
        found = f"the run took {taken} steps, more than {MOST}" if taken > MOST else self._compared()
        if name:
            if len(_known) >= KNOWN:
                _known.clear()
            _known[name] = found
        return found

    def _taken(self, state: Sequence[float]) -> int:
        """The steps that an adaptive method has tried; 0 of another."""
        return sum(steps_chosen(self.plant.slots, state) or (0,))

    def _compared(self) -> StepError | str:
        """The largest difference between the run and its repetition, of all joints and instants."""
        if self.whole:
            state: list[float] | None = self._states[0]
            for first, last in self._pairs:
                assert state is not None  # as the run completed
                state = self._states[last] = self._again(state, first, last) or state
        if not self._adaptive:
            parts = self._parts
            found = self._repeated(Accuracy(parts), SHORTER[parts], parts / (parts - 1))  # of order 1, as after events
            if isinstance(found, str):
                return found
            return replace(found, at_least=self._may_be_larger(found, parts))
        parts = 1 if self.plant.ahead else HALVES
        if float(self._setup.scenario.tolerance.rtol) < TENTHS * LEAST:
            return self._repeated(Accuracy(parts, 1 / TENTHS), LOOSER)
        return self._repeated(Accuracy(parts, TENTHS), TIGHTER)

    @property
    def _owes_to_events(self) -> bool:
        """Whether events that are seen late may be most of the error: of a method of higher order that does not locate them."""
        return self.plant.integrator.order > 1 and not self.plant.integrator.locates

    @property
    def _parts(self) -> int:
        """Into how many the steps are cut: halves, or many where events count, fewer for a long run."""
        if not self._owes_to_events:
            return HALVES
        again = sum(last - first for first, last in self._pairs)
        return TENTHS if TENTHS * again <= FIFTHS * WHOLE else FIFTHS

    def _may_be_larger(self, found: StepError, parts: int) -> bool:
        """Whether the error of fixed steps may exceed three times the estimate: also of a motion that is another altogether.

        Steps begun a quarter later see an event a quarter of a step sooner or later, or more, so the whole step that it may be
        late by moves the arm four times as far at most. The repetition sees it up to one part of a step late.
        """
        if not self.whole or found.share > 1:
            return True
        if not self._owes_to_events:
            return False
        return self._share_begun_late() / LATER / parts > 2 * found.share

    def _share_begun_late(self) -> float:
        """The largest difference that steps begun a quarter later make, over the joint's motion; infinite where unknown.

        Samples, and jumps of external forces, stay where they are: steps are begun anew there.
        """
        every, jumps, scales = self._job.clock.sample_every, self._setup.scenario.file.steps.jumps, self._motions()
        restarts = {*range(0, self.steps, every or self.steps), *jumps}
        if every == 1 or len(restarts) > RESTARTS:
            return math.inf
        state: list[float] | None = self._states[0]
        at, largest, quarters = 0.0, 0.0, Accuracy(QUARTERS)
        for mark in sorted(k for k in restarts.union(last for _, last in self._pairs) if 0 < k <= self.steps):
            if at in restarts:
                state, at = self._again(state, at, at + LATER, quarters), at + LATER
            before = mark - 1 + LATER
            state = self._again(state, at, before)
            on = self._again(state, before, mark, quarters)
            if on is None:
                return math.inf
            if mark in self._states:
                off = (abs(x - y) / scale for x, y, scale in zip(self._states[mark], on, scales, strict=False))
                largest = max(largest, *off)
            state, at = (on, mark) if mark in restarts else (state, before)
        return largest

    def _again(
        self, state: list[float] | None, first: float, last: float, accuracy: Accuracy = AS_ASKED
    ) -> list[float] | None:
        """The state after some steps from another; None where they, or those that led to it, left their bounds."""
        if state is None:
            return None
        runner = Runner(self._engine, self._job.again(first, last, state, accuracy))
        for _ in runner.until(runner.clock.steps):
            pass
        return runner.state if runner.lanes.alive else None

    def _repeated(self, accuracy: Accuracy, by: str, factor: float = 1.0) -> StepError | str:
        """The difference that an accuracy makes, times a factor."""
        joints, scales = self.plant.arm.joints, self._motions()
        worst = StepError(joints[0].name, 0.0, 0.0, 0.0, self.whole, by)
        reached, state = -1, list[float]()
        for first, last in self._pairs:
            if first != reached:
                state = self._landing_more_often() if self._adaptive else self._states[first]
            reached, time = last, self._job.clock.at(last)
            after = self._again(state, first, last, accuracy)
            if after is None:
                return StepError(worst.joint, time, math.inf, math.inf, self.whole, by)
            if self._taken(after) > TENTHS * MOST:
                return f"the run repeated with {by} takes more than {TENTHS * MOST} steps"
            state = after
            for joint, scale, x, other in zip(joints, scales, self._states[last], state, strict=False):
                error = factor * abs(x - other)
                if error > worst.share * scale:
                    worst = StepError(joint.name, time, error, error / scale, self.whole, by)
        return worst

    def _landing_more_often(self) -> list[float]:
        """The state at the start, from which a method that runs ahead lands between the run's own landings, too, where it can."""
        x, scenario = self.plant.parts(self._states[0]), self._setup.scenario
        if x.ahead is not None:
            most = max(HALVES, LANDINGS * scenario.land_every // self.steps)
            moments = scenario.land_every * scenario.moments  # from one landing to the next
            x.ahead.landing /= max(parts for parts in range(1, most + 1) if moments % parts == 0)
        return x.flat()

    def _motions(self) -> list[float]:
        """The motion of every joint, from its least to its largest position [rad or m]; no less than `SMALL` and `SLIGHT` say."""
        joints = self.plant.arm.joints
        paths = list(zip(*(state[: len(joints)] for state in self._states.values()), strict=True))
        ranges = [max(path) - min(path) for path in paths]
        units = [joint.kind.length for joint in joints]
        largest = {unit: max(x for x, of in zip(ranges, units, strict=True) if of == unit) for unit in units}
        return [max(x, SMALL * largest[unit], SLIGHT) for x, unit in zip(ranges, units, strict=True)]


def _pieces(first: int, last: int, count: int) -> list[tuple[int, int]]:
    """The steps from first to last, cut into at most that many pieces."""
    count = min(count, last - first)
    return list(pairwise(first + (last - first) * k // count for k in range(count + 1)))
