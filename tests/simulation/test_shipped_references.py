"""The scenarios as they are shipped, against figures of other engines; see tests/data/README.md."""

import numpy as np
import pytest

import armsim
from armsim.files.shipped import shipped_names
from armsim.loading import read_scenario

SHIPPED = shipped_names("configs")


def deviation(found, expected):
    """Largest difference of each column relative to its largest value."""
    return np.max(np.abs(found - expected) / np.abs(expected).max(axis=0))


@pytest.mark.parametrize(
    ("name", "figures"), [("arm5_hold", "pd_hold_nostick_fresh"), ("arm5_sine", "sine_nostick_euler")]
)
def test_arm5_as_shipped_moves_step_for_step_as_in_dynamechs(name, figures, reference):
    table = reference(figures)
    about = table.about
    every = about["dt"] * about["log_every"]
    scenario = read_scenario(name, {"log.every": every})
    assert (scenario.dt, scenario.clock.steps, scenario.clock.log_every) == (
        about["dt"],
        about["steps"],
        about["log_every"],
    )
    run = armsim.simulate(scenario)
    picked = np.rint(table.columns["step"]).astype(int) // about["log_every"]
    assert picked[-1] == len(run.t) - 1
    np.testing.assert_allclose(run.t[picked], table.columns["t"], rtol=1e-15)
    for quantity in ("q", "qd", "qdd"):
        found, expected = getattr(run, quantity)[picked], table.block(quantity)
        assert deviation(found, expected) <= 1e-12, quantity  # what the reference promises


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("rr_config1", "rr_config1"),
        ("rr_config2_sigmoid", "rr_config2_sigmoid"),
        ("rr_config2_velocity", "rr_config2_vel"),
        ("rr_config5", "rr_config5"),
    ],
)
@pytest.mark.handful(2)
def test_the_2r_arm_as_shipped_moves_step_for_step_as_in_the_assignment(name, figures, reference):
    table = reference(figures)
    run = armsim.simulate(read_scenario(name, {"log.every": 4e-4}))
    picked = table.columns["step"].astype(int)
    assert picked[-1] == run.steps == 25_000
    assert deviation(run.q[picked], table.block("q", 2)) <= 1e-11
    assert deviation(run.qd[picked], table.block("qd", 2)) <= 1e-11
    # their acceleration in row k led to it, so it is the one of our row before
    assert deviation(run.qdd[picked[1:] - 1], table.block("qdd", 2)[1:]) <= 1e-11


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.handful(1)
def test_every_shipped_scenario_runs_to_its_end(name):
    run = armsim.simulate(name)
    assert run.status == "complete"
    assert run.steps == run.scenario.clock.steps
    assert np.all(np.isfinite(run.table))


def test_there_are_scenarios_to_run():
    assert len(SHIPPED) >= 16
