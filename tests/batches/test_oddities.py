"""What users hand in besides plain arrays, and runs at the edge: neighbours of runs that fail, parameters with names of keys."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest

import armsim
from armsim import UsageError
from armsim.loading import read_scenario

KP = "control.kp[0]"
SHORT = {"duration": 0.01}

HEAVY = {  # about as heavy as numbers may be
    "format": "armsim/scenario/1",
    "duration": 2,
    "integrator": {"method": "semi_implicit_euler", "dt": 1e-2},
    "log": {"every": 0.1},
    "robot": {
        "format": "armsim/robot/1",
        "name": "heavy",
        "gravity": [0, 0, 0],
        "parameters": {"period": 8e8},
        "joints": [
            {
                "name": "P",
                "type": "prismatic",
                "mdh": {},
                "bodies": [{"point": {"mass": "period", "center": [0, 0, 0]}}],
            },
            {
                "name": "Q",
                "type": "prismatic",
                "mdh": {"alpha": 1.5707963},
                "bodies": [{"point": {"mass": 8e8, "center": [0, 0, 0]}}],
            },
        ],
    },
    "initial": {"q": [0, 0], "qd": [50, 0]},
    "inputs": {"torque": ["1e12*sin(20*t)", 0]},
}


def test_a_run_beside_one_that_diverges_ends_as_it_does_alone():
    alone = armsim.simulate(HEAVY, force_step=True, measure="work_motors")
    assert alone.status == "complete"
    many = armsim.simulate_many(HEAVY, {"initial.qd[1]": [0.0, 1e6]}, measure=["work_motors"], force_step=True)
    assert many.status.tolist() == ["complete", "diverged"]
    assert many.reason[1].startswith("q_Q left all bounds")
    assert many.q[0].tolist() == alone.state[:2]
    assert many["work_motors"][0] == alone.measures["work_motors"]
    # what the motor gives, 1.6e9 kg have
    assert alone.measures["work_motors"] == pytest.approx(0.8e9 * (alone.state[2] ** 2 - 50**2), rel=0.01)


def test_a_parameter_may_have_the_name_of_a_time():
    many = armsim.simulate_many(HEAVY, {"robot.parameters.period": [8e8, 4e8]}, force_step=True)
    assert many.q[0, 0] != many.q[1, 0]


def test_the_values_of_a_result_are_its_own():
    values = np.array([50.0, 60.0])
    many = armsim.simulate_many("arm5_hold", {KP: values}, SHORT)
    values[0] = -5.0
    assert many[KP].tolist() == [50.0, 60.0]
    assert armsim.simulate_many("arm5_hold", {KP: [[50.0], [60.0]]}, SHORT)[KP].tolist() == [50.0, 60.0]


@pytest.mark.parametrize(
    "values",
    [
        pd.DataFrame({KP: [50, 60]}),
        {KP: pd.Series([50, 60], dtype=object)},
        {KP: (50, 60.0)},
        {KP: np.array([50, 60], dtype=np.float32)},
        {KP: np.ma.array([50.0, 60.0])},
    ],
    ids=["frame", "series of objects", "tuple", "single precision", "masked, nothing hidden"],
)
@pytest.mark.handful(1)
def test_values_may_come_as_frames_series_or_other_numbers(values):
    many = armsim.simulate_many("arm5_hold", values, SHORT, threads=np.int64(1))
    plain = armsim.simulate_many("arm5_hold", {KP: [50.0, 60.0]}, SHORT)
    assert many[KP].tolist() == [50.0, 60.0]
    assert np.array_equal(many.q, plain.q)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": [1, 2]}, "a path with its values"),
        ({"values": {1: [2.0]}}, "a path with its values"),
        ({"values": {KP: np.ma.array([1.0, 2.0], mask=[False, True])}}, "a masked array"),
        ({"values": {KP: [True, False]}}, "real numbers"),
        ({"values": {KP: [1.0]}, "measure": None}, "names of measures"),
        ({"values": {KP: [1.0]}, "measure": [3]}, "names of measures"),
        ({"values": {KP: [1.0]}, "threads": 1.5}, "how many, 1 or more"),
    ],
)
def test_what_is_no_value_no_measure_or_no_number_of_threads_is_refused_in_words(arguments, message):
    with pytest.raises(UsageError) as caught:
        armsim.simulate_many("arm5_hold", **arguments)
    assert message in str(caught.value)


def test_a_scenario_that_has_been_read_is_refused_in_words():
    with pytest.raises(UsageError, match="give what the scenario was read from"):
        armsim.prepare(read_scenario("arm5_hold"), [KP])


def test_columns_of_csv_files_are_not_open_and_the_refusal_says_why(tmp_path):
    (tmp_path / "u.csv").write_text("t_s,u\n0,1\n1,2\n")
    inputs = {"torque": [{"csv": str(tmp_path / "u.csv"), "column": "u"}, 0.5]}
    scenario = {key: value for key, value in HEAVY.items() if key != "inputs"} | {"inputs": inputs}
    with pytest.raises(UsageError, match="a column of a CSV file"):
        armsim.prepare(scenario, ["inputs.torque[0]"])
    with pytest.raises(UsageError, match="name those that are numbers one by one"):
        armsim.prepare(scenario, ["inputs.torque"])
    assert (
        armsim.prepare(scenario, ["inputs.torque[1]"], force_step=True)({"inputs.torque[1]": 0.7}).status == "complete"
    )


def test_the_paths_of_prepare_may_be_any_iterable_and_it_goes_to_other_processes():
    sim = armsim.prepare("arm5_hold", (path for path in [KP]), SHORT, measure="iae")
    assert sim.open == (KP,)
    other = pickle.loads(pickle.dumps(sim))
    one, two = sim({KP: 70.0}), other({KP: 70.0})
    assert np.array_equal(one.table, two.table)
    assert one.measures == two.measures


def test_a_run_that_diverges_has_no_measures_but_the_peaks_of_its_summary():
    sick = {"integrator.dt": 1e-3, "duration": 2, "log.every": 0.1}
    run = armsim.simulate("arm5_hold", sick, force_step=True, measure=["integral(1)", "iae", "peak_torque_R1 - 5"])
    assert run.status == "diverged"
    assert math.isnan(run.measures["peak_torque_R1 - 5"])
    assert math.isnan(run.measures["integral(1)"])
    assert math.isnan(run.measures["iae"])
    assert all(math.isfinite(peak) and peak > 0 for peak in run.peaks)


def test_a_summary_shows_what_was_measured_and_nothing_else():
    asked = ["peak_torque_elbow - 5", "2*peak_torque_elbow"]
    run = armsim.simulate("two_link_hold", {"duration": 0.05}, measure=asked)
    assert list(run.summary()["measures"]) == asked
    assert "measures" not in armsim.simulate("two_link_hold", {"duration": 0.05}).summary()
    whole = armsim.simulate("two_link_hold", {"duration": 0.05}, measure="peak_torque").summary()
    assert list(whole["measures"]) == ["peak_torque_shoulder", "peak_torque_elbow"]


@pytest.mark.slow
def test_rows_of_many_runs_are_kept_stretch_by_stretch(monkeypatch):
    # each stretch is put where it belongs, and no more than that is touched
    monkeypatch.setattr("armsim.batches.block.ROOM", 2**16)
    overrides = {"duration": 0.5, "log.every": 1e-3}
    many = armsim.simulate_many("two_link_hold", {KP: [300.0, 400.0, 500.0]}, overrides, rows=True)
    for run, kp in enumerate(many[KP].tolist()):
        assert np.array_equal(many.rows[run], armsim.simulate("two_link_hold", {**overrides, KP: kp}).table)
