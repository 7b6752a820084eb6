"""Whether a diverged run was led astray by its steps, or by the motion itself."""

from __future__ import annotations

import math

import pytest

import armsim
from armsim.stability.departure import MotionRows, runaway

NAMES = ["R1", "R2", "R3", "R4", "R5"]
KE = [10, 10, 10, 1, 1]  # of arm5's motors


def diverged(scenario, overrides=None) -> dict:
    run = armsim.simulate(scenario, overrides, force_step=True)
    assert run.status == "diverged"
    return run.summary()["diverged"]


@pytest.mark.parametrize("dt", [2e-4, 1e-4, 2.5e-5])
@pytest.mark.parametrize("joint", range(5))
@pytest.mark.handful(1)
def test_a_gain_of_the_wrong_sign_is_found_whatever_the_step_and_whoever_blows_up_in_the_end(joint, dt):
    wrong = {f"control.kp[{joint}]": -80, f"robot.joints[{joint}].limits": None, "integrator.dt": dt}
    found = diverged("arm5_hold", wrong)["motion"]
    assert found["joint"] == NAMES[joint]
    # the back-EMF outweighs inertia: Ke qd = |kp| q, but for the derivative gain and what inertia there is
    assert found["doubling_s"] == pytest.approx(math.log(2) * KE[joint] / 80, rel=0.25)
    assert found["since"] <= 0.05


@pytest.mark.parametrize("method", ["rk4", "rodas", "velocity_implicit", "implicit_midpoint"])
@pytest.mark.handful(1)
def test_it_is_found_with_every_method(method):
    own = {} if method == "rodas" else {"dt": 1e-4}
    found = diverged("arm5_hold", {"control.kp[0]": -80, "integrator": {"method": method, **own}})
    assert found["motion"]["joint"] == "R1"


@pytest.mark.parametrize("period", [1e-3, 1e-2])
@pytest.mark.handful(1)
def test_it_is_found_where_the_controller_samples(period):
    assert diverged("arm5_hold", {"control.kp[0]": -80, "control.period": period})["motion"]["joint"] == "R1"


@pytest.mark.parametrize("every", [1, 10])
@pytest.mark.parametrize(
    ("scenario", "method", "dt"),
    [
        *(("arm5_hold", "explicit_euler", dt) for dt in (5.5e-4, 6e-4, 8e-4, 1e-3, 2e-3)),
        *(("arm5_hold", "semi_implicit_euler", dt) for dt in (6e-4, 1e-3)),
        *(("arm5_hold", "rk4", dt) for dt in (9e-4, 2e-3)),
        *(("arm5_sine", "explicit_euler", dt) for dt in (7.5e-4, 1e-3)),
        ("arm5_fall", "semi_implicit_euler", 7.5e-4),
    ],
)
@pytest.mark.handful(2)
def test_too_long_a_step_is_not_laid_at_the_motions_door(scenario, method, dt, every):
    asked = {"integrator": {"method": method, "dt": dt}, "log.every": every * dt, "duration": 2000 * dt}
    assert diverged(scenario, asked)["motion"] is None


def slide(damping: float, control: dict | None, **keys) -> dict:
    """A mass of 1 kg on one axis, without gravity."""
    joint = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 1}}]}
    joint["friction"] = {"viscous": damping}
    robot = {"format": "armsim/robot/1", "name": "slide", "gravity": [0, 0, 0], "joints": [joint]}
    given = {"format": "armsim/scenario/1", "robot": robot, "duration": 100, "log": {"every": 0.02}, **keys}
    return {**given, "control": {"law": "pd", "output": "torque", "target": [0], **control}} if control else given


def test_a_step_that_grows_as_slowly_as_a_runaway_is_told_from_it_by_the_accelerations():
    # explicit Euler multiplies the velocity by 1 - 201 h = -1.01: at every other step it grows ever so smoothly
    step = slide(201.0, None, integrator={"method": "explicit_euler", "dt": 1e-2}, initial={"qd": [1.0]})
    assert diverged(step)["motion"] is None
    # a spring of the wrong sign grows at the same rate: q'' = rate² q
    rate = math.log(1.01) / 1e-2
    spring = {"kp": -(rate**2), "kd": 0}
    own = slide(0.0, spring, integrator={"method": "rk4", "dt": 1e-2}, initial={"q": [1.0]})
    found = diverged(own)["motion"]
    assert (found["joint"], found["doubling_s"]) == ("x", pytest.approx(math.log(2) / rate, rel=0.1))


def test_a_swing_that_explicit_euler_feeds_is_not_the_motions_own():
    spring = {"kp": 3600, "kd": 0}
    fed = slide(0.0, spring, integrator={"method": "explicit_euler", "dt": 1e-3}, initial={"qd": [1.0]})
    assert diverged(fed)["motion"] is None


T = [0.01 * k for k in range(200)]


def rows(*joints):
    """The motion of joints, each given as its position, velocity and acceleration over time."""
    return MotionRows(T, *([[joint[i](t) for joint in joints] for t in T] for i in range(3)))


def running(rate, size=1.0):
    return [lambda t, p=p: size * rate**p * math.exp(rate * t) for p in range(3)]


STILL = [lambda t: 0.0] * 3


def test_the_first_to_run_away_is_named_with_its_doubling_time():
    late = [lambda t, p=p: 4.0**p * math.exp(4 * (t - 0.5)) if t > 0.505 else 0.0 for p in range(3)]
    found = runaway(NAMES, rows(STILL, late, running(3.0)))
    assert (found.joint, found.since) == ("R3", 0.0)
    assert found.doubling_s == pytest.approx(math.log(2) / 3.0, rel=1e-9)
    assert runaway(NAMES, rows(late, STILL)).since == pytest.approx(0.51)


@pytest.mark.parametrize(
    "joint",
    [
        [lambda t: 5e2 * t**2, lambda t: 1e3 * t, lambda t: 1e3],  # a constant push
        [lambda t: 1e2 * t**3, lambda t: 3e2 * t**2, lambda t: 6e2 * t],
        [lambda t: 1e2 * t, lambda t: 1e2, lambda t: 0.0],
        running(3.0, 1e-3),  # no further than an arm turns
        [*running(3.0)[:2], lambda t: -9.0 * math.exp(3 * t)],  # a damper would have taken it back
        [*running(3.0)[:2], lambda t: 0.0],
    ],
    ids=["push", "jerk", "coasting", "near", "damped", "free"],
)
@pytest.mark.handful(3)
def test_what_does_not_run_away_by_itself_is_not_named(joint):
    assert runaway(NAMES, rows(joint)) is None


def test_a_joint_that_came_back_did_not_run_away():
    t, q, qd, qdd = away = rows(running(3.0))
    there = len(T)
    assert runaway(NAMES, away) is not None
    back = [2.0 + 0.01 * k for k in range(50)]
    q, qd, qdd = [*q, *[[0.0]] * 50], [*qd, *[[0.0]] * 50], [*qdd, *[[0.0]] * 50]
    assert len(q) == there + 50
    assert runaway(NAMES, MotionRows([*t, *back], q, qd, qdd)) is None


def test_no_rows_tell_nothing():
    assert runaway(NAMES, MotionRows([], [], [], [])) is None
