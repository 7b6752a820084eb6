"""Gradients of measures along a run: closed forms, laws of mechanics, and difference quotients of whole runs."""

from __future__ import annotations

import math
from copy import deepcopy

import numpy as np
import pytest
import yaml

import armsim
from armsim import Diverged, UsageError
from armsim.files.shipped import shipped_path
from armsim.integrate import METHODS, bracket
from tests.dynamics.test_recursion import large

FIXED = [name for name, method in METHODS.items() if method.step is not None]
WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # central differences of order 8
J, KP, RA, V0, H, N = 0.2, 1.3, 0.7, 3.0, 1e-3, 200


def wheel(**joint):
    """A wheel of inertia J about a vertical axis."""
    body = {"inertia": {"mass": 1.0, "center": [0, 0, 0], "about": "com", "xx": J, "yy": J, "zz": J}}
    one = {"name": "R1", "type": "revolute", "mdh": {}, "bodies": [body], **joint}
    return {"format": "armsim/robot/1", "name": "wheel", "joints": [one]}


def scenario(robot, method="explicit_euler", **keys):
    head = {"format": "armsim/scenario/1", "robot": robot, "duration": N * H}
    return {**head, "integrator": {"method": method, "dt": H}, "initial": {"q": [0.1], "qd": [V0]}, **keys}


def test_the_decay_of_a_shorted_motor_has_the_derivatives_of_its_closed_form():
    robot = wheel(motor={"Kp": KP, "Ra": RA})
    run = scenario(robot, inputs={"voltage": [0]})
    paths = ["robot.joints[R1].motor.Kp", "robot.joints[R1].motor.Ra", "initial.qd[0]"]
    found = armsim.sensitivity(run, paths, ["final(qd_R1)", "integral(qd_R1)"])
    rate = KP**2 / (RA * J)
    factor = 1 - H * rate
    assert found.values[0] == pytest.approx(V0 * factor**N, rel=1e-13)
    by_rate = -V0 * N * H * factor ** (N - 1)
    exact = [by_rate * 2 * KP / (RA * J), -by_rate * rate / RA, factor**N]
    assert found.by[0] == pytest.approx(exact, rel=1e-12)
    # the trapezoid of a geometric series, v (1 + f) (1 - f**N) / (1 - f) / 2 with 1 - f = h c
    terms = (2 - H * rate) * (1 - factor**N) / (2 * rate)
    slope = (-H * (1 - factor**N) + (2 - H * rate) * N * H * factor ** (N - 1)) / (2 * rate) - terms / rate
    assert found.values[1] == pytest.approx(V0 * terms, rel=1e-12)
    assert found.by[1, 0] == pytest.approx(V0 * slope * 2 * KP / (RA * J), rel=1e-11)
    assert found.relative[0, 2] == pytest.approx(1.0, rel=1e-12)
    assert found["final(qd_R1)"][paths[2]] == found.by[0, 2]


@pytest.mark.parametrize("friction", [5.0, 5.7])
def test_where_dry_friction_brings_a_wheel_to_rest_follows_from_its_closed_form(friction):
    # it comes to rest within a step, whose event rk4 locates: at v J / tau, after an angle v² J / (2 tau)
    run = scenario(wheel(friction={"coulomb": friction}), "rk4")
    paths = ["robot.joints[R1].friction.coulomb", "initial.qd[0]", "robot.joints[R1].bodies[0].inertia.zz"]
    found = armsim.sensitivity(run, paths, ["final(q_R1)", "final(qd_R1)"])
    angle = V0**2 * J / (2 * friction)
    assert found.values == pytest.approx([0.1 + angle, 0.0], rel=1e-12)
    assert found.by[0] == pytest.approx([-angle / friction, 2 * angle / V0, angle / J], rel=1e-9)  # EVENT / H
    assert (found.by[1] == 0.0).all()
    assert found.still == ("final(qd_R1)",)


def test_a_bounce_off_a_stop_moves_with_the_numbers_that_decide_when_it_comes():
    # half a period at the stop, within located events: it leaves with -v at a time that does not depend on v
    k = 800.0
    run = scenario(wheel(limits={"upper": 0.3, "stiffness": k, "damping": 0}), "rk4", duration=0.2)
    paths = ["initial.qd[0]", "robot.joints[R1].limits.upper", "robot.joints[R1].limits.stiffness", "initial.q[0]"]
    found = armsim.sensitivity(run, paths, ["final(q_R1)"])
    half = math.pi * math.sqrt(J / k)
    reach = (0.3 - 0.1) / V0
    left = 0.2 - reach - half
    assert found.values[0] == pytest.approx(0.3 - V0 * left, abs=1e-7)  # rk4 of a sine in 50 steps
    exact = [-left - reach, 2.0, -V0 * half / (2 * k), -1.0]
    assert found.by[0] == pytest.approx(exact, rel=1e-6)


def test_the_motion_of_a_pendulum_does_not_depend_on_its_mass_and_its_energy_is_proportional_to_it():
    point = {"point": {"mass": 0.8, "center": [0, -0.5, 0]}}
    joint = {"name": "R1", "type": "revolute", "mdh": {"alpha": "pi/2"}, "bodies": [point]}
    robot = {"format": "armsim/robot/1", "name": "pendulum", "joints": [joint]}
    for method in FIXED:
        run = scenario(robot, method)
        found = armsim.sensitivity(run, "robot.joints[R1].bodies[0].point.mass", ["final(q_R1)", "energy"])
        assert abs(found.values[0] - 0.1) > 0.2
        assert found.by[0] == pytest.approx(0.0, abs=1e-13)
        assert found.relative[1:] == pytest.approx(1.0, rel=1e-12)


def sampled(case):
    case["control"] |= {"period": 5e-3, "delay": 5e-3}


def dry(case):
    for name, coulomb in (("R1", 0.4), ("R2", 3.0), ("R3", 0.2)):
        joint = next(joint for joint in case["robot"]["joints"] if joint["name"] == name)
        joint["friction"] = {"coulomb": coulomb}


def bounded(case):
    case["control"]["limit"] = 4.0


def carrying(case):
    case["external"] = [{"link": "R3", "force": [0, 3, -5], "from": 0.01, "to": 0.03}]


def touching(case):
    """The tip rests on a floor and slides there."""
    floor = {"plane": {"point": [0, 0, 0.63]}, "stiffness": 2e3, "damping": 5, "friction": {"static": 0.5}}
    case["world"], case["contacts"] = {"floor": floor}, [{"frame": "tool", "with": "floor"}]


def elastic(case):
    motor = case["robot"]["joints"][1]["motor"]
    motor |= {"gear": 5, "rotor_inertia": 0.2, "coupling": {"stiffness": 300, "damping": 0.5}}


CASES = {case.__name__: case for case in (sampled, dry, bounded, carrying, touching, elastic)}


@pytest.fixture(scope="module")
def arm3():
    with open(shipped_path("robots", "arm5")) as file:
        robot = yaml.safe_load(file)
    robot["joints"] = robot["joints"][:3]
    control = {"law": "pid", "output": "voltage", "kp": [60, 60, 60], "ki": [30, 30, 30], "kd": [1, 1, 1]}
    control["target"] = [0.4, -0.8, 0.5]
    return {
        "format": "armsim/scenario/1",
        "robot": robot,
        "duration": 0.06,
        "integrator": {"dt": 5e-4},
        "initial": {"q": [0.0, -1.1, 0.3], "qd": [0.0, 0.5, -0.2]},
        "control": control,
        "payload": {"mass": 0.3},
    }


PATHS = ["control.kp[1]", "control.ki[2]", "payload.mass", "robot.joints[R2].motor.Kp", "initial.q[1]"]
MEASURES = ["ise_R2", "rms_torque_R2", "final(q_R3)", "max(abs(q_R2))"]


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.handful(1)
def test_gradients_are_those_of_difference_quotients_of_whole_runs(arm3, case, method, monkeypatch):
    monkeypatch.setattr(
        bracket, "EVENT", 1e-17
    )  # quotients have the tolerance of events, divided by the increment, in them
    run = deepcopy(arm3)
    run["integrator"]["method"] = method
    CASES[case](run)
    found = armsim.sensitivity(run, PATHS, MEASURES, force_step=True)
    alone = armsim.simulate(run, measure=MEASURES, force_step=True)
    assert found.values.tolist() == [alone.measures[name] for name in MEASURES]
    size, compared = np.abs(found.by).max(axis=1), 0
    for j, (path, x) in enumerate(zip(found.paths, found.numbers.tolist(), strict=True)):
        for h in (1e-4, 1e-5, 2e-6):  # until no branch turns within, so that quotients of two widths agree
            one, other = (quotients(run, path, x, width * max(abs(x), 0.1)) for width in (h, h / 2))
            if (np.abs(one - other) < 5e-8 * size).all():
                compared += 1
                assert (found.by[:, j] - one) / size == pytest.approx(0.0, abs=1e-7)
                break
    assert compared >= 3


def quotients(run, path, x, h):
    """The derivatives of the measures by a number, of order 8 in the increment."""
    shifts = np.array([sign * k for k in WEIGHTS for sign in (1, -1)])
    many = armsim.simulate_many(run, {path: x + shifts * h}, measure=MEASURES, force_step=True)
    weights = [np.sign(k) * WEIGHTS[abs(k)] / h for k in shifts.tolist()]
    return np.array([weights @ many[name] for name in MEASURES])


def test_what_has_no_derivatives_is_refused_by_name():
    run = scenario(wheel(motor={"Kp": KP, "Ra": RA}), inputs={"voltage": [0]})
    path = "robot.joints[R1].motor.Kp"
    with pytest.raises(UsageError, match=r"found: *rodas"):
        armsim.sensitivity({**run, "integrator": {"method": "rodas"}}, path, "energy")
    with pytest.raises(UsageError, match="predictive"):
        armsim.sensitivity("arm5_predictive", "robot.joints[R2].motor.Kp", "energy", {"duration": 0.1})
    with pytest.raises(UsageError, match="no payload"):
        armsim.sensitivity(run, "payload.mass", "energy")
    robot = wheel(motor={"Kp": KP, "Ra": RA}, friction={"coulomb": 0})
    with pytest.raises(UsageError, match="absence"):
        armsim.sensitivity({**run, "robot": robot}, "robot.joints[R1].friction.coulomb", "energy")
    for given in (([], "energy"), (path, [])):
        with pytest.raises(UsageError, match="one at least"):
            armsim.sensitivity(run, *given)
    with pytest.raises(UsageError, match="initial"):
        armsim.sensitivity(run, "initial.q[7]", "energy")
    stiff = wheel(motor={"Kp": 200 * KP, "Ra": RA})
    with pytest.raises(Diverged, match="diverged"):
        armsim.sensitivity({**run, "robot": stiff}, path, "energy", force_step=True)
    found = armsim.sensitivity(run, path, "energy")
    with pytest.raises(KeyError, match="kinetic_energy_J"):
        found["iae"]


@pytest.mark.slow
def test_a_large_arm_has_the_difference_quotients_of_its_runs():
    robot = large(17, "tree")
    for joint in robot["joints"]:
        joint["friction"] = {"viscous": 0.05}
    start = {"q": [0.1 * i for i in range(17)], "qd": [0.5] * 17}
    run = scenario(robot, "semi_implicit_euler", initial=start, duration=20 * H)
    mass, viscous = "robot.joints[J12].bodies[0].inertia.mass", "robot.joints[J2].friction.viscous"
    at = {mass: robot["joints"][12]["bodies"][0]["inertia"]["mass"], viscous: 0.05, "initial.qd[5]": 0.5}
    measures = ["final(q_J1)", "final(qd_J16)", "energy"]
    found = armsim.sensitivity(run, [*at], measures)
    for k, (path, x) in enumerate(at.items()):
        ends = [armsim.sensitivity(run, [*at], measures, {path: x * (1.0 + way)}).values for way in (1e-4, -1e-4)]
        quotients = (ends[0] - ends[1]) / (2e-4 * x)
        assert found.by[:, k] == pytest.approx(quotients, rel=1e-6, abs=1e-6 * np.abs(quotients).max())
        assert (np.abs(quotients) > 1e-6).any()
