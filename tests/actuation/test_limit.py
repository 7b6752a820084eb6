"""Stops at the ends of a joint's range."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import armsim
from armsim.actuation import limit_torque
from armsim.expr import trace
from armsim.integrate import METHODS
from armsim.model import Limit

positions = st.floats(-1e3, 1e3)
speeds = st.floats(-1e4, 1e4)
bounds = st.tuples(st.floats(-10, 10), st.floats(-10, 10)).map(sorted)
constants = st.floats(0, 1e5)


@given(bounds, constants, constants, positions, speeds)
def test_a_stop_only_pushes_back_towards_the_range(ends, stiffness, damping, q, qd):
    lower, upper = ends
    tau = limit_torque(Limit(lower, upper, stiffness, damping), q, qd)
    if lower <= q <= upper:
        assert tau == 0
    elif q < lower:
        assert tau >= 0
    else:
        assert tau <= 0


@given(bounds, constants, constants, st.floats(1e-6, 1), st.floats(0, 100))
@pytest.mark.slow
def test_a_stop_never_holds_a_joint_that_leaves_it(ends, stiffness, damping, depth, speed):
    lower, upper = ends
    limit = Limit(lower, upper, stiffness, damping)
    # on the way out spring less damper, never a pull back into the stop
    out_of_upper = limit_torque(limit, upper + depth, -speed)
    out_of_lower = limit_torque(limit, lower - depth, speed)
    assert out_of_upper <= 0 <= out_of_lower
    assert abs(out_of_upper) <= stiffness * depth * 1.001 + 1e-9
    assert abs(out_of_lower) <= stiffness * depth * 1.001 + 1e-9


def test_a_stop_is_a_spring_and_a_damper_on_the_way_in():
    limit = Limit(-1.0, 2.0, stiffness=1000.0, damping=10.0)
    assert math.isclose(limit_torque(limit, 2.1, 0.5), -1000 * 0.1 - 10 * 0.5, rel_tol=1e-12)
    assert math.isclose(limit_torque(limit, -1.1, -0.5), 1000 * 0.1 + 10 * 0.5, rel_tol=1e-12)


def test_the_torque_is_mirrored_with_the_range():
    limit, mirrored = Limit(-1.0, 2.0, 50.0, 3.0), Limit(-2.0, 1.0, 50.0, 3.0)
    for q, qd in [(2.5, 1.0), (2.5, -9.0), (-1.5, -1.0), (-3.0, 40.0), (0.0, 5.0)]:
        assert limit_torque(limit, q, qd) == -limit_torque(mirrored, -q, -qd)


def test_a_range_without_stiffness_or_without_ends_gives_no_torque():
    assert limit_torque(None, 9.0, 9.0) == 0
    assert limit_torque(Limit(-1.0, 1.0), 9.0, 9.0) == 0
    assert limit_torque(Limit(-math.inf, math.inf, 1000.0, 10.0), 9.0, 9.0) == 0


def test_an_end_at_infinity_costs_nothing():
    one_sided = trace(lambda q, qd: [limit_torque(Limit(-math.inf, 1.0, 10.0, 1.0), q, qd)], ["q", "qd"])
    assert one_sided.counts()["where"] == 2


def test_a_bouncing_joint_does_not_gain_energy_from_its_stop():
    # unit inertia into the stop, RK-free small steps: what comes out is slower than what went in
    limit, q, qd, dt = Limit(-math.inf, 0.0, 1000.0, 10.0), 0.0, 1.0, 1e-5
    for _ in range(20_000):
        qd += dt * limit_torque(limit, q, qd)
        q += dt * qd
        if q < 0:
            break
    assert q < 0
    # spring and damper to the point where the damper would pull: the closed form is exp(-zeta (pi - 2 acos ...)), below 1
    assert 0.5 < -qd < 1.0


@pytest.mark.parametrize("friction", [{}, {"coulomb": 0.3, "viscous": 0.1}], ids=["smooth", "dry"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_stop_at_the_other_end_throws_back_as_in_a_mirror(method, friction):
    runs = []
    for end, way in (("lower", -1.0), ("upper", 1.0)):
        joint = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 2}}], "friction": friction}
        joint["limits"] = {end: way * 0.1, "stiffness": 900, "damping": 4}
        robot = {"format": "armsim/robot/1", "name": "slider", "gravity": [0, 0, 0], "joints": [joint]}
        scenario = {"format": "armsim/scenario/1", "robot": robot, "duration": 0.4, "initial": {"qd": [way * 1.5]}}
        scenario |= {"integrator": {"method": method, "dt": 1e-3}, "log": {"every": 1e-3}}
        if METHODS[method].adaptive:
            scenario["integrator"] = {"method": method, "dt": 0.4}  # it comes to the stop between two landings
            scenario["log"] = {"every": 0.4}
        runs.append(armsim.simulate(scenario))
    lower, upper = runs
    assert np.array_equal(lower.table[:, 1:4], -upper.table[:, 1:4])
    assert upper.qd[-1, 0] < -0.5
    assert lower.state[2:] == upper.state[2:]  # as many steps, refused and taken, and as much work
