"""The key of a kernel: whatever changes the graph changes it, and what does not leaves it alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from armsim.batches.variants import Variants
from armsim.loading import read_scenario
from armsim.loading.open_numbers import open_numbers
from armsim.plant import make_plant
from armsim.simulation.content import content_of
from armsim.simulation.loop_plan import Keep, LoopPlan
from armsim.stability.method_choice import with_method

SCENARIO = "arm5_hold_pi"
CSV = "t_s,u\n0,1\n0.5,2\n1,4\n"


def key(scenario, overrides=None, measure=(), **changes) -> str:
    """The key of a run's loop."""
    read = read_scenario(scenario, overrides)
    plant = replace(make_plant(read), **changes)
    return replace(LoopPlan.of_run(with_method(read), measure), plant=plant, dt=read.dt).key


def open_key(overrides=None, measure=(), paths=("control.kp[0]",), scenario=SCENARIO) -> str:
    """The key of a loop with open numbers."""
    opened = open_numbers(scenario, list(paths), overrides)
    values = [opened.number(place) for place in opened.places]
    return Variants(opened, {}, values, measure).plan.key


OTHER = {
    "gain": {"control.kp[1]": 61},
    "limit": {"control.limit": [20] * 5},
    "law": {"control.law": "pid", "control.kd": [1, 1, 1, 1, 1]},
    "period": {"control.period": 2e-3},
    "mass": {"robot.joints[R2].bodies[0].cylinder.mass": 3.0000000000000004},
    "friction": {"robot.joints[R3].friction.viscous": 0.01},
    "gravity": {"robot.gravity": [0, 0, -9.80665]},
    "sign of a zero": {"robot.gravity": [0, -0.0, -9.81]},
    "payload": {"payload.mass": 0.1},
    "method": {"integrator.method": "rk4"},
    "tolerance": {"integrator": {"method": "rk54", "rtol": 1e-7}},
    "other tolerance": {"integrator": {"method": "rk54", "rtol": 1e-8}},
    "force": {"external": [{"link": "R5", "force": [0, 0, -5]}]},
    "force for a time": {"external": [{"link": "R5", "force": [0, 0, -5], "from": 1, "to": 2}]},
    "force for another time": {"external": [{"link": "R5", "force": [0, 0, -5], "from": 1, "to": 3}]},
}

STEP = {"integrator.dt": 5e-5}


def test_whatever_is_simulated_is_in_the_key():
    keys = {"as shipped": key(SCENARIO)} | {name: key(SCENARIO, overrides) for name, overrides in OTHER.items()}
    keys |= {"audit": key(SCENARIO, audit=True), "measure": key(SCENARIO, measure=["iae"])}
    keys |= {f"band {band}": key(SCENARIO, measure=[f"settling_time({band})"]) for band in (0.1, 0.2)}
    keys["start"] = key(SCENARIO, {"initial.q": [0.1, -1, 0.2, 0, 0]}, measure=["iae"])
    assert all(keys.values())
    assert len(set(keys.values())) == len(keys)
    opened = {name: open_key(overrides) for name, overrides in OTHER.items()}
    opened |= {"as shipped": open_key(), "measure": open_key(measure=["iae"]), "step": open_key(STEP)}
    opened["another number"] = open_key(paths=["control.kp[1]"])
    opened["two"] = open_key(paths=["control.kp[0]", "control.kp[1]"])
    opened["their order"] = open_key(paths=["control.kp[1]", "control.kp[0]"])
    assert all(opened.values())
    assert len({*opened.values(), *keys.values()}) == len(opened) + len(keys)


@pytest.mark.parametrize("integrator", [None, {"method": "rk4", "dt": 1e-3}])
@pytest.mark.parametrize("scenario", [SCENARIO, "two_link_swing"])  # the latter has figures without a result
@pytest.mark.handful(2)
def test_plans_of_one_key_take_the_same_memory(scenario, integrator):
    read, sizes = with_method(read_scenario(scenario, {"integrator": integrator})), {}
    for keep in product((True, False), repeat=5):
        plan = LoopPlan.of_run(read, keep=Keep(*keep))
        numbers = plan.plant.slots, plan.kept, plan.accuracy(), plan.columns, plan.results
        size = [*map(len, numbers)]
        assert sizes.setdefault(plan.key, size) == size


def test_what_no_step_depends_on_is_not_in_the_key():
    same = {"duration": 3, "log.every": 0.1, "name": "other", "initial.q": [0.1, -1, 0.2, 0, 0]}
    assert key(SCENARIO, same) == key(SCENARIO)
    assert key(SCENARIO, STEP, measure=["iae"]) == key(SCENARIO, measure=["iae"])  # which is an open number
    assert open_key({"control.kp[0]": 33.0, "duration": 3, "log.every": 0.1}) == open_key()


@pytest.mark.parametrize("hold", ["zero", "linear"])
def test_the_numbers_of_a_csv_input_are_in_the_key_and_its_place_is_not(tmp_path, hold):
    def of(folder: str, text: str, opened: bool, kept: str = hold) -> str:
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "u.csv").write_text(text)
        column = {"csv": str(tmp_path / folder / "u.csv"), "column": "u", "hold": kept}
        overrides = {"control": None, "inputs": {"torque": [column, 0, 0, 0, 0]}, "integrator.dt": 1e-4}
        return open_key(overrides, paths=["inputs.torque[1]"]) if opened else key("arm5_hold", overrides)

    for opened in (False, True):
        first = of("a", CSV, opened)
        assert of("b", CSV, opened) == first
        assert of("a", CSV.replace("1,4", "1,5"), opened) != first
        assert of("a", CSV.replace("0.5,2", "0.25,2"), opened) != first
        assert of("a", CSV, opened, "zero" if hold == "linear" else "linear") != first


def test_formulas_that_agree_in_value_but_not_in_an_open_parameter_differ():
    def scenario(length):
        body = {"point": {"mass": 1, "center": [length, 0, 0]}}
        joint = {"name": "a", "type": "revolute", "mdh": {}, "bodies": [body]}
        robot = {"format": "armsim/robot/1", "name": "one", "parameters": {"l": 0.4}, "joints": [joint]}
        step = {"method": "rk4", "dt": 1e-2}
        return {"format": "armsim/scenario/1", "robot": robot, "duration": 1, "integrator": step}

    paths = ["robot.parameters.l"]
    assert open_key(paths=paths, scenario=scenario("l")) != open_key(paths=paths, scenario=scenario(0.4))


def test_what_has_no_text_has_no_key():
    assert content_of([1.0, lambda t: t]) == ""
    assert content_of(np.array([1.0, None])) == ""


def test_arrays_and_rotations_are_told_by_their_numbers_and_shapes():
    turns = [Rotation.from_rotvec([0.0, 0.0, angle]) for angle in (0.5, 0.25)]
    numbers = [np.arange(6.0), np.arange(6.0).reshape(2, 3), -np.arange(6.0), np.arange(6), np.array([1.0, np.nan])]
    texts = [content_of(x) for x in [*numbers, *turns]]
    assert "" not in texts
    assert len({*texts}) == len(texts)
    assert texts == [content_of(x) for x in [np.arange(12.0)[::2] / 2, *(x.copy() for x in numbers[1:]), *turns]]


@pytest.mark.parametrize("name", ["arm5_fastest", "ur5e_path"])
def test_motions_that_are_computed_from_a_path_have_a_key(name):
    assert key(name)
