"""Runs on floats, step by step, with measures gathered on the way."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from armsim.loading import scenario_of
from armsim.measures import Moment, measures_of
from armsim.plant import make_plant
from armsim.stability.method_choice import with_method


@pytest.fixture(scope="session")
def moments():
    """The moments of a scenario's run on floats."""

    def run(scenario, overrides=None):
        scenario = with_method(scenario_of(scenario, overrides))
        plant = replace(make_plant(scenario), audit=True)
        state = plant.initial_state(scenario.initial_q, scenario.initial_qd)
        num, den = scenario.time_ratio
        found = []
        for k in range(scenario.steps + 1):
            t = k * num / den
            if plant.sampled and k % scenario.sample_every == 0:
                state = plant.sample(t, state)
            found.append(SimpleNamespace(t=t, state=state))
            if k < scenario.steps:
                state = plant.step(t, state, scenario.dt)
        return plant, [Moment(plant, at.t, at.state, scenario.dt, scenario.initial_q) for at in found]

    return run


@pytest.fixture(scope="session")
def gathered():
    """The results of measures over moments, by name."""

    def gather(names, plant, moments):
        found = {}
        for measure in measures_of(names, plant):
            kept = measure.begin()
            for now in moments:
                kept = measure.update(kept, now)
            assert len(measure.names) == len(measure.units)
            found |= zip(measure.names, measure.result(kept, moments[-1]), strict=True)
        return found

    return gather
