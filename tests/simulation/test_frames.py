"""Frames in runs: their columns, and what formulas and measures make of them, logged or not."""

from __future__ import annotations

import numpy as np
import pytest

import armsim
from armsim.dynamics import frame_jacobian, frame_pose
from armsim.errors import FileFaults, UsageError
from armsim.recording.compare import read_series

FRAMES = {
    "mid": {"link": "R3", "xyz": [0.05, -0.1, 0.2], "rpy": [0.3, -0.5, 0.7]},
    "left-tip-2": {"link": "R5", "xyz": [0, 0.02, 0.1]},
}
SHORT = {"robot.frames": FRAMES, "duration": 0.1, "log.every": 5e-4, "integrator": {"method": "rk4", "dt": 5e-4}}
LOGGED = {**SHORT, "log.frames": ["mid", "left-tip-2"]}
PARTS = ("x_{}_m", "y_{}_m", "z_{}_m", "qw_{}", "qx_{}", "qy_{}", "qz_{}")
RATES = ("wx_{}_rad_s", "wy_{}_rad_s", "wz_{}_rad_s", "vx_{}_m_s", "vy_{}_m_s", "vz_{}_m_s")  # as in a Jacobian


def block(run, parts, frame):
    return np.stack([run[part.format(frame)] for part in parts], axis=1)


def lanes(runs, heading):
    """A column of many runs, shape (runs, rows)."""
    return runs.rows[:, :, runs.columns.index(heading)]


@pytest.fixture(scope="module")
def run():
    return armsim.simulate("arm5_hold", LOGGED)


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_of_a_frame_are_its_pose_and_the_jacobian_times_the_joints(run, frame):
    arm = run.plant.arm
    poses = [[*frame_pose(arm, q, arm.frame(frame)).coordinates] for q in run.q.tolist()]
    assert np.array_equal(block(run, PARTS, frame), poses)
    moved = [frame_jacobian(arm, q, arm.frame(frame)) @ qd for q, qd in zip(run.q.tolist(), run.qd, strict=True)]
    moved = np.array(moved)
    assert np.abs(moved).max() > 0.1
    assert np.allclose(block(run, RATES, frame), moved, rtol=0, atol=1e-13 * np.abs(moved).max())


def test_a_frames_velocity_is_the_slope_of_its_place():
    run = armsim.simulate("two_link_swing", {
        "robot.frames": {"mid": {"link": "shoulder", "xyz": [0.3, 0.2, 0.1]}}, "log": {"frames": ["mid"], "every": 1e-4},
        "duration": 0.2, "integrator": {"method": "rk4", "dt": 1e-4}, "initial.qd": ["1 rad/s", 0],
    })  # fmt: skip
    assert np.abs(run["vy_mid_m_s"]).max() > 0.1
    for axis in "xyz":
        slope = np.gradient(run[f"{axis}_mid_m"], run.t, edge_order=2)
        # central differences: h² / 6 times the third derivative, some 1e2 m/s³
        assert np.allclose(run[f"v{axis}_mid_m_s"], slope, rtol=0, atol=1e-5)


def test_other_columns_keep_their_bits_and_their_order(run):
    plain = armsim.simulate("arm5_hold", SHORT)
    assert [name for name in run.columns if "mid" not in name and "left-tip-2" not in name] == plain.columns
    for name in plain.columns:
        assert run[name].tobytes() == plain[name].tobytes(), name


def test_the_tool_is_there_anyway_and_a_frame_once():
    again = armsim.simulate("arm5_hold", {**SHORT, "log.frames": ["tool", "mid", "mid"]})
    assert [name for name in again.columns if name.startswith("x_")] == ["x_m", "x_mid_m"]
    assert again.scenario.scenario_data["log"]["frames"] == ["mid"]


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("degrees", [False, True])
@pytest.mark.handful(1)
def test_a_saved_run_has_the_columns_of_its_frames(tmp_path, run, format, degrees):
    run = run if format == "csv" else armsim.simulate("arm5_hold", {**LOGGED, "log.format": format})
    folder = str(tmp_path / "run")
    run.save(folder, degrees=degrees)
    loaded = armsim.load_run(folder)
    assert loaded.columns == run.columns
    unit = "deg_s" if degrees else "rad_s"
    assert f"wx_left-tip-2_{unit}" in read_series(folder).columns
    for name in run.columns:
        turned = degrees and "rad" in name
        np.testing.assert_allclose(loaded[name], run[name], rtol=4e-16 if turned else 0, atol=0)
    assert np.array_equal(run["wz_mid_deg_s"], np.degrees(1.0) * run["wz_mid_rad_s"])
    repeated = armsim.simulate(folder + "/run.yaml")
    assert repeated.table.tobytes() == run.table.tobytes()
    assert loaded.end == run.end


MEASURES = {
    "max(x_mid)": ("x_mid_m", np.max),
    "min(vx_left-tip-2_m_s)": ("vx_left-tip-2_m_s", np.min),
    "final(qw_mid)": ("qw_mid", lambda x: x[-1]),
    "max(wz_mid)": ("wz_mid_rad_s", np.max),
    "peak(x_tool)": ("x_m", lambda x: np.abs(x).max()),
    "first(vz_tool)": ("vz_m_s", lambda x: x[0]),
    "final(z)": ("z_m", lambda x: x[-1]),
}


@pytest.mark.slow
def test_formulas_name_frames_that_are_not_logged_and_have_the_bits_of_columns(run):
    rows = {name: find(run[column]) for name, (column, find) in MEASURES.items()}
    names = [*MEASURES, "pose_mid"]
    asked = armsim.simulate("arm5_hold", SHORT, measure=names)
    assert {name: asked.measures[name] for name in rows} == rows
    for part in PARTS:
        assert asked.measures[part.format("mid")] == run[part.format("mid")][-1]
    few = {**SHORT, "duration": 0.01}
    native, plain = (armsim.simulate("arm5_hold", few, measure=names, engine=engine) for engine in ("llvm", "python"))
    assert native.measures == plain.measures
    assert [asked.units[name] for name in MEASURES] == ["m", "m/s", "", "rad/s", "m", "m/s", "m"]
    assert run.measure("max(x_mid)") == rows["max(x_mid)"]
    # lanes, each the arm of its own payload
    masses = [0.0, 0.1, 0.3]
    many = armsim.simulate_many("arm5_hold", {"payload.mass": masses}, overrides=SHORT, measure=names)
    logged = armsim.simulate_many("arm5_hold", {"payload.mass": masses}, overrides=LOGGED, rows=True)
    for name, (column, find) in MEASURES.items():
        assert many[name].tolist() == [find(row) for row in lanes(logged, column)], name
    assert len({*many["max(x_mid)"].tolist()}) == 3


@pytest.mark.slow
def test_lanes_have_the_rows_of_the_frames_that_they_log():
    """The frames that a kernel writes are part of its key."""
    for frame in FRAMES:
        change = {**SHORT, "log.frames": [frame]}
        runs = armsim.simulate_many("arm5_hold", {"payload.mass": [0.1]}, overrides=change, rows=True)
        alone = armsim.simulate("arm5_hold", {**change, "payload.mass": 0.1})
        assert lanes(runs, f"x_{frame}_m")[0].tobytes() == alone[f"x_{frame}_m"].tobytes()


@pytest.mark.slow
def test_errors_of_frames_are_distances_from_where_they_would_be_at_the_target(run):
    arm = run.plant.arm
    target = [*run.scenario.command.target]
    for frame in (*FRAMES, "tool"):
        wanted = [*frame_pose(arm, target, arm.frame(frame)).position]
        place = block(run, PARTS[:3], frame) if frame != "tool" else np.stack([run[f"{x}_m"] for x in "xyz"], axis=1)
        far = np.linalg.norm(place - wanted, axis=1)
        assert run.measure(f"peak_{frame}_error") == pytest.approx(far.max(), rel=1e-12)
        rms = np.sqrt(np.trapezoid(far**2, run.t) / run.t[-1])
        assert run.measure(f"rms_{frame}_error") == pytest.approx(rms, rel=1e-12)
    assert run.measure("peak_left-tip-2_error") != run.measure("peak_tool_error")


def test_a_frame_that_the_robot_lacks_is_refused_where_it_is_named(told):
    with pytest.raises(FileFaults) as caught:
        armsim.simulate("arm5_hold", {**SHORT, "log.frames": ["mid", "left-tip"]})
    said = [str(caught.value)]
    for name in ("final(x_left)", "pose_middle", "x_mid"):
        with pytest.raises(UsageError) as refused:
            armsim.simulate("arm5_hold", SHORT, measure=name)
        said.append(str(refused.value))
    told("\n\n".join(said))


def test_a_recording_has_its_own_columns_whatever_is_logged():
    plain = armsim.record("arm5_hold_pi", SHORT)
    logged = armsim.record("arm5_hold_pi", LOGGED)
    assert logged.columns == plain.columns
    assert logged.table.tobytes() == plain.table.tobytes()
