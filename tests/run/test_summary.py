"""A run in a few numbers."""

import pytest

import armsim
from armsim.run.summary import summarize

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
    (joint,) = summarize(run)["joints"]
    assert joint["peak_torque"] == 2
    assert joint["peak_current"] == pytest.approx(2 / (KP * abs(GEAR)), rel=1e-15)
