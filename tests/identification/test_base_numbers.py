"""Numbers that stand for base parameters, and files whose links can exist and have those that were found."""

from __future__ import annotations

import copy
from itertools import product

import numpy as np
import pytest

import armsim
from armsim.arm.robot import Robot, load_robot
from armsim.document.base import plain
from armsim.identification.base_numbers import BaseNumbers
from armsim.identification.consistent import base_matrix
from armsim.identification.estimate import Estimate
from armsim.identification.identified_file import identified_text
from armsim.identification.unseen import numerical_rank, stacked_regressor
from armsim.loading import build_robot, load_robot_file
from armsim.loading.open_robot import OpenRobot
from armsim.recording.command_history import CommandHistory
from armsim.recording.measured_log import MeasuredLog
from armsim.reports.identification import report
from tests.identification.elbow import elbow
from tests.identification.simulated import logged
from tests.identification.test_consistent import STATES, least_eigenvalue
from tests.identification.test_unseen import PUBLISHED


def torques(robot: Robot) -> np.ndarray:
    return robot.inverse_dynamics(*STATES[:, :, : robot.arm.n])


def opened(base: BaseNumbers, values: dict[str, float]) -> Robot:
    """The arm with open numbers in place of the file's."""
    return Robot(build_robot(load_robot_file(base.data, values).document), "python")


@pytest.mark.handful(1)
@pytest.mark.parametrize("name", PUBLISHED)
def test_as_many_numbers_of_bodies_are_open_as_the_arm_has_published_base_parameters(name):
    base = BaseNumbers(name)
    assert sum(".inertia." in path for path in base.paths) == PUBLISHED[name]
    rotors = [path for path in base.paths if path.endswith("rotor_inertia")]
    assert len(rotors) <= numerical_rank(stacked_regressor(base.robot)) - PUBLISHED[name]


@pytest.mark.handful(3)
@pytest.mark.parametrize(
    "robot", ["two_link", "arm5", "puma560", elbow()], ids=["two_link", "arm5", "puma560", "elbow"]
)
def test_bodies_of_known_inertia_move_as_the_files_own(robot):
    base = BaseNumbers(robot)
    own, other = load_robot(robot, engine="python"), opened(base, {})
    np.testing.assert_allclose(torques(other), torques(own), rtol=1e-10, atol=1e-10)


def changed(base: BaseNumbers, share: float, seed: int = 3) -> list[Estimate]:
    """Estimates that are off by up to a share of the file's numbers, those that are 0 a little, half their intervals."""
    written = np.array(OpenRobot(base.data, base.paths).written)
    sizes = share * np.where(written == 0.0, 0.01, np.abs(written))
    off = sizes * np.random.default_rng(seed).uniform(-1, 1, len(written))
    numbers = zip(base.paths, (written + off).tolist(), (2.0 * sizes).tolist(), strict=True)
    return [Estimate(path, "", None, x, within, 1.0) for path, x, within in numbers]


def written_with(robot, estimates, base, folder) -> Robot:
    path = folder / "found.yaml"
    path.write_text(identified_text(robot, estimates, str(folder), base), encoding="utf-8")
    return load_robot(path, engine="python")


@pytest.mark.parametrize(("name", "share"), [("two_link", 0.05), ("elbow", 0.05), ("puma560", 0.005)])
@pytest.mark.handful(1)
def test_numbers_found_come_back_as_links_that_can_exist_with_the_same_torques(name, share, tmp_path):
    """Beside the other numbers of the file they are those of no body."""
    robot = elbow() if name == "elbow" else name
    base = BaseNumbers(robot)
    estimates = changed(base, share)
    assert base.links(estimates).off == 0.0
    raw, made = opened(base, {one.path: one.value for one in estimates}), written_with(robot, estimates, base, tmp_path)
    tau = torques(raw)
    np.testing.assert_allclose(torques(made), tau, rtol=1e-10, atol=1e-10 * np.abs(tau).max())
    matrix = base_matrix(made)
    np.testing.assert_allclose(matrix @ made.inertial_parameters, matrix @ raw.inertial_parameters, atol=1e-10)
    assert np.abs(torques(base.robot) - tau).max() > 1e-2 * share * np.abs(tau).max()
    assert least_eigenvalue(raw) < -1e-4
    assert least_eigenvalue(made) > -1e-8


@pytest.mark.slow
@pytest.mark.parametrize(("name", "share"), [("arm5", 0.05), ("puma560", 0.2)])
def test_numbers_that_no_links_have_come_back_as_the_nearest_that_some_have(name, share, tmp_path):
    """The least of a convex function on a convex set: it does not fall towards any other point of the set."""
    base = BaseNumbers(name)
    estimates = changed(base, share)
    links = base.links(estimates)
    assert 0.0 < links.off < 0.6  # the file's own are off by half
    made = written_with(name, estimates, base, tmp_path)
    assert least_eigenvalue(made) > -1e-8
    matrix, values = base_matrix(base.robot), {one.path: one.value for one in estimates}
    within = np.array([one.within for one in estimates])
    raw = opened(base, values).inertial_parameters
    slopes = [opened(base, values | {path: x + 1e-3}).inertial_parameters - raw for path, x in values.items()]
    shares = np.linalg.pinv(matrix @ np.array(slopes).T / 1e-3) / within[:, None]
    off = shares @ matrix @ (links.parameters - raw)
    assert np.abs(off).max() == pytest.approx(links.off, rel=1e-3)
    own = links.parameters.reshape(-1, 11)
    for i, x in product(range(len(own)), (0.5, 2.0)):  # a link twice as heavy can exist, too
        other = np.where(np.arange(len(own))[:, None] == i, x * own, own).ravel()
        away = shares @ matrix @ (other - links.parameters)
        # towards it the sum of squares falls by less than 1 %, for which the file's numbers count besides
        assert off @ away > -0.1 * np.linalg.norm(off) * np.linalg.norm(away)


@pytest.mark.slow
def test_base_parameters_of_a_log_come_out_and_go_into_the_file(tmp_path):
    truth = plain(load_robot_file("two_link").document)
    file = copy.deepcopy(truth)
    for joint, (mass, center) in zip(file["joints"], ((2.6, 0.4), (1.1, 0.5)), strict=True):
        joint["bodies"][0]["rod"] |= {"mass": mass, "center": [center, 0, 0]}
    file["joints"][0]["friction"] = {"viscous": 0.1}
    truth["joints"][0]["friction"] = {"viscous": 0.3}
    log = logged(truth, 6.0, 500, np.array([6.0, 3.0]), 1e-5, start=[-1.5, 0.2], output="torque")
    found = armsim.identify(log, file, ["base", "joints[shoulder].friction.viscous"], method="rk4")
    assert found.explained
    assert found.values == {"joints[shoulder].friction.viscous": pytest.approx(0.3, rel=1e-3)}
    assert "a choice that no motion tells" in " ".join(" ".join(map(str, report(found))).split())
    found.save(tmp_path / "found")
    true, made = load_robot(truth, engine="python"), load_robot(tmp_path / "found" / "identified.yaml", engine="python")
    tau = torques(true)
    np.testing.assert_allclose(torques(made), tau, atol=5e-4 * np.abs(tau).max())
    assert least_eigenvalue(made) > -1e-8
    # each interval is that of a base parameter, whose other numbers are the file's
    base, numbers = BaseNumbers(file), [one for one in found.estimates if ".inertia." in one.path]
    raw = opened(base, {one.path: one.value for one in numbers})
    matrix = base_matrix(true)
    off = matrix @ (raw.inertial_parameters - true.inertial_parameters)
    wide = np.zeros(len(off))
    for one in numbers:
        moved = opened(base, {other.path: other.value + (other is one) * one.within for other in numbers})
        wide += np.abs(matrix @ (moved.inertial_parameters - raw.inertial_parameters))
    assert np.all(np.abs(off) < 2.0 * wide + 1e-12)


@pytest.mark.slow
def test_windows_that_diverge_on_the_way_tell_nothing_and_the_fit_goes_on():
    """Half a second of holding leads numbers astray, to arms that cannot move."""
    made = armsim.record("arm5_hold", {"control.period": 1e-3, "duration": 0.5})
    q, qd, commands = made.states[:, :5], made.states[:, 5:10], CommandHistory(made.t, made.inputs)
    found = armsim.identify(MeasuredLog("log", made.t, q, qd, commands, "voltage"), "arm5", ["base"], window=0.1)
    assert all(np.isfinite(one.rms) for one in found.residuals)
    assert found.explained
