"""Columns that are combinations of others, and how many base parameters arms have whose number is published."""

from __future__ import annotations

import numpy as np
import pytest

from armsim.arm.robot import Robot, load_robot
from armsim.dynamics.regressor import PARAMETERS
from armsim.identification.unseen import independent, numerical_rank, stacked_regressor, unseen_directions

# without armatures. Panda: the 43 entries before friction in the coefficients of Gaz et al. 2019, IEEE Robotics and Automation
# Letters 4(4), as counted in get_Panda_coefficients_expanded.m of their repository FrankaEmikaPandaDynModel. Puma: 36, cited
# after Gautier and Khalil 1990, IEEE Trans. Robotics and Automation 6(3), which was not read. The other arms share the
# kinematic structure of one of these: joints 2 and 3 parallel (and 4 of the UR, which costs what it gains), or all orthogonal
PUBLISHED = {"rr": 6, "two_link": 6, "puma560": 36, "puma560_akb": 36, "panda": 43, "iiwa14": 43}
INERTIAL = [name != "Ia" for name in PARAMETERS]


def inertial_rank(robot: Robot) -> int:
    columns = stacked_regressor(robot)
    return numerical_rank(columns[:, np.tile(INERTIAL, len(robot.link_names))])


@pytest.mark.handful(1)
@pytest.mark.parametrize("name", PUBLISHED)
def test_arms_have_the_published_number_of_base_parameters(name):
    columns = stacked_regressor(load_robot(name, engine="python"))
    inertial = columns[:, np.tile(INERTIAL, columns.shape[1] // len(PARAMETERS))]
    assert numerical_rank(inertial) == len(independent(inertial)[0]) == PUBLISHED[name]


@pytest.mark.handful(1)
@pytest.mark.parametrize("kinds", ["RRRR", "RRRP", "RRPR", "RRPPR"])
def test_general_arms_have_seven_base_parameters_a_turning_joint_and_four_a_sliding_one(kinds, arms):
    # Khalil and Dombre, section 9.4: of the first link, which turns about a fixed axis, three remain; a joint that slides between
    # the first two that turn would lose one more
    robot = Robot(arms.serial(kinds), "python")
    assert inertial_rank(robot) == 7 * kinds.count("R") + 4 * kinds.count("P") - 4


@pytest.mark.handful(1)
@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_the_rank_is_that_of_pinocchios_regressor(name):
    pin = pytest.importorskip("pinocchio")
    robot = load_robot(name, engine="python")
    model = pin.Model()
    parent = 0
    for joint in robot.arm.links:  # the same axes in space; what the links weigh does not matter
        R = np.array([[*row] for row in joint.tilt])
        place = pin.SE3(R, np.array([*joint.position]))
        parent = model.addJoint(parent, pin.JointModelRZ(), place, joint.name)
        model.appendBodyToJoint(parent, pin.Inertia.Random(), pin.SE3.Identity())
    data = model.createData()
    states = np.random.default_rng(1).uniform(-2, 2, (25, 3, robot.arm.n))
    stacked = np.concatenate([pin.computeJointTorqueRegressor(model, data, *state).copy() for state in states])
    assert numerical_rank(stacked) == inertial_rank(robot)


def test_a_combination_of_columns_is_found_with_its_factors():
    a, b, d = np.random.default_rng(0).normal(size=(3, 20))
    columns = np.column_stack([a, b, 2 * a - 0.5 * b, np.zeros(20), d])
    chosen, factors = independent(columns)
    assert chosen == [0, 1, 4]
    np.testing.assert_allclose(factors, [[1, 0, 2, 0, 0], [0, 1, -0.5, 0, 0], [0, 0, 0, 0, 1]], atol=1e-12)
    one, other = unseen_directions(chosen, factors, list("abcze"))
    assert one.factors == pytest.approx({"a": -2.0, "b": 0.5, "c": 1.0})
    assert (other.factors, other.text) == ({"z": 1.0}, "z")
    assert one.text == "c - 2 a + 0.5 b"
