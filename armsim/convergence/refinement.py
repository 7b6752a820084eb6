"""The refinement of one method's step or tolerance, until its answer has converged or it is clear that it will not."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import takewhile
from os import PathLike
from typing import Any

from armsim.convergence.errors import (
    TO_EXTRAPOLATE,
    MethodConvergence,
    Reference,
    SettingRun,
    Verdict,
    changes,
    distance,
    finest,
    observed_order,
    reference,
    settings,
)
from armsim.convergence.ladder import ladder
from armsim.convergence.order_loss import order_losses
from armsim.convergence.sensitivity import PERTURBATION, ROUNDING, Sensitivity, sensitivity
from armsim.integrate import METHODS
from armsim.loading import Scenario, read_scenario
from armsim.simulation.run import Run
from armsim.simulation.simulate import simulate_unadvised
from armsim.spec.timing import time_at

STALLED = 0.7  # of the change before: where a change is larger, the answers do not converge
MARGIN = 0.1  # of the accuracy: largest error of the reference itself
SHORT = 0.05  # s: shorter runs are timed twice
SAME_END = 0.02  # relative: runs that diverge at times this close do so whatever the step
COMPANION = "rk4"  # measures the sensitivity where a fixed-step method is studied

Look = Callable[[str, str, float], None]  # method, refined parameter and its value, before a run


class Refinement:
    """The runs of one method, and their verdict.

    Args:
        given: The scenario.
        overrides: Values in place of the file's, by path.
        base: The scenario as read with them, its method picked.
        method: The method studied.
        accuracy: The wanted one [rad or m].
        budget: Wall time [s].
        look: Called before every run.

    Attributes:
        fine: Runs from the first value on, from coarse to fine.
        coarse: Runs with larger values, from fine to coarse.
        verdict: See `MethodConvergence`.
        reference: The reference that the runs give; None while fewer than two complete.
        sensitivity: Growth of small perturbations; None until it is measured.
        seconds: Wall time of all runs [s].
    """

    def __init__(
        self,
        given: str | PathLike[str] | Mapping[str, Any],
        overrides: Mapping[str, Any],
        base: Scenario,
        method: str,
        accuracy: float,
        budget: float,
        look: Look | None,
    ) -> None:
        self.given = given
        own = {path: value for path, value in overrides.items() if path.partition(".")[0] != "integrator"}
        self.overrides = {**own, "log.every": time_at(base.log_every, base.time_ratio)}
        self.base = base
        self.method = method
        self.accuracy = accuracy
        self.look = look
        self.began = time.perf_counter()
        self.ends = self.began + budget
        self.seconds = 0.0
        self.ladder = ladder(base, method)
        self.fine: list[SettingRun] = []
        self.coarse: list[SettingRun] = []
        self.verdict: Verdict = "budget"
        self.reference: Reference | None = None
        self.sensitivity: Sensitivity | None = None

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
        self.reference = self._reference()
        self.seconds = time.perf_counter() - self.began

    def found(self, best: Reference | None) -> MethodConvergence:
        """The convergence found, with errors against the best reference of all methods."""
        joints = [joint.name for joint in self.base.arm.joints]
        made = settings(self.trials, best, joints)
        finest_answer = next((trial.answer for trial in reversed(self.trials) if trial.answer is not None), None)
        return MethodConvergence(
            method=self.method,
            nominal=METHODS[self.method].order,
            knob=self.ladder.knob,
            own=self.ladder.own,
            settings=made,
            order=observed_order(made, best.doubt) if best is not None else None,
            doubt=None if best is None else best.doubt,
            verdict=self.verdict,
            good_until=self._good_until(best),
            sensitivity=self.sensitivity,
            seconds=self.seconds,
            losses=order_losses(self.base, finest_answer) if self.ladder.knob == "dt" else (),
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
                return "settled"
            *_, before, last = changes(sound)
            if last <= STALLED * before:
                stalls = 0
                continue
            if last <= self._rounding(sound[-1]):
                return "rounding"
            stalls += 1
            if stalls == 2 and self._is_sensitive():
                return "sensitive"
        return "rounding"  # below the least tolerance

    def _unsettled(self, stalls: int) -> Verdict:
        """The verdict when time is out."""
        return "sensitive" if stalls and self.sensitivity is None and self._is_sensitive() else "budget"

    def _rounding(self, trial: SettingRun) -> float:
        """Bound on the error of one rounding a step [rad or m]."""
        assert trial.answer is not None
        return ROUNDING * trial.steps * max(1.0, float(abs(trial.answer).max()))

    def _is_settled(self) -> bool:
        """Whether the finest answer is within the accuracy, and the reference's own error well below it."""
        found, answer = self._reference(), self.fine[-1].answer
        assert found is not None
        assert answer is not None
        return distance(answer, found.answer) <= self.accuracy and found.doubt <= MARGIN * self.accuracy

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

    def _reference(self) -> Reference | None:
        """The reference that the runs so far give; None while fewer than two complete."""
        sound = self._sound()
        if len(sound) < 2:
            return None
        return finest(sound) if self.ladder.knob == "rtol" else reference(sound)

    def _time_for(self, last: SettingRun) -> bool:
        """Whether there is time for a run with twice the steps of the last."""
        now = time.perf_counter()
        return now + 2.0 * last.seconds < self.ends

    def _trial(self, value: float) -> SettingRun | None:
        """A run with one setting; None if time was out before its end."""
        if self.look is not None:
            self.look(self.method, self.ladder.knob, value)
        late = False

        def watch(done: int, steps: int) -> None:
            nonlocal late
            late = time.perf_counter() > self.ends
            if late:
                raise KeyboardInterrupt

        run = simulate_unadvised(self._scenario(value), watch)
        if late:
            return None
        if run.status == "interrupted":
            raise KeyboardInterrupt
        return SettingRun(value, _steps(run), run.seconds["loop_s"], _end(run), _answer(run))

    def _scenario(self, value: float) -> Scenario:
        return read_scenario(self.given, {**self.overrides, "integrator": self.ladder.integrator(value)})

    def _is_sensitive(self) -> bool:
        """Whether rounding alone grows beyond the accuracy before the end; measures the sensitivity."""
        scenarios = [self._scenario(trial.value) for trial in self._sound()]
        companions = [replace(scenario, method=COMPANION) for scenario in scenarios if not scenario.adaptive]
        for scenario in (*companions, scenarios[-1]):  # from coarse to fine, as coarse ones take less time
            beside = replace(scenario, initial_q=tuple(q + PERTURBATION for q in scenario.initial_q))
            first, second = (simulate_unadvised(start) for start in (scenario, beside))
            if "interrupted" in (first.status, second.status):
                raise KeyboardInterrupt
            if first.status == second.status == "complete":
                self.sensitivity = sensitivity(_instants(first), _answer(first), _answer(second))
                break
        return self.sensitivity is not None and self.sensitivity.horizon(self.accuracy) < self._duration

    @property
    def _duration(self) -> float:
        return time_at(self.base.steps, self.base.time_ratio)

    def _good_until(self, best: Reference | None) -> float | None:
        """Time until which the finest answer is within the accuracy [s]; None if it has converged, or there are not two runs."""
        sound = self._sound()
        if self.verdict in ("settled", "rounding", "unstable") or len(sound) < 2:
            return None
        import numpy as np

        last, before = sound[-1].answer, sound[-2].answer
        against = best.answer if best is not None and best.doubt <= MARGIN * self.accuracy else before
        assert last is not None
        assert against is not None
        beyond = np.flatnonzero(np.abs(last - against).max(axis=1) > self.accuracy)
        every = time_at(self.base.log_every, self.base.time_ratio)
        until = max(0.0, float(beyond[0] - 1) * every) if len(beyond) else self._duration
        return min(until, self._duration if self.sensitivity is None else self.sensitivity.horizon(self.accuracy))


def _steps(run: Run) -> int:
    """Number of steps of a run; of an adaptive method those that it accepted."""
    return run.steps if run.steps_chosen is None else run.steps_chosen[0]


def _answer(run: Run) -> Any:
    """Joint positions at all rows, and at the end if no row is due there; None of a run that diverged."""
    import numpy as np

    if run.status != "complete":
        return None
    if run.scenario.steps % run.scenario.log_every == 0:
        return run.q.copy()
    return np.vstack([run.q, run.state[: run.plant.arm.n]])


def _instants(run: Run) -> Any:
    """The times of `_answer` [s]."""
    import numpy as np

    return run.t if run.steps % run.scenario.log_every == 0 else np.append(run.t, _end(run))


def _end(run: Run) -> float:
    return time_at(run.steps, run.scenario.time_ratio)
