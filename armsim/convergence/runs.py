"""The runs of a study, each with one setting, within the time that is left."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from armsim import document
from armsim.convergence.order_loss import is_smooth
from armsim.convergence.reference import SettingRun
from armsim.loading import Given, Overrides, Scenario, read_scenario
from armsim.progress import Progress
from armsim.simulation.run import Run
from armsim.simulation.simulate import simulate_unadvised

Look = Callable[[str, str, float], None]  # method, refined parameter and its value, before a run


class SettingRuns:
    """Runs of a scenario, with rows at the same instants whatever the integrator.

    Args:
        given: The scenario.
        overrides: Values in place of the file's, by path.
        base: The scenario as read with them, its method picked.
        look: Called before every run.

    Attributes:
        smooth: Whether nothing in it can jump or bend within steps.
    """

    def __init__(
        self,
        given: Given,
        overrides: Overrides,
        base: Scenario,
        look: Look | None,
    ) -> None:
        self.smooth = is_smooth(base)
        own = {path: value for path, value in overrides.items() if path.partition(".")[0] != "integrator"}
        self.given = given
        self.overrides = {**own, "log.every": base.clock.at(base.clock.log_every)}
        self.base = base
        self.look = look

    @property
    def duration(self) -> float:
        """Of the scenario [s]."""
        return self.base.clock.end

    def scenario(self, integrator: document.Integrator) -> Scenario:
        """The scenario with another integrator."""
        return read_scenario(self.given, {**self.overrides, "integrator": integrator})

    def trial(
        self, knob: str, integrator: document.Integrator, ends: float, longest: float = math.inf
    ) -> SettingRun | None:
        """A run with one setting; None if time was out before its end.

        Args:
            knob: The refined parameter, "dt" or "rtol".
            integrator: The block of the scenario, with the value of it.
            ends: When the time is out, as `now` has it.
            longest: Time for its steps [s].

        Raises:
            KeyboardInterrupt: It was interrupted.
        """
        if self.look is not None:
            self.look(integrator["method"], knob, integrator[knob])
        began = math.inf

        def watch(done: int, steps: int) -> None:
            nonlocal began
            began = min(began, now())
            if now() > min(ends, began + longest) and done < steps:
                raise TimeoutError

        try:
            run = simulated(self.scenario(integrator), watch)
        except TimeoutError:
            return None
        steps = run.steps if run.steps_chosen is None else run.steps_chosen[0]  # of an adaptive method, the accepted
        return SettingRun(integrator[knob], steps, run.seconds["loop_s"], _end(run), answer(run), _accelerations(run))


def now() -> float:
    """The wall clock [s]."""
    return time.perf_counter()


def simulated(scenario: Scenario, progress: Progress | None = None) -> Run:
    """Run a scenario whatever its step.

    Raises:
        KeyboardInterrupt: It was interrupted.
    """
    run = simulate_unadvised(scenario, progress)
    if run.status == "interrupted":
        raise KeyboardInterrupt
    return run


def answer(run: Run) -> Any:
    """Joint positions at all rows, and at the end if no row is due there; None of a run that diverged."""
    if run.status != "complete":
        return None
    if run.scenario.clock.steps % run.scenario.clock.log_every == 0:
        return run.q.copy()
    return np.vstack([run.q, run.state[: run.plant.arm.n]])


def instants(run: Run) -> Any:
    """The times of `answer` [s]."""
    return run.t if run.steps % run.scenario.clock.log_every == 0 else np.append(run.t, _end(run))


def _accelerations(run: Run) -> float:
    """Largest difference between the accelerations of a joint in two rows [rad/s² or m/s²]."""
    return float(np.ptp(run.qdd, axis=0).max()) if run.status == "complete" else 0.0


def _end(run: Run) -> float:
    return run.scenario.clock.at(run.steps)
