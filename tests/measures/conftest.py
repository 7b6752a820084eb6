"""Moments of runs, and measures gathered over them on floats."""

from __future__ import annotations

import pytest

from armsim.loading import scenario_of
from armsim.measures import Moment, measures_of
from armsim.simulation.loop_plan import plant_of_run
from armsim.stability.method_choice import with_method
from tests.steps import compiled_step


@pytest.fixture(scope="session")
def moments():
    """The plant of a scenario, and the moments of its run: steps of machine code, moments of floats."""

    def run(scenario, overrides=None):
        scenario = with_method(scenario_of(scenario, overrides))
        plant = plant_of_run(scenario)
        state = plant.initial_state(scenario.initial_q, scenario.initial_qd, scenario.landing)
        step, found = compiled_step(plant, scenario.dt), []
        for k in range(scenario.clock.steps + 1):
            t = scenario.clock.at(k)
            if plant.sampled and k % scenario.clock.sample_every == 0:
                state = plant.sample(t, state)
            found.append(Moment(plant, t, state, scenario.dt, scenario.initial_q))
            if k < scenario.clock.steps:
                state = step(t, state)
        return plant, found

    return run


@pytest.fixture(scope="session")
def given():
    """Moments of given motions, functions of the time: of one joint, or of several."""

    def make(plant, duration, steps, *q, qd=None):
        times = [k * duration / steps for k in range(steps + 1)]
        still = (lambda t: 0.0,) * plant.arm.n
        start = [at(0.0) for at in q]
        states = [plant.initial_state([at(t) for at in q], [at(t) for at in qd or still]) for t in times]
        return [Moment(plant, t, x, duration / steps, start) for t, x in zip(times, states, strict=True)]

    return make


@pytest.fixture(scope="session")
def gathered():
    """The results of measures over moments, by name."""

    def gather(names, moments):
        found = {}
        for measure in measures_of(names, moments[0].plant):
            kept = measure.begin()
            for now in moments:
                kept = measure.update(kept, now)
            assert len(measure.names) == len(measure.units)
            found |= zip(measure.names, measure.result(kept, moments[-1]), strict=True)
        return found

    return gather
