"""Linear estimates of open numbers from inverse dynamics."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from armsim.arm.robot import load_robot
from armsim.document.paths import parse_path
from armsim.errors import ShapeError, UsageError
from armsim.identification.command_model import CommandModel
from armsim.identification.linear import correlated_covariance, estimate
from armsim.loading.open_robot import OpenRobot
from tests.identification.elbow import FRICTION, elbow


def motion(rows: int = 2000, n: int = 3, step: float = 5e-3, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Sums of sines with their exact derivatives."""
    rng, t = np.random.default_rng(seed), step * np.arange(rows)[:, None]
    waves = [(rng.uniform(0.5, 4, n), rng.uniform(0, 6, n), rng.uniform(0.2, 0.5, n)) for _ in range(4)]
    q = sum(a * np.sin(w * t + p) for w, p, a in waves)
    qd = sum(a * w * np.cos(w * t + p) for w, p, a in waves)
    qdd = sum(-a * w * w * np.sin(w * t + p) for w, p, a in waves)
    return q, qd, qdd


def measured(file: dict, state: tuple[np.ndarray, ...], of: str) -> np.ndarray:
    robot = load_robot(file)
    tau = robot.inverse_dynamics(*state)
    voltage, current = robot.motor_demand(state[1], tau)
    return {"torque": tau, "current": current, "voltage": voltage}[of]


TRUTH = {
    "joints[*].friction.viscous": 0.4,
    "joints[*].friction.coulomb.positive": 0.9,
    "joints[*].friction.coulomb.negative": 0.6,
    "joints[2].bodies[0].box.mass": 2.0,
    "joints[1].motor.rotor_inertia": 1e-4,
    "joints[0].motor.efficiency": 0.8,
}


def each(truth: dict[str, float]) -> dict[str, float]:
    """The numbers by a path for each."""
    return {path.replace("*", str(i)): x for path, x in truth.items() for i in range(3 if "*" in path else 1)}


def expected(found, truth: dict[str, float]) -> np.ndarray:
    return np.array([each(truth)[path] for path in found.paths])


def displaced(file: dict, truth: dict[str, float], factor: float) -> dict:
    """The file with other numbers at the paths."""
    file = copy.deepcopy(file)
    for path, x in each(truth).items():
        *steps, last = parse_path(path)
        here = file
        for step in steps:
            here = here[step]
        here[last] = x * factor
    return file


@pytest.mark.parametrize(("of", "more"), [
    ("torque", {}),
    ("current", {"joints[2].motor.Kp": 0.05}),
    ("voltage", {"joints[*].motor.Ra": 1.2, "joints[1].motor.Ke": 0.06}),
])  # fmt: skip
def test_clean_motions_give_back_every_number_from_torques_currents_or_voltages(of, more):
    state, truth = motion(), TRUTH | more
    paths = [f"robot.{path}" for path in truth]
    commands = measured(elbow(), state, of)
    if of == "current":  # masses of the links beyond J1 and J2 are known, and tell Kp of J3 by its weight
        truth.pop("joints[2].bodies[0].box.mass")
        paths = [f"robot.{path}" for path in truth]
    found = estimate(displaced(elbow(), truth, 1.15), *state, commands, paths, of)
    np.testing.assert_allclose(found.values, expected(found, truth), rtol=1e-8)  # what Newton's last step leaves
    assert not found.unseen
    assert np.all(found.residual < 1e-8 * np.abs(commands).max())


@pytest.mark.slow
def test_intervals_cover_the_truth_of_white_and_of_smoothed_noise():
    state, paths = motion(2000), list(TRUTH)[:4]
    clean, model = measured(elbow(), state, "torque"), CommandModel(OpenRobot(elbow(), paths))
    for width in (1, 5):
        kernel = np.ones(width) / width
        inside = spread = 0.0
        rng, many = np.random.default_rng(width), 16
        for _ in range(many):
            noise = np.apply_along_axis(np.convolve, 0, rng.normal(0, 0.5, clean.shape), kernel, "same")
            found = estimate(model, *state, clean + noise)
            error = (found.values - expected(found, TRUTH)) / found.deviations
            inside += np.mean(np.abs(error) < 1.96) / many
            spread += np.mean(error**2) / many
        assert 0.86 < inside < 0.985  # of 160: 95 % by normal errors, a little less as correlations are estimated
        assert 0.7 < spread < 1.6


def test_what_no_motion_can_see_keeps_the_values_of_the_file_and_is_named():
    state = motion()
    box, rotor, motor, joint, resistance = paths = [
        "joints[J1].bodies[0].box.mass",
        "joints[J1].motor.rotor_inertia",
        "joints[J1].motor.viscous",
        "joints[J1].friction.viscous",
        "joints[J1].motor.Ra",
    ]
    found = estimate(elbow(), *state, measured(elbow(), state, "torque"), paths)
    assert [list(direction.factors) for direction in found.unseen] == [[rotor, box], [joint, motor], [resistance]]
    inertia = (0.1**2 + 0.08**2) / 12 + 0.05**2  # of a kg of the column, about its axis
    assert found.unseen[0].factors[box] == pytest.approx(-(40**2) / inertia)
    assert found.unseen[1].factors == pytest.approx({joint: 1.0, motor: -1 / 1600})
    np.testing.assert_allclose(found.values, [4.0, 1e-4, 1e-5, 0.4, 1.2], rtol=1e-9)
    assert np.isinf(found.deviations).all()


def test_what_cannot_be_seen_goes_to_where_the_file_changes_least_in_proportion():
    state = motion()
    heavier = elbow()
    for joint in heavier["joints"]:
        joint["friction"] = {**FRICTION, "viscous": 0.44}
    found = estimate(
        elbow(), *state, measured(heavier, state, "torque"), ["joints[J1].friction.viscous", "joints[J1].motor.viscous"]
    )
    of_joint, of_motor = found.values
    assert of_joint + 1600 * of_motor == pytest.approx(0.44 + 1600 * 1e-5)
    weights = np.array([0.4, 1600 * 1e-5]) ** 2  # of relative changes x: least x² with sum weights**0.5 x = 0.04
    np.testing.assert_allclose([of_joint - 0.4, 1600 * (of_motor - 1e-5)], 0.04 * weights / weights.sum(), atol=1e-7)


def test_rows_near_rest_do_not_spoil_dry_friction():
    q, qd, qdd = motion()
    tau = measured(elbow(), (q, qd, qdd), "torque")
    slow = np.abs(qd) < 0.01
    wrong = np.where(slow, tau + 5.0, tau)  # a joint that sticks takes any torque
    found = estimate(elbow(), q, qd, qdd, wrong, list(TRUTH)[:3], slow=0.01)
    np.testing.assert_allclose(found.values, expected(found, TRUTH), rtol=1e-8)
    assert (found.rows == (~slow).sum(axis=0)).all()


def test_errors_that_are_white_have_the_textbook_covariance():
    rng = np.random.default_rng(0)
    influence, left = rng.normal(size=(2, 4000, 1)), rng.normal(size=(4000, 1))
    found = correlated_covariance(influence, left, np.ones((4000, 1)))
    textbook = influence[..., 0] @ influence[..., 0].T
    np.testing.assert_allclose(found / 4000, textbook / 4000, atol=0.15)


def test_errors_that_are_alike_for_forty_rows_count_as_often_as_they_are_new():
    # a moving average of white noise has the sum of the noise itself, but for its ends
    left = np.convolve(np.random.default_rng(1).normal(size=40_000), np.ones(40) / 40, "same")[:, None]
    found = correlated_covariance(np.ones((1, 40_000, 1)), left, np.ones((40_000, 1)))
    assert (
        0.6 < found[0, 0] / 40_000 < 1.5
    )  # white noise of this size would have 1/40; some hundred blocks know it to 15 %


def test_wrong_input_is_refused_with_what_to_do(told):
    q, qd, qdd = motion(50)
    tau = measured(elbow(), (q, qd, qdd), "torque")
    still = np.zeros_like(q)
    bare = elbow(motor={"gear": 40})
    paths = ["joints[*].friction.viscous"]
    cases = [
        lambda: estimate(elbow(), q, qd, qdd[:9], tau, paths),
        lambda: estimate(elbow(), q[0], qd, qdd, tau, paths),
        lambda: estimate(elbow(), q, qd, qdd, tau * np.nan, paths),
        lambda: estimate(elbow(), q, still, still, tau, paths),
        lambda: estimate(elbow(), q, qd, qdd, tau, ["joints[*].friction.viscosity"]),
        lambda: estimate(elbow(), q, qd, qdd, tau, paths, of="power"),
        lambda: estimate(bare, q, qd, qdd, tau, paths, of="current"),
        lambda: estimate(elbow(), q, qd, qdd, tau, paths, weights=-np.ones(50)),
    ]
    for case in cases:
        with pytest.raises((UsageError, ShapeError)) as raised:
            case()
        told(str(raised.value))
