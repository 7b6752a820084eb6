"""Answers for one state on floats."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armsim.arm.answers import demand, mass_matrix, motion, outside, poses
from armsim.arm.robot import Robot
from armsim.errors import UsageError
from armsim.spatial import roll_pitch_yaw, rotation_rpy


@pytest.mark.parametrize("kinds", ["RPR", "RRRRRR", "PRRPRRRR"])
@pytest.mark.handful(2)
def test_they_are_those_of_the_robot_to_the_bit(arms, kinds):
    arm = arms.serial(kinds, seed=1, motors=True)
    robot = Robot(arm)
    rng = np.random.default_rng(1)
    q, qd, x = (rng.uniform(-1, 1, arm.n).tolist() for _ in range(3))
    assert demand(arm, q, qd, x)["torque"] == robot.inverse_dynamics(q, qd, x).tolist()
    assert motion(arm, q, qd, x)["qdd"] == robot.forward_dynamics(q, qd, x).tolist()
    assert mass_matrix(arm, q) == robot.mass_matrix(q).tolist()
    found, links, tool = poses(arm, q), robot.link_poses(q), robot.forward_kinematics(q)
    assert [link["position"] for link in found["links"]] == links.position.tolist()
    assert [link["quaternion"] for link in found["links"]] == links.quaternion.tolist()
    assert found["tool"]["position"] == tool.position.tolist()


@pytest.mark.parametrize("pitch", [-1.57, -0.3, 0.0, 0.9, 1.57])
def test_roll_pitch_yaw_are_those_that_made_the_rotation(pitch):
    for roll, yaw in [(0.1, -3.0), (-2.0, 0.4), (3.1, 3.1)]:
        # near a right angle roll and yaw are known to rounding over cos(pitch), 8e-4 here
        assert roll_pitch_yaw(rotation_rpy(roll, pitch, yaw)) == pytest.approx([roll, pitch, yaw], abs=1e-12)


@pytest.mark.parametrize("pitch", [-math.pi / 2, math.pi / 2])
def test_at_a_right_angle_yaw_is_zero_and_the_rotation_the_same(pitch):
    R = rotation_rpy(0.7, pitch, 0.4)
    roll, found, yaw = roll_pitch_yaw(R)
    assert (found, yaw) == (pytest.approx(pitch, abs=1e-8), 0)
    for row, again in zip(R, rotation_rpy(roll, found, yaw)):
        assert list(again) == pytest.approx(list(row), abs=1e-8)


def test_voltages_are_kept_as_given_and_torques_follow_from_the_motors(arms):
    arm = arms.serial("RR", seed=2, motors=True)
    found = motion(arm, [0.1, 0.2], [1.0, -2.0], voltage=[5.0, -7.0])
    assert found["voltage"] == [5, -7]
    for i, joint in enumerate(arm.joints):
        m = joint.motor
        current = (found["voltage"][i] - m.Ke * m.gear * found["qd"][i]) / m.Ra
        assert found["current"][i] == pytest.approx(current, rel=1e-14)
        assert found["torque"][i] == pytest.approx(m.Kp * m.gear * current, rel=1e-14)


def test_torque_and_voltage_exclude_each_other(arms):
    with pytest.raises(UsageError, match="expected: one of them"):
        motion(arms.shipped("arm5"), [0.0] * 5, [0.0] * 5, [0.0] * 5, [0.0] * 5)


def test_a_joint_that_nothing_resists_is_named(arms):
    from armsim.model import Arm, Joint
    from armsim.spatial import Pose, Vector, rotation_x

    heavy = arms.shipped("rr").joints[1]
    light = Joint(name="tip", type="revolute", tilt=rotation_x(0.5), position=Vector(1.0, 0.0, 0.0))
    arm = Arm("light", Vector(0.0, 0.0, -9.81), Pose(), (heavy, light))
    with pytest.raises(UsageError, match="found:    none on tip\n"):
        motion(arm, [0.0, 0.0], [0.0, 0.0])


def test_joints_outside_their_range_are_found_with_what_their_stops_push(arms):
    arm = arms.shipped("arm5")
    assert outside(arm, [0, 0, 0, 0, 0], [0] * 5) == []
    assert outside(arm, [9, 0.7, 0, 0, -1.2], [0] * 5) == [
        {"joint": "R5", "lower": -1.1, "upper": 1.1, "limit_torque": pytest.approx(100, rel=1e-12)}
    ]
