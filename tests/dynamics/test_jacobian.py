"""The tool's Jacobian, and forces from outside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armsim.dynamics import (
    ExternalWrench,
    bias,
    frame_jacobian,
    frame_pose,
    link_poses,
    link_wrenches,
)
from armsim.model import LinkFrame
from armsim.spatial import Pose, Vector

ROUNDING = 1e-12  # of lengths and forces of order 10 through a dozen joints


def array(rotation) -> np.ndarray:
    return np.array([list(row) for row in rotation])


@pytest.mark.handful(14)
def test_the_jacobian_is_the_derivative_of_the_tools_pose(arm, motion, exact_gradient):
    q, *_ = motion(arm)
    J = np.array(frame_jacobian(arm, q, arm.tool))
    assert np.allclose(
        J[3:].T, exact_gradient(arm, lambda x: [*frame_pose(arm, x, arm.tool).position], q), atol=ROUNDING
    )
    R = array(frame_pose(arm, q, arm.tool).rotation)
    for i, dR in enumerate(exact_gradient(arm, lambda x: array(frame_pose(arm, x, arm.tool).rotation), q)):
        W = dR @ R.T  # the cross product with the angular velocity
        assert np.allclose([W[2, 1], W[0, 2], W[1, 0]], J[:3, i], atol=ROUNDING)
        assert np.allclose(W, -W.T, atol=ROUNDING)


def test_a_wrench_at_the_tool_is_felt_through_the_transposed_jacobian(arm, motion):
    q, qd, _ = motion(arm, seed=3)
    force, moment = Vector(1.0, -2.0, 3.0), Vector(0.4, 0.5, -0.6)
    last = ExternalWrench(arm.tool, force, moment, "world")
    outside = link_wrenches(arm, 0.0, q, [last])
    felt = np.subtract(bias(arm, q, qd), bias(arm, q, qd, outside))
    assert np.allclose(felt, np.array(frame_jacobian(arm, q, arm.tool)).T @ [*moment, *force], atol=ROUNDING * 10)


@pytest.mark.parametrize("link", [0, 1, 2, 3])
def test_a_force_on_a_link_loads_only_the_joints_before_it(link, arms, motion):
    arm = arms.serial("RPRR")
    q, qd, _ = motion(arm)
    point, force = Vector(0.2, -0.3, 0.1), Vector(3.0, 1.0, -2.0)
    outside = link_wrenches(arm, 0.0, q, [ExternalWrench(arm.frame_at(link, point), force)])
    felt = np.subtract(bias(arm, q, qd), bias(arm, q, qd, outside))
    # the arm cut off after the link, its tool at the point, has the Jacobian wanted
    short = replace(
        arm, links=arm.joints[: link + 1], frames=(LinkFrame("tool", pose=Pose(position=point)),), payloads=()
    )
    J = np.array(frame_jacobian(short, q[: link + 1], short.tool))
    assert np.allclose(felt[: link + 1], J[3:].T @ [*force], atol=ROUNDING * 10)
    assert not felt[link + 1 :].any()


def test_a_wrench_given_in_the_links_axes_is_the_same_turned_into_the_world(arms, motion):
    arm = arms.serial("RPRR")
    q, *_ = motion(arm)
    at, force, moment = arm.frame_at(2, Vector(0.2, -0.3, 0.1)), Vector(3.0, 1.0, -2.0), Vector(0.1, 0.2, 0.3)
    R = link_poses(arm, q)[2].rotation
    in_link = link_wrenches(arm, 0.0, q, [ExternalWrench(at, force, moment, "local")])
    in_world = link_wrenches(arm, 0.0, q, [ExternalWrench(at, R @ force, R @ moment, "world")])
    for one, other in zip(in_link, in_world, strict=True):
        assert np.allclose([*one[0], *one[1]], [*other[0], *other[1]], atol=ROUNDING)


def test_a_wrench_acts_from_its_start_until_before_its_end(arms):
    arm = arms.serial("RR")
    push = ExternalWrench(arm.frame_at(1), Vector(1.0, 0.0, 0.0), axes="local", start=1.0, end=2.0)
    for t, share in [(0.0, 0), (0.999, 0), (1.0, 1), (1.5, 1), (1.999, 1), (2.0, 0), (9.0, 0)]:
        (_, before), (_, force) = link_wrenches(arm, t, [0.0, 0.0], [push])
        assert np.isclose(np.linalg.norm([*force]), share, atol=ROUNDING)
        assert [*before] == [0, 0, 0]


def test_wrenches_on_one_link_add_up(arms, motion):
    arm = arms.serial("RRR")
    q = motion(arm)[0]
    one = ExternalWrench(arm.frame_at(1, Vector(0.1, 0.0, 0.0)), Vector(1.0, 2.0, 3.0), Vector(0.5, 0.0, 0.0))
    two = ExternalWrench(arm.frame_at(1, Vector(0.0, 0.2, 0.0)), Vector(-3.0, 0.0, 1.0), axes="local", end=5.0)
    both, first, second = (link_wrenches(arm, 0.0, q, w)[1] for w in ([one, two], [one], [two]))
    for a, b, c in zip(both, first, second, strict=True):
        assert np.allclose([*a], [*(b + c)], atol=ROUNDING)
    assert link_wrenches(arm, 0.0, q, []) is None
