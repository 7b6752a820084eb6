"""The workspace of an arm in a plane, by the closed forms of two links."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim import UsageError

L1, L2, M1, M2, LOAD, G = 1.0, 0.8, 2.0, 1.5, 0.5, 9.81  # of the shipped two_link
TORQUES = (60.0, 25.0)  # N·m, at the shafts
GEARS = (2.0, -1.5)


def two_link(**overrides):
    return armsim.load_robot("two_link", overrides or None)


@pytest.fixture(scope="module")
def plane():
    return two_link().workspace("xy", resolution=16)


@pytest.fixture(scope="module")
def driven():
    motors = zip(("shoulder", "elbow"), GEARS, TORQUES, strict=True)
    given = {f"joints[{name}].motor": f"{{gear: {gear}, limits: {{torque: {most}}}}}" for name, gear, most in motors}
    return two_link(**given).workspace("xy", resolution=12)


def test_two_links_reach_an_annulus(plane):
    r = np.hypot(*plane.position[..., :2].T).T
    np.testing.assert_array_equal(plane.reachable, (r >= L1 - L2) & (r <= L1 + L2))
    assert np.ptp(plane.position[0, :, 0]) == pytest.approx(2 * (L1 + L2) * 15 / 16)  # centres of cells


def test_manipulability_of_two_links_is_that_of_the_textbook(plane):
    assert 0 < plane.reachable.sum() < 256
    expected = L1 * L2 * np.abs(np.sin(plane.q[..., 1]))  # Yoshikawa 1985; NaN where there is no solution
    np.testing.assert_allclose(plane.manipulability, expected, rtol=1e-9)


def test_payload_is_that_of_statics_by_hand(driven):
    found = 0
    for (q1, q2), payload in zip(driven.q.reshape(-1, 2), driven.payload.ravel(), strict=True):
        if math.isnan(q1):
            assert math.isnan(payload)
            continue
        x1, x2 = L1 * math.cos(q1), L2 * math.cos(q1 + q2)
        own = G * (M1 * x1 / 2 + M2 * (x1 + x2 / 2) + LOAD * (x1 + x2)), G * (M2 / 2 + LOAD) * x2
        levers = G * (x1 + x2), G * x2
        most = [abs(gear) * torque for gear, torque in zip(GEARS, TORQUES, strict=True)]
        sides = [(b - s) / k if k > 0 else (-b - s) / k for b, s, k in zip(most, own, levers, strict=True)]
        holds = all(abs(s) <= b for b, s in zip(most, own, strict=True))
        assert payload == pytest.approx(min(sides) if holds else 0.0, rel=1e-9)
        found += holds
    assert found > 50


def test_motors_that_do_not_hold_the_arm_hold_no_payload():
    weak = two_link(**{"joints[shoulder].motor": "{limits: {torque: 1e-3}}"}).workspace("xy", resolution=4)
    assert (weak.payload[weak.reachable] == 0.0).all()


def test_without_limits_of_motors_no_payload_is_too_much(plane):
    assert np.isinf(plane.payload[plane.reachable]).all()


def test_an_orientation_narrows_the_reach_and_the_jacobian(plane):
    fixed = two_link().workspace("xy", resolution=16, axis=("x", [1, 0, 0]))
    assert fixed.reachable.sum() <= plane.reachable.sum()
    arm = armsim.load_robot("ur5e")
    found = arm.workspace(at=0.1, resolution=8, axis=("z", [0, 0, -2]))
    i, j = np.argwhere(found.reachable)[0]
    assert found.position[i, j, 1] == 0.1
    J = arm.jacobian(found.q[i, j])[[0, 1, 3, 4, 5]]  # about the vertical the tool may turn
    assert found.manipulability[i, j] == pytest.approx(math.sqrt(np.linalg.det(J @ J.T)), rel=1e-9)
    full = arm.workspace(at=0.1, resolution=8, quaternion=[0, 1, 0, 0])
    i, j = np.argwhere(full.reachable)[0]
    assert full.manipulability[i, j] == pytest.approx(abs(np.linalg.det(arm.jacobian(full.q[i, j]))), rel=1e-9)


def test_what_has_no_grid_is_refused(told):
    for given in ({"plane": "zx"}, {"resolution": 1}):
        with pytest.raises(UsageError) as error:
            two_link().workspace(**given)
        told(error.value)
