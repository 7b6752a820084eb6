"""A tuning drawn: its search, where its cases hold, its margins."""

from __future__ import annotations

import numpy as np
import pytest

import armsim

pytest.importorskip("matplotlib")

from armsim.figures.picture import save
from armsim.figures.tuning import tuning_figure

SHORT = {"duration": 0.3}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    test = {"control.target[1]": [-1.0, 0.5], "control.target[R3]": [0.3, 0.5], "payload.mass": [0, 6]}
    return armsim.tune(
        "arm5_hold", {"control.kp": "0:200"}, "iae", SHORT, folder / "t", trials=12, test=test, holds="rms_error < 0.2"
    )


def saved(figure, path):
    save(figure, path)
    return figure


def test_the_best_so_far_never_rises_and_ends_at_what_was_found(found, tmp_path):
    search, _, _ = saved(tuning_figure(found), tmp_path / "a.png").axes
    (curve,) = search.lines
    assert (np.diff(curve.get_ydata()) <= 0).all()
    assert curve.get_ydata()[-1] == found.objective


@pytest.mark.slow
def test_cases_are_where_the_tool_is_at_their_targets_and_told_apart(found, tmp_path):
    _, places, _ = saved(tuning_figure(found), tmp_path / "a.png").axes
    good, bad = (np.asarray(dots.get_offsets()) for dots in places.collections)
    assert (len(good), len(bad)) == (int(found.holds.sum()), int((~found.holds).sum()))
    assert min(len(good), len(bad)) > 0
    goal = [0, found.test["control.target[1]"][0], found.test["control.target[R3]"][0], 0, 0]
    (x, y, z), _ = armsim.load_robot("arm5").forward_kinematics(goal)
    assert np.isclose(np.vstack([good, bad]), [np.hypot(x, y), z], atol=1e-9).all(axis=1).any()


@pytest.mark.parametrize("upright", [True, False])
@pytest.mark.slow
def test_the_axis_that_distances_are_from_is_that_of_the_arm_with_the_tool(tmp_path, upright):
    rod = {"rod": {"axis": "x", "length": 0.5, "mass": 1, "center": [0.25, 0, 0]}}
    joints = [
        {"name": f"{side}{i}", "type": "revolute", "origin": {"xyz": xyz, "axis": axis}, "bodies": [rod]}
        for side, x in (("L", 0.7), ("R", -0.7))
        for i, (xyz, axis) in enumerate((([x, 0, 1], [0, 0, 1]), ([0.5, 0, 0], [0, 1, 0])))
    ]
    joints[2]["parent"] = "base"
    joints[2]["origin"]["axis"] = [0, 0, 1] if upright else [0, 1, 0]
    robot = {"format": "armsim/robot/1", "name": "two", "convention": "origin", "joints": joints}
    scenario = {
        "format": "armsim/scenario/1",
        "robot": {**robot, "tool": {"xyz": [0.5, 0, 0]}},
        "duration": 0.3,
        "control": {"law": "pd", "output": "torque", "kp": 50, "kd": 5, "target": [0.1, 0.2, 0, 0]},
    }
    test = {"control.target[2]": [-0.4, 0.5], "control.target[R1]": [0.3, 1.0]}
    two = armsim.tune(scenario, {"control.kp": "10:90"}, "iae", {}, tmp_path / "t", trials=2, test=test)
    _, places, *_ = saved(tuning_figure(two), tmp_path / "a.png").axes
    label = "distance from the first joint's axis [m]" if upright else "horizontal position [m]"
    assert places.get_xlabel() == label
    drawn = np.vstack([dots.get_offsets() for dots in places.collections])
    for bend in (0.3, 1.0) if upright else ():
        place = [0.5 + 0.5 * np.cos(bend), 1 - 0.5 * np.sin(bend)]
        assert np.isclose(drawn, place, atol=1e-9).all(axis=1).sum() == 2


@pytest.mark.slow
def test_of_an_arm_in_a_vertical_plane_cases_are_drawn_in_that_plane(tmp_path):
    test = {"control.target[0]": [-90, 0, 20], "control.target[1]": [0, 90]}
    planar = armsim.tune("two_link_hold", {"control.kp": "10:300"}, "iae", SHORT, tmp_path / "t", trials=3, test=test)
    _, places, *_ = saved(tuning_figure(planar), tmp_path / "a.png").axes
    assert places.get_xlabel() == "horizontal position [m]"
    drawn = np.vstack([dots.get_offsets() for dots in places.collections])
    goals = np.radians([[a, b] for a in (-90, 0, 20) for b in (0, 90)])
    position, _ = armsim.load_robot("two_link").forward_kinematics(goals)
    for x, y, _ in position:
        assert np.isclose(np.abs(drawn), np.abs([x, y]), atol=1e-9).all(axis=1).any()


def test_margins_are_bars_from_the_least_to_the_largest_factor(found, tmp_path):
    *_, bars = saved(tuning_figure(found), tmp_path / "a.png").axes
    factors = [margin for margin in found.margins if margin.unit == "factor"]
    spans = [line.get_xdata() for line in bars.lines if len(line.get_xdata()) == 2 and line.get_linewidth() == 4.0]
    np.testing.assert_allclose(spans, [(margin.low, margin.high) for margin in factors])
    assert next(label.get_text() for label in bars.get_yticklabels()) == "control.kp[0]"
