"""Studies drawn: a curve, a map, parallel coordinates; what has no value is told from what has."""

from __future__ import annotations

import numpy as np
import pytest

from armsim.batches.runs import Runs
from armsim.formulas.values import parse_values

pytest.importorskip("matplotlib")

from armsim.figures.picture import save
from armsim.figures.study import study_figure
from armsim.studies.request import StudyRequest
from armsim.studies.study import study_of


def made(columns: dict, values) -> Runs:
    values = np.asarray(values, float)
    found = Runs.blank("out", len(values), columns, ["cost"])
    found["cost"][:] = values
    found.status[:] = np.where(np.isnan(values), "refused", "complete")
    return found


def saved(figure, path):
    save(figure, path)
    return figure


def test_one_number_makes_a_curve_with_crosses_for_runs_without_a_value(tmp_path):
    axes = {"kp": parse_values("log:1:8:4")}
    figure = saved(
        study_figure(made({"kp": np.array([1.0, 2, 4, 8])}, [3, 2, np.nan, 1]), axes, "cost"), tmp_path / "a.png"
    )
    (panel,) = figure.axes
    curve, crosses = panel.lines
    np.testing.assert_array_equal(curve.get_ydata(), [3, 2, np.nan, 1])
    assert list(crosses.get_xdata()) == [4]
    assert (panel.get_xscale(), panel.get_xlabel(), panel.get_ylabel()) == ("log", "kp", "cost")
    assert "1 of them without a value" in figure.get_suptitle()


def test_two_numbers_make_a_map_with_each_run_in_its_cell(tmp_path):
    kp, kd = (x.ravel() for x in np.meshgrid([1.0, 2, 3], [0.0, 5], indexing="ij"))
    values = kp * 10 + kd
    values[2] = np.nan
    axes = {"kp": parse_values("1,2,3"), "kd": parse_values("0,5")}
    figure = saved(study_figure(made({"kp": kp, "kd": kd}, values), axes, "cost"), tmp_path / "a.png")
    cells = figure.axes[0].collections[0].get_array()
    np.testing.assert_array_equal(np.ma.filled(cells, np.nan), [[10, np.nan, 30], [15, 25, 35]])


def test_more_make_parallel_coordinates_words_among_them(tmp_path):
    rng = np.random.default_rng(1)
    columns = {
        "a": rng.random(50),
        "method": np.array(["rk4", "rodas"] * 25, dtype=object),
        "c": 10 ** rng.random(50),
    }
    axes = {"a": parse_values("uniform:0:1"), "method": parse_values("rk4,rodas"), "c": parse_values("uniform:1:10")}
    values = rng.random(50)
    figure = saved(study_figure(made(columns, values), axes, "cost"), tmp_path / "a.png")
    panel = figure.axes[0]
    assert len(panel.collections[0].get_segments()) == 50
    assert panel.lines[0].get_label() == f"least cost, run {np.argmin(values)}"
    assert {"rk4", "rodas"} <= {text.get_text() for text in panel.texts}


@pytest.mark.parametrize(
    ("scenario", "path", "values", "unit"),
    [
        ("arm5_hold", "control.kp[R2]", "20,40", "V/rad"),
        ("arm5_hold", "control.kp", "20,40", "V/rad"),
        ("arm5_computed_torque", "control.kp", "20,40", "1/s²"),
        ("arm5_hold", "payload.mass", "1,2", "kg"),  # which the file lacks
        ("arm5_hold", "robot.joints[R2].motor.Ra", "1,2", "ohm"),
        ("arm5_hold", "robot.joints[R2].limits.stiffness", "1e3,2e3", "N·m/rad"),
        ("arm5_hold", "robot.joints[R2].motor.gear", "8,9", ""),
        ("two_link_hold", "control.target[0]", "10,20", "deg"),  # as its file has them
        ("arm5_hold", "initial.q[R3]", "0.1,0.2", "rad"),
        ("arm5_hold", "integrator.dt", "1e-4,2e-4", "s"),
        ("arm5_hold", "integrator.method", "rk4,rodas", ""),
    ],
)
def test_what_is_varied_has_the_unit_of_its_file_at_its_joint(scenario, path, values, unit):
    assert study_of(scenario, StudyRequest({path: values})).units("duration") == {path: unit, "duration": "s"}


def test_a_joint_that_slides_has_metres_where_others_have_radians():
    disc = {"mdh": {}, "bodies": [{"cylinder": {"axis": "z", "height": 0.1, "radius": 0.2, "mass": 2}}]}
    joints = [{"name": "A", "type": "revolute", **disc}, {"name": "B", "type": "prismatic", **disc}]
    robot = {"format": "armsim/robot/1", "name": "two", "joints": joints}
    control = {"law": "pd", "output": "torque", "kp": [3, 4], "kd": [1, 1], "target": [0, 0]}
    scenario = {"format": "armsim/scenario/1", "name": "s", "robot": robot, "duration": 1, "control": control}
    vary = {"control.kp[A]": "1,2", "control.kd[B]": "1,2", "control.target[B]": "0.1,0.2", "control.limit": "5,6"}
    found = study_of(scenario, StudyRequest(vary)).units("iae")
    assert list(found.values()) == ["N·m/rad", "N·s/m", "m", "", ""]  # and none where both are meant
    via = {**control, "reference": {"via": [[0, 0], [1, 2]], "times": [0, 1]}, "target": None}
    found = study_of({**scenario, "control": via}, StudyRequest({"control.reference.via[0][B]": "1,2"})).units(
        "duration"
    )
    assert found["control.reference.via[0][B]"] == "m"


def test_axes_have_the_units_of_what_is_varied_and_measured(tmp_path):
    study = study_of("arm5_hold", StudyRequest({"control.kp[R2]": "20,40"}))
    assert [study.units(name)[name] for name in ("iae", "peak_error_R2", "duration*iae")] == ["rad·s", "rad", ""]
    columns = {"a": np.array([0.0, 1.0]), "b": np.array([1.0, 2.0]), "c": np.array([2.0, 3.0])}
    axes, units = {name: parse_values("0,1") for name in columns}, {"cost": "rad·s", "a": "kg"}
    curve = saved(study_figure(made({"a": columns["a"]}, [1.0, 2.0]), axes, "cost", units), tmp_path / "a.png")
    assert (curve.axes[0].get_xlabel(), curve.axes[0].get_ylabel()) == ("a [kg]", "cost [rad·s]")
    two = {name: columns[name] for name in "ab"}
    cells, bar = study_figure(made(two, [1.0, 2.0]), axes, "cost", units).axes
    assert (cells.get_xlabel(), cells.get_ylabel(), bar.get_ylabel()) == ("a [kg]", "b", "cost [rad·s]")
    panel = study_figure(made(columns, [1.0, 2.0]), axes, "cost", units).axes[0]
    assert [text.get_text() for text in panel.get_xticklabels()] == ["a\n[kg]", "b", "c"]


def test_the_cells_of_a_map_stand_at_the_values_that_were_asked_for():
    columns = {"a": np.array([0.0, 0.0, 1.0, 1.0]), "b": np.array([1.0, 2.5, 1.0, 2.5])}
    panel = study_figure(made(columns, [1.0, 2, 3, 4]), {name: parse_values("0,1") for name in columns}, "cost").axes[0]
    assert [text.get_text() for text in panel.get_yticklabels()] == ["1", "2.5"]
