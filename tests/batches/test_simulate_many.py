"""Many runs of a scenario, as a user meets them: shapes, refusals, Ctrl-C, and the arrays that come of them."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

import armsim
from armsim import ArmsimError, FileFaults, UsageError
from armsim.batches import simulate_many as module
from armsim.loading import read_robot
from armsim.measures.catalog import AGGREGATES, KINDS
from armsim.stability.many import StepAdviser

SHORT = {"duration": 0.05, "log.every": 0.01}
KP, MASS = "control.kp[0]", "robot.joints[1].bodies[0].rod.mass"


def many(values, scenario="two_link_hold", overrides=None, **options):
    return armsim.simulate_many(scenario, values, {**SHORT, **(overrides or {})}, **options)


def single(overrides, scenario="two_link_hold", **options):
    return armsim.simulate(scenario, {**SHORT, **overrides}, **options)


# shapes


def test_a_path_of_k_numbers_takes_m_by_k_values_or_m_for_all_alike():
    apart = many({"control.kp": [[100, 20], [150, 30]], "control.kd": [[3, 1], [4, 2]]})
    assert apart.q.shape == apart.qd.shape == (2, 2)
    assert apart.steps.tolist() == [50, 50]
    run = single({"control.kp": [150, 30], "control.kd": [4, 2]})
    assert np.array_equal(apart.q[1], run.q[-1])
    alike = many({"control.kp": [100, 150]})
    assert np.array_equal(alike.q[1], single({"control.kp": [150, 150]}).q[-1])
    assert np.array_equal(many({"robot.joints[*].bodies[0].rod.mass": [1.0, 2.0]}).q, both_masses([1.0, 2.0]))


def both_masses(masses):
    paths = [f"robot.joints[{i}].bodies[0].rod.mass" for i in range(2)]
    return np.array([single(dict.fromkeys(paths, mass)).q[-1] for mass in masses])


def test_one_value_is_that_of_all_runs():
    found = many({KP: 120, "control.kd[0]": np.array([3, 4, 5])})
    assert len(found.status) == 3
    assert found[KP].tolist() == [120.0, 120.0, 120.0]
    assert np.array_equal(found.q[2], single({KP: 120, "control.kd[0]": 5}).q[-1])


@pytest.mark.parametrize("value", [120, 120.0, np.float32(120), [120], np.array([120])])
@pytest.mark.handful(3)
def test_there_may_be_one_run(value):
    found = many({KP: value}, rows=True)
    assert found.q.shape == (1, 2)
    assert np.array_equal(found.rows[0], single({KP: 120}).table)


def test_joints_are_named_by_name_or_by_index():
    by_name, by_index = (many({f"robot.joints[{joint}].bodies[0].rod.mass": [1.0]}) for joint in ("elbow", 1))
    assert np.array_equal(by_name.q, by_index.q)


@pytest.mark.slow
def test_values_are_in_the_unit_of_the_file():
    found = armsim.simulate_many("puma560_hold", {"control.target[0]": [30.0]}, SHORT, measure=["error_J1"])
    run = armsim.simulate("puma560_hold", {**SHORT, "control.target[0]": 30.0}, measure=["error_J1"])
    assert found["error_J1"][0] == run.measures["error_J1"]
    assert abs(found["error_J1"][0] - np.radians(30) + found.q[0, 0]) < 1e-15  # one rounding of the conversion


def test_numbers_that_the_file_leaves_out_may_be_given():
    found = many({"payload.mass": [0.0, 0.5]})
    assert np.array_equal(found.q[1], single({"payload.mass": 0.5}).q[-1])
    assert np.array_equal(found.q[0], single({"payload.mass": 0.0}).q[-1])


# refusals of the call


@pytest.mark.parametrize(
    "values",
    [
        {},
        {KP: []},
        {KP: ["fast"]},
        {"control.kp": np.ones((4, 3))},
        {"control.kp": np.ones((2, 2)), "control.kd": np.ones(3)},
    ],
    ids=["no values", "no runs", "text", "another shape", "other lengths"],
)
def test_values_of_another_shape_are_refused_in_words(values, told):
    with pytest.raises(UsageError) as refused:
        many(values)
    told(refused.value)


def test_a_number_has_one_path():
    with pytest.raises(UsageError, match="leave one of the paths out"):
        many({"control.kp": 1.0, KP: 2.0})


def test_a_wrong_path_names_the_nearest_right_one():
    with pytest.raises(ArmsimError, match="did you mean `kp`"):
        many({"control.kpp": [1.0]})
    with pytest.raises(ArmsimError, match="shoulder, elbow"):
        many({"robot.joints[R9].bodies[0].rod.mass": [1.0]})


@pytest.mark.parametrize(
    ("path", "value"), [("integrator.dt", 1e-3), ("duration", 0.05), ("log.every", 0.01), ("external[0].from", 5.0)]
)
def test_what_is_structure_is_refused(path, value):
    with pytest.raises(UsageError) as refused:
        many({path: [value]})
    assert str(refused.value).startswith(f"{path}\n")
    assert "part of the structure" in str(refused.value)


def test_an_unknown_measure_names_the_nearest_known_one():
    with pytest.raises(UsageError, match="did you mean `iae`"):
        many({KP: [1.0]}, measure=["iaee"])


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
def test_threads_are_a_whole_number_from_1(threads, told):
    with pytest.raises(UsageError) as refused:
        many({KP: [1.0]}, threads=threads)
    told(refused.value)


def test_rows_that_memory_does_not_hold_are_refused_before_anything_is_compiled(monkeypatch, told):
    monkeypatch.setattr("armsim.compile.target.Target.object_code", None)
    with pytest.raises(UsageError) as refused:
        many({KP: np.ones(10**6)}, overrides={"duration": 1.0, "log.every": 1e-3}, rows=True)
    told(refused.value)


# refusals of runs


def test_a_refused_value_among_good_ones_stops_its_run_alone():
    found = many({KP: [100.0, np.nan, np.inf, 100.0], MASS: [1.0, 1.0, 1.0, -2.0]}, measure=["iae"], rows=True)
    assert found.status.tolist() == ["complete", "refused", "refused", "refused"]
    assert found.reason.tolist() == [
        "",
        "control.kp[0]: expected a number of V/rad or N·m/rad, found nan",
        "control.kp[0]: expected a number of V/rad or N·m/rad, found .inf",
        f"{MASS}: expected a number of kg, 0 or more, found -2",
    ]
    run = single({KP: 100.0, MASS: 1.0}, measure=["iae"])
    assert np.array_equal(found.rows[0], run.table)
    assert found["iae"][0] == run.measures["iae"]
    for array in (found.q, found.qd, found.rows, found["iae"]):
        assert np.isnan(array[1:]).all()
    assert found.steps.tolist() == [50, 0, 0, 0]
    assert found.complete.tolist() == [True, False, False, False]


def test_limits_beyond_the_initial_position_are_refused_as_a_file_with_them_is():
    found = armsim.simulate_many("arm5_hold", {"robot.joints[R2].limits.lower": [-1.2, -1.0]}, SHORT)
    assert found.status.tolist() == ["complete", "refused"]
    assert found.reason[1] == "robot.joints[1].initial: expected a position within the limits"
    with pytest.raises(FileFaults):
        armsim.simulate("arm5_hold", {"robot.joints[R2].limits.lower": -1.0})


def test_an_arm_without_inertia_is_refused():
    bare = {"robot.payload.mass": 0.0, "robot.joints[0].bodies[0].rod.mass": 0.0}
    found = many({MASS: [1.0, 0.0]}, overrides=bare)
    assert found.status.tolist() == ["complete", "refused"]
    assert found.reason[1] == (
        "robot.joints[1]: expected inertia about the axis of joint `elbow`, "
        "found no inertia and no rotor inertia on joint `elbow`"
    )
    with pytest.raises(FileFaults):
        single({**bare, MASS: 0.0})


def test_all_runs_may_be_refused():
    told = []
    found = many({MASS: [-1.0, -2.0]}, measure=["iae"], rows=True, progress=lambda *x: told.append(x))
    assert found.status.tolist() == ["refused", "refused"]
    assert found.rows.shape == (2, 6, len(found.columns))
    assert np.isnan(found["iae"]).all()
    assert found.families == ()
    assert told == [(2, 2)]


STIFF = {"integrator.method": "explicit_euler"}


def test_a_step_that_is_refused_stops_its_run_alone_as_it_stops_a_single_one():
    damping = {"robot.joints[1].friction.viscous": [0.0, 1e5, 0.1]}
    found = many(damping, overrides=STIFF)
    assert found.status.tolist() == ["complete", "refused", "complete"]
    with pytest.raises(UsageError) as refused:
        single({**STIFF, "robot.joints[1].friction.viscous": 1e5})
    assert found.reason[1] == str(refused.value)


def test_of_many_refused_steps_those_after_the_first_are_told_in_a_line():
    found = many({"robot.joints[1].friction.viscous": np.full(15, 1e5)}, overrides=STIFF)
    assert (found.status == "refused").all()
    assert found.reason[14] == "integrator.dt: 0.001 s is too long a step, as it is for run 0"
    assert found.reason[0].startswith("integrator.dt\n  expected: ")


def test_the_steps_of_a_large_group_are_judged_for_warnings_at_even_distances(monkeypatch):
    judged, verdicts = [], StepAdviser.verdicts

    def noted(self, values, threads):
        judged.extend(values[:, 0])
        return verdicts(self, values, threads)

    monkeypatch.setattr(StepAdviser, "verdicts", noted)
    monkeypatch.setattr("armsim.batches.simulate_many.JUDGED", 4)
    many({"robot.joints[1].friction.viscous": np.linspace(0.1, 1.0, 10)})
    assert judged == pytest.approx([0.1, 0.4, 0.7, 1.0])


@pytest.mark.slow
def test_of_every_doubtful_step_it_is_told_that_there_is_something_to_say(monkeypatch):
    # 0.5 ms is close to the largest stable step of explicit Euler on this arm; with weaker motors it is not
    own = [joint.motor.Kp for joint in read_robot("arm5")[0].joints]
    values = {"robot.joints[*].motor.Kp": [own, [Kp / 2 for Kp in own], own, own, own, own]}
    overrides = {"duration": 0.01, "log.every": 0.01, "integrator.dt": 5e-4}
    found = armsim.simulate_many("arm5_fall", values, overrides)
    single = armsim.simulate("arm5_fall", overrides)
    assert any("close to the largest stable step" in line for line in single.advice.said("explicit_euler", 5e-4))
    told = [run for run in range(6) if any("close to the largest" in line for line in found.warnings.get(run, []))]
    assert told == [0, 2]  # of run 1 something else is said
    as_others = [
        run for run in range(6) if "there is something to say of the step" in "".join(found.warnings.get(run, []))
    ]
    assert as_others == [3, 4, 5]
    monkeypatch.setattr("armsim.batches.simulate_many.JUDGED", 5)
    assert 5 not in armsim.simulate_many("arm5_fall", values, overrides).warnings


def test_a_step_may_be_forced():
    damping = {"robot.joints[1].friction.viscous": [0.1, 1e5]}
    found = many(damping, overrides=STIFF, force_step=True)
    assert found.status.tolist() == ["complete", "diverged"]
    assert found.warnings[1][0].startswith("the step was forced")
    run = single({**STIFF, "robot.joints[1].friction.viscous": 1e5}, force_step=True)
    assert found.steps[1] == run.steps
    assert np.array_equal(found.q[1], run.state[:2])
    assert found.reason[1].startswith(run.fastest_to_diverge())


# progress and Ctrl-C


@pytest.mark.parametrize("bad", [[], [3], [0, 8]])
def test_the_progress_ends_with_all_runs_done(bad):
    told = []
    masses = np.ones(9)
    masses[bad] = -1.0
    many({MASS: masses}, threads=2, progress=lambda done, runs: told.append((done, runs)))
    assert told[-1] == (9, 9)
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert {runs for _, runs in told} == {9}


def test_the_progress_is_told_in_the_thread_of_the_caller():
    threads = []
    many({KP: np.ones(40)}, threads=2, progress=lambda *x: threads.append(threading.current_thread()))
    assert set(threads) == {threading.current_thread()}


def test_ctrl_c_keeps_the_runs_that_are_done_and_marks_the_others(monkeypatch):
    monkeypatch.setattr(module, "UNIT", 1)  # parts of one block

    told = []

    def stop(done, runs):
        told.append(done)
        raise KeyboardInterrupt

    runs = 2000
    kp = np.linspace(50, 150, runs)
    found = many({KP: kp}, measure=["iae"], rows=True, threads=1, progress=stop)
    done = np.flatnonzero(found.complete)
    assert set(found.status) == {"complete", "interrupted"}
    assert 0 < len(done) < runs / 2
    assert np.array_equal(found.rows[done[-1]], single({KP: float(kp[done[-1]])}).table)
    for array in (found.q, found.qd, found.rows, found["iae"]):
        assert np.isnan(array[~found.complete]).all()
    assert (found.reason == "").all()
    assert len(told) == 1


def test_ctrl_c_before_anything_is_done_is_raised(monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("armsim.batches.variants.Variants", stop)
    with pytest.raises(KeyboardInterrupt):
        many({KP: [1.0, 2.0]})


def test_an_error_of_the_progress_is_raised():
    def wrong(done, runs):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        many({KP: np.ones(100)}, threads=2, progress=wrong)


# families


def test_numbers_that_say_that_something_is_absent_make_groups_of_their_own():
    coulomb = "robot.joints[elbow].friction.coulomb"
    values = [0.0, 0.3, 0.0, 0.5]
    found = many({coulomb: values, "control.kd[0]": [1.0, 2.0, 3.0, 4.0]}, rows=True)
    groups = {tuple(written.items()): count for written, count in found.families}
    assert groups == {(): 2, (("robot.joints[1].friction.coulomb", 0.0),): 2}
    for run, value in enumerate(values):
        one = single({coulomb: value, "control.kd[0]": float(run + 1)})
        assert np.array_equal(found.rows[run], one.table)
    assert "tau_friction_elbow_Nm" in found.columns


# the result


@pytest.fixture(scope="module")
def found():
    values = {"control.kp": [[100, 20], [150, 30], [120, np.nan]], MASS: [1.0, 1.5, 1.5]}
    return many(values, measure=["iae", "peak_torque", "iae + 0.1*peak_torque_elbow"], rows=True)


def test_the_result_is_a_mapping_of_one_array_a_name(found):
    assert list(found) == [
        "control.kp[0]",
        "control.kp[1]",
        MASS,
        "q_shoulder_rad",
        "q_elbow_rad",
        "qd_shoulder_rad_s",
        "qd_elbow_rad_s",
        "iae",
        "peak_torque_shoulder",
        "peak_torque_elbow",
        "iae + 0.1*peak_torque_elbow",
        "status",
        "reason",
    ]
    assert len(found) == len(list(found))
    assert all(found[name].shape == (3,) for name in found)
    assert found["control.kp"].shape == (3, 2)
    assert np.array_equal(found["q_elbow_rad"], found.q[:, 1], equal_nan=True)
    assert np.array_equal(found["qd_elbow_rad_s"], found.qd[:, 1], equal_nan=True)
    total = found["iae"] + 0.1 * found["peak_torque_elbow"]
    assert np.array_equal(found["iae + 0.1*peak_torque_elbow"][:2], total[:2])


def test_a_wrong_name_hints_at_the_nearest_one(found):
    with pytest.raises(KeyError, match="did you mean 'q_elbow_rad'"):
        found["q_elbow"]
    assert "q_elbow" not in found


def test_the_last_row_is_the_state_reached(found):
    place = found.columns.index("q_shoulder_rad")
    assert np.array_equal(found.rows[:2, -1, place], found.q[:2, 0])
    assert np.array_equal(found.t, single({KP: 100}).t)


def test_the_repr_is_one_line(found):
    assert repr(found) == (
        "Runs(two_link_hold: 3 runs, 2 complete, 1 refused; "
        "iae, peak_torque_shoulder, peak_torque_elbow, iae + 0.1*peak_torque_elbow)"
    )
    assert repr(many({KP: 1.0})) == "Runs(two_link_hold: 1 run, 1 complete)"


def test_the_result_survives_pickle(found):
    other = pickle.loads(pickle.dumps(found))
    assert repr(other) == repr(found)
    assert list(other) == list(found)
    for name in ("q", "qd", "steps", "rows", "t"):
        assert np.array_equal(getattr(other, name), getattr(found, name), equal_nan=True)
    assert other.reason.tolist() == found.reason.tolist()
    assert (other.families, other.warnings, other.columns) == (found.families, found.warnings, found.columns)


def test_the_result_makes_a_data_frame(found):
    pytest.importorskip("pandas")
    frame = found.to_pandas()
    assert list(frame.columns) == list(found)
    assert frame["iae"].tolist()[:2] == found["iae"].tolist()[:2]
    assert frame["status"].tolist() == ["complete", "complete", "refused"]


# measures


def every_measure(joint, motors):
    """All kinds of the catalog, of the arm and of a joint, and all aggregates."""
    unpowered = (
        "energy_",
        "rms_current",
        "least_distance",  # two links that are neighbours have none
        *(f"{when}_at_{limit}" for when in ("time", "first") for limit in ("voltage", "current")),
    )
    absent = ("disturbance", "recovery") if motors else unpowered  # without an external force, or electric motors
    absent = (*absent, "winding", "peak_winding", "contact")  # a thermal model, contacts
    known = {name: kind for name, kind in KINDS.items() if not name.startswith(absent)}
    kinds = [*known, *(f"{name}_{joint}" for name, kind in known.items() if kind.of == "either")]
    banded = [f"{name}(1e-3)" for name, kind in known.items() if kind.banded]
    return [*kinds, *banded, *(f"{name}(q_{joint})" for name in AGGREGATES), f"max(abs(qd_{joint})) + iae"]


@pytest.mark.parametrize(
    ("scenario", "joint", "path", "values"),
    [
        ("two_link_hold", "elbow", "robot.joints[0].friction.viscous", [0.5, 0.0, 2.0]),
        ("arm5_hold_pi", "R2", "control.kp[1]", [80.0, 120.0, 400.0]),
    ],
)
@pytest.mark.slow
def test_measures_in_lanes_are_those_of_single_runs_whether_asked_before_or_after(scenario, joint, path, values):
    asked, overrides = every_measure(joint, scenario.startswith("arm5")), {"duration": 0.1}
    lanes = armsim.simulate_many(scenario, {path: values}, overrides, measure=asked)
    finite = 0
    for run, value in enumerate(values):
        before = armsim.simulate(scenario, {**overrides, path: value}, measure=asked).measures
        after = armsim.simulate(scenario, {**overrides, path: value}).measure(*asked)
        assert set(lanes.measures) <= set(before)
        for name in lanes.measures:
            results = lanes[name]
            assert results[run] == before[name] == after[name], name
            finite += bool(np.isfinite(results[run]) and results[run] != 0.0)
    assert finite > 1.5 * len(asked)  # of three runs: most measure something
