"""Adaptive steps where nothing that is integrated tells of the input: a command at its limit, a joint that friction holds."""

from __future__ import annotations

import pytest

import armsim

ADAPTIVE = ["rk54", "rodas"]


def slider(torque, duration, joint=None, **integrator):
    """A point mass of 1 kg on a prismatic joint."""
    body = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 1.0, "center": [0, 0, 0]}}]}
    robot = {"format": "armsim/robot/1", "name": "slider", "gravity": [0, 0, 0], "joints": [{**body, **(joint or {})}]}
    return {
        "format": "armsim/scenario/1",
        "name": "slider",
        "robot": robot,
        "duration": duration,
        "log": {"every": duration},
        "integrator": integrator,
        "inputs": {"torque": [torque]} if isinstance(torque, str) else torque,
    }


DRIVE = {"motor": {"Kp": 1.0, "Ra": 1.0, "gear": 1.0, "limits": {"current": 0.5}}}
DRY = {"friction": {"coulomb": 1.0}}
CASES = {
    "a clipped formula": ("max(-1, min(1, 100*sin(20*t)))", 10.0, {}),
    "a formula that is mostly zero": ("max(0, min(1, 1000*sin(3*t) - 990))", 20.0, {}),
    "a push that beats friction at its crests": ("1.02*sin(7*t) + 0.02*t*sin(0.3*t)", 20.0, DRY),
    "a push that beats friction once": ("1.3*exp(-((t - 6)/0.05)**2)", 20.0, DRY),
    "a voltage beyond the limit of current": ({"voltage": ["24*sin(40*t)"]}, 5.0, DRIVE),
    "a torque beyond the limit of current": ({"torque": ["24*sin(40*t)"]}, 5.0, DRIVE),
}


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.handful(1)
def test_no_step_passes_what_a_limit_or_friction_hides(case, method):
    torque, duration, joint = CASES[case]
    fine = armsim.simulate(slider(torque, duration, joint, method="rk4", dt=duration / 20_000), force_step=True)
    run = armsim.simulate(slider(torque, duration, joint, method=method, rtol=1e-6))
    assert run.q[-1] == pytest.approx(fine.q[-1], abs=2e-5)
    assert sum(run.steps_chosen) < 20_000
