"""NaN and infinity never vanish: of any input they give NaN, for their row alone, or an error; the states of others stay."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import armsim
from armsim import ForwardModel
from armsim.errors import ArmsimError, Diverged
from armsim.integrate import METHODS

BAD = (math.nan, math.inf, -math.inf)
KINDS = ("revolute", "prismatic")
FRICTION = {"coulomb": 5, "viscous": 0.1}
LIMITS = {"lower": -0.5, "upper": 0.5, "stiffness": 1e3, "damping": 1}
MOTOR = {"Kp": 0.05, "Ra": 1, "gear": 50, "rotor_inertia": 1e-5}


def arm(kind: str = "revolute", **parts) -> dict:
    """Two equal joints with all that may drop a number: friction that holds, stops, a motor with limits."""
    motor = {**MOTOR, **parts.pop("motor", {"limits": {"voltage": 24, "current": 5, "speed": 400}})}
    joint = {"type": kind, "mdh": {"a": 0.2}, "bodies": [{"point": {"mass": 1, "center": [0.2, 0, 0]}}]}
    joint |= {"friction": FRICTION, "limits": LIMITS, "motor": motor, **parts}
    joints = [{"name": name, **joint} for name in ("J1", "J2")]
    return {"format": "armsim/robot/1", "name": "held", "gravity": [0, 0, 0], "joints": joints}


ROBOTS = {
    "held by friction": arm(),
    "held by friction, sliding": arm("prismatic"),
    "at stops": arm(friction={"viscous": 0.1}),
    "by an inductance": arm(motor={"inductance": 1e-3, "limits": {"voltage": 24, "current": 5}}),
    "with losses": arm(motor={"efficiency": 0.7, "brush_drop": {"max": 1, "half": 0.2}, "limits": {"voltage": 24}}),
}


def spoilt(arrays: dict[str, np.ndarray]):
    """The arrays with one number of one of them not finite, for every number."""
    for (key, array), bad in product(arrays.items(), BAD):
        for i in range(array.shape[-1]):
            other = array.copy()
            other[..., -1, i] = bad
            yield key, i, {**arrays, key: other}


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("engine", ["llvm", "python"])
@pytest.mark.parametrize(
    "method", ["inverse_dynamics", "forward_dynamics", "bias", "limit_torque", "kinetic_energy", "motor_demand"]
)
@pytest.mark.handful(9)
def test_no_answer_of_an_arm_drops_a_number_that_is_not_finite(name, engine, method):
    if method == "motor_demand" and "losses" not in name:
        pytest.skip("alike")
    robot = armsim.load_robot(ROBOTS[name])
    robot = armsim.Robot(robot.arm, engine)
    asked = {"inverse_dynamics": "q qd qdd", "forward_dynamics": "q qd tau", "motor_demand": "qd tau"}.get(
        method, "q qd"
    )
    ask = getattr(robot, method)
    arrays = {key: np.full((3, 2), 0.0 if key != "q" else 0.1) for key in asked.split()}
    whole = np.asarray(ask(**arrays))
    for key, _, given in spoilt(arrays):
        if key == "q":
            with pytest.raises(ArmsimError):
                ask(**given)
            continue
        found = np.asarray(ask(**given))
        rows = found if method != "motor_demand" else found.transpose(1, 0, 2)
        right = whole if method != "motor_demand" else whole.transpose(1, 0, 2)
        assert np.isnan(rows[-1]).all()
        assert np.array_equal(rows[:-1], right[:-1])
        one = np.asarray(ask(**{k: x[-1] for k, x in given.items()}))
        assert np.isnan(one).all()


@pytest.mark.parametrize(
    ("method", "name", "output"),
    [
        (method, name, ["voltage", "torque"][(i + j) % 2])
        for i, method in enumerate(METHODS)
        for j, name in enumerate(ROBOTS)
    ],
)
@pytest.mark.handful(1)
def test_no_step_drops_a_number_that_is_not_finite(method, name, output):
    """Every two of methods, robots and outputs together."""
    model = ForwardModel(ROBOTS[name], dt=1e-3, method=method, output=output, external=[{"link": "J2"}])
    arrays = {
        "state": model.state(np.full((3, 2), 0.1), np.zeros((3, 2)), np.zeros((3, 2))),
        "inputs": np.zeros((3, 2)),
        "wrench": np.zeros((3, 6)),
    }
    whole = model.step(arrays["state"], arrays["inputs"], wrench=arrays["wrench"].reshape(3, 1, 6))
    assert np.isfinite(whole).all()
    carried = {i for i, _ in model._vector.carried}
    for key, i, given in spoilt(arrays):
        wrench = given["wrench"].reshape(3, 1, 6)
        found = model.step(given["state"], given["inputs"], wrench=wrench)
        assert np.array_equal(found[:-1], whole[:-1])
        if key == "state" and i not in carried:  # an output, which a step ignores
            assert np.array_equal(found, whole)
            continue
        assert np.isnan(found[-1]).all()
        with pytest.raises(Diverged, match="not finite"):
            model.step(given["state"][-1], given["inputs"][-1], wrench=wrench[-1])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(1)
def test_a_formula_without_a_value_ends_a_run_of_a_joint_that_friction_holds(method):
    steps = {} if METHODS[method].adaptive else {"dt": 1e-2}
    scenario = {
        "format": "armsim/scenario/1",
        "robot": arm(),
        "duration": 2,
        "integrator": {"method": method, **steps},
        "inputs": {"voltage": ["sqrt(1 - t)", 0]},
        "log": {"every": 0.1},
    }
    run = armsim.simulate(scenario, force_step=True)
    assert run.status == "diverged"
    assert run.summary()["duration"] == pytest.approx(1, abs=0.1)
