"""Studies drawn: a curve, a map, parallel coordinates; what has no value is told from what has."""

from __future__ import annotations

import numpy as np
import pytest

from armsim.batches.runs import Runs
from armsim.formulas.values import parse_values

pytest.importorskip("matplotlib")

from armsim.figures.picture import save
from armsim.figures.study import study_figure


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


def test_the_axis_of_a_measure_has_its_unit(tmp_path):
    from armsim.studies.request import StudyRequest
    from armsim.studies.study import study_of

    study = study_of("arm5_hold", StudyRequest({"control.kp[R2]": "20,40"}))
    assert [study.unit(name) for name in ("iae", "peak_error_R2", "duration*iae")] == ["rad·s", "rad", ""]
    columns = {"a": np.array([0.0, 1.0]), "b": np.array([1.0, 2.0])}
    axes = {name: parse_values("0,1") for name in columns}
    curve = saved(study_figure(made({"a": columns["a"]}, [1.0, 2.0]), axes, "cost", "rad·s"), tmp_path / "a.png")
    assert (curve.axes[0].get_xlabel(), curve.axes[0].get_ylabel()) == ("a", "cost [rad·s]")
    _, bar = study_figure(made(columns, [1.0, 2.0]), axes, "cost", "rad·s").axes
    assert bar.get_ylabel() == "cost [rad·s]"
