"""A run in a few numbers."""

import pytest

import armsim

KP, GEAR = 0.05, -5  # torque constant [N·m/A]; a gear that turns the joint against its motor


def test_peak_current_is_a_magnitude_behind_a_gear_that_reverses_too():
    link = {
        "name": "R1",
        "type": "revolute",
        "mdh": {},
        "bodies": [{"point": {"mass": 1, "center": [0.5, 0, 0]}}],
        "motor": {"Kp": KP, "Ke": KP, "Ra": 1, "gear": GEAR},
    }
    robot = {"format": "armsim/robot/1", "name": "reversed", "gravity": [0, 0, 0], "joints": [link]}
    run = armsim.simulate(
        {
            "format": "armsim/scenario/1",
            "robot": robot,
            "duration": 0.1,
            "integrator": {"method": "rk4", "dt": 1e-3},
            "inputs": {"torque": [2]},
        }
    )
    (joint,) = run.summary()["joints"]
    assert joint["peak_torque"] == 2
    assert joint["peak_current"] == pytest.approx(2 / (KP * abs(GEAR)), rel=1e-15)


def test_a_joint_that_leaves_its_range_after_the_last_row_is_told_with_how_far_it_came():
    # it blows up between two rows
    run = armsim.simulate("arm5_fall", {"integrator.dt": 1e-3}, force_step=True)
    assert run.status == "diverged"
    assert run.t[-1] < run.steps * 1e-3
    summary = run.summary()
    limits = {joint.name: joint.limit for joint in run.plant.arm.joints}
    ends = {joint["name"]: joint["q"] for joint in summary["joints"]}
    found = next(found for found in summary["outside_limits"] if found["joint"] == "R5")
    assert found["since"] == 0.02
    assert found["most"] == limits["R5"].lower - ends["R5"] > 800


def test_a_range_left_between_the_last_row_and_the_end_was_left_at_the_end():
    free = {"format": "armsim/scenario/1", "duration": 0.25, "log": {"every": 0.1}, "inputs": {"torque": [0]}}
    link = {
        "name": "R1",
        "type": "revolute",
        "mdh": {},
        "bodies": [{"point": {"mass": 1, "center": [1, 0, 0]}}],
        "limits": {"lower": -1, "upper": 1},
    }
    robot = {"format": "armsim/robot/1", "name": "spinning", "gravity": [0, 0, 0], "joints": [link]}
    start = {"q": [0.75], "qd": [1.125]}  # 0.975 rad in the last row, 1.03125 rad at the end
    run = armsim.simulate({**free, "robot": robot, "initial": start, "integrator": {"method": "rk4", "dt": 0.05}})
    (found,) = run.summary()["outside_limits"]
    assert found == {"joint": "R1", "since": 0.25, "most": pytest.approx(0.03125, rel=1e-12), "stop": False}
