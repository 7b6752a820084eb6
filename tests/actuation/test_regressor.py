"""The regressor with the columns of the drives, against inverse dynamics."""

from __future__ import annotations

import numpy as np
import pytest

from armsim.arm.robot import Robot, load_robot
from tests.trees import tree


def with_drives(file: dict, seed: int) -> dict:
    """A file whose joints have friction by direction, springs, and motors with gears that lose."""
    rng = np.random.default_rng(seed)
    for joint in file["joints"]:
        positive, negative, viscous = rng.uniform(0.1, 2.0, 3).tolist()
        joint["friction"] = {"viscous": viscous, "coulomb": {"positive": positive, "negative": negative}}
        if "mimic" not in joint and rng.random() < 0.5:
            joint["spring"] = {"stiffness": rng.uniform(1, 20), "rest": rng.uniform(-1, 1)}
        if "motor" in joint:
            joint["motor"] |= {
                "efficiency": rng.uniform(0.6, 0.95),
                "viscous": 1e-4,
                "coulomb": rng.uniform(0.01, 0.05),
            }
    return file


@pytest.mark.parametrize(
    "seed", [0, 1, 3, 4, 7, 10, 13, 14]
)  # chains and trees, with and without followers, screws, slides
@pytest.mark.handful(2)
def test_the_regressor_with_drives_is_inverse_dynamics_to_rounding(seed):
    robot = load_robot(with_drives(tree(seed, most=8), seed), engine="python")
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, 4, robot.arm.n))
    tau = robot.inverse_dynamics(q, qd, qdd)
    Y = robot.regressor(q, qd, qdd, tau)
    columns = robot.regressor_columns(drives=True)
    assert Y.shape == (4, robot.arm.n, len(columns))
    whole = np.concatenate([robot.inertial_parameters, robot.drive_parameters])
    np.testing.assert_allclose(Y @ whole, tau, atol=1e-12 * np.abs(tau).max())  # sums of some hundred products


def test_columns_say_joint_parameter_and_unit():
    robot = load_robot("arm5_gripper")
    columns = robot.regressor_columns(drives=True)
    assert len({(c.joint, c.parameter) for c in columns}) == len(columns) == 11 * 7 + 7 * 6
    of = {(c.joint, c.parameter): c.unit for c in columns}
    assert (of["R1", "M"], of["R1", "MX"], of["R1", "Ia"], of["F1", "Ia"]) == ("kg", "kg m", "kg m²", "kg")
    assert (of["R1", "viscous"], of["F1", "viscous"], of["F1", "offset"]) == ("N·m·s/rad", "N·s/m", "N")
    assert ("F2", "viscous") not in of  # a follower's friction acts on its leader
    assert len(robot.regressor_columns()) == 11 * 7


def test_a_column_is_the_torque_that_one_unit_of_its_parameter_adds():
    light, heavy = (load_robot("two_link", {"joints[0].friction.viscous": x}) for x in (0.5, 1.5))
    state = np.random.default_rng(2).uniform(-2, 2, (3, 6, 2))
    tau = light.inverse_dynamics(*state)
    names = [(c.joint, c.parameter) for c in light.regressor_columns(drives=True)]
    column = light.regressor(*state, tau)[..., names.index((light.joints[0], "viscous"))]
    np.testing.assert_allclose(column, heavy.inverse_dynamics(*state) - tau, atol=1e-12 * np.abs(tau).max())


def test_the_regressor_with_drives_is_the_same_bits_without_the_compiler():
    state = np.random.default_rng(3).uniform(-2, 2, (4, 2, 2))
    compiled, plain = (load_robot("two_link", engine=engine).regressor(*state) for engine in ("llvm", "python"))
    np.testing.assert_array_equal(compiled, plain)


def test_an_offset_hides_behind_dry_friction_by_direction():
    robot = Robot(load_robot("two_link").arm, "python")
    q, qd, qdd, tau = np.random.default_rng(4).uniform(-2, 2, (4, 20, 2))
    names = [(c.joint, c.parameter) for c in robot.regressor_columns(drives=True)]
    at = [names.index((robot.joints[0], x)) for x in ("dry_positive", "dry_negative", "offset")]
    one, other, offset = robot.regressor(q, qd, qdd, tau)[:, 0, at].T
    np.testing.assert_array_equal(offset, one - other)
