"""A prepared scenario: runs with other numbers, each with the bits of the run with these numbers written in."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import yaml

import armsim
from armsim import FileFaults, UsageError

SHORT = {"duration": 0.05, "log.every": 0.01}
KP, MASS = "control.kp[0]", "robot.joints[elbow].bodies[0].rod.mass"


def prepare(*open, scenario="two_link_hold", overrides=None, **options):
    return armsim.prepare(scenario, list(open), {**SHORT, **(overrides or {})}, **options)


@pytest.fixture
def no_compiler(monkeypatch):
    """From its call on, nothing can be compiled."""

    def refuse(*args, **kwargs):
        raise AssertionError("compiled")

    return lambda: monkeypatch.setattr("armsim.compile.target.Target.object_code", refuse)


# bits


@pytest.mark.parametrize("scenario", ["two_link_hold", "arm5_hold_pi"])
@pytest.mark.slow
def test_a_run_is_that_of_simulate_with_the_numbers_written_in(scenario, tmp_path):
    values = {KP: 70.0, "initial.q": 0.1, "robot.joints[*].friction.viscous": 0.02}
    sim = prepare(*values, scenario=scenario, measure=["iae", "work_friction"])
    run = sim(values)
    n = len(run.q[-1])
    written = {KP: 70.0, "initial.q": [0.1] * n} | {f"robot.joints[{i}].friction.viscous": 0.02 for i in range(n)}
    one = armsim.simulate(scenario, {**SHORT, **written}, measure=["iae", "work_friction"])
    assert np.array_equal(run.table, one.table)
    assert list(run.state) == list(one.state)
    assert run.measures == one.measures
    assert run.measure("ise") == one.measure("ise")
    assert (run.status, run.steps, run.columns, run.engine) == (one.status, one.steps, one.columns, one.engine)
    assert steady(run.summary()) == steady(one.summary())
    folders = [each.save(tmp_path / name) for name, each in (("open", run), ("written", one))]
    for name in ("trajectory.csv", "torque.csv"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    reports = [yaml.safe_load((folder / "run.yaml").read_text()) for folder in folders]
    assert steady(reports[0]) == steady(reports[1])


def steady(told):
    """A summary or a run.yaml without what differs from run to run."""
    return {key: value for key, value in told.items() if key not in ("seconds", "steps_per_second", "created")}


def test_the_saved_files_run_again_to_the_same_rows(tmp_path):
    run = prepare(KP, MASS)({KP: 70.0, MASS: 2.5})
    folder = run.save(tmp_path / "first")
    again = armsim.simulate(folder / "run.yaml")
    assert np.array_equal(again.table, run.table)
    with open(folder / "trajectory.csv", newline="") as file:
        assert len(list(csv.reader(file))) == len(run.t) + 1


def test_lists_take_one_number_for_all_or_one_each():
    sim = prepare("control.kp")
    assert np.array_equal(sim({"control.kp": 90}).table, sim({"control.kp": [90, 90]}).table)
    one = armsim.simulate("two_link_hold", {**SHORT, "control.kp": [90, 30]})
    assert np.array_equal(sim({"control.kp": np.array([90.0, 30.0])}).table, one.table)


def test_one_run_leaves_nothing_behind_in_the_next():
    sim = prepare(KP, MASS)
    first = sim({KP: 70.0, MASS: 2.5}).table
    sim({KP: 500.0, MASS: 0.1})
    assert np.array_equal(sim({KP: 70.0, MASS: 2.5}).table, first)


@pytest.mark.slow
def test_a_scenario_may_be_plain_data_and_numbers_it_leaves_out_may_be_given(mixed):
    sim = armsim.prepare(mixed(payload=None, duration=0.02), {"payload.mass": 0.1}, {"log.every": 0.01})
    run = sim({"payload.mass": 0.3})
    one = armsim.simulate(mixed(payload={"mass": 0.3}, duration=0.02), {"log.every": 0.01})
    assert np.array_equal(run.table, one.table)


def test_its_rows_and_measures_are_those_of_its_lane():
    sim = prepare(KP, MASS, measure=["itae"])
    values = {KP: [70.0, 90.0], MASS: [2.5, 0.5]}
    many = armsim.simulate_many("two_link_hold", values, SHORT, measure=["itae"], rows=True)
    for i in range(2):
        run = sim({path: column[i] for path, column in values.items()})
        assert np.array_equal(run.table, many.rows[i])
        assert run.measures["itae"] == many["itae"][i]


def test_a_diverging_run_ends_where_that_of_simulate_does():
    damping = "robot.joints[1].friction.viscous"
    sim = prepare(damping, overrides={"integrator.method": "explicit_euler"}, force_step=True)
    run = sim({damping: 1e5})
    one = armsim.simulate(
        "two_link_hold", {**SHORT, "integrator.method": "explicit_euler", damping: 1e5}, force_step=True
    )
    assert (run.status, run.steps) == (one.status, one.steps) == ("diverged", run.steps)
    assert np.array_equal(run.table, one.table)
    assert run.summary()["advice"] == one.summary()["advice"] != []
    assert run.fastest_to_diverge() == one.fastest_to_diverge()
    assert sim({damping: 0.1}).status == "complete"


# compilation


def test_once_it_is_prepared_nothing_is_compiled(no_compiler):
    sim = prepare(KP, MASS, measure=["iae"])
    no_compiler()
    runs = [sim({KP: kp, MASS: mass}) for kp, mass in ((70.0, 2.5), (90.0, 0.5))]
    assert runs[0].measures["iae"] != runs[1].measures["iae"]


@pytest.mark.slow
def test_numbers_that_decide_what_there_is_are_compiled_once_when_first_asked_for(no_compiler):
    coulomb = "robot.joints[elbow].friction.coulomb"
    sim = prepare(coulomb)
    sim({coulomb: 0.3})
    no_compiler()
    values = [0.0, 0.5, 0.0]
    tables = [sim({coulomb: value}).table for value in values]
    assert np.array_equal(tables[0], tables[2])
    assert not np.array_equal(tables[0], tables[1])


def test_the_progress_counts_steps():
    told = []
    prepare(KP)({KP: 70.0}, progress=lambda done, steps: told.append((done, steps)))
    assert told[-1] == (50, 50)


# refusals


@pytest.mark.parametrize("open", [[], {}, "control.kp[0]"])
def test_there_is_a_list_of_paths(open, told):
    with pytest.raises(UsageError) as refused:
        armsim.prepare("two_link_hold", open)
    told(refused.value)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("control.kpp", "no `kpp` in control"),
        ("control.kp[2]", "2 items in control.kp, of which `2` is none"),
        ("control.law", "set it instead"),
        ("control", "go on with one of law, output, space"),
        ("duration", "part of the structure"),
        ("robot.joints[elbo].mdh.a", "did you mean `elbow`?"),
        ("robot.joints[0].bodies[0].rod.axis", "part of the structure"),
    ],
)
def test_a_path_without_an_open_number_is_refused_in_words(path, message):
    with pytest.raises(UsageError) as refused:
        prepare(path)
    assert str(refused.value).startswith(("robot." * path.startswith("robot.")) + path.removeprefix("robot.") + "\n")
    assert message in str(refused.value)


def test_a_measure_of_another_kind_of_run_is_refused():
    with pytest.raises(UsageError, match="a run without `control`"):
        armsim.prepare("two_link_swing", ["initial.q"], measure=["iae"])


def test_a_file_that_cannot_be_run_is_refused_before():
    with pytest.raises(FileFaults, match="expected: "):
        prepare(KP, overrides={"duration": -1})


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"control.kp": 1.0, "control.kd": 2.0},
        {"control.kp": [1.0, 2.0, 3.0]},
        {"control.kp": "fast"},
        {"control.kp": True},
        {"control.kp": np.nan},
    ],
    ids=["missing", "unasked", "shape", "text", "boolean", "not a number"],
)
def test_values_that_do_not_fit_are_refused_in_words(values, told):
    with pytest.raises(UsageError) as refused:
        prepare("control.kp")(values)
    told(refused.value)


def test_a_step_that_would_blow_up_is_refused_with_these_values_alone():
    damping = "robot.joints[1].friction.viscous"
    overrides = {"integrator.method": "explicit_euler"}
    sim = prepare(damping, overrides=overrides)
    with pytest.raises(UsageError) as refused:
        sim({damping: 1e5})
    with pytest.raises(UsageError) as written:
        armsim.simulate("two_link_hold", {**SHORT, **overrides, damping: 1e5})
    assert str(refused.value) == str(written.value)
    assert sim({damping: 0.1}).status == "complete"


def test_the_repr_is_one_line():
    assert repr(prepare(KP, MASS)) == f"Prepared(two_link_hold, open=['{KP}', '{MASS}'])"
