"""A number left open gives the same bits as the number written in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armsim.actuation import driven
from armsim.dynamics import forward_dynamics
from armsim.expr import replay, trace
from armsim.model import bodies
from armsim.spatial import Vector, rotation_x

CASES = {
    "mass": (1.1, 0.0, 1e-3),
    "alpha": (-1.2, 0.3, np.pi / 2, 0.0),
    "Kp": (10.0, 0.5),
    "radius": (0.04, 0.02),
    "gravity": (9.81, 0.0),
}


def changed(arm, what: str, value):
    """arm5 with one number replaced, on the way that a robot file takes."""
    if what == "gravity":
        return replace(arm, gravity=Vector(0.0, 0.0, -value))
    joints = list(arm.joints)
    if what == "Kp":
        joints[1] = replace(joints[1], motor=replace(joints[1].motor, Kp=value, Ke=value))
    elif what == "alpha":
        joints[2] = replace(joints[2], tilt=rotation_x(value))
    else:
        mass, radius = (value, 0.05) if what == "mass" else (1.0, value)
        joints[1] = replace(joints[1], inertia=bodies.cylinder("x", 0.38, radius, mass, Vector(0.19, 0.0, 0.0)))
    return replace(arm, links=tuple(joints))


def accelerations(arm, x, algorithm):
    q, qd, volts = x[:5], x[5:10], x[10:15]
    tau = [driven(*drive).total for drive in zip(arm.joints, ["voltage"] * 5, volts, q, qd, strict=True)]
    return forward_dynamics(arm, q, qd, tau, algorithm=algorithm)


@pytest.mark.parametrize("algorithm", ["crba", "aba"])
@pytest.mark.parametrize("what", CASES)
@pytest.mark.handful(1)
def test_a_number_left_open_gives_the_bits_of_the_number_written_in(what, algorithm, arms, evaluate):
    arm = arms.shipped("arm5")
    names = [f"x{i}" for i in range(15)]
    columns = np.random.default_rng(1).uniform(-1, 1, (15, 16))
    left_open = trace(lambda v, *x: accelerations(changed(arm, what, v), x, algorithm), ["value", *names])
    for value in map(float, CASES[what]):
        written = trace(lambda *x, v=value: accelerations(changed(arm, what, v), x, algorithm), names)
        assert len(written.live()) < len(left_open.live())  # something was folded, so the comparison says something
        expected = evaluate(written, columns).T.tolist()
        assert evaluate(left_open, [np.full(16, value), *columns]).T.tolist() == expected
        first = columns[:, 0].tolist()
        assert replay(left_open, [value, *first]) == replay(written, first) == expected[0]
        assert accelerations(changed(arm, what, value), first, algorithm) == expected[0]
