"""Figures of runs: what is drawn of which column, and how it looks."""

from __future__ import annotations

import itertools
import shutil
import sys
from itertools import chain

import numpy as np
import pytest

import armsim
from armsim.errors import UsageError
from armsim.figures.drawn_run import columns_over_time, drawn
from armsim.figures.plot import plot
from armsim.figures.style import FLOORS, look

pytest.importorskip("matplotlib")

SHORT = {"duration": 0.2, "log.every": 1e-2}


@pytest.fixture(scope="module")
def run():
    return armsim.simulate("arm5_reach", SHORT)


@pytest.fixture(scope="module")
def figure(run):
    return plot(run)


def panel(figure, label):
    """The panel whose axis says so."""
    return next(axis for axis in figure.axes if axis.get_ylabel() == label)


def curve(axis, name):
    """The times and values of a line by its label."""
    return next(line for line in axis.lines if line.get_label() == name).get_data()


def arm(n, **keys):
    """A planar chain as plain data."""
    body = {"rod": {"axis": "x", "length": 0.1, "mass": 1, "center": [0.05, 0, 0]}}
    joint = {"type": "revolute", "mdh": {"a": 0.1}, "bodies": [body], **keys}
    return {"format": "armsim/robot/1", "name": "chain", "joints": [{"name": f"J{i}", **joint} for i in range(n)]}


def motion(columns, n=1, **about):
    """A run of columns over a second."""
    rows = len(next(iter(columns.values())))
    times = {"t_s": np.linspace(0.0, 1.0, rows)}
    return columns_over_time("made", {**times, **columns}, {"name": "made", "duration": 1.0, "robot": arm(n), **about})


def test_every_quantity_has_a_panel_with_its_unit(figure):
    assert [axis.get_ylabel() for axis in figure.axes] == [
        "position [rad]", "velocity [rad/s]", "motor torque [N·m]", "voltage [V]", "current [A]", "tracking error [rad]",
        "energy [J]",
    ]  # fmt: skip
    assert figure.axes[-1].get_xlabel() == "t [s]"
    assert len({axis.get_xlim() for axis in figure.axes}) == 1


def test_curves_are_the_columns_of_the_run(figure, run):
    for label, kind, unit in (("position [rad]", "q", "rad"), ("motor torque [N·m]", "tau_motor", "Nm")):
        for name in ("R1", "R5"):
            t, values = curve(panel(figure, label), name)
            assert t.tolist() == run.t.tolist()
            assert values.tolist() == run[f"{kind}_{name}_{unit}"].tolist()
    kinetic, potential, both = (curve(panel(figure, "energy [J]"), x)[1] for x in ("kinetic", "potential", "their sum"))
    assert both == pytest.approx(kinetic + potential)
    assert kinetic.tolist() == run["kinetic_energy_J"].tolist()


def test_targets_limits_and_errors_are_those_of_the_scenario(figure, run):
    position = panel(figure, "position [rad]")
    level = {(line.get_ydata()[0], line.get_color()) for line in position.lines if len(line.get_xdata()) == 2}
    targets = [0.8, -0.6, -0.4, 0.5, 0.3]
    assert level >= {(x, look(i).color) for i, x in enumerate(targets)}
    assert level >= {(-1.2, look(1).color), (0.7, look(1).color), (0.6, look(2).color)}  # of arm5.yaml
    volts = [line.get_ydata()[0] for line in panel(figure, "voltage [V]").lines if len(line.get_xdata()) == 2]
    assert set(volts) == {-24.0, 24.0}
    _, error = curve(panel(figure, "tracking error [rad]"), "R2")
    assert error == pytest.approx(-0.6 - run["q_R2_rad"], abs=1e-15)


def test_torques_and_speeds_have_the_limits_of_their_motors():
    motor = {"Kp": 0.1, "Ra": 1, "gear": -50, "limits": {"torque": 2, "current": 30, "speed": 100}}
    made = motion({"tau_motor_J0_Nm": [0.0, 1.0], "qd_J0_rad_s": [0.0, 1.0]}, robot=arm(1, motor=motor))
    found = plot(made)
    torque, speed = (
        {line.get_ydata()[0] for line in panel(found, label).lines if line.get_label() != "J0"}
        for label in ("motor torque [N·m]", "velocity [rad/s]")
    )
    assert torque == {-100.0, 100.0}  # 2 N·m times 50 is less than 30 A times 0.1 N·m/A times 50
    assert speed == {-2.0, 2.0}


def coupled(**keys):
    """Two joints, of which the second mimics the first."""
    robot = arm(2)
    robot["joints"][1] |= {"mimic": {"joint": "J0", "ratio": -2, "offset": 0.1}, **keys}
    return robot


def test_a_joint_that_mimics_another_has_a_look_and_a_range_of_its_own():
    robot = coupled()
    robot["joints"][0]["limits"] = {"lower": -1, "upper": 2}
    q = np.linspace(0.0, 0.5, 5)
    position = panel(plot(motion({"q_J0_rad": q, "q_J1_rad": 0.1 - 2 * q}, robot=robot)), "position [rad]")
    assert curve(position, "J1")[1] == pytest.approx(0.1 - 2 * q)
    bounds = {(line.get_color(), *map(float, line.get_ydata()[:1])) for line in position.lines[:4]}
    assert bounds == {(look(0).color, -1.0), (look(0).color, 2.0), (look(1).color, -3.9), (look(1).color, 2.1)}
    assert [text.get_text() for text in position.get_legend().get_texts()][:2] == ["J0", "J1"]


def test_targets_and_errors_are_of_joints_that_mimic_none():
    q = np.linspace(0.0, 0.5, 5)
    made = motion({"q_J0_rad": q, "q_J1_rad": 0.1 - 2 * q}, robot=coupled(), control={"target": [0.3]})
    found = plot(made)
    dashed = [line for line in panel(found, "position [rad]").lines if line.get_linestyle() == "--"]
    assert [(line.get_color(), line.get_ydata()[0]) for line in dashed] == [(look(0).color, 0.3)]
    (error,) = panel(found, "tracking error [rad]").lines
    assert error.get_ydata() == pytest.approx(0.3 - q)


def test_a_motor_that_drives_a_joint_through_another_bounds_its_torque():
    robot = coupled(motor={"Kp": 0.1, "Ra": 1, "gear": 50, "limits": {"torque": 2}})
    found = plot(motion({"tau_motor_J0_Nm": [0.0, 1.0]}, robot=robot, control={"output": "voltage", "limit": [5]}))
    lines = {line.get_ydata()[0] for line in panel(found, "motor torque [N·m]").lines if line.get_label() != "J0"}
    assert lines == {-200.0, 200.0}  # 2 N·m times 50 and times 2


@pytest.mark.slow
def test_forces_of_couplings_are_drawn_where_they_are_asked_for():
    run = armsim.simulate("arm5_gripper_pick", SHORT)
    figure = plot(run, columns=["tau_coupling_*", "q_F*"])
    assert [axis.get_ylabel() for axis in figure.axes] == ["coupling [N]", "position [m]"]
    assert curve(panel(figure, "coupling [N]"), "F2")[1] == pytest.approx(run["tau_coupling_F2_N"])
    assert panel(figure, "position [m]").lines[-1].get_color() == look(6).color


def test_references_are_drawn_by_their_headings_and_followed_by_the_error():
    q, reference = np.linspace(0.0, 0.5, 5), np.linspace(0.0, 1.0, 5)
    control = {"target": [7.0]}
    found = plot(motion({"q_J0_rad": q, "q_ref_J0_rad": reference}, control=control), columns="")
    position = panel(found, "position [rad]")
    dashed = [line for line in position.lines if line.get_linestyle() == "--"]
    assert [line.get_ydata().tolist() for line in dashed] == [reference.tolist()]
    assert dashed[0].get_color() == look(0).color
    assert curve(panel(found, "tracking error [rad]"), "J0")[1] == pytest.approx(reference - q)
    assert "reference" in [text.get_text() for text in position.get_legend().get_texts()]


def test_a_joint_looks_the_same_in_every_panel_and_no_two_of_thirty_look_alike(figure):
    lines = [line for axis in figure.axes for line in axis.lines if line.get_label() == "R3"]
    assert len(lines) == 6
    assert {(line.get_color(), line.get_marker()) for line in lines} == {(look(2).color, look(2).mark)}
    assert len({look(i) for i in range(30)}) == 30
    assert len({look(i).mark for i in range(7)}) == 7  # in grey


def test_degrees_are_drawn_of_angles_alone(run):
    found = plot(run, degrees=True)
    assert curve(panel(found, "position [deg]"), "R1")[1] == pytest.approx(np.degrees(run["q_R1_rad"]))
    assert panel(found, "velocity [deg/s]").lines
    assert panel(found, "motor torque [N·m]").lines


@pytest.mark.parametrize("around", [0.0, 1.5707963267948966, -1000.0])
def test_rounding_is_not_blown_up_to_the_height_of_a_panel(around):
    wiggle = around + 1.7e-6 * np.sin(np.arange(100.0))  # 1e-4 degrees
    figure = plot(motion({"q_J0_rad": wiggle}))
    low, high = panel(figure, "position [rad]").get_ylim()
    assert high - low >= FLOORS["rad"]
    assert low < wiggle.min() < wiggle.max() < high


def test_numbers_at_axes_need_no_offset_above_the_panel():
    figure = plot(motion({"q_J0_rad": 1e-7 * np.arange(10) + 123456.0, "tau_motor_J0_Nm": 1e9 * np.arange(10)}))
    figure.canvas.draw()
    for axis in figure.axes:
        assert axis.yaxis.get_offset_text().get_text() == ""
        labels = [label.get_text() for label in axis.get_yticklabels()]
        assert len(set(labels)) == len(labels) > 1


def test_thirty_joints_are_drawn_eight_abreast_and_none_is_left_out():
    columns = {f"q_J{i}_rad": np.full(3, float(i)) for i in range(30)}
    figure = plot(motion(columns, 30))
    shown = [[line.get_label() for line in axis.lines if line.get_marker() != "None"] for axis in figure.axes]
    assert sorted(chain.from_iterable(shown)) == sorted(f"J{i}" for i in range(30))
    assert max(map(len, shown)) <= 8


def test_columns_are_chosen_by_patterns_with_or_without_units(run):
    figure = plot(run, columns="q_R1,tau_R2*, x_m")
    assert [axis.get_ylabel() for axis in figure.axes] == ["position [rad]", "torque in all [N·m]", "tool [m]"]
    assert curve(figure.axes[0], "R1")[1].tolist() == run["q_R1_rad"].tolist()
    with pytest.raises(UsageError, match=r"(?s)columns: 'tau_R9'.*did you mean `tau_R.*_Nm`\?"):
        plot(run, columns=["tau_R9"])


def test_what_is_zero_all_the_time_is_told_and_not_drawn():
    figure = plot(armsim.simulate("rr_config5", {"duration": 0.1}))
    assert figure.get_suptitle().endswith("\nmotor torque: 0")
    assert "motor torque [N·m]" not in [axis.get_ylabel() for axis in figure.axes]


@pytest.mark.slow
def test_a_run_in_a_folder_is_drawn_as_the_one_in_memory(run, figure, tmp_path):
    folder = run.save(tmp_path / "run")
    for found in (plot(folder), plot(folder / "run.yaml")):
        assert found.get_suptitle() == figure.get_suptitle()
        for ours, theirs in zip(figure.axes, found.axes, strict=True):
            assert [x.get_xydata().tolist() for x in ours.lines] == [x.get_xydata().tolist() for x in theirs.lines]
    in_degrees = plot(run.save(tmp_path / "deg", degrees=True))
    assert curve(panel(in_degrees, "position [deg]"), "R1")[1] == pytest.approx(np.degrees(run["q_R1_rad"]))
    table = plot(folder / "trajectory.csv")
    assert curve(panel(table, "position [rad]"), "R1")[1].tolist() == run["q_R1_rad"].tolist()


@pytest.mark.slow
def test_a_run_in_parquet_is_drawn_as_well(run, figure, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    found = plot(armsim.simulate("arm5_reach", {**SHORT, "log.format": "parquet"}).save(tmp_path / "run"))
    assert [axis.get_ylabel() for axis in found.axes] == [axis.get_ylabel() for axis in figure.axes]
    assert curve(found.axes[0], "R2")[1].tolist() == run["q_R2_rad"].tolist()


def test_a_recording_is_drawn_with_its_inputs(tmp_path):
    recording = armsim.record("arm5_hold_pi", {"duration": 0.05})
    for given in (recording, recording.save(tmp_path / "recorded")):
        labels = [axis.get_ylabel() for axis in plot(given).axes]
        assert labels[:3] == ["position [rad]", "velocity [rad/s]", "voltage [V]"]


def test_runs_that_ended_early_are_drawn_as_far_as_they_went_and_it_is_said():
    run = armsim.simulate("arm5_hold", {"integrator.dt": 4e-3, "log.every": 4e-3}, force_step=True)
    assert run.status == "diverged"
    figure = plot(run)
    assert f"\ndiverged: rows to {run.t[-1]:g} s of 5 s" in figure.get_suptitle()
    assert figure.axes[0].get_xlim()[1] < 5.0  # the rest of its time would hide it
    assert [len(curve(figure.axes[0], f"R{i}")[0]) for i in (1, 5)] == [run.count] * 2

    run = armsim.simulate("arm5_hold", {"duration": 0.1})
    run.cut_short(8)
    figure = plot(run)
    assert figure.get_suptitle().endswith("\ninterrupted: rows to 0.07 s of 0.1 s")
    assert figure.axes[0].get_xlim() == (0.0, 0.1)
    assert figure.axes[0].patches[0].get_x() == run.t[-1]  # shaded from there on


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.slow
def test_a_run_of_no_row_or_one_is_drawn(rows, tmp_path):
    run = armsim.simulate("two_link_hold", {"duration": 0.1})
    run.cut_short(rows)
    said = "no rows: interrupted before the first" if not rows else "interrupted: rows to 0 s of 0.1 s"
    for given in (run, run.save(tmp_path / "run")):
        figure = plot(given, tmp_path / "out.png", force=True)
        assert figure.get_suptitle().endswith(f"\n{said}")
        assert len(curve(panel(figure, "position [rad]"), "shoulder")[0]) == rows
        drawn_at = next(line for line in figure.axes[0].lines if line.get_label() == "shoulder").get_markevery()
        assert drawn_at == list(range(rows))  # a mark is all there is to see of one row


def test_several_runs_are_drawn_with_their_differences(tmp_path):
    t = np.linspace(0.0, 1.0, 11)
    first = motion({"q_J0_rad": t**2, "qd_J0_rad_s": 2 * t})
    second = motion({"q_J0_rad": t**2 + 1e-9 * t, "qd_J0_rad_s": 2 * t})
    figure = plot([first, second], tmp_path / "out.png")
    labels = ["q J0 [rad]", "difference [rad]", "qd J0 [rad/s]", "difference [rad/s]"]
    assert [axis.get_ylabel() for axis in figure.axes] == labels
    assert figure.axes[1].lines[0].get_ydata() == pytest.approx(1e-9 * t, rel=1e-6)
    assert figure.axes[1].get_title(loc="right") == "at most 1e−9 rad"
    assert figure.axes[3].get_title(loc="right") == "no difference"
    assert np.ptp(figure.axes[1].get_ylim()) >= 1e-6  # not blown up


def test_references_and_tracking_errors_of_two_controllers_belong_in_one_picture():
    t = np.linspace(0.0, 1.0, 5)
    first, second = (motion({"q_J0_rad": k * t, "q_ref_J0_rad": t}) for k in (0.5, 0.9))
    assert [axis.get_ylabel() for axis in plot([first, second], columns="q_ref*").axes][::2] == ["q_ref J0 [rad]"]
    left, right = plot([first, second], columns="e_*").axes
    assert left.get_ylabel() == "error J0 [rad]"
    assert [line.get_ydata() for line in left.lines] == [pytest.approx(0.5 * t), pytest.approx(0.1 * t)]
    assert right.lines[0].get_ydata() == pytest.approx(-0.4 * t)
    held = plot(motion({"q_J0_deg": t}, control={"target": [np.radians(7.0)]}), columns="e_J0")
    assert curve(held.axes[0], "J0")[1] == pytest.approx(7.0 - t)


@pytest.mark.slow
def test_labels_of_several_runs_neither_touch_each_other_nor_leave_the_picture():
    t, longest = np.linspace(0.0, 1.0, 5), "a_joint_whose_name_is_long"
    robot = arm(2)
    robot["joints"][0]["name"] = longest
    columns = {f"tau_friction_{name}_Nm": t for name in (longest, "J1")} | {f"qd_ref_{longest}_rad_s": t}
    about = {"name": "x" * 38, "duration": 1.0, "robot": robot}
    made = [columns_over_time("x" * 38 + f"{k}", {"t_s": t, **columns}, about) for k in range(3)]
    figure = plot(made, columns="*")
    figure.draw_without_rendering()
    assert figure.legends[0].get_window_extent().x1 <= figure.bbox.x1
    for column in (figure.axes[::2], figure.axes[1::2]):
        boxes = [axis.yaxis.label.get_window_extent() for axis in column]
        assert all(lower.y1 < upper.y0 for upper, lower in itertools.pairwise(boxes))


def test_differences_are_taken_at_the_times_of_the_first_and_in_its_unit():
    coarse, fine = np.linspace(0.0, 1.0, 6), np.linspace(0.0, 1.0, 51)
    robot = {"name": "made", "duration": 1.0, "robot": arm(1)}
    first = columns_over_time("a", {"t_s": fine, "q_J0_deg": np.degrees(3 * fine)}, robot)
    second = columns_over_time("b", {"t_s": coarse, "q_J0_rad": 3 * coarse + 0.25}, robot)
    axis = plot([first, second]).axes[1]
    assert axis.lines[0].get_xdata().tolist() == fine.tolist()
    assert axis.lines[0].get_ydata() == pytest.approx(np.full(51, np.degrees(0.25)))
    with pytest.raises(UsageError, match="columns that all runs have"):
        plot([first, columns_over_time("c", {"t_s": fine, "q_other_rad": fine}, {})])


@pytest.mark.slow
def test_names_are_drawn_word_for_word(tmp_path):
    columns = {"t_s": [0.0, 1.0], "$x_{$ [m]": [0.0, 1.0], "_y": [1.0, 2.0]}
    plot(columns_over_time("$a^", columns, {}), tmp_path / "out.png")
    plot([columns_over_time("_$a^$", columns, {})] * 2, tmp_path / "two.png")


def test_no_picture_is_overwritten_unless_asked(run, tmp_path):
    path = tmp_path / "out.png"
    plot(run, path)
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"found: *one that exists\n *mend: .*force=True"):
        plot(run, path, columns="q_R1")
    assert path.read_bytes() == before
    plot(run, path, columns="q_R1", force=True)
    assert path.read_bytes() != before
    for ending in ("svg", "pdf"):
        plot(run, tmp_path / f"out.{ending}", columns="q_R1")


def test_what_cannot_be_drawn_is_refused(tmp_path, monkeypatch):
    for given, why in (("none", "nothing of this name"), (tmp_path, "a folder without trajectory.csv")):
        with pytest.raises(UsageError, match=why):
            drawn(given)
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="a column `t_s`"):
        drawn(tmp_path / "bad.csv")
    with pytest.raises(UsageError, match="one run or more"):
        plot([])
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match=r'(?s)matplotlib, which draws.*pip install "armsim\[plot\]"'):
        plot("none")


def test_a_table_without_run_yaml_is_drawn_without_its_arm(run, tmp_path):
    folder = run.save(tmp_path / "run")
    shutil.move(folder / "run.yaml", tmp_path / "elsewhere.yaml")
    position = panel(plot(folder), "position [rad]")
    assert [line.get_label() for line in position.lines] == ["R1", "R2", "R3", "R4", "R5"]


@pytest.mark.parametrize("text", ["[1, 2]", "status: 3\nscenario: {robot: arm5}\naudit: {}", "scenario: {robot: {}}"])
@pytest.mark.handful(2)
def test_a_run_yaml_of_another_make_says_nothing(run, tmp_path, text):
    folder = run.save(tmp_path / "run")
    (folder / "run.yaml").write_text(text)
    figure = plot(folder)
    assert figure.get_suptitle() == str(folder)
    assert curve(panel(figure, "position [rad]"), "R1")[1].tolist() == run["q_R1_rad"].tolist()
