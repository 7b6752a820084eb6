"""The arm: what it carries, and that it is frozen."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from armsim.model import Payload, bodies
from armsim.spatial import Vector, point_tensor


def test_the_links_of_arm5_are_those_of_the_published_table(arms, reference):
    table = reference("model_links").columns
    for i, joint in enumerate(arms.shipped("arm5").joints):
        body = joint.inertia
        found = [body.mass, *body.com(), body.J.xx, body.J.yy, body.J.zz, body.J.xy, body.J.xz, body.J.yz]
        names = ["mass", "cx", "cy", "cz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz"]
        # exact sums there, a few roundings here
        assert np.allclose(found, [table[name][i] for name in names], rtol=1e-15, atol=1e-16)


def test_the_payload_is_carried_by_the_last_link_at_the_tool(arms):
    arm = replace(arms.serial("RPR"), payloads=(Payload(bodies.point(2.0, Vector(0.1, 0.2, 0.3))),))
    at = arm.joints[-1].frame.point(arm.tool.pose.point(Vector(0.1, 0.2, 0.3)))
    own, carried = arm.joints[-1].inertia, arm.inertias[-1]
    assert arm.inertias[:-1] == tuple(joint.inertia for joint in arm.joints[:-1])
    assert carried.mass == own.mass + 2
    assert np.allclose([*carried.h], [*(own.h + 2.0 * at)], atol=1e-14)  # rounding
    expected = own.J + 2.0 * point_tensor(at)
    assert np.allclose([*carried.J.rows()[0], carried.J.yz], [*expected.rows()[0], expected.yz], atol=1e-14)


def test_a_payload_of_zero_kg_changes_nothing(arms):
    arm = arms.serial("RRPR")
    empty = replace(arm, payloads=(Payload(bodies.point(0.0, Vector(0.3, -0.2, 0.1))),))
    assert empty.inertias == tuple(joint.inertia for joint in arm.joints)  # to the bit


def test_an_arm_is_frozen(arms):
    arm = arms.serial("RR")
    with pytest.raises(FrozenInstanceError):
        arm.name = "another"
    with pytest.raises(FrozenInstanceError):
        arm.joints[0].offset = 1.0
