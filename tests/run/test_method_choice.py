"""Which method integrates a scenario that leaves it to armsim, and what it says about that."""

import pytest

import armsim
from armsim.errors import UsageError
from armsim.run.method_choice import with_method
from armsim.spec import read_scenario

BASE = {"format": "armsim/scenario/1", "robot": "arm5", "duration": 0.5}
TORQUE = {"inputs": {"torque": [0] * 5}}
VOLTAGE = {"inputs": {"voltage": [0] * 5}}


@pytest.mark.parametrize(
    ("keys", "method"),
    [
        ({}, "rk54"),
        (VOLTAGE, "rk54"),
        ({"integrator": {"rtol": 1e-8}}, "rk54"),
        ({"integrator": {"dt": 1e-4}}, "rk4"),
        ({"integrator": {"dt": 1e-4}, **TORQUE}, "rk4"),
        ({"integrator": {"dt": 1e-4, "method": "auto"}, **VOLTAGE}, "semi_implicit_euler"),
    ],
)
def test_without_a_step_it_is_adaptive_with_one_it_follows_from_what_drives_the_arm(keys, method):
    scenario = with_method(read_scenario({**BASE, **keys}))
    assert scenario.method == method
    assert scenario.picked


def test_a_method_that_is_named_is_taken_without_a_word():
    scenario = read_scenario({**BASE, "integrator": {"method": "explicit_euler", "dt": 1e-4}})
    assert with_method(scenario) is scenario
    assert not scenario.picked


def test_dynamechs_motors_take_their_own_method_and_need_its_step():
    link = {"name": "A", "type": "revolute", "mdh": {}, "bodies": [{"point": {"mass": 1, "center": [1, 0, 0]}}]}
    motor = {"model": "dynamechs", "Kp": 1, "Ra": 1}
    robot = {"format": "armsim/robot/1", "name": "one", "joints": [{**link, "motor": motor}]}
    asked = {**BASE, "robot": robot, "inputs": {"voltage": [1]}}
    assert with_method(read_scenario({**asked, "integrator": {"dt": 5e-4}})).method == "explicit_euler"
    with pytest.raises(UsageError, match=r"^integrator\.dt\n  expected: the step that DynaMechs took"):
        armsim.simulate(asked)


def test_a_run_records_what_was_picked_and_repeats_to_the_bit(tmp_path):
    asked = {**BASE, "inputs": {"voltage": ["sin(20*t)", 1, 0, 0, 0]}, "log": {"every": 0.01}}
    run = armsim.simulate(asked)
    assert run.summary()["picked"] == "no `dt` was given, and it chooses its steps"
    folder = run.save(tmp_path / "run")
    again = armsim.simulate(folder / "run.yaml")
    assert (again.scenario.method, again.scenario.dt, again.scenario.picked) == ("rk54", 0.01, "")
    assert again.table.tobytes() == run.table.tobytes()
    assert again.state == run.state
