"""The limits of plans, one by one, and what the ends of intervals are corrected by."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.loading import scenario_of
from armsim.measures.moment import Moment
from armsim.planning.plan import _obstruction
from armsim.planning.problem import Trajectory
from armsim.planning.task import PlanTask
from tests.planar import planar

MOTOR = {"Kp": 3.0, "Ke": 3.0, "Ra": 1.5, "gear": -2.0}


def made(limits, world=None, viscous=0.0, **plan):
    """Two rods of 0.4 m with motors; the second is not driven unless `limit` says so."""
    robot = planar({**MOTOR, "limits": limits}, {**MOTOR, "limits": limits})
    for joint in robot["joints"] if viscous else []:
        joint["friction"] = {"viscous": viscous}
    robot["tool"] = {"xyz": [0.4, 0, 0]}
    plan = {"to": {"q": [1, 0]}, "minimise": "time", "limit": [50, 0], **plan}
    asked = {"format": "armsim/scenario/1", "robot": robot, "duration": 1, "plan": plan}
    return PlanTask(scenario_of(asked | ({"world": world} if world else {})))


def test_limits_of_motors_are_those_behind_their_gears_and_of_driven_joints():
    task = made({"voltage": 12.0, "current": 5.0, "torque": 4.0, "speed": 3.0})
    found = {(one.quantity, one.of): (one.lower, one.upper) for one in task.limits.told}
    assert found == {
        ("speed", "R1"): (-1.5, 1.5),
        ("speed", "R2"): (-1.5, 1.5),
        ("voltage", "R1"): (-12.0, 12.0),
        ("current", "R1"): (-5.0, 5.0),
        ("torque", "R1"): (-4.0, 4.0),
    }
    assert made({"torque": 4.0}, output="torque").bounds.tolist() == [8.0, 0.0]
    assert made({"current": 4.0}, output="current").bounds.tolist() == [4.0, 0.0]
    assert made({"torque": 4.0, "current": 1.0}, output="torque", limit=5).bounds.tolist() == [5.0, 5.0]


def test_costs_are_those_of_all_drives():
    u, qd = [7.0, -3.0], [0.4, -1.1]
    for minimise, expected in (
        ("torque_squared", 49.0 + 9.0),
        ("energy", sum(1.5 * (tau / 6.0) ** 2 + 0.25 * v * v for tau, v in zip(u, qd, strict=True))),
        ("2*tau_motor_R2 + t", -6.0 + 0.3),
    ):
        task = made({}, output="torque", limit=50, minimise=minimise, viscous=0.25)
        assert task.integrand(0.3, [0.2, 0.5, *qd], u) == pytest.approx(expected, rel=1e-13)


def test_the_speed_of_the_tool_has_its_value_and_rate_at_the_limit_and_is_smooth_at_rest():
    task = made({}, tool_speed=0.6)
    (bound,) = (one for one in task.limits.path if one.of == "tool")

    def at(qd):  # both links in line: the tool is 0.8 m from the axis
        return bound.at(Moment(task.vector.plant, 0.0, task.state([0.3, 0.0, qd, 0.0], [0.0]), 0.0, (0.0, 0.0)))

    limit = 0.6 / 0.8
    assert at(limit) == pytest.approx(0.6, rel=1e-14)
    assert (at(limit + 1e-6) - at(limit - 1e-6)) / 2e-6 == pytest.approx(0.8, rel=1e-9)
    assert at(0.0) == pytest.approx(0.3, rel=1e-14)


def test_clearance_is_kept_from_spheres_and_planes_alone():
    ball, box = {"sphere": {"radius": 0.1}, "xyz": [1.0, 0.3, 0]}, {"box": {"size": [0.1, 0.1, 0.1]}, "xyz": [0, 1, 0]}
    task = made({}, world={"ball": ball, "crate": box}, clearance=0.03)
    found = [one for one in task.limits.path if one.quantity == "distance"]
    assert [one.of for one in found] == ["R1_ball", "R2_ball"]
    assert {(one.lower, one.upper) for one in found} == {(0.03, math.inf)}


@pytest.mark.parametrize(("target", "limit"), [(1.0, 0.5), (-1.0, -0.25)])
def test_a_range_in_the_way_is_named_by_the_end_that_is_reached(task, target, limit):
    asked = task(
        "torque_squared", of_joint={"limits": {"lower": -0.25, "upper": 0.5}}, to={"q": [target]}, intervals=10
    )
    stop = armsim.plan(asked).facts.obstruction
    assert (stop.quantity, stop.limit) == ("position", limit)


def test_corrected_ends_are_those_of_the_motion(task):
    """A mass on a spring under a constant force: its velocity is a cosine."""
    k, m, u, x0, v0 = 60.0, 2.0, 5.0, 0.2, -0.7
    chosen = PlanTask(
        scenario_of(task("torque_squared", duration=1.0, intervals=4, of_joint={"spring": {"stiffness": k}}))
    )
    at = Trajectory(np.tile([x0, v0], (5, 1)), np.full((4, 1), u))
    problem = chosen.problem(at)
    w, rest = np.sqrt(k / m), u / k
    c, s = np.cos(0.25 * w), np.sin(0.25 * w)
    exact = [rest + (x0 - rest) * c + v0 / w * s, v0 * c - w * (x0 - rest) * s]
    ends = problem.ends(at)[0]
    assert np.abs(ends - exact).max() > 1e-7
    assert ends + chosen.correction(at, problem) == pytest.approx(np.tile(exact, (4, 1)), rel=0, abs=1e-9)


def test_the_limit_that_is_named_gains_most_by_widening_it_in_proportion(task):
    chosen = PlanTask(scenario_of(task("torque_squared", limit=7.0, of_joint={"limits": {"upper": 0.5}}, intervals=10)))
    problem, t = chosen.problem(chosen.guess()), np.linspace(0.0, 3.0, 11)
    path, inputs = np.zeros((10, 1)), np.zeros((10, 1))
    path[6], inputs[[0, 3]] = 3.0, [[1e-5], [-2.0]]
    for pressed, expected in ((path, ("torque", -7.0, 0.9)), (2 * path, ("position", 0.5, 2.1))):
        stop = _obstruction(chosen, problem, {"path": pressed, "inputs": inputs, "mark10": 100 * path}, t)
        assert (stop.quantity, stop.limit, stop.from_s) == pytest.approx(expected)
