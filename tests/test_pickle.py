"""Arms, models, runs and faults go to other processes and back, or are copied, and answer as before."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from pathlib import Path

import numpy as np
import pytest

import armsim
from armsim import ForwardModel
from armsim.errors import FileFaults
from armsim.files.shipped import shipped_names, shipped_path

WAYS = {"pickle": lambda x: pickle.loads(pickle.dumps(x)), "deepcopy": copy.deepcopy, "copy": copy.copy}
MODELS = {
    "plain": {},
    "adaptive": {"method": "rk54", "rtol": 1e-8},
    "open": {"open": ["joints[R2].motor.Kp", "parameters.upper"]},
    "laden": {"external": [{"link": "R5"}], "currents": True},
}
VOLTS = [1.0, -6.0, 2.0, 0.5, 0.1]


@pytest.fixture(scope="module")
def pool():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        yield pool


def steps(model) -> list[list[float]]:
    one = model.step(model.state(), VOLTS)
    many = model.step(np.array([one] * 3), np.array([VOLTS] * 3))
    return np.array([one, *many]).tolist()


def answers(robot) -> list[list[float]]:
    q = robot.initial
    return [robot.forward_dynamics(q).tolist(), *robot.jacobian(q).tolist(), *robot.mass_matrix([q] * 2)[0].tolist()]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("engine", ["llvm", "python"])
@pytest.mark.handful(2)
def test_a_copied_robot_answers_as_before_whether_or_not_it_has_been_asked(way, engine):
    robot = armsim.load_robot("puma560", engine=engine)
    fresh = WAYS[way](robot)
    found = answers(robot)
    assert answers(fresh) == answers(WAYS[way](robot)) == found
    assert repr(fresh) == repr(robot)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("of", MODELS)
@pytest.mark.handful(1)
def test_a_copied_model_steps_as_before_whether_or_not_it_has_stepped(way, of):
    model = ForwardModel("arm5", 1e-4, **MODELS[of])
    fresh = WAYS[way](model)
    found = steps(model)
    copied = WAYS[way](model)
    assert steps(fresh) == steps(copied) == steps(model) == found
    assert copied.slots == model.slots
    if model.open:
        with pytest.raises(FileFaults):
            copied.step(copied.state(), VOLTS, [-1.0, 0.38])


def test_a_model_of_a_file_needs_the_file_no_more(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_bytes(Path(shipped_path("robots", "arm5")).read_bytes())
    model = ForwardModel(path, 1e-4, open=["gravity[2]"])
    kept = pickle.dumps(model)
    path.unlink()
    assert steps(pickle.loads(kept)) == steps(model)


@pytest.mark.parametrize("name", sorted(shipped_names("configs")))
@pytest.mark.handful(2)
def test_a_copied_run_has_all_that_it_had(name, tmp_path):
    run = armsim.simulate(name, {"duration": 0.1, "log": {}})
    fresh = pickle.loads(pickle.dumps(run))
    table, summary = run.table, run.summary()
    for copied in (fresh, pickle.loads(pickle.dumps(run)), copy.deepcopy(run)):
        assert copied.table.tolist() == table.tolist()
        assert copied.summary() == summary
        assert (copied.end, copied.state, copied.t.tolist()) == (run.end, run.state, run.t.tolist())
        assert copied.row(-1) == run.row(-1)
    written = [made.save(tmp_path / made_by) for made_by, made in (("run", run), ("copy", fresh))]
    assert len({(folder / "trajectory.csv").read_bytes() for folder in written}) == 1


def test_an_interrupted_run_without_rows_can_be_copied():
    run = armsim.simulate("arm5_hold", {"duration": 0.1})
    run.cut_short(0)
    assert pickle.loads(pickle.dumps(run)).table.shape == (0, len(run.plant.layout.columns))


@pytest.mark.parametrize("way", WAYS)
def test_copied_faults_say_the_same(way):
    with pytest.raises(FileFaults) as caught:
        armsim.load_robot("arm5", {"joints[R2].motor.Kp": -1, "gravity[2]": "x"})
    copied = WAYS[way](caught.value)
    assert str(copied) == str(caught.value)
    assert copied.faults == caught.value.faults
    assert len(copied.faults) == 2


@pytest.mark.slow
def test_another_process_answers_with_the_same_bits(pool):
    robot = armsim.load_robot("arm5")
    assert (
        pool.apply(robot.forward_dynamics, (robot.initial,)).tolist() == robot.forward_dynamics(robot.initial).tolist()
    )
    for given in MODELS.values():
        model = ForwardModel("arm5", 1e-4, **given)
        state = model.state()
        assert pool.apply(model.step, (state, VOLTS)).tolist() == model.step(state, VOLTS).tolist()


def test_runs_and_faults_come_back_from_another_process(pool):
    run = pool.apply(armsim.simulate, ("arm5_hold", {"duration": 0.1}))
    assert run.table.tolist() == armsim.simulate("arm5_hold", {"duration": 0.1}).table.tolist()
    with pytest.raises(FileFaults, match="a positive number of N·m/A") as caught:
        pool.apply(armsim.load_robot, ("arm5", {"joints[R2].motor.Kp": -1}))
    assert caught.value.faults[0].path == "joints[1].motor.Kp"
