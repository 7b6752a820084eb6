"""Which steps would have been stable where a run began to diverge."""

from __future__ import annotations

import math

import pytest

import armsim
from armsim.stability.departure import Remedy
from armsim.stability.remedy import remedy


def retracting(dt: float, method: str = "explicit_euler", **keys) -> dict:
    """A hinge damped by 10 N·m·s/rad with a mass of 1 kg on a slide that moves in, from 0.4 m by 0.02 m/s."""
    hinge = {"name": "hinge", "type": "revolute", "mdh": {}, "friction": {"viscous": 10}}
    slide = {"name": "slide", "type": "prismatic", "mdh": {"alpha": "pi/2"}, "initial": 1}
    bare = {"bodies": [{"point": {"mass": 1e-6, "center": [0, 0, 0]}}]}
    weight = {"bodies": [{"point": {"mass": 1}}]}
    robot = {
        "format": "armsim/robot/1",
        "name": "retracting",
        "gravity": [0, 0, 0],
        "joints": [hinge | bare, slide | weight],
    }
    plain = {
        "format": "armsim/scenario/1",
        "robot": robot,
        "duration": 10,
        "initial": {"q": [0, 0.4], "qd": [0, -0.02]},
        "integrator": {"method": method, "dt": dt},
        "inputs": {"torque": [1e-3, 0]},
    }
    return {**plain, **keys}


def test_a_run_that_blows_up_later_tells_the_step_that_is_stable_there():
    # the hinge decays at d / (m r²), so that explicit Euler is unstable once r² < h d / (2 m) = 0.1 m²
    dt = 0.02
    run = armsim.simulate(retracting(dt))
    assert run.status == "diverged"
    found = run.summary()["diverged"]
    assert found["growth"]["joint"] == "hinge"
    since = found["growth"]["since"]
    assert 0.25 < 0.4 - 0.02 * since < math.sqrt(0.1)  # the radius when it was seen to grow
    assert 0.7 * dt < found["stable"]["dt"] < dt
    assert "velocity_implicit" in found["stable"]["methods"]
    assert "semi_implicit_euler" not in found["stable"]["methods"]


def test_the_step_that_is_named_is_2_over_the_decay_at_the_first_state_where_this_one_is_too_long():
    from armsim.loading import read_scenario
    from armsim.plant import make_plant

    plant = make_plant(read_scenario(retracting(0.02)))
    states = [(0.0, [0.0, r, 0.0, 0.0]) for r in (1.0, 0.5, 0.3, 0.2)]
    found = remedy(plant, 0.02, states)
    assert found.dt == pytest.approx(2 * 0.3**2 / 10, rel=1e-3)
    assert remedy(plant, 0.02, states[:2]) is None  # the step is not to blame
    assert remedy(plant, 0.02, [(0.0, [0.0, 0.2, 0.0, 1e3])]) is None  # too fast to tell


def test_explicit_euler_takes_no_step_of_an_undamped_swing():
    from armsim.loading import read_scenario
    from armsim.plant import make_plant

    springs = {"law": "pd", "output": "torque", "kp": 100, "kd": 0}
    spring = retracting(0.2, control=springs, initial={"q": [0, 1]}) | {"inputs": None}
    for joint in spring["robot"]["joints"]:
        joint.pop("friction", None)
    plant = make_plant(read_scenario(spring))
    found = remedy(plant, 0.19, [(0.0, [0.0, 1.0, 0.0, 0.0])])  # springs of 100 on 1 kg: h ω = 1.9, below 2 and 2.83
    taking = [
        "semi_implicit_euler",
        "velocity_implicit",
        "velocity_verlet",
        "implicit_midpoint",
        "rk4",
        "rk54",
        "rodas",
    ]
    assert found == Remedy(0.0, taking)


def test_a_recording_that_diverges_knows_it_too():
    sampled = retracting(0.02, inputs={"torque": [1e-3, 0], "period": 0.02})
    made = armsim.record(sampled)
    assert made.status == "diverged"
    assert 0.5 * 0.02 < made.divergence.stable.dt < 0.02
    assert armsim.record(retracting(0.01, duration=3, inputs={"torque": [1e-3, 0], "period": 0.02})).divergence is None
