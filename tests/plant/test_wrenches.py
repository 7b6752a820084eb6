"""Wrenches as columns of runs: against what acts on the joints, external forces, and the answers of `Robot.wrenches`."""

from __future__ import annotations

import numpy as np
import pytest

import armsim
from armsim.errors import FileFaults
from armsim.loading import build_robot, load_robot_file
from armsim.plant.columns import read_heading

PARTS = {"mx": "Nm", "my": "Nm", "mz": "Nm", "fx": "N", "fy": "N", "fz": "N"}
JOINTS = ("R1", "P2", "S3", "R4")
EVERYWHERE = ("base", *JOINTS, "tool", "wrist")
PUSH = {"frame": "tool", "force": [3.0, -4.0, 5.0], "moment": [0.1, 0.2, -0.3], "from": 0.1, "to": 0.2}
LAW = {"frame": "tool", "force": ["-200*x_tool", 0, "3*vz_tool"]}
PULL = {"link": "R1", "point": [0.1, 0.2, 0.0], "force": [-7.0, 0.0, 2.0]}
DRIVES = {  # every joint has its own: stops, friction on either side of a lossy gear, a rotor, a spring
    "R1": {
        "friction": {"viscous": 0.2, "coulomb": 0.4},
        "limits": {"lower": -0.1, "upper": 0.1, "stiffness": 500, "damping": 5},
    },
    "P2": {"friction": {"coulomb": 2.0}},
    "S3": {"motor": {"Kp": 0.05, "Ra": 1.0, "gear": 30, "rotor_inertia": 1e-4, "efficiency": 0.8, "coulomb": 0.01}},
    "R4": {
        "motor": {"Kp": 0.05, "Ra": 1.0, "gear": -20, "rotor_inertia": 2e-4, "inductance": 0.01},
        "spring": {"stiffness": 3.0, "rest": 0.2},
    },
}


def robot(drives=DRIVES) -> dict:
    box = {"box": {"size": [0.1, 0.2, 0.3], "mass": 1.5, "center": [0.1, -0.05, 0.1]}}
    kinds = {"R": "revolute", "P": "prismatic", "S": "screw"}
    joints = []
    for i, name in enumerate(JOINTS):
        place = {"xyz": [0.1, 0.05 * i, 0.2], "rpy": [0.3 * i, 1.0, -0.4], "axis": [[0, 1, 0], [1, 2, 3]][i % 2]}
        joint = {"name": name, "type": kinds[name[0]], "origin": place, "bodies": [box]}
        joints.append(joint | ({"pitch": 0.8} if name[0] == "S" else {}) | drives.get(name, {}))
    return {
        "format": "armsim/robot/1",
        "name": "arm",
        "convention": "origin",
        "joints": joints,
        "base": {"xyz": [0.1, 0.2, 0.3], "rpy": [0.2, 0.1, -0.5]},
        "tool": {"xyz": [0.1, 0.0, 0.05], "rpy": [0.5, 0.6, 0.7]},
        "frames": {"wrist": {"link": "S3", "xyz": [0.02, 0.03, 0.04], "rpy": [0.1, 0.2, 0.3]}},
        "payload": [
            {"name": "cup", "mass": 0.4, "center": [0.0, 0.02, 0.05]},
            {"name": "camera", "frame": "wrist", "body": box},
        ],
    }


def scenario(method: str = "rk4", wrenches=EVERYWHERE, external=(PUSH, PULL), drives=DRIVES, **more) -> dict:
    step = {"dt": 1e-3} if method in ("rk4", "implicit_midpoint") else {"rtol": 1e-7}
    torques = ["5*sin(20*t)", "40 - 300*t", "0.4*cos(10*t)", "0.5"]
    return {
        "format": "armsim/scenario/1",
        "name": "shaken",
        "robot": robot(drives),
        "duration": 0.3,
        "integrator": {"method": method, **step},
        "initial": {"qd": [1.0, 0.0, -0.5, 2.0]},
        "inputs": {"torque": torques},
        "external": list(external),
        "log": {"every": 1e-2, "wrenches": list(wrenches)},
        **more,
    }


def wrench(run, name: str) -> np.ndarray:
    """Moment and force, row by row."""
    return np.stack([run[f"{part}_{name}_{unit}"] for part, unit in PARTS.items()], axis=1)


@pytest.fixture(scope="module")
def arm():
    return build_robot(load_robot_file(robot()).document)


@pytest.mark.parametrize("method", ["rk4", "rodas", "rk54", "implicit_midpoint"])
@pytest.mark.parametrize("external", [(PUSH, PULL), (LAW, PULL)], ids=["given", "following"])
@pytest.mark.handful(1)
def test_along_the_axis_a_joint_transmits_what_acts_on_it_less_what_its_rotor_takes(method, external, arm):
    run = armsim.simulate(scenario(method, external=external))
    assert max(abs(run["tau_limit_R1_Nm"])) > 1
    assert 0 < sum(run["qd_P2_m_s"] == 0) < run.count
    for i, joint in enumerate(arm.joints):
        moment, force = run[f"mz_{joint.name}_Nm"], run[f"fz_{joint.name}_N"]
        along = joint.turns * moment + joint.slides * force
        # the solution of the equations of motion leaves a rest of rounding, of the largest force
        assert np.abs(along + joint.armature * run.qdd[:, i] - run.tau[:, i]).max() <= 1e-12 * np.abs(run.tau).max()


@pytest.mark.parametrize("method", ["rk4", "rodas", "rk54", "implicit_midpoint"])
@pytest.mark.slow
def test_forces_that_follow_the_motion_load_bearings_and_sensors_like_others(method, arm):
    run = armsim.simulate(scenario(method, external=[LAW, PULL]))
    robot = armsim.load_robot(run.scenario.file.robot.document)
    free = robot.wrenches(run.q, run.qd, run.qdd, EVERYWHERE)
    pose = robot.forward_kinematics(run.q)
    axes = np.array([rotation(q) for q in pose.quaternion])
    force = np.stack([-200 * run["x_m"], 0 * run.t, 3 * run["vz_m_s"]], axis=1)
    carried = np.einsum("kji,kj->ki", axes, force)
    found = wrench(run, "tool")
    assert found[:, 3:] + carried == pytest.approx(free[:, EVERYWHERE.index("tool"), 3:], abs=1e-11)
    assert found[:, :3] == pytest.approx(free[:, EVERYWHERE.index("tool"), :3], abs=1e-11)
    base = np.array([[*row] for row in arm.base.rotation])
    assert wrench(run, "base")[:, 3:] + (force + PULL["force"]) @ base == pytest.approx(free[:, 0, 3:], abs=1e-11)


def rotation(quaternion) -> np.ndarray:
    w, x, y, z = quaternion
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * k + 2 * k @ k


def test_external_forces_load_what_is_before_them_and_a_sensor_only_at_its_own_frame(arm):
    run = armsim.simulate(scenario())
    robot = armsim.load_robot(run.scenario.file.robot.document)
    free = robot.wrenches(run.q, run.qd, run.qdd, EVERYWHERE)
    pushed = (run.t > 0.1 - 1e-9) & (run.t < 0.2 - 1e-9)
    pose = robot.forward_kinematics(run.q)
    axes = np.array([rotation(q) for q in pose.quaternion])
    assert wrench(run, "wrist") == pytest.approx(free[:, EVERYWHERE.index("wrist")], rel=1e-12, abs=1e-12)
    own = np.concatenate([axes.transpose(0, 2, 1) @ PUSH["moment"], axes.transpose(0, 2, 1) @ PUSH["force"]], axis=1)
    expected = free[:, EVERYWHERE.index("tool")] - own * pushed[:, None]
    assert wrench(run, "tool") == pytest.approx(expected, rel=1e-12, abs=1e-12)
    # at the base: moments about its origin, of the push at the tool and of the pull on the first link
    stands = np.array([*arm.base.position])
    base = np.array([[*row] for row in arm.base.rotation])
    links = robot.link_poses(run.q)
    point = links.position[:, 0] + np.array([rotation(q) @ PULL["point"] for q in links.quaternion[:, 0]])
    moment = np.cross(point - stands, PULL["force"])
    moment += (np.cross(pose.position - stands, PUSH["force"]) + PUSH["moment"]) * pushed[:, None]
    force = np.array(PULL["force"]) + np.array(PUSH["force"]) * pushed[:, None]
    expected = free[:, 0] - np.concatenate([moment @ base, force @ base], axis=1)
    assert wrench(run, "base") == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_lanes_and_both_engines_give_the_bits_of_single_runs():
    masses = [0.2, 1.1]
    many = armsim.simulate_many(scenario(), {"robot.payload[0].mass": masses}, rows=True)
    for k, mass in enumerate(masses):
        one = armsim.simulate(scenario(), overrides={"robot.payload[0].mass": mass})
        assert many.rows[k].tobytes() == one.table.tobytes()
    short = {"duration": 0.02}
    native, slow = (armsim.simulate(scenario(**short), engine=engine) for engine in ("llvm", "python"))
    np.testing.assert_array_equal(native.table, slow.table)


@pytest.mark.slow
def test_formulas_of_measures_name_wrenches_whether_they_are_logged_or_not():
    formulas = [
        f"{aggregate}({part}_{name})" for aggregate in ("max", "final") for part in PARTS for name in EVERYWHERE
    ]
    every = {"log": {"every": 1e-3, "wrenches": list(EVERYWHERE)}}
    run = armsim.simulate(scenario(**every), measure=formulas)
    bare = armsim.simulate(scenario(**{"log": {"every": 0.1}}), measure=formulas)
    assert dict(bare.measures) == dict(run.measures)
    assert "mz_R1_Nm" not in bare
    for part, unit in PARTS.items():
        for name in EVERYWHERE:
            assert run.measures[f"max({part}_{name})"] == max(run[f"{part}_{name}_{unit}"])
            assert run.measures[f"final({part}_{name})"] == run[f"{part}_{name}_{unit}"][-1]
            assert run.units[f"max({part}_{name})"] == ("N" if unit == "N" else "N·m")


def test_a_saved_run_has_its_wrenches_back_in_torque_csv(tmp_path):
    run = armsim.simulate(scenario(wrenches=["tool", "R4"], external=[PULL]), {"robot.payload": {"mass": 0.4}})
    run.save(tmp_path / "run")
    headings = [
        f"{part}_{name}_{PARTS[part]}" for name in ("tool", "R4") for part in ("fx", "fy", "fz", "mx", "my", "mz")
    ]
    first = (tmp_path / "run" / "torque.csv").read_text().splitlines()[0].split(",")
    assert first[-12:] == headings
    again = armsim.load_run(tmp_path / "run")
    assert list(again) == list(run)
    for heading in headings:
        np.testing.assert_array_equal(again[heading], run[heading])


def test_headings_of_wrenches_are_read_back_with_units():
    assert read_heading("fx_R2_N") == ("wrench", "fx_R2", "N")
    assert read_heading("mz_left_tip_Nm") == ("wrench", "mz_left_tip", "N·m")
    assert read_heading("mz_left_tip_N") is None


def test_wrenches_are_compared_within_a_tolerance_of_their_own(tmp_path):
    for name, moment in (("a.csv", 2.0), ("b.csv", 2.5)):
        (tmp_path / name).write_text(f"t_s,q_R1_rad,mx_R1_Nm\n0,{moment},{moment}\n")
    for tolerance, differs in ((0.4, True), (0.6, False)):
        found = armsim.compare(tmp_path / "a.csv", tmp_path / "b.csv", tolerance={"wrench": tolerance})
        assert found.comparison.differs is differs


def test_a_wrench_at_what_is_neither_joint_nor_frame_is_refused_with_the_nearest(told):
    with pytest.raises(FileFaults) as refused:
        armsim.simulate(scenario(wrenches=["R1", "P3", "bsae"]))
    told(str(refused.value))


def test_motors_of_dynamechs_have_the_wrenches_of_the_motion_that_they_make():
    motor = {"Kp": 0.5, "Ra": 1.0, "viscous": 0.1, "coulomb": 0.2, "rotor_inertia": 0.01, "model": "dynamechs"}
    link = {"mdh": {"a": 0.4}, "type": "revolute", "bodies": [{"point": {"mass": 1.2, "center": [0.3, 0.1, 0.2]}}]}
    arm = {"format": "armsim/robot/1", "name": "arm", "gravity": [3, -9, 2], "payload": {"mass": 0.3}}
    arm["joints"] = [{"name": name, **link, "motor": motor} for name in ("R1", "R2")]
    names = ["base", "R1", "R2", "tool"]
    run = armsim.simulate(
        {
            "format": "armsim/scenario/1",
            "name": "emulated",
            "robot": arm,
            "duration": 0.5,
            "integrator": {"method": "explicit_euler", "dt": 1e-3},
            "inputs": {"voltage": ["20*sin(9*t)", "-3"]},
            "log": {"every": 1e-2, "wrenches": names},
        }
    )
    expected = armsim.load_robot(arm).wrenches(run.q, run.qd, run.qdd, names)
    for k, name in enumerate(names):
        assert wrench(run, name) == pytest.approx(expected[:, k], rel=1e-13, abs=1e-13)
