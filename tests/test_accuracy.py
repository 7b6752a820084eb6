"""Ten seconds of motions that no truth is stored for, against scipy on equations written down by hand or on other paths."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import armsim

ROWS = 0.1  # s
SIX_DECADES = [1e-4, 1e-6, 1e-8, 1e-10]


def two_link(t: float, y: np.ndarray) -> np.ndarray:
    """The closed-form equations of the shipped two-link arm: slender rods with a point mass at the tip.

    The thesis's two-link arm (tests/data/README.md), written out with the angles from the x axis.
    """
    l1, l2, m1, m2, payload, g = 1.0, 0.8, 2.0, 1.5, 0.5, 9.81
    q1, q2, v1, v2 = y
    a = m1 * l1**2 / 3 + (m2 + payload) * l1**2
    b = (m2 / 3 + payload) * l2**2
    c = (m2 / 2 + payload) * l1 * l2
    M = np.array([[a + b + 2 * c * math.cos(q2), b + c * math.cos(q2)], [b + c * math.cos(q2), b]])
    bend = c * math.sin(q2)
    bias = np.array([-bend * (2 * v1 * v2 + v2**2), bend * v1**2])
    outer = (m2 / 2 + payload) * g * l2 * math.cos(q1 + q2)
    weight = np.array([(m1 / 2 + m2 + payload) * g * l1 * math.cos(q1) + outer, outer])
    return np.array([v1, v2, *np.linalg.solve(M, -bias - weight)])


@pytest.fixture(scope="module")
def swing():
    """Joint positions of the two-link arm's swing over 10 s, to about 1e-11."""
    start = [math.radians(-60), math.radians(45), 0.0, 0.0]
    times = np.arange(0, 10.05, ROWS)
    return solve_ivp(two_link, (0, 10.1), start, "DOP853", times, rtol=1e-13, atol=1e-14).y[:2].T


@pytest.fixture(scope="module")
def fall():
    """Joint positions of arm5 falling against its shorted motors over 10 s, stops left out, to about 1e-10.

    The library's mass matrix and bias forces, whose own tests compare them with other engines; Kp Ke / Ra by hand.
    """
    arm = armsim.load_robot("arm5")
    damping = np.array([100.0, 100.0, 100.0, 1.0, 1.0])

    def rates(t, y):
        q, qd = y[:5], y[5:]
        return np.concatenate([qd, np.linalg.solve(arm.mass_matrix(q), -arm.bias(q, qd) - damping * qd)])

    times = np.arange(0, 10.05, ROWS)
    start = [0.5, -1.0, 0.3, 0.4, 0.6, *[0.0] * 5]
    return solve_ivp(rates, (0, 10.1), start, "LSODA", times, rtol=1e-12, atol=1e-13).y[:5].T


def swing_by(method: str, **integrator) -> tuple[str, dict]:
    return "two_link_swing", {"integrator": {"method": method, **integrator}, "duration": 10, "log.every": ROWS}


def fall_by(method: str, **integrator) -> tuple[str, dict]:
    setting = {"integrator": {"method": method, **integrator}, "duration": 10, "log.every": ROWS}
    limits = {f"robot.joints[{i}].limits": None for i in range(5)}
    return "arm5_fall", {**setting, **limits, "initial.q": [0.5, -1.0, 0.3, 0.4, 0.6]}


def swung(method: str, **integrator) -> np.ndarray:
    return armsim.simulate(*swing_by(method, **integrator)).q


def fallen(method: str, **integrator) -> np.ndarray:
    return armsim.simulate(*fall_by(method, **integrator)).q


def errors(asked, truth, method: str) -> list[float]:
    """By tolerance, which is left open for one kernel."""
    scenario, setting = asked(method, rtol=1e-4, atol=1e-4)
    opened = ["integrator.rtol", "integrator.atol"]
    sim = armsim.prepare(scenario, opened, setting)
    return [float(np.abs(sim(dict.fromkeys(opened, rtol)).q - truth).max()) for rtol in SIX_DECADES]


@pytest.mark.parametrize("method", ["rk54", "rodas"])
@pytest.mark.handful(1)
def test_the_error_of_a_ten_second_swing_follows_the_tolerance_over_six_decades(method, swing):
    # the swing is regular: what is off grows by some hundred over its ten seconds
    found = errors(swing_by, swing, method)
    for rtol, error in zip(SIX_DECADES, found, strict=True):
        assert error < 1e3 * rtol
    slope = np.polyfit(np.log(SIX_DECADES), np.log(found), 1)[0]
    assert 0.75 < slope < 1.2


@pytest.mark.parametrize(("method", "dt", "allowed"), [("rk4", 1e-3, 1e-8), ("velocity_verlet", 1e-4, 1e-5)])
def test_fixed_steps_follow_a_ten_second_swing(method, dt, allowed, swing):
    assert np.abs(swung(method, dt=dt) - swing).max() < allowed


def test_the_implicit_midpoint_follows_a_ten_second_swing_with_the_square_of_its_step(swing):
    coarse, fine = (np.abs(swung("implicit_midpoint", dt=dt) - swing).max() for dt in (1e-3, 5e-4))
    assert fine < 1e-4
    assert coarse / fine == pytest.approx(4, rel=0.05)


@pytest.mark.parametrize("method", ["rk54", "rodas"])
@pytest.mark.handful(1)
def test_the_error_of_a_damped_fall_follows_the_tolerance_as_far_as_the_truth_is_known(method, fall):
    found = errors(fall_by, fall, method)
    for rtol, error in zip(SIX_DECADES, found, strict=True):
        assert error < max(10 * rtol, 3e-9)


@pytest.mark.parametrize(
    ("method", "dt", "allowed"),
    [("rk4", 5e-4, 1e-6), ("velocity_verlet", 2.5e-4, 1e-5), ("velocity_implicit", 1e-3, 2e-2), ("explicit_euler", 5e-4, 2e-2)],
)  # fmt: skip
@pytest.mark.handful(2)
def test_fixed_steps_follow_a_damped_fall(method, dt, allowed, fall):
    assert np.abs(fallen(method, dt=dt) - fall).max() < allowed


@pytest.mark.parametrize("method", ["rk54", "rodas"])
@pytest.mark.slow
def test_the_next_landing_may_be_far_away(method):
    # the arm falls onto its stops and comes to rest there, long before the only landing
    run = armsim.simulate("arm5_fall", {"integrator": {"method": method}, "duration": 500, "log.every": 500})
    assert run.status == "complete"
    assert np.abs(run.qd[-1]).max() < 1e-6


@pytest.mark.parametrize("method", ["rk54", "rodas"])
def test_a_short_pulse_in_recorded_inputs_is_not_stepped_over(method, tmp_path):
    # 500 N·m for 0.5 ms on 1 kg m² that rests: 0.25 rad/s from then on, whatever the tolerance
    (tmp_path / "pulse.csv").write_text("t_s,u\n0,0\n10.003,500\n10.0035,0\n20,0\n")
    (tmp_path / "pulse.yaml").write_text(
        f"""
format: armsim/scenario/1
robot:
  format: armsim/robot/1
  name: rotor
  gravity: [0, 0, 0]
  joints:
    - name: J
      type: revolute
      mdh: {{a: 0, alpha: 0, d: 0, theta: 0}}
      bodies: [{{inertia: {{mass: 1, center: [0, 0, 0], about: com, xx: 1, yy: 1, zz: 1, xy: 0, xz: 0, yz: 0}}}}]
duration: 20
integrator: {{method: {method}}}
inputs: {{torque: [{{csv: pulse.csv, column: u, hold: zero}}]}}
log: {{every: 1}}
"""
    )
    run = armsim.simulate(tmp_path / "pulse.yaml")
    assert run.qd[-1, 0] == pytest.approx(0.25, rel=1e-3)  # the pulse's edges are two of 40 000 steps
    assert run.qd[10, 0] == 0.0
