"""One state on floats, as the command line asks for it, and forward dynamics under torques and voltages."""

from __future__ import annotations

import numpy as np
import pytest

from armsim.actuation import drive_torques, limit_torques, motor_demands
from armsim.arm.forward import forward
from armsim.arm.robot import Robot
from armsim.dynamics import frame_pose, link_poses, mass_matrix
from armsim.errors import UsageError


@pytest.mark.parametrize("kinds", ["RPR", "RRRRRR", "PRRPRRRR"])
@pytest.mark.handful(1)
def test_they_are_those_of_the_robot_to_the_bit(arms, kinds):
    arm = arms.serial(kinds, seed=1, motors=True)
    robot = Robot(arm)
    rng = np.random.default_rng(1)
    q, qd, x = (rng.uniform(-1, 1, arm.n).tolist() for _ in range(3))
    torque = drive_torques(arm, q, qd, x)
    assert torque == robot.inverse_dynamics(q, qd, x).tolist()
    assert motor_demands(arm, qd, torque) == tuple(column.tolist() for column in robot.motor_demand(qd, torque))
    assert limit_torques(arm, q, qd) == robot.limit_torque(q, qd).tolist()
    assert forward(arm, q, qd, x).qdd == robot.forward_dynamics(q, qd, x).tolist()
    assert mass_matrix(arm, q) == robot.mass_matrix(q).tolist()
    found, links = [pose.frame() for pose in link_poses(arm, q)], robot.link_poses(q)
    assert [link.position for link in found] == links.position.tolist()
    assert [link.quaternion for link in found] == links.quaternion.tolist()
    assert frame_pose(arm, q, arm.tool).frame().position == robot.forward_kinematics(q).position.tolist()


def test_voltages_are_kept_as_given_and_torques_follow_from_the_motors(arms):
    arm = arms.serial("RR", seed=2, motors=True)
    qd = [1.0, -2.0]
    found = forward(arm, [0.1, 0.2], qd, voltage=[5.0, -7.0])
    assert found.voltage == [5, -7]
    for i, joint in enumerate(arm.joints):
        m = joint.motor
        current = (found.voltage[i] - m.Ke * m.gear * qd[i]) / m.Ra
        assert found.current[i] == pytest.approx(current, rel=1e-14)
        assert found.torque[i] == pytest.approx(m.Kp * m.gear * current, rel=1e-14)


def test_torque_and_voltage_exclude_each_other(arms):
    with pytest.raises(UsageError, match="expected: one of them"):
        forward(arms.shipped("arm5"), [0.0] * 5, [0.0] * 5, [0.0] * 5, [0.0] * 5)


def test_a_joint_that_nothing_resists_is_named(arms):
    from armsim.model import Arm, Joint
    from armsim.spatial import Pose, Vector, rotation_x

    heavy = arms.shipped("rr").joints[1]
    light = Joint(name="tip", type="revolute", tilt=rotation_x(0.5), position=Vector(1.0, 0.0, 0.0))
    arm = Arm("light", Vector(0.0, 0.0, -9.81), Pose(), (heavy, light))
    with pytest.raises(UsageError, match="found:    none on tip\n"):
        forward(arm, [0.0, 0.0], [0.0, 0.0])
