"""Masses and inertias that can exist, with given base parameters."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from armsim.arm.robot import Robot, load_robot
from armsim.errors import UsageError
from armsim.identification.consistent import UNITS, base_matrix, consistent_inertias, write_consistent
from armsim.loading import load_robot_file

STATES = np.random.default_rng(0).uniform(-2, 2, (3, 20, 6))


def least_eigenvalue(robot: Robot) -> float:
    """Of the pseudo-inertias of links, relative to the greatest."""
    parameters = np.array(
        [[i.mass, *i.h, i.J.xx, i.J.yy, i.J.zz, i.J.xy, i.J.xz, i.J.yz] for i in (x.inertia for x in robot.arm.links)]
    )
    values = np.linalg.eigvalsh(np.einsum("lk,kij->lij", parameters, UNITS))
    return float((values[:, 0] / values[:, -1]).min())


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("puma") / "puma.yaml")
    return write_consistent("puma560", None, path), path


@pytest.mark.slow
def test_a_file_of_links_that_cannot_exist_becomes_one_of_links_that_can_with_the_same_torques(written):
    # the published link 3 has xx = 0.066 and yy = 0.0125 beside zz = 0.086, which no body has
    changed, path = written
    before, after = (load_robot(x, engine="python") for x in ("puma560", path))
    assert "J3" in changed
    assert least_eigenvalue(before) < -1e-3
    assert least_eigenvalue(after) > -1e-8
    tau = before.inverse_dynamics(*STATES)
    np.testing.assert_allclose(after.inverse_dynamics(*STATES), tau, atol=1e-12 * np.abs(tau).max())
    base = base_matrix(before)
    np.testing.assert_allclose(base @ after.inertial_parameters, base @ before.inertial_parameters, atol=1e-12)


def test_comments_and_other_keys_stay_and_masses_stay_near(written):
    _, path = written
    assert "# The Unimation Puma 560" in Path(path).read_text(encoding="utf-8")
    before, after = (load_robot_file(x).document for x in ("puma560", path))
    assert [joint.limits for joint in after.joints] == [joint.limits for joint in before.joints]
    masses = [[joint.bodies[0].mass.value for joint in file.joints[1:]] for file in (before, after)]
    np.testing.assert_allclose(masses[1], masses[0], rtol=0.05)


@pytest.mark.handful(1)
@pytest.mark.parametrize("name", ["two_link", "rr", "arm5_gripper"])
def test_links_that_can_exist_stay_as_they_are(name, tmp_path):
    assert write_consistent(name, None, str(tmp_path / "same.yaml")) == ()
    assert load_robot_file(str(tmp_path / "same.yaml")).document == load_robot_file(name).document


@pytest.mark.parametrize(("convention", "frames"), [
    ("dh", [{"a": 0.3, "alpha": "pi/2", "d": 0.2}, {"a": 0.4, "alpha": "-pi/2"}, {"a": 0.1, "d": 0.1}]),
    ("origin", [{"xyz": [0.1, 0.2, 0.3], "axis": x} for x in ([0, 1, 0], [1, 0, 0], [0, 1, 1])]),
])  # fmt: skip
@pytest.mark.handful(1)
def test_other_conventions_get_bodies_in_their_own_frames(convention, frames, tmp_path):
    body = {"mass": 2, "center": [0.1, -0.05, 0.02], "about": "com", "xx": 0.1, "yy": 0.1, "zz": 0.1, "xy": 0.01}
    odd = {**body, "yy": 0.02, "zz": 0.13}
    joints = [
        {
            "name": f"J{i}",
            "type": "revolute",
            convention: frame,
            "bodies": [{"inertia": odd if i == 1 else body}],
            "motor": {"rotor_inertia": 1e-3},
        }
        for i, frame in enumerate(frames)
    ]
    file = {
        "format": "armsim/robot/1",
        "name": "odd",
        "convention": convention,
        "gravity": [0, 0, -9.81],
        "joints": joints,
    }
    path = str(tmp_path / "sound.yaml")
    assert "J1" in write_consistent(file, None, path)
    before, after = (load_robot(x, engine="python") for x in (file, path))
    assert least_eigenvalue(before) < -1e-3
    assert least_eigenvalue(after) > -1e-8
    tau = before.inverse_dynamics(*STATES[:, :, :3])
    np.testing.assert_allclose(after.inverse_dynamics(*STATES[:, :, :3]), tau, atol=1e-12 * np.abs(tau).max())


@pytest.mark.handful(1)
@pytest.mark.parametrize("kinds", ["RRR", "RPR", "PRS"])
def test_base_parameters_of_another_arm_are_met_by_links_that_can_exist(kinds, arms):
    first = Robot(arms.serial(kinds, 1, motors=True), "python")
    draws = iter(map(random.Random, range(3)))
    other = Robot(first.arm.map_links(lambda link: replace(link, inertia=arms.solid(next(draws)))), "python")
    found = consistent_inertias(first, base_matrix(first) @ other.inertial_parameters)
    q, qd, qdd = STATES[:, :, :3]
    tau = other.inverse_dynamics(q, qd, qdd) - first.inverse_dynamics(q, qd, qdd)
    change = first.regressor(q, qd, qdd) @ (found.parameters - first.inertial_parameters)
    np.testing.assert_allclose(change, tau, atol=1e-11 * np.abs(tau).max())
    own = found.parameters.reshape(-1, 11)[:, :10]
    own[-1] -= (first.inertial_parameters.reshape(-1, 11)[-1] - link_parameters(first)[-1])[:10]  # without the payload
    assert np.linalg.eigvalsh(np.einsum("lk,kij->lij", own, UNITS)).min() > -1e-8


def link_parameters(robot: Robot) -> np.ndarray:
    return Robot(replace(robot.arm, payloads=()), "python").inertial_parameters.reshape(-1, 11)


def test_base_parameters_that_no_links_have_are_refused(told):
    robot = load_robot("two_link", engine="python")
    with pytest.raises(UsageError) as raised:
        consistent_inertias(robot, -base_matrix(robot) @ robot.inertial_parameters)
    told(str(raised.value))
