"""The refinement of one method's step or tolerance, until its answer has converged or it is clear that it will not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import takewhile

import numpy as np

from armsim.convergence.errors import MethodConvergence, Verdict, observed_order, settings
from armsim.convergence.ladder import ladder
from armsim.convergence.order_loss import order_losses
from armsim.convergence.reference import (
    APART,
    TO_EXTRAPOLATE,
    ReferenceSolution,
    SettingRun,
    changes,
    distance,
    finest,
    richardson,
)
from armsim.convergence.runs import SettingRuns, answer, instants, now, simulated
from armsim.convergence.sensitivity import PERTURBATION, ROUNDING, Sensitivity, sensitivity
from armsim.integrate import METHODS

STALLED = 0.7  # of the change before: where a change is larger, the answers do not converge
MARGIN = 0.1  # of the accuracy: largest error of the reference itself
SHORT = 0.05  # s: shorter runs are timed twice
SAME_END = 0.02  # relative: runs that diverge at times this close do so whatever the step
LONGER = 2.5  # times as long as the last run the next one takes
COMPANION = "rk4"  # measures the sensitivity where a fixed-step method is studied


@dataclass(eq=False)
class Refinement:
    """The runs of one method, and their verdict.

    Attributes:
        runs: Of the scenario.
        method: The method studied.
        accuracy: The wanted one [rad or m].
        budget: Wall time [s].
        given: The reference of a scenario that is not smooth, on whose own convergence nothing can be built; None where it has
            none.
        fine: Runs from the first value on, from coarse to fine.
        coarse: Runs with larger values, from fine to coarse.
        verdict: See `MethodConvergence`.
        reference: The reference that was given, or that the runs give if all is smooth; None while fewer than two complete.
        sensitivity: Growth of small perturbations; None until it is measured.
        seconds: Wall time of all runs [s].
    """

    runs: SettingRuns
    method: str
    accuracy: float
    budget: float
    given: ReferenceSolution | None
    fine: list[SettingRun] = field(default_factory=list)
    coarse: list[SettingRun] = field(default_factory=list)
    verdict: Verdict = "budget"
    reference: ReferenceSolution | None = None
    sensitivity: Sensitivity | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.began, self.base = now(), self.runs.base
        self.ends = self.began + self.budget
        self.ladder = ladder(self.base, self.method)

    @property
    def trials(self) -> list[SettingRun]:
        """All runs, from coarse to fine."""
        return [*reversed(self.coarse), *self.fine]

    def run(self) -> None:
        """Refine until there is a verdict; where the scenario's own value is fine enough, coarsen too."""
        try:
            self.verdict = self._refine()
            if self.verdict in ("settled", "rounding"):
                self._coarsen()
                self._repeat_timing()
        except KeyboardInterrupt:
            self.verdict = "interrupted"
        self.reference = self._reference() if self.runs.smooth else self.given
        if self.runs.smooth and self.reference is not None:
            self.reference = replace(self.reference, source=f"{self.reference.source} of {self.method}")
        self.seconds = now() - self.began

    def found(self, best: ReferenceSolution | None) -> MethodConvergence:
        """The convergence found, with errors against the best reference of all methods."""
        joints = [joint.name for joint in self.base.arm.joints]
        made = settings(self.trials, best, joints)
        finest_answer = next((trial.answer for trial in reversed(self.trials) if trial.answer is not None), None)
        known = best is not None and best.doubt <= MARGIN * self.accuracy
        return MethodConvergence(
            method=self.method,
            nominal=METHODS[self.method].order,
            knob=self.ladder.knob,
            own=self.ladder.own,
            settings=made,
            order=observed_order(made, best.doubt) if best is not None else None,
            doubt=None if best is None else best.doubt,
            verdict="unknown" if self.verdict == "settled" and not known else self.verdict,
            good_until=self._good_until(best),
            sensitivity=self.sensitivity,
            seconds=self.seconds,
            losses=order_losses(replace(self.base, method=self.method), finest_answer)
            if self.ladder.knob == "dt"
            else (),
        )

    def _refine(self) -> Verdict:
        """Run with finer and finer values; the verdict."""
        stalls = 0
        while (value := self.ladder.finer(len(self.fine))) is not None:
            trial = self._trial(value) if not self.fine or self._time_for(self.fine[-1]) else None
            if trial is None:
                return self._unsettled(stalls)
            self.fine.append(trial)
            sound = self._sound()
            if not sound and self._diverges_at_any_step():
                return "unstable"
            if len(sound) < 3:
                continue
            if len(sound) >= TO_EXTRAPOLATE and self._is_settled():
                return self._certified("settled")
            *_, before, last = changes(sound)
            if last <= STALLED * before:
                stalls = 0
                continue
            if last <= self._rounding(sound[-1]) and self._is_rounding(sound[-1]):
                return self._certified("rounding")
            stalls += 1
            if stalls == 2 and self._is_sensitive():
                return "sensitive"
        return self._certified("rounding")  # below the least tolerance

    def _unsettled(self, stalls: int) -> Verdict:
        """The verdict when time is out."""
        if stalls and self.sensitivity is None and self._is_sensitive():
            return "sensitive"
        unheld = not self.runs.smooth and self.given is None and len(self._sound()) > 1
        return "unknown" if unheld or self._is_contradicted() else "budget"

    def _certified(self, verdict: Verdict) -> Verdict:
        """A verdict, if the reference of a scenario that is not smooth is good enough for it."""
        if self.runs.smooth or (self.given is not None and self.given.doubt <= MARGIN * self.accuracy):
            return verdict
        return "sensitive" if self._is_sensitive() else "unknown"

    def _is_contradicted(self) -> bool:
        """Whether the steps converge to another answer than the reference, and events seen a step late do not explain it."""
        sound = self._sound()
        if self.given is None or self.ladder.knob == "rtol" or len(sound) < TO_EXTRAPOLATE:
            return False
        own = richardson(sound)
        late = sound[-1].value * sound[-1].accelerations * self.runs.duration
        return distance(own.answer, self.given.answer) > APART * (own.doubt + self.given.doubt) + late

    def _is_rounding(self, trial: SettingRun) -> bool:
        """Whether nothing but rounding can be left of the error: whatever the steps agree on, the reference says so too."""
        if self.given is None or trial.answer is None:
            return True
        return distance(trial.answer, self.given.answer) <= self.given.doubt + self._rounding(trial)

    def _rounding(self, trial: SettingRun) -> float:
        """Bound on the error of one rounding a step [rad or m]."""
        assert trial.answer is not None
        return ROUNDING * trial.steps * max(1.0, float(abs(trial.answer).max()))

    def _is_settled(self) -> bool:
        """Whether the finest answer is within the accuracy, and the reference's own error well below it.

        Where a given reference is not as good, within its own error: smaller steps would not tell more.
        """
        found, last = self._reference(), self.fine[-1].answer
        assert found is not None
        assert last is not None
        if self.given is not None:
            return distance(last, found.answer) <= max(self.accuracy, found.doubt)
        return distance(last, found.answer) <= self.accuracy and found.doubt <= MARGIN * self.accuracy

    def _coarsen(self) -> None:
        """Run with larger values as long as they are within the accuracy."""
        against = self._reference()
        assert against is not None
        for value in self.ladder.coarser:
            coarsest = self.trials[0].answer
            if coarsest is None or distance(coarsest, against.answer) > self.accuracy:
                return
            trial, finer = self._trial(value), self.trials[0]
            if trial is None:
                return
            self.coarse.append(trial)
            if self.ladder.knob == "rtol" and trial.steps == finer.steps:
                return  # landings, not the tolerance, limit its steps

    def _repeat_timing(self) -> None:
        """Time the cheapest run within the accuracy once more, and keep the shorter time: other load only lengthens it."""
        against = self._reference()
        assert against is not None
        cheapest = None
        for trial in reversed(self.trials):
            if trial.answer is None or distance(trial.answer, against.answer) > self.accuracy:
                break
            cheapest = trial
        if cheapest is None or cheapest.seconds > SHORT:
            return
        again = self._trial(cheapest.value)
        if again is not None and again.seconds < cheapest.seconds:
            trials = self.fine if cheapest in self.fine else self.coarse
            trials[trials.index(cheapest)] = again

    def _diverges_at_any_step(self) -> bool:
        """Whether the last three runs diverged at the same time, whatever the step."""
        ends = [trial.ended for trial in self.fine[-3:]]
        return len(ends) == 3 and max(ends) - min(ends) <= SAME_END * max(ends)

    def _sound(self) -> list[SettingRun]:
        """The runs after the last that diverged, from coarse to fine."""
        return list(takewhile(lambda trial: trial.answer is not None, reversed(self.fine)))[::-1]

    def _reference(self) -> ReferenceSolution | None:
        """The reference that was given, or that the runs so far give; None while fewer than two complete."""
        if self.given is not None:
            return self.given
        sound = self._sound()
        if len(sound) < 2:
            return None
        return finest(sound) if self.ladder.knob == "rtol" else richardson(sound)

    def _time_for(self, last: SettingRun) -> bool:
        """Whether there is time for the run after the last."""
        return now() + LONGER * last.seconds < self.ends

    def _trial(self, value: float) -> SettingRun | None:
        """A run with one setting; None if time was out before its end."""
        return self.runs.trial(self.ladder.knob, self.ladder.integrator(value), self.ends)

    def _is_sensitive(self) -> bool:
        """Whether rounding alone grows beyond the accuracy before the end; measures the sensitivity."""
        scenarios = [self.runs.scenario(self.ladder.integrator(trial.value)) for trial in self._sound()]
        companions = [replace(scenario, method=COMPANION) for scenario in scenarios if not scenario.adaptive]
        for scenario in (*companions, *scenarios[-1:]):  # from coarse to fine, as coarse ones take less time
            beside = replace(scenario, initial_q=tuple(q + PERTURBATION for q in scenario.initial_q))
            first, second = simulated(scenario), simulated(beside)
            if first.status == second.status == "complete":
                self.sensitivity = sensitivity(instants(first), answer(first), answer(second))
                break
        return self.sensitivity is not None and self.sensitivity.horizon(self.accuracy) < self.runs.duration

    def _good_until(self, best: ReferenceSolution | None) -> float | None:
        """Time until which the finest answer is within the accuracy [s]; None if it has converged, or there are not two runs."""
        sound = self._sound()
        if self.verdict in ("settled", "rounding", "unstable", "unknown") or len(sound) < 2:
            return None
        last, before = sound[-1].answer, sound[-2].answer
        against = best.answer if best is not None and best.doubt <= MARGIN * self.accuracy else before
        assert last is not None
        assert against is not None
        beyond = np.flatnonzero(np.abs(last - against).max(axis=1) > self.accuracy)
        every = self.base.clock.at(self.base.clock.log_every)
        until = max(0.0, float(beyond[0] - 1) * every) if len(beyond) else self.runs.duration
        return min(until, self.runs.duration if self.sensitivity is None else self.sensitivity.horizon(self.accuracy))
